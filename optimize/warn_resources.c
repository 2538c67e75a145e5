// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of what threads hold and wait for.
#include "optimize/warn_resources.h"

#include "dag/names.h"
#include "metrics/starvation.h"
#include "optimize/sentence.h"

#include <stdlib.h>

enum { TEXT_BYTES = 600, STARVING_MOST = 3 };

// Of the time that threads waited for resources, what no known holder explains.
static const double unknown_share = 0.05;

// ---- what starves

static void say_waiters(struct sentence *sentence, const struct dag *dag, const struct resource_starvation *of) {
    if (of->workers) {
        say(sentence, "all %u workers of ", of->workers);
        say_pool(sentence, dag, of->pool);
    } else {
        say_counted(sentence, of->threads, "thread");
        if (of->pool) say(sentence, " of ");
        if (of->pool) say_pool(sentence, dag, of->pool);
    }
}

static void say_end(struct sentence *sentence, const struct resource_starvation *of) {
    if (of->gave_up == 0) {
        say(sentence, of->ends ? "" : ": nothing can go on");
        return;
    }
    say(sentence, " until their time is up: ");
    say_counted(sentence, of->gave_up, "wait");
    say(sentence, " gave up");
    if (of->limit_ns == INT64_MAX) return;
    say(sentence, " after ");
    say_duration(sentence, (double)of->limit_ns);
}

static bool warn_of_one(struct warnings *warnings, const struct dag *dag, bool estimated,
                        const struct resource_starvation *of, struct error *error) {
    char text[TEXT_BYTES], name[300], place[300];
    const struct dag_resource *resource = &dag->resources[of->resource];
    struct sentence sentence = sentence_begin(text, sizeof text);
    if (estimated) say(&sentence, "in the estimated run ");
    say_waiters(&sentence, dag, of);
    say(&sentence, of->workers || of->threads != 1 ? " wait" : " waits");
    if (of->waits_at) say(&sentence, " at %s", dag_place_text(dag, of->waits_at, place, sizeof place));
    say(&sentence, " for %s (%lld, all held by them",
        dag_resource_text(dag, of->resource, of->held_at, name, sizeof name), (long long)resource->capacity);
    if (of->held_at) say(&sentence, ", taken at %s", dag_place_text(dag, of->held_at, place, sizeof place));
    say(&sentence, ")");
    say_end(&sentence, of);
    return warnings_add(warnings, text, error);
}

static bool warn_of_starvation(struct warnings *warnings, const struct dag *run, const int64_t *time_ns, bool estimated,
                               struct error *error) {
    struct resource_starvation *found;
    size_t count;
    struct arena arena = ARENA_INIT;
    bool done = metrics_starvation(run, time_ns, &arena, &found, &count, error);
    for (size_t i = 0; done && i < count && i < STARVING_MOST; i++)
        done = warn_of_one(warnings, run, estimated, &found[i], error);
    arena_destroy(&arena);
    return done;
}

// ---- time limits

struct tally {
    uint32_t gave_up;
    int64_t limit_ns, waited_ns, unknown_ns;
};

static void count_asks(const struct dag *dag, struct tally *tallies) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        struct tally *tally = &tallies[ask->resource];
        if (ask->asked == DAG_NONE || ask->got == DAG_NONE) continue;
        tally->waited_ns += dag->vertices.time_ns[ask->got] - dag->vertices.time_ns[ask->asked];
        tally->unknown_ns += ask->unknown_ns;
        if (!ask->given_up) continue;
        if (tally->gave_up++ == 0 || ask->limit_ns < tally->limit_ns) tally->limit_ns = ask->limit_ns;
    }
}

static uint32_t with_most_given_up(const struct dag *dag, const struct tally *tallies) {
    uint32_t most = DAG_NONE;
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        if (tallies[r].gave_up && (most == DAG_NONE || tallies[r].gave_up > tallies[most].gave_up)) most = r;
    }
    return most;
}

static bool warn_of_limits(struct warnings *warnings, const struct dag *dag, const struct tally *tallies,
                           struct error *error) {
    char text[TEXT_BYTES], name[300];
    const uint32_t most = with_most_given_up(dag, tallies);
    if (most == DAG_NONE) return true;
    struct sentence sentence = sentence_begin(text, sizeof text);
    say_counted(&sentence, tallies[most].gave_up, "wait");
    say(&sentence, " for %s ended because %s time was up",
        dag_resource_text(dag, most, dag_resource_site(dag, most), name, sizeof name),
        tallies[most].gave_up == 1 ? "its" : "their");
    if (tallies[most].limit_ns != INT64_MAX) {
        say(&sentence, " (");
        say_duration(&sentence, (double)tallies[most].limit_ns);
        say(&sentence, ")");
    }
    return warnings_add(warnings, text, error);
}

bool warn_of_resources(struct warnings *warnings, const struct dag *dag, struct error *error) {
    const size_t before = warnings->count;
    if (dag->resource_count == 0) return true;
    struct tally *tallies = calloc((size_t)dag->resource_count + 1, sizeof *tallies);
    if (!tallies) return error_set(error, STATUS_FAILED, "no memory for warnings");
    count_asks(dag, tallies);
    bool done = warn_of_starvation(warnings, dag, dag->vertices.time_ns, false, error);
    const bool said = warnings->count > before;
    done = done && (said || warn_of_limits(warnings, dag, tallies, error));
    free(tallies);
    return done;
}

// ---- what the trace does not tell

static bool warn_of_tallies(struct warnings *warnings, const struct dag *dag, const struct tally *tallies,
                            struct error *error) {
    char text[TEXT_BYTES], name[300];
    int64_t waited_ns = 0, unknown_ns = 0;
    uint32_t most = DAG_NONE;
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        waited_ns += tallies[r].waited_ns;
        unknown_ns += tallies[r].unknown_ns;
        if (tallies[r].unknown_ns && (most == DAG_NONE || tallies[r].unknown_ns > tallies[most].unknown_ns)) most = r;
    }
    const double wall_ns = (double)(dag->last_ns - dag->first_ns);
    const bool matters =
        (double)unknown_ns > unknown_share * (double)waited_ns && (double)unknown_ns > unknown_share * wall_ns;
    if (most == DAG_NONE || !matters) return true;
    struct sentence sentence = sentence_begin(text, sizeof text);
    say(&sentence, "of the time that threads waited for resources, ");
    say_duration(&sentence, (double)unknown_ns);
    say(&sentence, " of ");
    say_duration(&sentence, (double)waited_ns);
    say(&sentence, " have no holder that is known (most for %s): they last as recorded",
        dag_resource_text(dag, most, dag_resource_site(dag, most), name, sizeof name));
    return warnings_add(warnings, text, error);
}

bool warn_of_unknown_holders(struct warnings *warnings, const struct dag *dag, struct error *error) {
    if (dag->resource_count == 0) return true;
    struct tally *tallies = calloc((size_t)dag->resource_count + 1, sizeof *tallies);
    if (!tallies) return error_set(error, STATUS_FAILED, "no memory for warnings");
    count_asks(dag, tallies);
    const bool done = warn_of_tallies(warnings, dag, tallies, error);
    free(tallies);
    return done;
}

// ---- estimates

static bool warn_of_outcomes(struct warnings *warnings, const struct simulation *simulation, struct error *error) {
    char text[TEXT_BYTES];
    const struct outcomes outcomes = simulation_outcomes(simulation);
    if (outcomes.changed) {
        struct sentence sentence = sentence_begin(text, sizeof text);
        say_counted(&sentence, outcomes.changed, "wait");
        say(&sentence, " came out otherwise than recorded: %s as another of %s site did that had this outcome",
            outcomes.changed == 1 ? "its task goes on" : "their tasks go on", outcomes.changed == 1 ? "its" : "their");
        if (!warnings_add(warnings, text, error)) return false;
    }
    if (outcomes.kept == 0) return true;
    struct sentence sentence = sentence_begin(text, sizeof text);
    say_counted(&sentence, outcomes.kept, "wait");
    say(&sentence, " would have come out otherwise, and %s as recorded: no task of %s site shows what comes next then",
        outcomes.kept == 1 ? "ends" : "end", outcomes.kept == 1 ? "its" : "their");
    return warnings_add(warnings, text, error);
}

bool warn_of_estimate(struct warnings *warnings, const struct estimator *estimator, struct error *error) {
    if (!estimator->simulated || estimator->dag->resource_count == 0) return true;
    const struct dag *run = simulation_dag(estimator->simulation);
    return warn_of_outcomes(warnings, estimator->simulation, error) &&
           warn_of_starvation(warnings, run, run->vertices.time_ns, true, error);
}
