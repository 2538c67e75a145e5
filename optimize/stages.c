// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/stages.h"

#include "dag/edit/body.h"

#include <stdlib.h>
#include <string.h>

enum method { THEN_APPLY, THEN_COMBINE, THEN_COMPOSE, ALL_OF };
static const char *const method_names[] = {"thenApply", "thenCombine", "thenCompose", "allOf"};

struct draft {
    uint32_t first_input, input_count, tasks, rounds;
    enum method method;
    bool composes; // all that it awaits was spawned since the stage before
};

// The stages of one coordinator on their way. inputs and drafts have room for each of its waits.
struct drafting {
    const struct dag *dag;
    uint32_t *inputs;
    struct draft *drafts;
    uint32_t input_count, count;
    uint32_t coordinator;
    bool follows;     // the first stage that waits follows a task of a pool
    uint32_t since;   // vertex where the stage before began
    uint32_t awaited; // vertex of the last wait's end, DAG_NONE before the first
    int64_t no_work_ns;
};

bool stages_coordinates(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (task->start == DAG_NONE) return false;
    bool coordinates = false;
    for (uint32_t v = body_next(dag, task->start); v < task->end && !coordinates; v = body_next(dag, v)) {
        uint32_t awaited = dag->vertices.task[v];
        if (dag->vertices.kind[v] != VERTEX_WAIT_BEGIN || awaited == DAG_NONE) continue;
        coordinates = dag->tasks[awaited].spawner == index;
    }
    return coordinates;
}

static void choose_method(struct drafting *drafting) {
    struct draft *draft = &drafting->drafts[drafting->count - 1];
    bool follows = drafting->follows || drafting->count > 1;
    uint32_t inputs = draft->tasks + follows;
    if (follows && draft->composes)
        draft->method = THEN_COMPOSE;
    else
        draft->method = inputs == 1 ? THEN_APPLY : inputs == 2 ? THEN_COMBINE : ALL_OF;
}

static bool is_alike(const struct drafting *drafting, const struct draft *a, const struct draft *b) {
    return a->method == b->method && a->input_count == b->input_count &&
           memcmp(&drafting->inputs[a->first_input], &drafting->inputs[b->first_input],
                  a->input_count * sizeof(uint32_t)) == 0;
}

// Ends the stage that waits were added to. A loop's stages are as one.
static void close_stage(struct drafting *drafting) {
    if (drafting->count == 0) return;
    choose_method(drafting);
    if (drafting->count == 1) return;
    struct draft *last = &drafting->drafts[drafting->count - 1], *before = last - 1;
    if (!is_alike(drafting, before, last)) return;
    before->tasks += last->tasks;
    before->rounds++;
    drafting->input_count = last->first_input;
    drafting->count--;
}

static void open_stage(struct drafting *drafting) {
    close_stage(drafting);
    if (drafting->awaited != DAG_NONE) drafting->since = drafting->awaited;
    drafting->drafts[drafting->count++] =
        (struct draft){.first_input = drafting->input_count, .rounds = 1, .composes = true};
}

static void add_input(struct drafting *drafting, uint32_t awaited) {
    struct draft *draft = &drafting->drafts[drafting->count - 1];
    const struct dag_task *task = &drafting->dag->tasks[awaited];
    draft->tasks++;
    draft->composes &=
        drafting->since != DAG_NONE && task->spawner == drafting->coordinator && task->spawn_begin > drafting->since;
    if (task->site == DAG_NONE) return;
    for (uint32_t i = 0; i < draft->input_count; i++) {
        if (drafting->inputs[draft->first_input + i] == task->site) return;
    }
    drafting->inputs[drafting->input_count++] = task->site;
    draft->input_count++;
}

static void draft_stages(struct drafting *drafting, uint32_t index) {
    const struct dag *dag = drafting->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    const struct dag_task *task = &dag->tasks[index];
    uint32_t before = task->start;
    drafting->coordinator = index;
    drafting->input_count = drafting->count = 0;
    drafting->since = drafting->follows ? task->start : DAG_NONE;
    drafting->awaited = DAG_NONE;
    drafting->no_work_ns =
        dag->wakeup_ns ? dag->wakeup_ns : (vertices->time_ns[task->end] - vertices->time_ns[before]) / 10;
    for (uint32_t v = body_next(dag, task->start); v < task->end; before = v, v = body_next(dag, v)) {
        if (vertices->task[v] == DAG_NONE) continue;
        if (vertices->kind[v] == VERTEX_WAIT_BEGIN) {
            bool worked =
                before != drafting->awaited || vertices->time_ns[v] - vertices->time_ns[before] > drafting->no_work_ns;
            if (worked) open_stage(drafting);
        } else if (vertices->kind[v] == VERTEX_WAIT_END && drafting->count) {
            add_input(drafting, vertices->task[v]);
            drafting->awaited = v;
        }
    }
    close_stage(drafting);
}

struct shape {
    uint64_t hash;
    uint32_t task;
};

static uint64_t add_to_hash(uint64_t hash, uint64_t value) { // FNV-1a, a word at a time
    return (hash ^ value) * 0x100000001B3u;
}

static uint64_t hash_drafts(const struct drafting *drafting) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (uint32_t i = 0; i < drafting->count; i++) {
        const struct draft *draft = &drafting->drafts[i];
        hash = add_to_hash(add_to_hash(hash, draft->method), draft->input_count);
        for (uint32_t j = 0; j < draft->input_count; j++) {
            hash = add_to_hash(hash, drafting->inputs[draft->first_input + j]);
        }
    }
    return hash;
}

static int compare_shapes(const void *a, const void *b) {
    const struct shape *left = a, *right = b;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

// The first task of the shape that most have; of two as frequent, the one with the first task.
static struct shape commonest(struct shape *shapes, uint32_t count, uint32_t *most) {
    struct shape found = shapes[0];
    qsort(shapes, count, sizeof *shapes, compare_shapes);
    *most = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && shapes[end].hash == shapes[first].hash;) end++;
        if (end - first < *most || (end - first == *most && shapes[first].task > found.task)) continue;
        *most = end - first;
        found = shapes[first];
    }
    return found;
}

static uint32_t most_waits(const struct dag *dag, const uint32_t *tasks, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t waits = 0;
        const struct dag_task *task = &dag->tasks[tasks[i]];
        for (uint32_t v = body_next(dag, task->start); v < task->end; v = body_next(dag, v)) {
            waits += dag->vertices.kind[v] == VERTEX_WAIT_BEGIN;
        }
        if (waits > most) most = waits;
    }
    return most;
}

static bool keep_stages(const struct drafting *drafting, struct arena *arena, struct stages *stages) {
    uint32_t *inputs = ARENA_NEW(arena, uint32_t, (size_t)drafting->input_count + 1);
    struct stage *items = ARENA_NEW(arena, struct stage, (size_t)drafting->count + 1);
    if (!inputs || !items) return false;
    memcpy(inputs, drafting->inputs, drafting->input_count * sizeof *inputs);
    for (uint32_t i = 0; i < drafting->count; i++) {
        const struct draft *draft = &drafting->drafts[i];
        items[i] = (struct stage){.inputs = inputs + draft->first_input,
                                  .input_count = draft->input_count,
                                  .tasks = draft->tasks,
                                  .rounds = draft->rounds,
                                  .method = method_names[draft->method]};
    }
    stages->items = items;
    stages->count = drafting->count;
    return true;
}

bool stages_find(const struct dag *dag, const uint32_t *tasks, uint32_t count, enum dag_first_stage first,
                 struct arena *arena, struct stages *stages) {
    *stages = (struct stages){0};
    if (count == 0) return true;
    const size_t waits = (size_t)most_waits(dag, tasks, count) + 1;
    struct drafting drafting = {.dag = dag,
                                .follows = first == FIRST_STAGE_ON_POOL,
                                .inputs = malloc(waits * sizeof *drafting.inputs),
                                .drafts = malloc(waits * sizeof *drafting.drafts)};
    struct shape *shapes = malloc(count * sizeof *shapes);
    bool done = drafting.inputs && drafting.drafts && shapes;
    for (uint32_t i = 0; done && i < count; i++) {
        draft_stages(&drafting, tasks[i]);
        shapes[i] = (struct shape){hash_drafts(&drafting), tasks[i]};
    }
    if (done) {
        draft_stages(&drafting, commonest(shapes, count, &stages->coordinators).task);
        done = keep_stages(&drafting, arena, stages);
    }
    free(drafting.inputs);
    free(drafting.drafts);
    free(shapes);
    return done;
}
