// SPDX-License-Identifier: GPL-3.0-or-later
// Batches: a task makes bodies, one right after the other, and hands over helpers; these and the task itself take the
// bodies, each the next one that is not taken yet, as a thread that waits for a pool would rather work with it. It is
// told by where the bodies ran: some in helpers, which the task had handed over behind the making, before anything
// else; some in the task itself, right behind that; and all are awaited. Tasks handed over there at a site of such
// helpers, and of their class, are helpers as well, though they came when nothing was left.
//
// Each took its units one right after the other: a helper first of all, the task behind its last helper's spawn. What
// is told otherwise is left as recorded.
#include "dag/build/builder.h"

#include <stdlib.h>

struct made { // a body, and by whom
    uint32_t owner, made_at, in;
    struct dag_unit unit;
};

struct helpers {               // of a site
    uint32_t most, task_class; // 0: it has none
};

struct search {
    struct dag *dag;
    struct made *made; // by made_at, by the task that ran them, by vertex
    uint32_t count;
    struct helpers *of_site;
    uint32_t batches, units, claims; // found so far
};

static bool ran_beside(const struct dag *dag, const struct made *made) {
    const struct dag_task *helper = &dag->tasks[made->in], *unit = &dag->tasks[made->unit.task];
    if (unit->flags & (TASK_PERMIT | TASK_SIGNAL) || unit->result == DAG_NONE || unit->enclosing != made->in)
        return false;
    if (unit->result < made->unit.first || unit->result >= helper->end) return false;
    if (made->in == made->owner) return made->unit.first > made->made_at;
    return helper->spawner == made->owner && helper->pool && helper->spawn_begin >= made->made_at;
}

static int by_taker(const void *a, const void *b) {
    const struct made *x = a, *y = b;
    if (x->made_at != y->made_at) return x->made_at < y->made_at ? -1 : 1;
    if (x->in != y->in) return x->in < y->in ? -1 : 1;
    return (x->unit.first > y->unit.first) - (x->unit.first < y->unit.first);
}

// What was both made and run where it could be told.
static bool join_notes(struct builder *builder, struct search *search) {
    const struct dag *dag = builder->dag;
    uint32_t *making = malloc(((size_t)dag->task_count + 1) * sizeof *making);
    search->made = malloc(((size_t)builder->beginning_count + 1) * sizeof *search->made);
    if (!making || !search->made) {
        free(making);
        return false;
    }
    for (uint32_t t = 0; t < dag->task_count; t++) making[t] = DAG_NONE;
    for (uint32_t i = builder->making_count; i-- > 0;) making[builder->makings[i].task] = i;
    for (uint32_t i = 0; i < builder->beginning_count; i++) {
        const struct nested_note *begins = &builder->beginnings[i];
        if (making[begins->task] == DAG_NONE) continue;
        const struct nested_note *makes = &builder->makings[making[begins->task]];
        struct made made = {
            makes->body, makes->vertex, begins->body, {begins->task, begins->vertex, dag->tasks[begins->task].result}};
        making[begins->task] = DAG_NONE; // what is run again has its result from the first time
        if (ran_beside(dag, &made)) search->made[search->count++] = made;
    }
    free(making);
    qsort(search->made, search->count, sizeof *search->made, by_taker);
    return true;
}

static uint32_t run_end(const struct search *search, uint32_t i) { // behind those that the same task took of one batch
    const struct made *of = &search->made[i];
    while (i < search->count && search->made[i].made_at == of->made_at && search->made[i].in == of->in) i++;
    return i;
}

static void find_helpers(struct search *search) {
    for (uint32_t i = 0, end; i < search->count; i = end) {
        const struct made *made = &search->made[i];
        const struct dag_task *helper = &search->dag->tasks[made->in];
        end = run_end(search, i);
        if (made->in == made->owner || helper->site == DAG_NONE) continue;
        struct helpers *of = &search->of_site[helper->site];
        if (of->most == 0) of->task_class = helper->task_class;
        if (of->task_class == helper->task_class && end - i > of->most) of->most = end - i;
    }
}

// Of those of a batch, the first that a task took, or the end.
static uint32_t first_of(const struct search *search, uint32_t from, uint32_t end, uint32_t task) {
    while (from < end) {
        const uint32_t middle = from + (end - from) / 2;
        if (search->made[middle].in < task)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

// Adds the claim before a vertex of a task that took `count` units there, one right behind the other. false: it did
// not.
static bool add_claim(struct search *search, uint32_t vertex, uint32_t first, uint32_t count, uint32_t most) {
    uint32_t after = vertex;
    for (uint32_t i = first; i < first + count; i++) {
        if (search->made[i].unit.first != after) return false;
        after = search->made[i].unit.last + 1;
    }
    search->dag->claims[search->claims++] = (struct dag_claim){vertex, after, search->batches, most};
    return true;
}

static uint32_t taken_by(const struct search *search, uint32_t first, uint32_t end, uint32_t task) {
    return first < end && search->made[first].in == task ? run_end(search, first) - first : 0;
}

// The task that is handed over at a vertex as a helper of the batch, or DAG_NONE.
static uint32_t helper_at(const struct search *search, uint32_t owner, uint32_t v) {
    const struct dag *dag = search->dag;
    const uint32_t t =
        v < dag->tasks[owner].end && dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN ? dag->vertices.task[v] : DAG_NONE;
    if (t == DAG_NONE || dag->tasks[t].spawner != owner || dag->tasks[t].site == DAG_NONE) return DAG_NONE;
    const struct helpers *of = &search->of_site[dag->tasks[t].site];
    return of->most && of->task_class == dag->tasks[t].task_class && dag->tasks[t].pool ? t : DAG_NONE;
}

// Behind the vertices between which the batch's helpers are handed over: where its task makes the next one.
static uint32_t helpers_until(const struct search *search, uint32_t end) {
    return end < search->count ? search->made[end].made_at : DAG_NONE;
}

// The claims of a batch, whose units lie from `first` to `end`; how many of these they take, 0 if one can't be told.
static uint32_t add_claims(struct search *search, uint32_t first, uint32_t end, struct dag_batch *batch) {
    const struct dag *dag = search->dag;
    const uint32_t owner = search->made[first].owner, until = helpers_until(search, end);
    uint32_t v = search->made[first].made_at, taken = 0;
    batch->pool = 0;
    for (uint32_t t; v < until && (t = helper_at(search, owner, v)) != DAG_NONE; v = dag->tasks[t].spawn_end + 1) {
        const struct dag_task *helper = &dag->tasks[t];
        if (batch->pool == 0) batch->pool = helper->pool;
        batch->site = helper->site;
        if (helper->pool != batch->pool || helper->start == DAG_NONE || helper->spawn_end == helper->spawn_begin)
            return 0;
        const uint32_t from = first_of(search, first, end, t), count = taken_by(search, from, end, t);
        if (!add_claim(search, helper->start + 1, from, count, search->of_site[helper->site].most)) return 0;
        taken += count;
    }
    const uint32_t from = first_of(search, first, end, owner), count = taken_by(search, from, end, owner);
    if (batch->pool == 0 || !add_claim(search, v, from, count, UINT32_MAX)) return 0;
    return taken + count;
}

struct taken { // when
    int64_t time_ns;
    struct dag_unit unit;
};

static int by_time(const void *a, const void *b) {
    const struct taken *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->unit.first > y->unit.first) - (x->unit.first < y->unit.first);
}

static void add_batch(struct search *search, uint32_t first, uint32_t end, struct taken *taken) {
    struct dag *dag = search->dag;
    const uint32_t claims = search->claims;
    struct dag_batch batch = {.first_unit = search->units, .unit_count = end - first};
    if (add_claims(search, first, end, &batch) != end - first) {
        search->claims = claims;
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        const struct dag_unit unit = search->made[i].unit;
        taken[i - first] = (struct taken){dag->vertices.time_ns[unit.first - 1], unit};
    }
    qsort(taken, end - first, sizeof *taken, by_time);
    dag->batches[search->batches++] = batch;
    for (uint32_t i = first; i < end; i++) dag->units[search->units++] = taken[i - first].unit;
}

static int by_vertex(const void *a, const void *b) {
    const struct dag_claim *x = a, *y = b;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static bool add_batches(struct search *search) {
    struct dag *dag = search->dag;
    struct taken *taken = malloc(((size_t)search->count + 1) * sizeof *taken);
    dag->batches = ARENA_NEW(&dag->arena, struct dag_batch, (size_t)search->count + 1);
    dag->units = ARENA_NEW(&dag->arena, struct dag_unit, (size_t)search->count + 1);
    dag->claims = ARENA_NEW(&dag->arena, struct dag_claim, (size_t)search->count + dag->task_count + 1);
    const bool ok = taken && dag->batches && dag->units && dag->claims;
    for (uint32_t i = 0, end; ok && i < search->count; i = end) {
        for (end = i; end < search->count && search->made[end].made_at == search->made[i].made_at;) end++;
        add_batch(search, i, end, taken);
    }
    free(taken);
    dag->batch_count = search->batches;
    dag->claim_count = search->claims;
    if (ok) qsort(dag->claims, dag->claim_count, sizeof *dag->claims, by_vertex);
    return ok;
}

bool find_batches(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (builder->making_count == 0 || builder->beginning_count == 0) return true;
    struct search search = {.dag = dag, .of_site = calloc((size_t)dag->site_count + 1, sizeof *search.of_site)};
    bool ok = search.of_site && join_notes(builder, &search);
    if (ok) find_helpers(&search);
    ok = ok && (search.count == 0 || add_batches(&search));
    free(search.made);
    free(search.of_site);
    return ok || no_memory(builder);
}
