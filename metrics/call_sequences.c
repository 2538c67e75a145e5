// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/call_sequences.h"

#include <stdlib.h>
#include <string.h>

// Had for less of a call, a lock or a connection hardly keeps others from running beside it.
#define LEAST_PART_HELD 0.1

struct gathered_function {
    uint32_t method;
    uint64_t calls;
    double total_ns;
};

struct gathered_sequence {
    uint32_t endpoint, caller, function_count;
    struct gathered_function functions[SEQUENCE_FUNCTIONS];
    uint64_t times, requests;
    double sum_ns, longest_ns;
    uint32_t held;
};

bool call_sequences_init(struct call_sequences *sequences, const struct dag *dag) {
    *sequences = (struct call_sequences){.dag = dag};
    sequences->taken_by = calloc((size_t)dag->resource_count + 1, sizeof *sequences->taken_by);
    return sequences->taken_by != NULL;
}

void call_sequences_destroy(struct call_sequences *sequences) {
    free(sequences->items);
    free(sequences->taken_by);
    free(sequences->kept);
    idmap_destroy(&sequences->by_content);
    idmap_destroy(&sequences->by_request);
    *sequences = (struct call_sequences){0};
}

// What calls need of each other
// ----------------------------------------------------------------------------------------

// The ask that a vertex ends: what it names is had from here on. NULL: nothing is.
static const struct dag_ask *taken_at(const struct dag *dag, uint32_t vertex) {
    const unsigned kind = dag->vertices.kind[vertex];
    if (kind != VERTEX_ACQUIRED && kind != VERTEX_HELD) return NULL;
    const struct dag_ask *ask = &dag->asks[dag->vertices.task[vertex]];
    const bool given_back = ask->released != DAG_NONE || ask->held_ns > 0 || dag->resources[ask->resource].goes_round;
    return ask->units > 0 && given_back ? ask : NULL;
}

// From where it asked to where it gave it back.
static double had_ns(const struct dag *dag, const struct dag_ask *ask) {
    const int64_t *time_ns = dag->vertices.time_ns;
    const uint32_t since = ask->asked != DAG_NONE ? ask->asked : ask->got;
    const int64_t until_ns = ask->released != DAG_NONE ? time_ns[ask->released] : time_ns[ask->got] + ask->held_ns;
    return (double)(until_ns - time_ns[since]);
}

// Whether what is taken at a vertex is given back within the call.
static bool gives_back(const struct dag_ask *ask, const struct sleeping_call *call) {
    if (ask->released == DAG_NONE) return ask->held_ns > 0;
    return ask->released >= call->first && ask->released < call->last;
}

// The call has it to itself, or others have it for so little that this makes no difference; else it is left out.
static bool shares_nothing(const struct call_sequences *sequences, const struct sleeping_call *call) {
    const struct dag *dag = sequences->dag;
    for (uint32_t v = call->first; v < call->last; v++) {
        const struct dag_ask *ask = taken_at(dag, v);
        if (!ask) continue;
        if (!gives_back(ask, call)) return false;
        if (had_ns(dag, ask) < LEAST_PART_HELD * call->length_ns) continue;
        if (sequences->taken_by[ask->resource] == sequences->callers) return false;
    }
    return true;
}

static void take_its_own(struct call_sequences *sequences, const struct sleeping_call *call) {
    const struct dag *dag = sequences->dag;
    for (uint32_t v = call->first; v < call->last; v++) {
        const struct dag_ask *ask = taken_at(dag, v);
        if (ask && had_ns(dag, ask) >= LEAST_PART_HELD * call->length_ns)
            sequences->taken_by[ask->resource] = sequences->callers;
    }
}

static bool lies_in_another(const struct sleeping_call *calls, size_t count, const struct sleeping_call *call,
                            uint32_t vertex) {
    size_t low = 0, high = count; // the first call that ends behind the vertex
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (calls[middle].last <= vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && &calls[low] != call && calls[low].first <= vertex;
}

static bool awaits_another(const struct dag *dag, const struct sleeping_call *calls, size_t count,
                           const struct sleeping_call *call) {
    for (uint32_t v = call->first; v < call->last; v++) {
        const uint32_t task = dag->vertices.kind[v] == VERTEX_WAIT_END ? dag->vertices.task[v] : DAG_NONE;
        const uint32_t spawn = task == DAG_NONE ? DAG_NONE : dag->tasks[task].spawn_begin;
        if (spawn != DAG_NONE && lies_in_another(calls, count, call, spawn)) return true;
    }
    return false;
}

static int by_length(const void *a, const void *b) {
    const struct sleeping_call *x = a, *y = b;
    if (x->length_ns != y->length_ns) return x->length_ns < y->length_ns ? 1 : -1;
    return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

static int by_time(const void *a, const void *b) {
    const struct sleeping_call *x = a, *y = b;
    return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

// Where two have the same, the longer one stays. Returns how many are left.
static size_t keep_independent(struct call_sequences *sequences, const struct sleeping_call *calls, size_t count) {
    struct sleeping_call *kept = sequences->kept;
    size_t left = 0, candidates = 0;
    for (size_t i = 0; i < count; i++) {
        if (!awaits_another(sequences->dag, calls, count, &calls[i])) kept[candidates++] = calls[i];
    }
    if (candidates) qsort(kept, candidates, sizeof *kept, by_length);
    sequences->callers++;
    for (size_t i = 0; i < candidates; i++) {
        if (!shares_nothing(sequences, &kept[i])) continue;
        take_its_own(sequences, &kept[i]);
        kept[left++] = kept[i];
    }
    if (left) qsort(kept, left, sizeof *kept, by_time);
    return left;
}

// What the request has taken before the calls and gives back behind them, or not at all.
static uint32_t held_meanwhile(const struct dag *dag, const struct sequence_place *place, uint32_t from, uint32_t to) {
    for (uint32_t v = place->since; v < from; v++) {
        const struct dag_ask *ask = taken_at(dag, v);
        if (ask && (ask->released == DAG_NONE ? !ask->held_ns : ask->released >= to)) return ask->resource;
    }
    return DAG_NONE;
}

// Gathering
// ------------------------------------------------------------------------------------------------------------

// Fills functions in the order of their first calls, and what all of them take.
static struct gathered_sequence describe(const struct sequence_place *place, const struct sleeping_call *calls,
                                         size_t count) {
    struct gathered_sequence one = {.endpoint = place->endpoint, .caller = place->caller, .times = 1};
    for (size_t i = 0; i < count; i++) {
        uint32_t f = 0;
        while (f < one.function_count && one.functions[f].method != calls[i].method) f++;
        if (f == SEQUENCE_FUNCTIONS) continue;
        if (f == one.function_count) one.functions[one.function_count++].method = calls[i].method;
        one.functions[f].calls++;
        one.functions[f].total_ns += calls[i].length_ns;
        one.sum_ns += calls[i].length_ns;
        if (calls[i].length_ns > one.longest_ns) one.longest_ns = calls[i].length_ns;
    }
    return one;
}

static uint64_t hash_more(uint64_t hash, uint32_t value) {
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t content_of(const struct gathered_sequence *one) {
    uint64_t hash = hash_more(hash_more(UINT64_C(0xcbf29ce484222325), one->endpoint), one->caller);
    for (uint32_t f = 0; f < one->function_count; f++) hash = hash_more(hash, one->functions[f].method);
    return hash;
}

static bool is_same(const struct gathered_sequence *a, const struct gathered_sequence *b) {
    if (a->endpoint != b->endpoint || a->caller != b->caller || a->function_count != b->function_count) return false;
    for (uint32_t f = 0; f < a->function_count; f++) {
        if (a->functions[f].method != b->functions[f].method) return false;
    }
    return true;
}

static bool append(struct call_sequences *sequences, const struct gathered_sequence *one) {
    if (sequences->count == sequences->capacity) {
        const size_t capacity = sequences->capacity ? sequences->capacity * 2 : 16;
        struct gathered_sequence *items = realloc(sequences->items, capacity * sizeof *items);
        if (!items) return false;
        sequences->items = items;
        sequences->capacity = capacity;
    }
    sequences->items[sequences->count++] = *one;
    return true;
}

// The sequence with the same functions, begun with no times if it is new. NULL: no memory.
static struct gathered_sequence *find(struct call_sequences *sequences, const struct gathered_sequence *like) {
    uint64_t hash = content_of(like);
    for (uint32_t index; (index = idmap_get(&sequences->by_content, hash)) != IDMAP_NONE; hash++) {
        if (is_same(&sequences->items[index], like)) return &sequences->items[index];
    }
    struct gathered_sequence begun = {
        .endpoint = like->endpoint, .caller = like->caller, .function_count = like->function_count, .held = DAG_NONE};
    for (uint32_t f = 0; f < like->function_count; f++) begun.functions[f].method = like->functions[f].method;
    if (!idmap_add(&sequences->by_content, hash, (uint32_t)sequences->count) || !append(sequences, &begun)) return NULL;
    return &sequences->items[sequences->count - 1];
}

static void add_times(struct gathered_sequence *to, const struct gathered_sequence *one) {
    for (uint32_t f = 0; f < to->function_count; f++) {
        to->functions[f].calls += one->functions[f].calls;
        to->functions[f].total_ns += one->functions[f].total_ns;
    }
    to->times += one->times;
    to->sum_ns += one->sum_ns;
    to->longest_ns += one->longest_ns;
}

// A request may have a sequence several times.
static bool count_request(struct call_sequences *sequences, struct gathered_sequence *sequence, uint32_t request) {
    const uint64_t key = (uint64_t)(sequence - sequences->items) << 32 | request;
    if (idmap_get(&sequences->by_request, key) != IDMAP_NONE) return true;
    sequence->requests++;
    return idmap_add(&sequences->by_request, key, 1);
}

static bool make_room(struct call_sequences *sequences, size_t count) {
    if (count <= sequences->kept_capacity) return true;
    struct sleeping_call *kept = realloc(sequences->kept, 2 * count * sizeof *kept);
    if (!kept) return false;
    sequences->kept = kept;
    sequences->kept_capacity = 2 * count;
    return true;
}

bool call_sequences_note(struct call_sequences *sequences, const struct sequence_place *place,
                         const struct sleeping_call *calls, size_t count) {
    if (count < 2) return true;
    if (!make_room(sequences, count)) return false;
    const size_t left = keep_independent(sequences, calls, count);
    if (left < 2) return true;
    const struct gathered_sequence one = describe(place, sequences->kept, left);
    struct gathered_sequence *sequence = find(sequences, &one);
    if (!sequence) return false;
    add_times(sequence, &one);
    if (sequence->held == DAG_NONE)
        sequence->held =
            held_meanwhile(sequences->dag, place, sequences->kept[0].first, sequences->kept[left - 1].last);
    return count_request(sequences, sequence, place->request);
}

// Figures
// --------------------------------------------------------------------------------------------------------------

static int by_saved(const void *a, const void *b) {
    const struct call_sequence *x = a, *y = b;
    if (x->saved_ns != y->saved_ns) return x->saved_ns < y->saved_ns ? 1 : -1;
    if (x->caller != y->caller) return x->caller < y->caller ? -1 : 1;
    return (x->functions[0].method > y->functions[0].method) - (x->functions[0].method < y->functions[0].method);
}

static bool tell(const struct gathered_sequence *gathered, uint64_t requests, int64_t span_ns, struct arena *arena,
                 struct call_sequence *told) {
    struct sequence_function *functions = ARENA_NEW(arena, struct sequence_function, gathered->function_count);
    const double times = (double)gathered->times;
    if (!functions) return false;
    for (uint32_t f = 0; f < gathered->function_count; f++) {
        const struct gathered_function *function = &gathered->functions[f];
        functions[f] =
            (struct sequence_function){function->method, (double)function->calls / times, function->total_ns / times};
    }
    *told = (struct call_sequence){.caller = gathered->caller,
                                   .functions = functions,
                                   .function_count = gathered->function_count,
                                   .requests = gathered->requests,
                                   .per_s = span_ns > 0 ? (double)gathered->requests / (double)span_ns * 1e9 : NAN,
                                   .sum_ns = gathered->sum_ns / times,
                                   .longest_ns = gathered->longest_ns / times,
                                   .saved_ns = (gathered->sum_ns - gathered->longest_ns) / (double)requests,
                                   .held = gathered->held};
    return true;
}

const struct call_sequence *call_sequences_tell(const struct call_sequences *sequences, uint32_t endpoint,
                                                uint64_t requests, int64_t span_ns, struct arena *arena,
                                                size_t *count) {
    size_t most = 0;
    for (size_t i = 0; i < sequences->count; i++) most += sequences->items[i].endpoint == endpoint;
    struct call_sequence *told = ARENA_NEW(arena, struct call_sequence, most + 1);
    *count = 0;
    for (size_t i = 0; told && i < sequences->count; i++) {
        if (sequences->items[i].endpoint != endpoint) continue;
        if (!tell(&sequences->items[i], requests, span_ns, arena, &told[*count])) return NULL;
        ++*count;
    }
    if (told && *count) qsort(told, *count, sizeof *told, by_saved);
    return told;
}
