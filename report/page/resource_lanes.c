// SPDX-License-Identifier: GPL-3.0-or-later
// As metrics/resources.c counts them: a wait lies between two vertices that stand side by side, what is held between
// one and a later one of its thread.
#include "report/page/laid_lanes.h"

#include "dag/names.h"

#include <stdio.h>
#include <stdlib.h>

struct hold {
    uint32_t resource, vertex;
};

struct laying {
    const struct lanes *lanes;
    const struct dag *run;
    struct laid_lanes *laid;
    struct hold *holds; // of the thread in hand
    uint32_t hold_count, hold_capacity;
    int64_t *weights; // a resource each
    uint32_t *ranks;
    bool no_memory;
};

// ---- holds

static const struct dag_ask *ask_at(const struct dag *run, uint32_t vertex) {
    return vertex_is_of_resource(run->vertices.kind[vertex]) ? &run->asks[run->vertices.task[vertex]] : NULL;
}

// What is taken and never given back is no hold; nor is a lock that the thread has already.
bool hold_begins(const struct dag *run, uint32_t vertex) {
    const unsigned kind = run->vertices.kind[vertex];
    const struct dag_ask *ask = ask_at(run, vertex);
    return (kind == VERTEX_ACQUIRED || kind == VERTEX_HELD) && ask->units != 0 &&
           run->resources[ask->resource].goes_round;
}

static bool hold_ends(const struct dag *run, uint32_t vertex) {
    return run->vertices.kind[vertex] == VERTEX_RELEASED && ask_at(run, vertex)->units != 0;
}

uint32_t hold_end(const struct dag *run, uint32_t got) {
    const struct dag_thread *thread = &run->threads[dag_thread_of(run, got)];
    const uint32_t resource = ask_at(run, got)->resource;
    uint32_t open = 0;
    for (uint32_t v = got + 1; v < thread->first + thread->count; v++) {
        const struct dag_ask *ask = ask_at(run, v);
        if (!ask || ask->resource != resource) continue;
        if (hold_begins(run, v)) open++;
        if (hold_ends(run, v) && open-- == 0) return v;
    }
    return DAG_NONE;
}

uint32_t hold_begin(const struct dag *run, uint32_t released) {
    const uint32_t first = run->threads[dag_thread_of(run, released)].first;
    const uint32_t resource = ask_at(run, released)->resource;
    uint32_t open = 0;
    for (uint32_t v = released; v-- > first;) {
        const struct dag_ask *ask = ask_at(run, v);
        if (!ask || ask->resource != resource) continue;
        if (hold_ends(run, v)) open++;
        if (hold_begins(run, v) && open-- == 0) return v;
    }
    return DAG_NONE;
}

int64_t hold_until_ns(const struct lanes *lanes, uint32_t got) {
    const struct dag *run = lanes->run;
    const struct dag_ask *ask = ask_at(run, got);
    if (!run->resources[ask->resource].tells_holds) return lanes_ns(lanes, got) + ask->held_ns;
    const uint32_t end = hold_end(run, got);
    return end == DAG_NONE ? lanes_thread_end_ns(lanes, dag_thread_of(run, got)) : lanes_ns(lanes, end);
}

// ---- pieces, each with its resource in place of its lane

static void add(struct laying *laying, uint32_t resource, const struct laid_piece *piece) {
    struct laid_piece added = *piece;
    added.lane = resource;
    if (piece->begin_ns >= piece->end_ns) return;
    laying->no_memory |= !laid_lanes_add(laying->laid, &added);
    if (!piece->holds) laying->weights[resource] += piece->end_ns - piece->begin_ns;
}

static void add_hold(struct laying *laying, uint32_t resource, uint32_t got, int64_t until_ns) {
    const struct laid_piece piece = {.begin_ns = lanes_ns(laying->lanes, got),
                                     .end_ns = until_ns,
                                     .vertex = got,
                                     .state = LANE_RUNNING,
                                     .holds = true};
    add(laying, resource, &piece);
}

static void add_wait(struct laying *laying, uint32_t asked, int64_t until_ns) {
    const bool shown = laying->lanes->work->scratch->action[asked] == ACTION_BLOCK;
    const struct laid_piece piece = {.begin_ns = lanes_ns(laying->lanes, asked),
                                     .end_ns = until_ns,
                                     .vertex = shown ? asked : DAG_NONE,
                                     .state = LANE_BLOCKED};
    add(laying, ask_at(laying->run, asked)->resource, &piece);
}

static void begin_hold(struct laying *laying, uint32_t got) {
    const struct dag_ask *ask = ask_at(laying->run, got);
    if (!laying->run->resources[ask->resource].tells_holds) {
        add_hold(laying, ask->resource, got, lanes_ns(laying->lanes, got) + ask->held_ns);
        return;
    }
    if (laying->hold_count == laying->hold_capacity) {
        const uint32_t larger = 2 * laying->hold_capacity + 64;
        struct hold *moved = realloc(laying->holds, larger * sizeof *moved);
        laying->no_memory |= !moved;
        if (!moved) return;
        laying->holds = moved;
        laying->hold_capacity = larger;
    }
    laying->holds[laying->hold_count++] = (struct hold){ask->resource, got};
}

static void release(struct laying *laying, uint32_t released) {
    const uint32_t resource = ask_at(laying->run, released)->resource;
    for (uint32_t i = laying->hold_count; i-- > 0;) {
        if (laying->holds[i].resource != resource) continue;
        add_hold(laying, resource, laying->holds[i].vertex, lanes_ns(laying->lanes, released));
        for (laying->hold_count--; i < laying->hold_count; i++) laying->holds[i] = laying->holds[i + 1];
        return;
    }
}

static void see_thread(struct laying *laying, uint32_t index) {
    const struct dag *run = laying->run;
    const struct dag_thread *thread = &run->threads[index];
    const uint32_t end = thread->first + thread->count;
    laying->hold_count = 0;
    for (uint32_t v = thread->first; v < end; v++) {
        if (!vertex_is_of_resource(run->vertices.kind[v])) continue;
        if (run->vertices.kind[v] == VERTEX_ACQUIRE)
            add_wait(laying, v,
                     v + 1 < end ? lanes_ns(laying->lanes, v + 1) : lanes_thread_end_ns(laying->lanes, index));
        else if (hold_begins(run, v))
            begin_hold(laying, v);
        else if (hold_ends(run, v))
            release(laying, v);
    }
    for (uint32_t i = 0; i < laying->hold_count; i++)
        add_hold(laying, laying->holds[i].resource, laying->holds[i].vertex, lanes_thread_end_ns(laying->lanes, index));
}

// ---- rows

static int compare(const void *a, const void *b, void *laying) {
    const struct laid_piece *left = a, *right = b;
    const uint32_t *ranks = ((struct laying *)laying)->ranks;
    if (left->lane != right->lane) return ranks[left->lane] < ranks[right->lane] ? -1 : 1;
    if (left->holds != right->holds) return left->holds ? -1 : 1;
    if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->vertex > right->vertex) - (left->vertex < right->vertex);
}

// Where a row is free by then; else the last one, in which the piece begins when it is.
static uint32_t row_for(const int64_t *free_ns, uint32_t rows, int64_t begin_ns) {
    uint32_t row = 0, soonest = 0;
    while (row < rows && free_ns[row] > begin_ns) row++;
    if (row < ROWS_MOST) return row;
    for (row = 1; row < rows; row++) {
        if (free_ns[row] < free_ns[soonest]) soonest = row;
    }
    return soonest;
}

// Pieces of one resource that are alike, in order of time. Returns how many are left: of one that ends before a row is
// free, nothing is to be seen.
static uint32_t lay_rows(struct laying *laying, const struct laid_piece *pieces, uint32_t count, uint32_t kept) {
    struct laid_lanes *laid = laying->laid;
    const uint32_t resource = pieces->lane, first = laid->count;
    int64_t free_ns[ROWS_MOST];
    uint32_t rows = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct laid_piece piece = pieces[i];
        const uint32_t row = row_for(free_ns, rows, piece.begin_ns);
        if (row == rows) laying->no_memory |= !laid_lanes_add_lane(laid, resource, piece.state);
        if (row < rows && free_ns[row] > piece.begin_ns) piece.begin_ns = free_ns[row];
        if (row == rows) rows++;
        if (piece.begin_ns >= piece.end_ns) continue;
        free_ns[row] = piece.end_ns;
        piece.lane = first + row;
        laid->pieces[kept++] = piece;
    }
    return kept;
}

static bool lay(struct laying *laying) {
    struct laid_lanes *laid = laying->laid;
    uint32_t kept = 0;
    if (!laid_lanes_rank(laying->weights, laying->run->resource_count, laying->ranks)) return false;
    if (laid->piece_count) qsort_r(laid->pieces, laid->piece_count, sizeof *laid->pieces, compare, laying);
    for (uint32_t i = 0, next; i < laid->piece_count && !laying->no_memory; i = next) {
        const struct laid_piece *alike = &laid->pieces[i];
        for (next = i + 1; next < laid->piece_count && laid->pieces[next].lane == alike->lane &&
                           laid->pieces[next].holds == alike->holds;)
            next++;
        kept = lay_rows(laying, alike, next - i, kept);
    }
    laid->piece_count = kept;
    return !laying->no_memory && laid_lanes_order(laid);
}

bool resource_lanes_make(struct laid_lanes *laid, const struct lanes *lanes, struct error *error) {
    const uint32_t count = lanes->run->resource_count;
    struct laying laying = {.lanes = lanes, .run = lanes->run, .laid = laid};
    *laid = (struct laid_lanes){0};
    laying.weights = calloc((size_t)count + 1, sizeof *laying.weights);
    laying.ranks = calloc((size_t)count + 1, sizeof *laying.ranks);
    laid->lane_of = malloc(((size_t)count + 1) * sizeof *laid->lane_of);
    bool ok = laying.weights && laying.ranks && laid->lane_of;
    for (uint32_t i = 0; ok && i < count; i++) laid->lane_of[i] = DAG_NONE;
    for (uint32_t t = 0; ok && count && t < lanes->run->thread_count; t++) {
        if (lanes->lane_of[t] != DAG_NONE) see_thread(&laying, t);
        ok = !laying.no_memory;
    }
    ok = ok && lay(&laying);
    free(laying.weights);
    free(laying.ranks);
    free(laying.holds);
    return ok || error_set(error, STATUS_FAILED, "no memory for the lanes of resources");
}

const char *resource_lane_name(const struct laid_lanes *laid, const struct dag *run, uint32_t lane, char *text,
                               size_t size) {
    char name[512];
    const struct laid_piece *first = &laid->pieces[laid->first_piece[lane]];
    const uint32_t site = first->vertex == DAG_NONE ? 0 : ask_at(run, first->vertex)->site;
    dag_resource_text(run, laid->lanes[lane].of, site, name, sizeof name);
    snprintf(text, size, "%s%s", laid->lanes[lane].state == LANE_BLOCKED ? "waits for " : "", name);
    return text;
}
