// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/why.h"

#include "dag/edit/body.h"
#include "metrics/resources.h"
#include "optimize/branch.h"
#include "optimize/plan_names.h"
#include "optimize/sentence.h"

#include <inttypes.h>
#include <string.h>

struct facts {
    uint32_t bodies, awaited, at_once;
    double mean_ns;
};

// The spawner does nothing but wait for it, as good as: less than a tenth of the body's time lies in between.
static bool is_awaited_at_once(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t next = task->spawn_end + 1;
    if (task->spawn_end == DAG_NONE || task->end == DAG_NONE || next >= dag->vertex_count) return false;
    if (vertices->task[next] != index || vertices->kind[next] != VERTEX_WAIT_BEGIN) return false;
    int64_t between = vertices->time_ns[next] - vertices->time_ns[task->spawn_end];
    return between * 10 < vertices->time_ns[task->end] - vertices->time_ns[task->start];
}

static struct facts facts_of(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    struct facts facts = {0};
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start != DAG_NONE && task->end != DAG_NONE) {
            facts.bodies++;
            facts.mean_ns += (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
        }
        facts.awaited += task->awaited > 0;
        facts.at_once += is_awaited_at_once(dag, improvement->tasks[i]);
    }
    if (facts.bodies) facts.mean_ns /= facts.bodies;
    return facts;
}

// "3 tasks of 1.2 ms"
static void say_bodies(struct sentence *sentence, const struct improvement *improvement, const struct facts *facts) {
    say(sentence, "%s", phrase_counted(improvement->task_count, improvement_noun(improvement)).text);
    if (facts->bodies) say(sentence, " of %s", phrase_duration(facts->mean_ns).text);
}

// "the caller waits for each of these 3 tasks (1.2 ms) right after submitting it", or "3 tasks of 1.2 ms are awaited
// later"
static void say_awaited(struct sentence *sentence, const struct improvement *improvement, const struct facts *facts) {
    const uint32_t count = improvement->task_count;
    if (facts->at_once * 2 > count) {
        say(sentence, "the caller waits for %s%s (%s) right after submitting it",
            count == 1 ? "this task" : "each of these ", count == 1 ? "" : phrase_counted(count, "task").text,
            phrase_duration(facts->mean_ns).text);
        return;
    }
    say_bodies(sentence, improvement, facts);
    say(sentence, count == 1 ? " is " : " are ");
    say(sentence, facts->awaited * 2 > count ? "awaited later" : "awaited by no thread");
}

// How many tasks take this path, how many do not, and where they part.
static void say_path(struct sentence *sentence, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct branch branch = branch_find(improvement);
    uint32_t others = 0;
    double others_ns = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site != improvement->site || task->path == improvement->path || task->start == DAG_NONE) continue;
        others++;
        others_ns += (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
    }
    if (!others) return;
    say(sentence, "; %s of the site %s %s on another path", phrase_counted(others, "other").text,
        others == 1 ? "takes" : "take", phrase_duration(others_ns / others).text);
    if (!branch.known) return;
    say(sentence, ", which parts in %s: %s is entered on %s only",
        branch.decides ? phrase_method(dag, branch.decides).text : "the task's own body",
        phrase_method(dag, branch.leads_to).text, branch.on_this ? "this one" : "the other");
    if (!branch.late) return;
    say(sentence, ", after the task has %s %s, so that the spawner may be unable to decide",
        branch.awaited ? "awaited a result and spent" : "spent", phrase_duration((double)branch.before_ns).text);
}

// What a coordinator does before its first wait, the mean.
static double before_waits_ns(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    double sum_ns = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        uint32_t v = body_next(dag, task->start);
        while (v < task->end && dag->vertices.kind[v] != VERTEX_WAIT_BEGIN) v = body_next(dag, v);
        sum_ns += (double)(dag->vertices.time_ns[v] - dag->vertices.time_ns[task->start]);
    }
    return sum_ns / improvement->task_count;
}

static void say_first_stage(struct sentence *sentence, const struct improvement *improvement) {
    const uint32_t pool = improvement->dag->tasks[improvement->tasks[0]].pool;
    say(sentence, "; what comes before that (%s%s) ", phrase_duration(before_waits_ns(improvement)).text,
        improvement->task_count == 1 ? "" : " each");
    if (improvement->first == FIRST_STAGE_ON_POOL)
        say(sentence, "stays on %s", phrase_pool(improvement->dag, pool).text);
    else
        say(sentence, "runs on the spawner");
}

static void say_stages(struct sentence *sentence, const struct improvement *improvement) {
    const struct stages *stages = &improvement->stages;
    const struct dag *dag = improvement->dag;
    double asleep_ns = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v)) {
            if (dag->vertices.kind[v] != VERTEX_WAIT_END || v == 0) continue;
            asleep_ns += (double)(dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1]);
        }
    }
    say(sentence,
        improvement->task_count == 1 ? " waits %s for what it spawned" : " wait %s each for what they spawned",
        phrase_duration(asleep_ns / improvement->task_count).text);
    say_first_stage(sentence, improvement);
    say(sentence, "; as %s", phrase_counted(stages->count, "stage").text);
    for (uint32_t i = 0; i < stages->count && i < 4; i++)
        say(sentence, "%s%s", i ? ", " : " (", stages->items[i].method);
    say(sentence, "%s no thread would", stages->count > 4 ? ", ...)" : stages->count ? ")" : "");
}

static void say_handover(struct sentence *sentence, const struct improvement *improvement, const struct costs *costs) {
    double sum_ns = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        sum_ns += (double)(costs->bracket_ns[improvement->tasks[i]] + costs->pickup_ns[improvement->tasks[i]]);
    }
    say(sentence,
        improvement->task_count == 1 ? " spends %s on hand-over; %u at a time"
                                     : " spend %s each on hand-over; %u at a time",
        phrase_duration(sum_ns / improvement->task_count).text, improvement->factor);
}

static void say_parts(struct sentence *sentence, const struct why *why) {
    const double cores = why->improvement->dag->trace->header.cores;
    say(sentence, " leave %.1f of %.0f cores idle", why->base->tasks.idle_share * cores, cores);
    say(sentence, "; in %u parts each, if their work divides evenly", why->improvement->factor);
}

static void say_queue(struct sentence *sentence, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct dag_pool *rules = &dag->pools[improvement->pool];
    const bool one = improvement->task_count == 1;
    uint32_t started = 0;
    double waited_ns = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start == DAG_NONE || task->spawn_begin == DAG_NONE) continue;
        started++;
        waited_ns += (double)(dag->vertices.time_ns[task->start] - dag->vertices.time_ns[task->spawn_begin]);
    }
    const uint32_t size = improvement_pool_size(dag, improvement->pool);
    if (improvement->alike)
        say(sentence, " share %u pools of %u thread%s and", rules->alike_count, size, size == 1 ? "" : "s");
    else if (size)
        say(sentence, one ? " has %u thread%s and" : " share %u thread%s and", size, size == 1 ? "" : "s");
    say(sentence, one ? " waits %s for one; " : " wait %s each for one; ",
        phrase_duration(started ? waited_ns / started : 0).text);
    if (rules->discipline != DISCIPLINE_STEALING && rules->maximum > dag_pool_most(rules))
        say(sentence, "its queue is unbounded, so that it never has more than its %d core threads; ", rules->core);
    say(sentence, "with %d", improvement->threads);
    if (rules->discipline == DISCIPLINE_HAND_OFF) say(sentence, " and a queue");
}

static void say_carriers(struct sentence *sentence, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct carrier_waits all = metrics_carrier_waits(dag);
    say(sentence,
        "%s of virtual threads for one took %s; with %d instead of %" PRId64
        " (-Djdk.virtualThreadScheduler.parallelism)",
        phrase_counted(all.waits, "wait").text, phrase_duration((double)all.wait_ns).text, improvement->capacity,
        dag->resources[improvement->resource].capacity);
}

static void say_resource(struct sentence *sentence, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct dag_resource *resource = &dag->resources[improvement->resource];
    uint64_t waits = 0;
    double waited_ns = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (ask->resource != improvement->resource || ask->asked == DAG_NONE || ask->got == DAG_NONE) continue;
        waits++;
        waited_ns += (double)(dag->vertices.time_ns[ask->got] - dag->vertices.time_ns[ask->asked]);
    }
    say(sentence, "%s for it took %s", phrase_counted(waits, "wait").text, phrase_duration(waited_ns).text);
    if (improvement->kind == KIND_UNLOCK)
        say(sentence, "; without contention, which is the most that a finer lock can bring");
    else
        say(sentence, "; with %d instead of %" PRId64, improvement->capacity, resource->capacity);
}

// What actors do: jobs of theirs, and time in them.
struct work {
    uint32_t messages, inits;
    double messages_ns, inits_ns, asleep_ns; // asleep: what of the messages was not computed, nor waited for a core
};

static struct work work_of(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    struct work work = {0};
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start == DAG_NONE || task->end == DAG_NONE) continue;
        const double ns = (double)(vertices->time_ns[task->end] - vertices->time_ns[task->start]);
        const bool begins = task->flags & TASK_INIT;
        *(begins ? &work.inits : &work.messages) += 1;
        *(begins ? &work.inits_ns : &work.messages_ns) += ns;
        if (begins || !vertices->compute_ns) continue;
        work.asleep_ns += ns;
        for (uint32_t v = task->start + 1; v <= task->end; v++)
            work.asleep_ns -= (double)(vertices->compute_ns[v] + (vertices->queued_ns ? vertices->queued_ns[v] : 0));
    }
    return work;
}

static double mean(double total, uint32_t count) {
    return count ? total / count : 0;
}

// "2,000 actors begin in 12.1 us each and handle 2,000 messages of 1.3 us"
static void say_actors(struct sentence *sentence, const struct improvement *improvement) {
    const struct work work = work_of(improvement);
    const uint32_t actors = improvement->change.actor_count;
    if (improvement->kind == KIND_INLINE_MESSAGE) {
        say(sentence, "%s of %s that handlers send", phrase_counted(work.messages, "message").text,
            phrase_duration(mean(work.messages_ns, work.messages)).text);
        return;
    }
    say(sentence, "%s", phrase_counted(actors, "actor").text);
    if (work.inits)
        say(sentence, actors == 1 ? " begins in %s and handles" : " begin in %s each and handle",
            phrase_duration(mean(work.inits_ns, work.inits)).text);
    else
        say(sentence, actors == 1 ? " handles" : " handle");
    say(sentence, " %s of %s", phrase_counted(work.messages, "message").text,
        phrase_duration(mean(work.messages_ns, work.messages)).text);
    if (improvement->kind != KIND_OWN_POOL || work.messages_ns <= 0) return;
    say(sentence, ", asleep for %.0f %% of that; with %s of their own", 100 * work.asleep_ns / work.messages_ns,
        phrase_counted((uint64_t)improvement->threads, "thread").text);
}

static void say_tasks(struct sentence *sentence, const struct why *why) {
    const struct improvement *improvement = why->improvement;
    if (improvement_is_of_actors(improvement)) {
        say_actors(sentence, improvement);
        return;
    }
    if (improvement_is_of_resource(improvement)) {
        const bool of_carriers = improvement->dag->carriers == improvement->resource + 1;
        (of_carriers ? say_carriers : say_resource)(sentence, improvement);
        return;
    }
    const struct facts facts = facts_of(improvement);
    if (improvement->task_count == 0) {
        say(sentence, "no such task");
        return;
    }
    const bool is_inlined = improvement->kind == KIND_INLINE || improvement->kind == KIND_HOIST_BRANCH;
    if (is_inlined && !why->refusal) {
        say_awaited(sentence, improvement, &facts);
        if (improvement->kind == KIND_HOIST_BRANCH) say_path(sentence, improvement);
        return;
    }
    say_bodies(sentence, improvement, &facts);
    if (why->refusal) return;
    switch (improvement->kind) {
    case KIND_COMBINATOR:
        say_stages(sentence, improvement);
        break;
    case KIND_MERGE:
        say_handover(sentence, improvement, why->costs);
        break;
    case KIND_SPLIT:
        say_parts(sentence, why);
        break;
    case KIND_RESIZE_POOL:
        say_queue(sentence, improvement);
        break;
    default:
        break;
    }
}

static void say_threads(struct sentence *sentence, double change, const char *when) {
    if (fabs(change) < 0.05)
        say(sentence, "as many threads %s", when);
    else
        say(sentence, "%.1f threads %s %s", fabs(change), change < 0 ? "fewer" : "more", when);
}

static void begin(struct sentence *sentence, const struct why *why) {
    *sentence = (struct sentence){0};
    if (why->trace) say(sentence, "in %s: ", why->trace);
}

static const char *const participles[KIND_COUNT] = {
    [KIND_INLINE] = "inlined",
    [KIND_HOIST_BRANCH] = "inlined",
    [KIND_COMBINATOR] = "turned into a combinator",
    [KIND_MERGE] = "merged",
    [KIND_SPLIT] = "split",
    [KIND_RESIZE_POOL] = "run by a pool of that size",
    [KIND_RESIZE_RESOURCE] = "resized",
    [KIND_UNLOCK] = "unlocked",
    [KIND_OWN_POOL] = "run by a dispatcher of their own",
    [KIND_MERGE_ACTORS] = "merged",
    [KIND_SPLIT_ACTOR] = "split",
    [KIND_INLINE_MESSAGE] = "inlined",
};

static double change_of(double before, double after) {
    const double change = before > 0 ? 100 * (after / before - 1) : 0;
    return fabs(change) < 0.05 ? 0.0 : change;
}

static void say_throughput(struct sentence *sentence, const struct request_metrics *before,
                           const struct request_metrics *after) {
    say(sentence, ", requests/s %+.1f %%, median latency %+.1f %%",
        change_of(before->throughput_per_s, after->throughput_per_s),
        change_of(before->latency_ns.p50, after->latency_ns.p50));
}

// What changes the grain of tasks is about time; the rest is about threads.
static void say_wall(struct sentence *sentence, const struct why *why) {
    const int64_t before_ns = why->base->wall_ns, after_ns = why->estimate->wall_ns;
    const enum improvement_kind kind = why->improvement->kind;
    if (why->base->requests.throughput_per_s > 0) {
        say_throughput(sentence, &why->base->requests, &why->estimate->requests);
        return;
    }
    const double change = change_of((double)before_ns, (double)after_ns);
    say(sentence, ", wall %+.1f %%", change);
    if (change == 0 || (kind != KIND_MERGE && kind != KIND_SPLIT && improvement_is_of_site(why->improvement))) return;
    say(sentence, " (%s %s)", phrase_duration(fabs((double)(after_ns - before_ns))).text,
        after_ns < before_ns ? "less" : "more");
}

const char *why_text(const struct why *why, struct arena *arena) {
    struct sentence sentence;
    const struct improvement *improvement = why->improvement;
    begin(&sentence, why);
    say_tasks(&sentence, why);
    if (why->refusal) {
        const bool of_one = improvement_is_of_site(improvement) && strncmp(why->refusal, "it", 2) == 0;
        say(&sentence, ", and can't be %s: %s%s", participles[improvement->kind], of_one ? "of one, " : "",
            why->refusal);
        return arena_string(arena, sentence.text, sentence.used);
    }
    const struct usage *now = &why->estimate->threads[STATE_OCCUPIED], *then = &why->base->threads[STATE_OCCUPIED];
    say(&sentence, ": ");
    say_threads(&sentence, now->peak - then->peak, "at peak");
    say(&sentence, ", ");
    say_threads(&sentence, now->mean - then->mean, "on average");
    say_wall(&sentence, why);
    if (why->failed) say(&sentence, "; does not meet %s", why->failed);
    return arena_string(arena, sentence.text, sentence.used);
}

const char *why_stuck_text(const struct why *why, const struct estimator *estimator, struct arena *arena) {
    char chain[700];
    struct sentence sentence;
    begin(&sentence, why);
    estimator_stuck_text(estimator, chain, sizeof chain);
    if (improvement_is_of_resource(why->improvement))
        say(&sentence, "the resource");
    else if (improvement_is_of_actors(why->improvement))
        say_actors(&sentence, why->improvement);
    else
        say(&sentence, "%s", phrase_counted(why->improvement->task_count, improvement_noun(why->improvement)).text);
    say(&sentence, " %s would %s:\n    %s", participles[why->improvement->kind], estimator_stuck_verb(estimator),
        chain);
    return arena_string(arena, sentence.text, sentence.used);
}
