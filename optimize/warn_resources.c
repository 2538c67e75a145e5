// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of what threads hold and wait for.
#include "optimize/warn_resources.h"

#include "dag/names.h"
#include "metrics/starvation.h"
#include "optimize/sentence.h"

#include <stdlib.h>

enum { STARVING_MOST = 3 };

// Of the time that threads waited for resources, what no known holder explains.
static const double unknown_share = 0.05;

// ---- what starves

static void say_waiters(struct sentence *sentence, const struct dag *dag, const struct resource_starvation *of) {
    if (of->workers)
        say(sentence, "all %u workers", of->workers);
    else
        say(sentence, "%s", phrase_counted(of->threads, "thread").text);
    if (of->workers || of->pool) say(sentence, " of %s", phrase_pool(dag, of->pool).text);
}

static void say_end(struct sentence *sentence, const struct resource_starvation *of) {
    if (of->gave_up == 0) {
        say(sentence, of->ends ? "" : ": nothing can go on");
        return;
    }
    say(sentence, " until their time is up: %s gave up", phrase_counted(of->gave_up, "wait").text);
    if (of->limit_ns != INT64_MAX) say(sentence, " after %s", phrase_duration((double)of->limit_ns).text);
}

static bool warn_of_one(struct warnings *warnings, const struct dag *dag, bool estimated,
                        const struct resource_starvation *of, struct error *error) {
    struct sentence sentence = {0};
    if (estimated) say(&sentence, "in the estimated run ");
    say_waiters(&sentence, dag, of);
    say(&sentence, of->workers || of->threads != 1 ? " wait" : " waits");
    say(&sentence, " for %s", phrase_resource(dag, of->resource, of->held_at).text);
    if (of->waits_at) say(&sentence, " at %s", phrase_place(dag, of->waits_at).text);
    say(&sentence, " (%lld, all held by them", (long long)dag->resources[of->resource].capacity);
    if (of->held_at) say(&sentence, ", taken at %s", phrase_place(dag, of->held_at).text);
    say(&sentence, ")");
    say_end(&sentence, of);
    return warnings_add(warnings, sentence.text, error);
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

// A tally each. NULL: no memory.
static struct tally *tally_resources(const struct dag *dag, struct error *error) {
    struct tally *tallies = calloc((size_t)dag->resource_count + 1, sizeof *tallies);
    if (!tallies) error_set(error, STATUS_FAILED, "no memory for warnings");
    for (uint32_t i = 0; tallies && i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        struct tally *tally = &tallies[ask->resource];
        if (ask->asked == DAG_NONE || ask->got == DAG_NONE) continue;
        tally->waited_ns += dag->vertices.time_ns[ask->got] - dag->vertices.time_ns[ask->asked];
        tally->unknown_ns += ask->unknown_ns - ask->unknown_ready_ns;
        if (!ask->given_up) continue;
        if (tally->gave_up++ == 0 || ask->limit_ns < tally->limit_ns) tally->limit_ns = ask->limit_ns;
    }
    return tallies;
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
    const uint32_t most = with_most_given_up(dag, tallies);
    if (most == DAG_NONE) return true;
    const struct tally *tally = &tallies[most];
    struct sentence sentence = {0};
    say(&sentence, "%s for %s ended because %s time was up", phrase_counted(tally->gave_up, "wait").text,
        phrase_resource(dag, most, dag_resource_site(dag, most)).text, tally->gave_up == 1 ? "its" : "their");
    if (tally->limit_ns != INT64_MAX) say(&sentence, " (%s)", phrase_duration((double)tally->limit_ns).text);
    return warnings_add(warnings, sentence.text, error);
}

bool warn_of_resources(struct warnings *warnings, const struct dag *dag, struct error *error) {
    const size_t before = warnings->count;
    if (dag->resource_count == 0) return true;
    struct tally *tallies = tally_resources(dag, error);
    bool done = tallies && warn_of_starvation(warnings, dag, dag->vertices.time_ns, false, error);
    const bool said = warnings->count > before;
    done = done && (said || warn_of_limits(warnings, dag, tallies, error));
    free(tallies);
    return done;
}

// ---- what the trace does not tell

static bool warn_of_tallies(struct warnings *warnings, const struct dag *dag, const struct tally *tallies,
                            struct error *error) {
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
    return warnings_say(
        warnings, error,
        "of the time that threads waited for resources, %s of %s have no holder that is known (most for "
        "%s): they last as recorded",
        phrase_duration((double)unknown_ns).text, phrase_duration((double)waited_ns).text,
        phrase_resource(dag, most, dag_resource_site(dag, most)).text);
}

bool warn_of_unknown_holders(struct warnings *warnings, const struct dag *dag, struct error *error) {
    if (dag->resource_count == 0) return true;
    struct tally *tallies = tally_resources(dag, error);
    const bool done = tallies && warn_of_tallies(warnings, dag, tallies, error);
    free(tallies);
    return done;
}

// ---- signals

// Waits of pools' tasks for a signal: of home-made permits, latches, conditions.
struct signals {
    uint32_t waits, longest; // longest: task that waited longest, DAG_NONE
    int64_t waited_ns, longest_ns;
};

static bool is_signal(const struct dag *dag, uint32_t v) {
    const uint32_t awaited = dag->vertices.task[v];
    return dag->vertices.kind[v] == VERTEX_WAIT_END && v > 0 && dag->vertices.kind[v - 1] == VERTEX_WAIT_BEGIN &&
           awaited != DAG_NONE && dag->tasks[awaited].flags & TASK_SIGNAL;
}

static void look_into(const struct dag *dag, uint32_t index, struct signals *signals) {
    const struct dag_task *task = &dag->tasks[index];
    int64_t waited_ns = 0;
    for (uint32_t v = task->start + 1; v < task->end; v++) {
        if (!is_signal(dag, v)) continue;
        signals->waits++;
        waited_ns += dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1];
    }
    signals->waited_ns += waited_ns;
    if (waited_ns <= signals->longest_ns) return;
    signals->longest = index;
    signals->longest_ns = waited_ns;
}

bool warn_of_signals(struct warnings *warnings, const struct dag *dag, struct error *error) {
    struct signals signals = {.longest = DAG_NONE};
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool whole = task->pool && task->start != DAG_NONE && task->end != DAG_NONE && task->site != DAG_NONE;
        if (whole && task->enclosing == DAG_NONE) look_into(dag, t, &signals);
    }
    const double wall_ns = (double)(dag->last_ns - dag->first_ns);
    if (signals.longest == DAG_NONE || (double)signals.waited_ns < unknown_share * wall_ns) return true;
    return warnings_say(warnings, error,
                        "%s of tasks, %s in all, ended by a signal of another task (most of %s): who signals whom is "
                        "kept as recorded, though with other threads it may be otherwise",
                        phrase_counted(signals.waits, "wait").text, phrase_duration((double)signals.waited_ns).text,
                        phrase_site(dag, dag->tasks[signals.longest].site).text);
}

// ---- estimates

static bool warn_of_outcomes(struct warnings *warnings, const struct simulation *simulation, struct error *error) {
    const struct outcomes outcomes = simulation_outcomes(simulation);
    bool done = outcomes.changed == 0 ||
                warnings_say(warnings, error, "%s came out otherwise than recorded: %s site did that had this outcome",
                             phrase_counted(outcomes.changed, "wait").text,
                             outcomes.changed == 1 ? "its task goes on as another of its"
                                                   : "their tasks go on as another of their");
    done = done && (outcomes.alone == 0 ||
                    warnings_say(warnings, error,
                                 "%s for results came out otherwise than recorded, and no task of %s site "
                                 "shows what comes next then: %s as recorded",
                                 phrase_counted(outcomes.alone, "wait").text, outcomes.alone == 1 ? "its" : "their",
                                 outcomes.alone == 1 ? "it goes on" : "they go on"));
    return done && (outcomes.kept == 0 ||
                    warnings_say(
                        warnings, error, "%s would have come out otherwise, and %s site shows what comes next then",
                        phrase_counted(outcomes.kept, "wait").text,
                        outcomes.kept == 1 ? "ends as recorded: no task of its" : "end as recorded: no task of their"));
}

bool warn_of_estimate(struct warnings *warnings, const struct estimator *estimator, struct error *error) {
    if (!estimator->simulated) return true;
    if (!warn_of_outcomes(warnings, estimator->simulation, error)) return false;
    if (estimator->dag->resource_count == 0) return true;
    const struct dag *run = simulation_dag(estimator->simulation);
    return warn_of_starvation(warnings, run, run->vertices.time_ns, true, error);
}
