// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's vertices are walked in order: a wait lies between two that stand side by side, what is held between one
// and a later one of its thread. What another thread gives back (a permit, a place of a queue) has no length of its
// own; that of all together follows from the sum of the times at which units were given back, less that at which they
// were taken. Carriers of virtual threads have no vertices: they are waited for, and held, within edges.
#include "metrics/resources.h"

#include "dag/names.h"
#include "metrics/work.h"

#include <stdlib.h>
#include <string.h>

const char *const resource_kind_names[RESOURCE_KINDS] = {
    [RESOURCE_MONITOR] = "monitor", [RESOURCE_LOCK] = "lock",     [RESOURCE_READ_WRITE_LOCK] = "read-write lock",
    [RESOURCE_PERMITS] = "permits", [RESOURCE_PLACES] = "places", [RESOURCE_POOL] = "pool",
    [RESOURCE_QUEUE] = "queue",     [RESOURCE_RATE] = "rate",
};

// A wait for a resource, or a time for which it is held, at a place. What is held counts where it was taken, and again
// where it was given back.
enum stay_kind { STAY_WAITS, STAY_HELD, STAY_RETURNED, STAY_KINDS };

struct stay {
    uint32_t resource, site;
    enum stay_kind kind;
    int64_t ns;
};

struct hold {
    uint32_t resource, site, units;
    int64_t since_ns;
};

struct tally {                    // of a resource
    double taken_ns, returned_ns; // sums of times, from the window's beginning
    int64_t taken, returned;      // units
    double unmatched_ns;          // of what was returned by threads that had not taken it
    int64_t unmatched;
    uint64_t waits, timed_out;
    int64_t wait_ns;
    double carried_ns; // of carriers: for which they were held
};

struct listing {
    const struct dag *dag;
    const int64_t *time_ns;
    struct window window;
    struct tally *tallies; // a resource each
    struct stay *stays;
    size_t stay_count;
    struct hold *holds; // of the thread in hand
    size_t hold_count;
};

static int64_t clip(const struct listing *listing, int64_t time_ns) {
    const struct window *window = &listing->window;
    return time_ns < window->from_ns ? window->from_ns : time_ns > window->to_ns ? window->to_ns : time_ns;
}

static void add_stay(struct listing *listing, uint32_t resource, uint32_t site, enum stay_kind kind, int64_t ns) {
    if (site && site < listing->dag->trace->site_count)
        listing->stays[listing->stay_count++] = (struct stay){resource, site, kind, ns};
}

// ---- waits

static void add_wait(struct listing *listing, const struct dag_ask *ask, int64_t from_ns, int64_t to_ns,
                     bool given_up) {
    struct tally *tally = &listing->tallies[ask->resource];
    const bool overlaps = to_ns >= listing->window.from_ns && from_ns <= listing->window.to_ns;
    if (!overlaps || (to_ns == from_ns && !given_up)) return;
    const int64_t ns = clip(listing, to_ns) - clip(listing, from_ns);
    tally->waits++;
    tally->timed_out += given_up && to_ns <= listing->window.to_ns;
    tally->wait_ns += ns;
    add_stay(listing, ask->resource, ask->site, STAY_WAITS, ns);
}

// ---- holds

static uint32_t units_of(const struct dag *dag, const struct dag_ask *ask) {
    return dag->resources[ask->resource].kind == RESOURCE_READ_WRITE_LOCK ? ask->units > 0 : (uint32_t)ask->units;
}

static void count_taken(struct listing *listing, uint32_t resource, uint32_t units, int64_t time_ns) {
    struct tally *tally = &listing->tallies[resource];
    tally->taken_ns += (double)units * (double)(clip(listing, time_ns) - listing->window.from_ns);
    tally->taken += units;
}

static void count_returned(struct listing *listing, uint32_t resource, uint32_t units, int64_t time_ns) {
    struct tally *tally = &listing->tallies[resource];
    tally->returned_ns += (double)units * (double)(clip(listing, time_ns) - listing->window.from_ns);
    tally->returned += units;
}

// Returns for how long it was held within the window.
static int64_t end_hold(struct listing *listing, const struct hold *hold, int64_t time_ns) {
    const int64_t ns = clip(listing, time_ns) - clip(listing, hold->since_ns);
    add_stay(listing, hold->resource, hold->site, STAY_HELD, ns);
    return ns;
}

static void begin_hold(struct listing *listing, const struct dag_ask *ask, int64_t time_ns) {
    const struct hold hold = {ask->resource, ask->site, units_of(listing->dag, ask), time_ns};
    if (hold.units == 0) return;
    count_taken(listing, hold.resource, hold.units, time_ns);
    if (listing->dag->resources[ask->resource].tells_holds) {
        listing->holds[listing->hold_count++] = hold;
        return;
    }
    count_returned(listing, hold.resource, hold.units, time_ns + ask->held_ns);
    end_hold(listing, &hold, time_ns + ask->held_ns);
}

// The thread's latest hold of the resource, if it has one.
static void release(struct listing *listing, const struct dag_ask *ask, int64_t time_ns) {
    const uint32_t units = units_of(listing->dag, ask);
    struct tally *tally = &listing->tallies[ask->resource];
    if (units == 0) return;
    count_returned(listing, ask->resource, units, time_ns);
    for (size_t i = listing->hold_count; i-- > 0;) {
        if (listing->holds[i].resource != ask->resource) continue;
        const int64_t held_ns = end_hold(listing, &listing->holds[i], time_ns);
        add_stay(listing, ask->resource, ask->returned_at, STAY_RETURNED, held_ns);
        for (listing->hold_count--; i < listing->hold_count; i++) listing->holds[i] = listing->holds[i + 1];
        return;
    }
    tally->unmatched_ns += (double)units * (double)(clip(listing, time_ns) - listing->window.from_ns);
    tally->unmatched += units;
}

// ---- threads

static void see_vertex(struct listing *listing, uint32_t v, uint32_t before) {
    const struct dag_vertices *vertices = &listing->dag->vertices;
    const struct dag_ask *ask = &listing->dag->asks[vertices->task[v]];
    const int64_t now_ns = listing->time_ns[v];
    switch (vertices->kind[v]) {
    case VERTEX_ACQUIRED:
    case VERTEX_GIVEN_UP:
        if (before != DAG_NONE && vertices->kind[before] == VERTEX_ACQUIRE)
            add_wait(listing, ask, listing->time_ns[before], now_ns, vertices->kind[v] == VERTEX_GIVEN_UP);
        if (vertices->kind[v] == VERTEX_ACQUIRED) begin_hold(listing, ask, now_ns);
        break;
    case VERTEX_HELD:
        begin_hold(listing, ask, now_ns);
        break;
    case VERTEX_RELEASED:
        release(listing, ask, now_ns);
        break;
    default:
        break;
    }
}

static void see_thread(struct listing *listing, const struct dag_thread *thread) {
    const struct dag *dag = listing->dag;
    const uint32_t end = dag_thread_end(dag, thread);
    uint32_t before = DAG_NONE;
    listing->hold_count = 0;
    for (uint32_t v = thread->first; v < end; v++) {
        if (listing->time_ns[v] == DAG_ABSENT) continue;
        if (vertex_is_of_resource(dag->vertices.kind[v])) see_vertex(listing, v, before);
        before = v;
    }
    if (before != DAG_NONE && dag->vertices.kind[before] == VERTEX_ACQUIRE)
        add_wait(listing, &dag->asks[dag->vertices.task[before]], listing->time_ns[before], listing->window.to_ns,
                 false);
    for (size_t i = 0; i < listing->hold_count; i++) end_hold(listing, &listing->holds[i], listing->window.to_ns);
}

// ---- carriers

#define CARRIER_WAIT_LEAST_NS 100000 // so long may the waking of a carrier take that has nothing to do

// What a virtual thread waited for a carrier, or on one for a core, before a vertex.
static int64_t carrier_wait_ns(const struct dag *dag, uint32_t v) {
    const int64_t queued_ns = dag->vertices.queued_ns[v];
    return queued_ns > CARRIER_WAIT_LEAST_NS ? queued_ns : 0;
}

struct carrier_waits metrics_carrier_waits(const struct dag *dag) {
    struct carrier_waits all = {0, 0};
    for (uint32_t t = 0; dag->vertices.queued_ns && t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; thread->is_virtual && v < thread->first + thread->count; v++) {
            const int64_t wait_ns = carrier_wait_ns(dag, v);
            all.waits += wait_ns > 0;
            all.wait_ns += wait_ns;
        }
    }
    return all;
}

int64_t metrics_carrier_held_ns(const struct dag *dag, uint32_t vertex, int64_t length_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    const int64_t compute_ns = vertices->compute_ns[vertex] < length_ns ? vertices->compute_ns[vertex] : length_ns;
    const int64_t asleep_ns = length_ns - compute_ns - vertices->queued_ns[vertex];
    if (asleep_ns <= 0) return compute_ns;
    const int64_t pinned_ns = dag_pinned_ns(dag, vertex, asleep_ns);
    return compute_ns + (pinned_ns < asleep_ns ? pinned_ns : asleep_ns);
}

// What of `ns` within the time from one instant to another falls into the window, were it spread evenly.
static double part_within(const struct listing *listing, int64_t ns, int64_t from_ns, int64_t to_ns) {
    const double within = (double)(clip(listing, to_ns) - clip(listing, from_ns));
    return to_ns > from_ns ? (double)ns * within / (double)(to_ns - from_ns) : 0;
}

static void see_edge(struct listing *listing, struct tally *tally, uint32_t v, int64_t before_ns) {
    const struct dag *dag = listing->dag;
    const int64_t now_ns = listing->time_ns[v], wait_ns = carrier_wait_ns(dag, v);
    const int64_t since_ns = before_ns == DAG_ABSENT ? now_ns - wait_ns : before_ns;
    if (wait_ns > 0 && now_ns >= listing->window.from_ns && since_ns <= listing->window.to_ns) {
        tally->waits++;
        tally->wait_ns += (int64_t)part_within(listing, wait_ns, since_ns, now_ns);
    }
    if (before_ns == DAG_ABSENT) return;
    const int64_t held_ns = metrics_carrier_held_ns(dag, v, now_ns - before_ns);
    tally->carried_ns += part_within(listing, held_ns, before_ns, now_ns);
}

static void see_carriers(struct listing *listing, const struct dag_thread *thread) {
    const struct dag *dag = listing->dag;
    int64_t before_ns = DAG_ABSENT;
    for (uint32_t v = thread->first, end = dag_thread_end(dag, thread); v < end; v++) {
        if (listing->time_ns[v] == DAG_ABSENT) continue;
        see_edge(listing, &listing->tallies[dag->carriers - 1], v, before_ns);
        before_ns = listing->time_ns[v];
    }
}

// ---- what comes out

static int compare_stays(const void *a, const void *b) {
    const struct stay *left = a, *right = b;
    if (left->resource != right->resource) return left->resource < right->resource ? -1 : 1;
    if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
    return (left->site > right->site) - (left->site < right->site);
}

static int compare_places(const void *a, const void *b) {
    const struct resource_place *left = a, *right = b;
    if (left->total_ns != right->total_ns) return left->total_ns > right->total_ns ? -1 : 1;
    if (left->times != right->times) return left->times > right->times ? -1 : 1;
    return (left->site.line > right->site.line) - (left->site.line < right->site.line);
}

// Stays of one resource and of one sort, sorted by their sites.
static struct resource_place *places_of(const struct dag *dag, const struct stay *stays, size_t count,
                                        struct arena *arena, size_t *place_count) {
    size_t places = 0;
    for (size_t i = 0; i < count; i++) places += i == 0 || stays[i].site != stays[i - 1].site;
    struct resource_place *place = ARENA_NEW(arena, struct resource_place, places + 1);
    *place_count = place ? places : 0;
    for (size_t i = 0, at = 0; place && i < count; i++) {
        if (i > 0 && stays[i].site != stays[i - 1].site) at++;
        place[at].site = dag->trace->sites[stays[i].site];
        place[at].times++;
        place[at].total_ns += stays[i].ns;
    }
    if (place && places) qsort(place, places, sizeof *place, compare_places);
    return place;
}

static int compare_names(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_lines(const struct resource_place *a, const struct resource_place *b) {
    const struct trace_site *left = &a->site, *right = &b->site;
    int order = compare_names(left->class_name, right->class_name);
    if (order == 0) order = compare_names(left->method, right->method);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static int compare_by_line(const void *a, const void *b) {
    const struct resource_place *left = a, *right = b;
    int order = compare_lines(left, right);
    return order ? order : (left->site.bci > right->site.bci) - (left->site.bci < right->site.bci);
}

// One place for each line: a `finally` is compiled once for each way out.
static size_t join_lines(struct resource_place *places, size_t count) {
    size_t kept = 0;
    if (count) qsort(places, count, sizeof *places, compare_by_line);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_lines(&places[i], &places[kept - 1]) == 0) {
            places[kept - 1].times += places[i].times;
            places[kept - 1].total_ns += places[i].total_ns;
        } else {
            places[kept++] = places[i];
        }
    }
    if (kept) qsort(places, kept, sizeof *places, compare_places);
    return kept;
}

// Messages go through a queue, and signals through permits: nothing holds them.
static bool is_held(const struct dag_resource *resource) {
    bool signals = resource->kind == RESOURCE_PERMITS && resource->capacity > 0;
    return resource->goes_round || (resource->kind != RESOURCE_QUEUE && !signals);
}

// What was never given back is held to the window's end, what was never taken was held from its beginning. But where
// all else goes round, that was its filling.
static double held_ns(const struct dag_resource *resource, const struct tally *tally, const struct window *window) {
    const bool round = resource->kind == RESOURCE_POOL || resource->kind == RESOURCE_QUEUE;
    const double kept = (double)(tally->taken - tally->returned), wall = (double)(window->to_ns - window->from_ns);
    const double held = tally->returned_ns - tally->taken_ns;
    if (round && kept + (double)tally->unmatched >= 0 && tally->unmatched)
        return held - tally->unmatched_ns + (kept + (double)tally->unmatched) * wall;
    return held + (kept > 0 ? kept * wall : 0);
}

static bool describe(const struct listing *listing, struct resource_use *use, const struct stay *stays,
                     const size_t counts[STAY_KINDS], struct arena *arena) {
    const struct dag *dag = listing->dag;
    const struct dag_resource *resource = &dag->resources[use->resource];
    const struct tally *tally = &listing->tallies[use->resource];
    const double wall = (double)(listing->window.to_ns - listing->window.from_ns);
    char name[600];
    use->capacity = resource->capacity;
    use->waits = tally->waits;
    use->timed_out = tally->timed_out;
    use->wait_ns = tally->wait_ns;
    use->held_ns = is_held(resource) ? held_ns(resource, tally, &listing->window) + tally->carried_ns : NAN;
    use->holders_mean = wall > 0 ? use->held_ns / wall : NAN;
    const struct stay *held = stays + counts[STAY_WAITS], *returned = held + counts[STAY_HELD];
    use->waits_at = places_of(dag, stays, counts[STAY_WAITS], arena, &use->waits_at_count);
    use->held_at = places_of(dag, held, counts[STAY_HELD], arena, &use->held_at_count);
    use->returned_at = places_of(dag, returned, counts[STAY_RETURNED], arena, &use->returned_at_count);
    if (use->returned_at) use->returned_at_count = join_lines(use->returned_at, use->returned_at_count);
    const uint32_t site = counts[STAY_WAITS] + counts[STAY_HELD] ? stays[0].site : 0;
    dag_resource_text(dag, use->resource, site, name, sizeof name);
    use->name = arena_string(arena, name, strlen(name));
    return use->waits_at && use->held_at && use->returned_at && use->name;
}

static int compare_uses(const void *a, const void *b) {
    const struct resource_use *left = a, *right = b;
    if (left->wait_ns != right->wait_ns) return left->wait_ns > right->wait_ns ? -1 : 1;
    if (left->waits != right->waits) return left->waits > right->waits ? -1 : 1;
    const double left_held = isnan(left->held_ns) ? -1 : left->held_ns;
    const double right_held = isnan(right->held_ns) ? -1 : right->held_ns;
    if (left_held != right_held) return left_held > right_held ? -1 : 1;
    return left->resource < right->resource ? -1 : left->resource > right->resource;
}

// Those that were taken, given back or waited for in the run.
static bool describe_all(struct listing *listing, struct arena *arena, struct resource_use **uses, size_t *count) {
    const struct dag *dag = listing->dag;
    if (listing->stay_count) qsort(listing->stays, listing->stay_count, sizeof *listing->stays, compare_stays);
    *uses = ARENA_NEW(arena, struct resource_use, (size_t)dag->resource_count + 1);
    *count = 0;
    size_t first = 0;
    for (uint32_t r = 0; *uses && r < dag->resource_count; r++) {
        const struct tally *tally = &listing->tallies[r];
        size_t of[STAY_KINDS] = {0}, next = first;
        for (; next < listing->stay_count && listing->stays[next].resource == r; next++)
            of[listing->stays[next].kind]++;
        if (tally->waits || tally->taken || tally->returned || tally->carried_ns > 0) {
            struct resource_use *use = &(*uses)[(*count)++];
            *use = (struct resource_use){.resource = r};
            if (!describe(listing, use, &listing->stays[first], of, arena)) return false;
        }
        first = next;
    }
    if (*uses && *count) qsort(*uses, *count, sizeof **uses, compare_uses);
    return *uses;
}

static bool allocate(struct listing *listing) {
    size_t vertices = 0;
    const struct dag *dag = listing->dag;
    for (uint32_t v = 0; v < dag->vertex_count; v++) vertices += vertex_is_of_resource(dag->vertices.kind[v]);
    listing->tallies = calloc((size_t)dag->resource_count + 1, sizeof *listing->tallies);
    listing->stays = malloc((2 * vertices + 1) *
                            sizeof *listing->stays); // a vertex begins a hold and ends a wait at most, or ends a hold
    listing->holds = malloc((vertices + 1) * sizeof *listing->holds);
    return listing->tallies && listing->stays && listing->holds;
}

bool metrics_resources(const struct dag *dag, const int64_t *time_ns, const struct window *window, struct arena *arena,
                       struct resource_use **uses, size_t *count, struct error *error) {
    struct listing listing = {.dag = dag, .time_ns = time_ns, .window = {dag->first_ns, dag->last_ns}};
    if (window) listing.window = *window;
    bool done = allocate(&listing);
    for (uint32_t t = 0; done && t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        if (thread->system || !thread->count) continue;
        see_thread(&listing, thread);
        if (thread->is_virtual && dag->carriers && dag->vertices.queued_ns) see_carriers(&listing, thread);
    }
    done = done && describe_all(&listing, arena, uses, count);
    free(listing.tallies);
    free(listing.stays);
    free(listing.holds);
    return done || error_set(error, STATUS_FAILED, "no memory for resources");
}
