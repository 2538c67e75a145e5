// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of what a model does not know, and of what a change assumes.
#include "optimize/warn_estimate.h"

#include "metrics/warm.h"
#include "optimize/branch.h"
#include "optimize/sentence.h"
#include "optimize/warn_resources.h"

#include <stdlib.h>
#include <string.h>

// The model

bool warn_of_replay(struct warnings *warnings, const struct replay_error *replay_error, struct error *error) {
    if (replay_error->share <= LEAST_NOISE) return true;
    return warnings_say(
        warnings, error,
        "the model is off by %.1f %% in the %s when nothing is changed: smaller differences there mean nothing",
        100 * replay_error->share, replay_error->figure);
}

static bool follows_cores(double number, double cores) {
    return cores > 1 && (number == cores || number == cores - 1 || number == cores + 1 || number == 2 * cores);
}

static bool warn_of_pool_size(struct warnings *warnings, const struct dag *dag, uint32_t pool, double cores,
                              struct error *error) {
    const int32_t size = dag->pools[pool].core;
    if (!follows_cores(size, cores)) return true;
    return warnings_say(
        warnings, error,
        "%s has %d threads on %.0f cores: where its size follows the cores, it does so in the program, not here",
        phrase_pool(dag, pool).text, size, cores);
}

// How many tasks of a site each spawner spawned. 0: not all as many; there are at least two spawners, or one of main's.
static uint32_t tasks_per_spawner(const struct dag *dag, uint32_t site, uint32_t *spawned) {
    uint32_t each = 0;
    bool same = true;
    memset(spawned, 0, ((size_t)dag->task_count + 1) * sizeof *spawned);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site == site && !(task->flags & TASK_NESTED))
            spawned[task->spawner == DAG_NONE ? dag->task_count : task->spawner]++;
    }
    for (uint32_t t = 0; t <= dag->task_count && same; t++) {
        if (spawned[t] == 0) continue;
        same = each == 0 || spawned[t] == each;
        each = spawned[t];
    }
    return same ? each : 0;
}

static bool warn_of_task_counts(struct warnings *warnings, const struct dag *dag, double cores, struct error *error) {
    uint32_t *spawned = malloc(((size_t)dag->task_count + 1) * sizeof *spawned);
    bool done = spawned || error_set(error, STATUS_FAILED, "no memory for warnings");
    for (uint32_t s = 0; done && s < dag->site_count; s++) {
        uint32_t each = tasks_per_spawner(dag, s, spawned);
        if (!follows_cores(each, cores)) continue;
        done = warnings_say(
            warnings, error,
            "%s spawns %u tasks at a time on %.0f cores: where that follows the cores, it does so in the program, not "
            "here",
            phrase_site(dag, s).text, each, cores);
    }
    free(spawned);
    return done;
}

static bool warn_of_cores(struct warnings *warnings, const struct dag *dag, double wanted, struct error *error) {
    const double cores = dag->trace->header.cores;
    if (wanted == 0 || wanted == cores) return true;
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        if (!warn_of_pool_size(warnings, dag, p, cores, error)) return false;
    }
    return warn_of_task_counts(warnings, dag, cores, error);
}

// Whether the thread that spawned it waited before it spawned the next one of the site: for a reply, or for a gap that
// replies make.
static bool waits_before_next(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = task->spawn_end + 1; v < dag->vertex_count; v++) {
        if (vertices->kind[v] == VERTEX_WAIT_BEGIN) return true;
        if (vertices->kind[v] == VERTEX_THREAD_START || vertices->kind[v] == VERTEX_END) return false;
        if (vertices->kind[v] == VERTEX_SPAWN_BEGIN && vertices->task[v] != DAG_NONE &&
            dag->tasks[vertices->task[v]].site == task->site) {
            return false;
        }
    }
    return false;
}

static bool warn_of_rate(struct warnings *warnings, const struct dag *dag, const struct model *model,
                         struct error *error) {
    uint32_t waiting = 0, count = 0;
    if (model->rate == 0) return true;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site != model->rate_site || task->spawn_end == DAG_NONE || task->flags & TASK_NESTED) continue;
        count++;
        waiting += waits_before_next(dag, task);
    }
    if (waiting == 0) return true;
    return warnings_say(warnings, error,
                        "after %s of %s of %s the thread that brings them waits: whether more would come while it does "
                        "is not known",
                        phrase_count(waiting).text, phrase_counted(count, "request").text,
                        phrase_site(dag, model->rate_site).text);
}

// What ran where it was handed over, or in the body of its waiter, is dispatched by no rule.
static bool is_for_workers(const struct dag_task *task) {
    bool dispatched = task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_QUEUED;
    return task->start != DAG_NONE && (dispatched || dag_task_stands(task));
}

// Pools by whose rules nothing can be dispatched, and what they were handed.
struct unknown_rules {
    uint32_t pools, largest, of_largest; // pools; the one with most tasks; and these
    uint64_t tasks;
};

static struct unknown_rules find_unknown_rules(const struct dag *dag, const uint32_t *tasks) {
    struct unknown_rules unknown = {0};
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        if (tasks[p] == 0 || dag->pools[p].discipline != DISCIPLINE_UNKNOWN) continue;
        unknown.pools++;
        unknown.tasks += tasks[p];
        if (tasks[p] <= unknown.of_largest) continue;
        unknown.of_largest = tasks[p];
        unknown.largest = p;
    }
    return unknown;
}

static bool warn_of_unknown(struct warnings *warnings, const struct dag *dag, struct unknown_rules unknown,
                            struct error *error) {
    if (unknown.pools == 0) return true;
    const struct phrase largest = phrase_pool(dag, unknown.largest), tasks = phrase_counted(unknown.tasks, "task");
    const char *stay = unknown.tasks == 1 ? "stays" : "stay";
    if (unknown.pools == 1)
        return warnings_say(warnings, error,
                            "by which rules %s takes tasks up is not known: its %s %s with the workers that had them",
                            largest.text, tasks.text, stay);
    return warnings_say(warnings, error,
                        "by which rules %s pools take tasks up is not known (%s has most, %s): their %s %s with the "
                        "workers that had them",
                        phrase_count(unknown.pools).text, largest.text, phrase_count(unknown.of_largest).text,
                        tasks.text, stay);
}

static bool warn_of_unknown_rules(struct warnings *warnings, const struct dag *dag, struct error *error) {
    uint32_t *tasks = calloc((size_t)dag->pool_count + 1, sizeof *tasks);
    if (!tasks) return error_set(error, STATUS_FAILED, "no memory for warnings");
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool < dag->pool_count && is_for_workers(task)) tasks[task->pool]++;
    }
    const bool done = warn_of_unknown(warnings, dag, find_unknown_rules(dag, tasks), error);
    free(tasks);
    return done;
}

// Whether the program had at least half of the cores all the time: where it sleeps for the most part, it matters little
// what code costs. Known of traces that tell of compilers.
static bool computes_much(const struct dag *dag) {
    if (dag->sample_count < 2) return false;
    const struct dag_sample *first = &dag->samples[0], *last = &dag->samples[dag->sample_count - 1];
    const double cores_ns = (double)dag->trace->header.cores * (double)(last->time_ns - first->time_ns);
    return last->compiled_ns > 0 && (double)(last->process_cpu_ns - first->process_cpu_ns) >= cores_ns / 2;
}

// Of a run whose code was being compiled for the better part of it. The shorter it is, the less its tasks tell of what
// code costs when others are at it.
static bool warn_of_cold(struct warnings *warnings, const struct dag *dag, struct error *error) {
    enum { SHORT_NS = 2000000000 };
    struct warm warm;
    if (!computes_much(dag)) return true;
    if (!warm_of_run(dag, &warm, error)) return false;
    const int64_t wall_ns = dag->last_ns - dag->first_ns, cold_ns = warm.from_ns - dag->first_ns;
    if (warm.verdict == WARM_NEVER)
        return warnings_say(warnings, error,
                            "the run did not become warm: its tasks cost less and less up to its end. An estimate goes "
                            "by what they tell of that, and may be off by a %s and more; a longer run tells more",
                            wall_ns < SHORT_NS ? "half" : "tenth");
    if (warm.verdict != WARM_FOUND || cold_ns < wall_ns / 2) return true;
    return warnings_say(warnings, error,
                        "the run was cold for %s of its %s: estimates go by what its tasks tell of that. What lasts is "
                        "told by a longer run, or of the rest by --window warm",
                        phrase_duration((double)cold_ns).text, phrase_duration((double)wall_ns).text);
}

// Where that is a good part of the run, and so may be of what changes.
static bool warn_of_looks(struct warnings *warnings, const struct dag *dag, struct error *error) {
    static const double least_share = 0.05;
    if ((double)dag->looked_ns < least_share * (double)(dag->last_ns - dag->first_ns)) return true;
    return warnings_say(warnings, error,
                        "for %s threads slept until right after the last end of what they had handed over, and no "
                        "event says why: they are taken to have waited for it",
                        phrase_duration((double)dag->looked_ns).text);
}

bool warn_of_model(struct warnings *warnings, const struct dag *dag, const struct model *model, struct error *error) {
    const bool re_enacts = model->kind != MODEL_DAG;
    return warn_of_looks(warnings, dag, error) && (!re_enacts || warn_of_unknown_rules(warnings, dag, error)) &&
           (!re_enacts || warn_of_unknown_holders(warnings, dag, error)) &&
           (!re_enacts || warn_of_signals(warnings, dag, error)) && warn_of_cores(warnings, dag, model->cores, error) &&
           warn_of_rate(warnings, dag, model, error) &&
           (model->kind != MODEL_CPU || warn_of_cold(warnings, dag, error));
}

// A change

// What its tasks do that another order or another thread might change.
struct findings {
    uint32_t locked;          // tasks that slept for a resource that another thread had
    uint32_t ask;             // of these the longest wait
    uint32_t timed_out;       // tasks that gave up waiting, or that another gave up
    const char *by_thread;    // a name that speaks of state kept by thread, or NULL
    const char *by_thread_in; // class of the function that has it, or NULL
};

static bool gave_up(const struct dag *dag, uint32_t wait_end) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (vertices->kind[wait_end] != VERTEX_WAIT_END || vertices->task[wait_end] == DAG_NONE) return false;
    const uint32_t result = dag->tasks[vertices->task[wait_end]].result;
    const bool late = result != DAG_NONE && vertices->time_ns[result] > vertices->time_ns[wait_end];
    return vertices->cause[wait_end] == DAG_NONE && late &&
           vertices->time_ns[wait_end] > vertices->time_ns[wait_end - 1];
}

static int64_t wait_ns(const struct dag *dag, uint32_t index) {
    const struct dag_ask *ask = &dag->asks[index];
    if (ask->asked == DAG_NONE || ask->got == DAG_NONE) return 0;
    return dag->vertices.time_ns[ask->got] - dag->vertices.time_ns[ask->asked];
}

static void look_into_body(const struct dag *dag, const struct dag_task *task, struct findings *findings) {
    const struct dag_vertices *vertices = &dag->vertices;
    bool locked = false, timed_out = false;
    for (uint32_t v = task->start + 1; v < task->end; v++) {
        if (vertices->kind[v] == VERTEX_START && dag->tasks[vertices->task[v]].end != DAG_NONE) {
            v = dag->tasks[vertices->task[v]].end; // another task's
        } else if (vertices->kind[v] == VERTEX_ACQUIRE) {
            if (!findings->locked && !locked) findings->ask = vertices->task[v];
            locked = true;
            if (wait_ns(dag, vertices->task[v]) > wait_ns(dag, findings->ask)) findings->ask = vertices->task[v];
        } else {
            timed_out |= gave_up(dag, v);
        }
    }
    findings->locked += locked;
    findings->timed_out += timed_out;
}

static const char *names_state_by_thread(const char *text) {
    static const char *const parts[] = {"ThreadLocal", "Transaction", "SecurityContext", "RequestContext"};
    for (size_t i = 0; text && i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(text, parts[i])) return text;
    }
    return NULL;
}

static void look_at_path(const struct dag *dag, uint32_t path, struct findings *findings) {
    for (uint32_t i = 0; i < dag->paths[path].length && !findings->by_thread; i++) {
        const struct trace_method *method = &dag->trace->methods[dag->paths[path].methods[i]];
        if (!names_state_by_thread(method->class_name) && !names_state_by_thread(method->name)) continue;
        findings->by_thread_in = method->class_name;
        findings->by_thread = method->name;
    }
}

static void look_at_class(const struct dag *dag, uint32_t task_class, struct findings *findings) {
    const char *name = task_class && task_class < dag->trace->class_count ? dag->trace->classes[task_class].name : NULL;
    if (!findings->by_thread) findings->by_thread = names_state_by_thread(name);
}

static struct findings look_at(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    struct findings findings = {0};
    uint32_t last_path = DAG_NONE;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start == DAG_NONE || task->end == DAG_NONE) continue;
        look_into_body(dag, task, &findings);
        if (task->path != last_path && task->path < dag->path_count) look_at_path(dag, task->path, &findings);
        look_at_class(dag, task->task_class, &findings);
        last_path = task->path;
    }
    return findings;
}

// Where what an acquisition waited for was taken by the thread that had it; 0 unknown.
static uint32_t held_at(const struct dag *dag, const struct dag_ask *ask) {
    const uint32_t freed = ask->got == DAG_NONE ? DAG_NONE : dag->vertices.cause[ask->got];
    if (freed == DAG_NONE || !vertex_is_of_resource(dag->vertices.kind[freed])) return 0;
    return dag->asks[dag->vertices.task[freed]].site;
}

static bool warn_of_locks(struct warnings *warnings, const struct dag *dag, const struct findings *findings,
                          struct error *error) {
    if (findings->locked == 0) return true;
    const struct dag_ask *ask = &dag->asks[findings->ask];
    const uint32_t holder = held_at(dag, ask);
    struct sentence sentence = {0};
    say(&sentence, "%s waited for %s", phrase_counted(findings->locked, "task").text,
        phrase_resource(dag, ask->resource, 0).text);
    if (ask->site) say(&sentence, " at %s", phrase_place(dag, ask->site).text);
    if (holder) say(&sentence, ", held by what took it at %s", phrase_place(dag, holder).text);
    say(&sentence, ": on other threads, or in another order, they share it differently");
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_time(struct warnings *warnings, const struct findings *findings, struct error *error) {
    if (findings->timed_out == 0) return true;
    return warnings_say(
        warnings, error,
        "%s gave up a wait before the result came: the timeout is kept as recorded, and may come out otherwise",
        phrase_counted(findings->timed_out, "task").text);
}

static bool warn_of_state(struct warnings *warnings, const struct findings *findings, struct error *error) {
    const char *in = findings->by_thread_in;
    if (!findings->by_thread) return true;
    return warnings_say(warnings, error,
                        "its tasks seem to keep state by thread, known by the name %s%s%s alone: on another thread it "
                        "is another one's",
                        in ? in : "", in ? "." : "", findings->by_thread);
}

static bool warn_of_branch(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    const struct branch branch = branch_find(improvement);
    if (!branch.known) return warnings_add(warnings, "where its path parts from the others is not known", error);
    return warnings_say(warnings, error, "its path parts from the others where %s is entered or not%s",
                        phrase_method(improvement->dag, branch.leads_to).text,
                        branch.late ? ", so late in the task that the spawner may be unable to decide"
                                    : ": that the spawner can tell is assumed");
}

// What each kind assumes of the code, whatever the trace shows.
static bool warn_of_kind(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    if (improvement->follows_cores &&
        !warnings_add(warnings, "the number of its tasks seems to follow the cores or the size of the pool", error)) {
        return false;
    }
    switch (improvement->kind) {
    case KIND_HOIST_BRANCH:
        return warn_of_branch(warnings, improvement, error);
    case KIND_SPLIT:
        return warnings_add(warnings, "that its work divides into equal parts is assumed", error);
    default:
        return true;
    }
}

// "3 of 240 tasks are left as they are: 2 were cancelled, 1 had not ended when recording did"
static bool warn_of_left_out(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    static const char *const reasons[LEFT_OUT_KINDS][2] = {
        [LEFT_OUT_CANCELLED] = {"was cancelled", "were cancelled"},
        [LEFT_OUT_REJECTED] = {"was rejected by its pool", "were rejected by their pool"},
        [LEFT_OUT_UNENDED] = {"had not ended when recording did", "had not ended when recording did"},
        [LEFT_OUT_LOST_END] = {"has no end that was recorded", "have no end that was recorded"},
        [LEFT_OUT_OUT_OF_ORDER] = {"was recorded as starting before its spawn",
                                   "were recorded as starting before their spawn"},
        [LEFT_OUT_MIXED] = {"was handed over together with work for others",
                            "were handed over together with work for others"},
    };
    const uint32_t count = improvement_left_out(improvement);
    if (count == 0) return true;
    struct sentence sentence = {0};
    const char *separator = ": ";
    say(&sentence, "%s of %s %s", phrase_count(count).text,
        phrase_counted(count + improvement->task_count, "task").text,
        count == 1 ? "is left as it is" : "are left as they are");
    for (unsigned kind = LEFT_OUT_NOT + 1; kind < LEFT_OUT_KINDS; kind++) {
        if (improvement->left_out[kind] == 0) continue;
        say(&sentence, "%s%s %s", separator, phrase_count(improvement->left_out[kind]).text,
            reasons[kind][improvement->left_out[kind] > 1]);
        separator = ", ";
    }
    return warnings_add(warnings, sentence.text, error);
}

// What a change of actors assumes of the code; and of their beginnings, which of them it leaves.
static bool warn_of_actors(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    switch (improvement->kind) {
    case KIND_MERGE_ACTORS:
        return warnings_add(warnings, "that actors of this type can share one state is assumed", error);
    case KIND_SPLIT_ACTOR:
        return warnings_add(
            warnings, "that its state can be divided is assumed; messages to different copies come in no order", error);
    case KIND_INLINE_MESSAGE:
        return warnings_add(warnings, "that the receiver is known to the sender, and may be called by it, is assumed",
                            error);
    default:
        return true;
    }
}

// Of a pool whose tasks race, as those of invokeAny: with more threads more of them begin before the first has won.
static bool warn_of_races(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    enum { LEAST_SHARE = 20 };
    const struct dag *dag = improvement->dag;
    uint32_t count = 0, cancelled = 0, unbegun = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!improvement_is_of_pool(improvement, task->pool) || task->flags & TASK_NESTED) continue;
        count++;
        if (!dag_task_is_cancelled(dag, task)) continue;
        cancelled++;
        unbegun += task->start == DAG_NONE;
    }
    if (cancelled < 2 || cancelled < count / LEAST_SHARE) return true;
    return warnings_say(warnings, error,
                        "%s of %s of %s were cancelled, %s before they began: which of them begin depends on its size, "
                        "and what those take that did not, or did not come to their end, is not known",
                        phrase_count(cancelled).text, phrase_counted(count, "task").text,
                        phrase_pool(dag, improvement->pool).text, unbegun ? phrase_count(unbegun).text : "none");
}

static bool warn_of_size(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    const struct dag *dag = improvement->dag;
    const bool is_dealt = improvement->pool < dag->pool_count && dag->pools[improvement->pool].is_dealt;
    if (is_dealt && !warnings_say(warnings, error,
                                  "%s are executors of one thread each: that tasks are dealt to them by turns is "
                                  "assumed",
                                  phrase_pool(dag, improvement->pool).text))
        return false;
    if (improvement->alike &&
        !warnings_say(warnings, error,
                      "that the same code makes %s and %u more pools is assumed: they have the "
                      "same rules, and their tasks come from the same places",
                      phrase_pool(dag, improvement->pool).text, dag->pools[improvement->pool].alike_count - 1))
        return false;
    return warn_of_races(warnings, improvement, error);
}

bool warn_of_change(struct warnings *warnings, const struct improvement *improvement, struct error *error) {
    if (improvement_is_of_actors(improvement)) return warn_of_actors(warnings, improvement, error);
    if (improvement->kind == KIND_RESIZE_POOL) return warn_of_size(warnings, improvement, error);
    if (!improvement_is_of_site(improvement)) return true; // tasks stay on threads of their pool
    const struct findings findings = look_at(improvement);
    return warn_of_kind(warnings, improvement, error) && warn_of_left_out(warnings, improvement, error) &&
           warn_of_locks(warnings, improvement->dag, &findings, error) && warn_of_time(warnings, &findings, error) &&
           warn_of_state(warnings, &findings, error);
}
