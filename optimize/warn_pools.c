// SPDX-License-Identifier: GPL-3.0-or-later
// How many workers of a pool wait at once, for tasks of the same pool or of pools that wait for tasks of this one in
// turn. Where that is all of them, in each of these pools, none is left to run what they wait for.
#include "optimize/warn_pools.h"

#include "optimize/improvement.h"
#include "optimize/sentence.h"

#include <stdlib.h>
#include <string.h>

// A worker's wait, asleep in a task, for a task of a pool.
struct pool_wait {
    int64_t time_ns;
    int delta;
    uint32_t pool, of;        // the worker's, and the awaited task's
    uint32_t waiter, awaited; // sites
};

struct survey {
    const struct dag *dag;
    uint32_t *workers; // a pool each: the most that it can have; 0: there is no end to them, or it isn't known
    uint32_t *ring;    // a pool each: the first of those that wait for each other, it among them; 0: none does
    struct pool_wait *waits;
    size_t *first; // a pool each, and one more: its waits, by time
    size_t count;
};

static uint32_t most_workers(const struct dag *dag, uint32_t pool) {
    enum discipline discipline = dag->pools[pool].discipline;
    if (discipline == DISCIPLINE_UNKNOWN || discipline == DISCIPLINE_STEALING) return 0;
    return improvement_pool_size(dag, pool);
}

// ---- waits

static int compare_waits(const void *a, const void *b) {
    const struct pool_wait *left = a, *right = b;
    if (left->pool != right->pool) return left->pool < right->pool ? -1 : 1;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return left->delta - right->delta; // a thread that wakes at that instant waits no more
}

// A WAIT_BEGIN is followed by its WAIT_END, unless it helps meanwhile; or by nothing, where it went on when recording
// ended. Two entries a wait, or one.
static void list_waits_of(struct survey *survey, const struct dag_thread *thread) {
    const struct dag *dag = survey->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    const uint32_t end = dag_thread_end(dag, thread);
    uint32_t waiter = DAG_NONE; // the innermost body
    for (uint32_t v = thread->first; v < end; v++) {
        uint32_t awaited = vertices->task[v];
        waiter = dag_body_after(dag, v, waiter);
        if (vertices->kind[v] != VERTEX_WAIT_BEGIN || awaited == DAG_NONE || waiter == DAG_NONE) continue;
        const uint32_t of = dag->tasks[awaited].pool;
        if (!survey->workers[of]) continue;
        bool goes_on = v + 1 == end, ends = !goes_on && vertices->kind[v + 1] == VERTEX_WAIT_END;
        if (!goes_on && !(ends && vertices->time_ns[v + 1] > vertices->time_ns[v])) continue;
        struct pool_wait wait = {vertices->time_ns[v],    1, thread->pool, of, dag->tasks[waiter].site,
                                 dag->tasks[awaited].site};
        survey->waits[survey->count++] = wait;
        if (goes_on) break;
        wait.time_ns = vertices->time_ns[v + 1];
        wait.delta = -1;
        survey->waits[survey->count++] = wait;
    }
}

static void list_waits(struct survey *survey) {
    const struct dag *dag = survey->dag;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        if (thread->worker && survey->workers[thread->pool]) list_waits_of(survey, thread);
    }
    if (survey->count) qsort(survey->waits, survey->count, sizeof *survey->waits, compare_waits);
    size_t at = 0;
    for (uint32_t p = 0; p <= dag->pool_count; p++) {
        while (at < survey->count && survey->waits[at].pool < p) at++;
        survey->first[p] = at;
    }
}

// ---- pools that wait for each other

struct need { // some worker of a pool waits for a task of another
    uint32_t pool, of;
};

static int compare_needs(const void *a, const void *b) {
    const struct need *left = a, *right = b;
    if (left->pool != right->pool) return left->pool < right->pool ? -1 : 1;
    return (left->of > right->of) - (left->of < right->of);
}

// Each once. Returns how many.
static size_t list_needs(const struct survey *survey, struct need *needs) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const struct pool_wait *wait = &survey->waits[i];
        if (wait->delta > 0 && wait->pool != wait->of) needs[count++] = (struct need){wait->pool, wait->of};
    }
    if (count) qsort(needs, count, sizeof *needs, compare_needs);
    for (size_t i = 0; i < count; i++) {
        if (!kept || compare_needs(&needs[i], &needs[kept - 1]) != 0) needs[kept++] = needs[i];
    }
    return kept;
}

enum { WAITS_FOR_FIRST = 1, FIRST_WAITS_FOR = 2, BOTH = 3 };

// Marks what the first pool waits for, and what waits for it, directly or by way of others.
static void mark(const struct need *needs, size_t count, uint32_t first, uint8_t *marks) {
    marks[first] = BOTH;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            uint8_t *from = &marks[needs[i].pool], *to = &marks[needs[i].of];
            const uint8_t onward = *from & FIRST_WAITS_FOR & ~*to, back = *to & WAITS_FOR_FIRST & ~*from;
            *to |= onward;
            *from |= back;
            changed |= onward || back;
        }
    }
}

static bool find_rings(struct survey *survey) {
    const uint32_t pools = survey->dag->pool_count;
    struct need *needs = malloc((survey->count + 1) * sizeof *needs);
    uint8_t *marks = malloc((size_t)pools + 1);
    bool done = needs && marks;
    const size_t count = done ? list_needs(survey, needs) : 0;
    for (size_t i = 0; done && i < count; i++) {
        const uint32_t first = needs[i].pool;
        if ((i && needs[i - 1].pool == first) || survey->ring[first]) continue;
        memset(marks, 0, pools);
        mark(needs, count, first, marks);
        for (uint32_t p = first + 1; p < pools; p++) {
            if (marks[p] == BOTH) survey->ring[p] = survey->ring[first] = first;
        }
    }
    free(needs);
    free(marks);
    return done;
}

// ---- how many at once

struct level {
    uint32_t most, last; // workers that waited at once; that wait when recording ends
    const struct pool_wait *at;
};

// Of a pool's waits for tasks of the same pool alone, or of the pools that wait for each other.
static struct level level_of(const struct survey *survey, uint32_t pool, bool alone) {
    struct level level = {0};
    for (size_t i = survey->first[pool]; i < survey->first[pool + 1]; i++) {
        const struct pool_wait *wait = &survey->waits[i];
        if (alone ? wait->of != pool : survey->ring[wait->of] != survey->ring[pool]) continue;
        level.last += (uint32_t)wait->delta;
        if (level.last <= level.most) continue;
        level.most = level.last;
        level.at = wait;
    }
    return level;
}

// What lay in the pool's queue when recording ended, as far as that is known.
static uint64_t left_in_queue(const struct dag *dag, uint32_t pool) {
    const struct trace *trace = dag->trace;
    uint64_t count = 0;
    for (size_t i = 0; i < trace->queued_count; i++) count += trace->queued[i].pool == pool;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool stands = dag_task_stands(task), spawned = task->spawn_begin != DAG_NONE;
        if (task->pool != pool) continue;
        if (stands && task->start != DAG_NONE && !(task->flags & TASK_BEGUN_BEFORE) && count) count--;
        if (spawned && task->start == DAG_NONE && task->result == DAG_NONE && !(task->flags & TASK_REJECTED)) count++;
    }
    return count;
}

// The awaited task's site is not known where it was handed over before recording began.
static void say_sites(struct sentence *sentence, const struct dag *dag, const struct pool_wait *wait) {
    if (wait->waiter != DAG_NONE && wait->awaited != DAG_NONE)
        say(sentence, " (%s for %s)", phrase_site(dag, wait->waiter).text, phrase_site(dag, wait->awaited).text);
}

// ---- a pool by itself

static bool warn_of_halt(struct warnings *warnings, const struct survey *survey, uint32_t pool,
                         const struct level *level, struct error *error) {
    const uint64_t left = left_in_queue(survey->dag, pool);
    struct sentence sentence = {0};
    say(&sentence, "all %u workers of %s wait for tasks that only the same pool can run", survey->workers[pool],
        phrase_pool(survey->dag, pool).text);
    say_sites(&sentence, survey->dag, level->at);
    say(&sentence, ": %s%snothing can go on", left ? phrase_count(left).text : "", left ? " in its queue; " : "");
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_nesting(struct warnings *warnings, const struct survey *survey, uint32_t pool,
                            const struct level *level, struct error *error) {
    struct sentence sentence = {0};
    const uint32_t workers = survey->workers[pool];
    say(&sentence, "tasks of %s wait for tasks that only the same pool can run", phrase_pool(survey->dag, pool).text);
    say_sites(&sentence, survey->dag, level->at);
    if (level->most < workers)
        say(&sentence, ": at most %u of its %u workers waited so at once; when all do, none is left to run them",
            level->most, workers);
    else
        say(&sentence, ": all of its %u workers waited so at once, and none was left to run them", workers);
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_pool(struct warnings *warnings, const struct survey *survey, uint32_t pool, bool only_halts,
                         struct error *error) {
    const struct level level = level_of(survey, pool, true);
    if (level.most == 0) return true;
    if (level.last >= survey->workers[pool]) return warn_of_halt(warnings, survey, pool, &level, error);
    return only_halts || warn_of_nesting(warnings, survey, pool, &level, error);
}

// ---- pools that wait for each other

// The next member from a pool on; the number of pools: there is none.
static uint32_t next_member(const struct survey *survey, uint32_t ring, uint32_t pool) {
    while (pool < survey->dag->pool_count && survey->ring[pool] != ring) pool++;
    return pool;
}

static bool has_halted(const struct survey *survey, uint32_t ring) {
    const uint32_t pools = survey->dag->pool_count;
    for (uint32_t p = ring; p < pools; p = next_member(survey, ring, p + 1)) {
        if (level_of(survey, p, false).last < survey->workers[p]) return false;
    }
    return true;
}

// "all 3 workers of orders wait for tasks that only stock can run, and all 2 of stock for tasks that only orders can
// run"
static bool warn_of_halted_ring(struct warnings *warnings, const struct survey *survey, uint32_t ring,
                                struct error *error) {
    const struct dag *dag = survey->dag;
    uint64_t left = 0;
    struct sentence sentence = {0};
    for (uint32_t p = ring; p < dag->pool_count; p = next_member(survey, ring, p + 1)) {
        const struct level level = level_of(survey, p, false);
        say(&sentence, "%sall %u%s of %s%s for tasks that only %s can run", p == ring ? "" : ", and ",
            survey->workers[p], p == ring ? " workers" : "", phrase_pool(dag, p).text, p == ring ? " wait" : "",
            phrase_pool(dag, level.at->of).text);
        say_sites(&sentence, dag, level.at);
        left += left_in_queue(dag, p);
    }
    say(&sentence, ": %s%snothing can go on", left ? phrase_count(left).text : "", left ? " in their queues; " : "");
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_ring(struct warnings *warnings, const struct survey *survey, uint32_t ring, struct error *error) {
    const struct dag *dag = survey->dag;
    const uint32_t pools = dag->pool_count;
    struct sentence sentence = {0};
    for (uint32_t p = ring; p < pools; p = next_member(survey, ring, p + 1)) {
        const struct level level = level_of(survey, p, false);
        say(&sentence, "%s of %s%s for tasks that only %s can run", p == ring ? "tasks" : ", and those",
            phrase_pool(dag, p).text, p == ring ? " wait" : "", phrase_pool(dag, level.at->of).text);
        say_sites(&sentence, dag, level.at);
    }
    say(&sentence, ": ");
    for (uint32_t p = ring; p < pools; p = next_member(survey, ring, p + 1)) {
        const uint32_t most = level_of(survey, p, false).most;
        say(&sentence, "%s%u of %u%s of %s", p == ring ? "at most " : " and ", most, survey->workers[p],
            p == ring ? " workers" : "", phrase_pool(dag, p).text);
    }
    say(&sentence, " waited so at once; when all do, none is left to run them");
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_rings(struct warnings *warnings, const struct survey *survey, bool only_halts,
                          struct error *error) {
    bool done = true;
    for (uint32_t p = 1; done && p < survey->dag->pool_count; p++) {
        if (survey->ring[p] != p) continue;
        if (has_halted(survey, p))
            done = warn_of_halted_ring(warnings, survey, p, error);
        else
            done = only_halts || warn_of_ring(warnings, survey, p, error);
    }
    return done;
}

// ---- all together

static bool warn_of_all(struct warnings *warnings, const struct survey *survey, bool only_halts, struct error *error) {
    bool done = true;
    for (uint32_t p = 1; done && p < survey->dag->pool_count; p++)
        done = warn_of_pool(warnings, survey, p, only_halts, error);
    return done && warn_of_rings(warnings, survey, only_halts, error);
}

static bool look(struct warnings *warnings, const struct dag *dag, bool only_halts, struct error *error) {
    const size_t pools = (size_t)dag->pool_count + 1;
    struct survey survey = {.dag = dag,
                            .workers = calloc(pools, sizeof *survey.workers),
                            .ring = calloc(pools, sizeof *survey.ring),
                            .first = calloc(pools, sizeof *survey.first),
                            .waits = malloc(((size_t)dag->vertex_count + 1) * sizeof *survey.waits)};
    bool has_room = survey.workers && survey.ring && survey.first && survey.waits, done = false;
    for (uint32_t p = 1; has_room && p < dag->pool_count; p++) survey.workers[p] = most_workers(dag, p);
    if (has_room) list_waits(&survey);
    if (has_room && find_rings(&survey))
        done = warn_of_all(warnings, &survey, only_halts, error);
    else
        error_set(error, STATUS_FAILED, "no memory for warnings");
    free(survey.workers);
    free(survey.ring);
    free(survey.first);
    free(survey.waits);
    return done;
}

bool warn_of_pools(struct warnings *warnings, const struct dag *dag, struct error *error) {
    return look(warnings, dag, false, error);
}

bool warn_of_halted_pools(struct warnings *warnings, const struct dag *dag, struct error *error) {
    return look(warnings, dag, true, error);
}
