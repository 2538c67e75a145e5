// SPDX-License-Identifier: GPL-3.0-or-later
// What threads held and waited for beside tasks' results: how much of each resource there was, what made it free for
// each that waited for it, and for how much of its wait nothing that is known had it. Found once times are repaired; no
// constraint of the recorded graph.
//
// A resource whose holds are told is replayed as a count of units. Of a lock whose releases are not told (a trace
// before version 5, or a monitor of the JDK's own) only acquisitions that had to wait are known: there a holder is
// taken to have kept it until the next one got it, where that can be. The same goes for a monitor of which two threads
// are told to have it at once: some of its releases are not told.
#include "dag/build/builder.h"
#include "dag/ns.h"
#include "dag/order.h"

#include <stdlib.h>
#include <string.h>

enum { TELLS_RESOURCES = 5 }; // version of traces from which on they do

// A writer has all of it, a reader one.
#define READ_WRITE_UNITS (1 << 30)

struct dag_ask ask_of_event(const struct event *event) {
    bool wants = event->kind == EVENT_ACQUIRE_BEGIN;
    uint64_t want = event->kind == EVENT_BLOCK_BEGIN ? want_operand(1, false, 0) : event->operand[wants ? 2 : 1];
    return (struct dag_ask){.asked = DAG_NONE,
                            .got = DAG_NONE,
                            .released = DAG_NONE,
                            .had_at = DAG_NONE,
                            .site = want_site(want),
                            .units = (int32_t)(want_units(want) & (READ_WRITE_UNITS - 1)),
                            .shared = want_shared(want),
                            .limit_ns = INT64_MAX};
}

bool ask_add(struct builder *builder, struct dag_ask ask, uint32_t vertex) {
    struct dag *dag = builder->dag;
    if (!GROW(dag->asks, dag->ask_count, builder->ask_capacity)) return no_memory(builder);
    if (dag->resources[ask.resource].kind == RESOURCE_READ_WRITE_LOCK && !ask.shared && ask.units)
        ask.units = READ_WRITE_UNITS;
    dag->vertices.task[vertex] = dag->ask_count;
    dag->asks[dag->ask_count++] = ask;
    return true;
}

static struct dag_resource describe(const struct trace *trace, const struct event *event) {
    struct dag_resource resource = {.id = event->operand[0], .kind = RESOURCE_LOCK, .capacity = 1, .initial = 1};
    const struct trace_resource *known = trace_resource(trace, event->operand[0]);
    if (event->kind == EVENT_BLOCK_BEGIN) resource.resource_class = (uint32_t)event->operand[2];
    if (!known) return resource;
    resource.kind = (enum resource_kind)known->kind;
    resource.resource_class = known->class;
    resource.name = known->name;
    resource.capacity = known->capacity;
    resource.fair = known->flags & RESOURCE_FAIR;
    resource.readers_pass = known->flags & RESOURCE_READERS_PASS;
    return resource;
}

bool resource_intern(struct builder *builder, const struct event *event, uint32_t *resource) {
    struct dag *dag = builder->dag;
    *resource = idmap_get(&builder->resource_of_id, event->operand[0]);
    if (*resource != IDMAP_NONE) return true;
    if (!GROW(dag->resources, dag->resource_count, builder->resource_capacity)) return no_memory(builder);
    *resource = dag->resource_count++;
    dag->resources[*resource] = describe(builder->trace, event);
    return idmap_add(&builder->resource_of_id, event->operand[0], *resource) || no_memory(builder);
}

// ---- in order of time

enum turn { TURN_FREES, TURN_GETS, TURN_ASKS, TURNS };

struct count { // of a resource, as the replay goes on
    int64_t available;
    uint32_t listed;          // asks that wait, in the order in which they are called, by `next_listed`; DAG_NONE
    uint32_t uncovered;       // asks that wait though there was enough, by `next`; DAG_NONE
    uint32_t before;          // where no release is told: the latest ask that got it, DAG_NONE
    uint32_t waiting, waited; // where no release is told: asks that wait; that did when `before` got it
    uint32_t takes, returns, given;
    int64_t first_asked_ns; // INT64_MAX: not yet
    int64_t level;          // units given so far less those that were taken
    int64_t least, most;    // that it has been
    int64_t had;            // units that threads had when the first one asked, which are in no level
};

#define NOT_CALLED INT64_MIN

struct ask_state {               // of an ask, as the replay goes on
    uint32_t next, next_listed;  // see struct count
    int64_t place_ns;            // while it waits: the least is called first
    int64_t called_ns;           // while it waits: since when there is enough for it; NOT_CALLED
    uint32_t called_by;          // likewise: the RELEASED that made it so, DAG_NONE
    uint32_t body_end, next_ask; // if it waited and no release is told: end of the body in which it got the lock; its
                                 // thread's next such ask; DAG_NONE
    uint32_t next_wait;          // likewise: where its thread waits next for anything; DAG_NONE
};

struct replay {
    struct dag *dag;
    struct order_key *turns;
    uint32_t turn_count;
    bool found_takings;   // that are not told: they are no turns yet
    struct count *counts; // a resource each
    struct ask_state *asks;
};

static void add_turn(struct replay *replay, uint32_t vertex, enum turn turn, uint32_t ask) {
    if (vertex == DAG_NONE) return;
    replay->turns[replay->turn_count++] = (struct order_key){replay->dag->vertices.time_ns[vertex],
                                                             (uint64_t)turn << 32 | ask, ask * TURNS + (uint32_t)turn};
}

static bool sort_turns(struct replay *replay) {
    struct dag *dag = replay->dag;
    replay->turn_count = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        add_turn(replay, ask->asked, TURN_ASKS, i);
        add_turn(replay, ask->got == DAG_NONE ? ask->had_at : ask->got, TURN_GETS, i);
        if (ask->given_up && ask->got != DAG_NONE &&
            ask->asked != DAG_NONE) // it does not wait from when its time is up
            replay->turns[replay->turn_count - 1].time_ns =
                min_ns(dag->vertices.time_ns[ask->asked] + ask->limit_ns, dag->vertices.time_ns[ask->got]);
        add_turn(replay, ask->released, TURN_FREES, i);
    }
    return order_sort(replay->turns, replay->turn_count);
}

static int64_t whole_of(const struct dag_resource *resource) {
    return resource->kind == RESOURCE_READ_WRITE_LOCK ? READ_WRITE_UNITS : 1;
}

// ---- monitors that two have at once, as told

static bool is_still_had(const struct replay *replay, uint32_t holder) {
    return holder != DAG_NONE && replay->dag->asks[holder].released == DAG_NONE;
}

// The JVM takes some monitors by itself, a class loader's while it loads a class. It tells so where it had to wait, and
// of no release; the code that is woven tells its own holds of the same monitor.
static void find_untold_releases(struct replay *replay) {
    struct dag *dag = replay->dag;
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        const uint32_t index = replay->turns[i].item / TURNS;
        const struct dag_ask *ask = &dag->asks[index];
        struct count *count = &replay->counts[ask->resource];
        struct dag_resource *resource = &dag->resources[ask->resource];
        const bool gets = replay->turns[i].item % TURNS == TURN_GETS && ask->got != DAG_NONE;
        if (resource->kind != RESOURCE_MONITOR || !gets || ask->given_up || !ask->units) continue;
        if (is_still_had(replay, count->before)) resource->tells_holds = false;
        count->before = index;
    }
    for (uint32_t r = 0; r < dag->resource_count; r++) replay->counts[r].before = DAG_NONE;
}

// A thread that had a monitor unseen when it was first waited for tells of each block of it that it leaves, and gives
// it back with the last.
static void forget_inner_blocks(struct replay *replay) {
    struct dag *dag = replay->dag;
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        const uint32_t index = replay->turns[i].item / TURNS, turn = replay->turns[i].item % TURNS;
        const struct dag_ask *ask = &dag->asks[index];
        struct count *count = &replay->counts[ask->resource];
        if (dag->resources[ask->resource].kind != RESOURCE_MONITOR || turn == TURN_ASKS) continue;
        const bool leaves = turn == TURN_FREES && ask->got == DAG_NONE;
        if (leaves && count->before != DAG_NONE) dag->asks[count->before].units = 0;
        count->before = leaves ? index : DAG_NONE;
    }
    for (uint32_t r = 0; r < dag->resource_count; r++) replay->counts[r].before = DAG_NONE;
}

// Of such a monitor only waits are known.
static void forget_holds(struct dag *dag) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_resource *resource = &dag->resources[dag->asks[i].resource];
        const bool waited = dag->asks[i].asked != DAG_NONE;
        if (resource->kind == RESOURCE_MONITOR && !resource->tells_holds && !waited) dag->asks[i].units = 0;
    }
}

// Whether the wait is all that its task was seen to do.
static bool fills_task(const struct dag *dag, const struct dag_ask *ask) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (ask->asked == DAG_NONE || ask->got == DAG_NONE) return false;
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, ask->got)];
    if (ask->asked <= thread->first || ask->got + 1 >= thread->first + thread->count) return false;
    return vertices->kind[ask->asked - 1] == VERTEX_START && vertices->kind[ask->got + 1] == VERTEX_END;
}

// What was waited for as recording began, by a task that was seen to do nothing more before its end: the wait ended
// unseen, and with what is not known.
static void forget_unseen_ends(struct dag *dag) {
    struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        struct dag_ask *ask = &dag->asks[i];
        if (!ask->given_up || !fills_task(dag, ask)) continue;
        if (!(dag->tasks[vertices->task[ask->got + 1]].flags & TASK_BEGUN_BEFORE)) continue;
        vertices->kind[ask->got] = VERTEX_ACQUIRED;
        ask->given_up = false;
        ask->limit_ns = INT64_MAX;
        ask->units = 0;
    }
}

// ---- how much there was

// How many units there were from the beginning at the least. Of a pool, objects that are yet to be made count as free:
// whatever waits until one is made, waits for nothing that is held.
static int64_t known_units(const struct dag *dag, const struct dag_resource *resource) {
    const struct trace_resource *known = trace_resource(dag->trace, resource->id);
    if (is_exclusive(resource)) return whole_of(resource);
    bool counted = known && (known->kind == RESOURCE_PERMITS || known->kind == RESOURCE_POOL);
    return counted && known->capacity > 0 ? known->capacity : 0;
}

// A thread that was only blocked at a lock (it has no place) tells nothing of giving it back: beside those that do it
// takes nothing, and waits for as long as it did.
static void blocked_take_nothing(struct dag *dag) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        struct dag_ask *ask = &dag->asks[i];
        const struct dag_resource *resource = &dag->resources[ask->resource];
        const bool blocked = ask->asked != DAG_NONE && ask->site == 0 && ask->released == DAG_NONE;
        if (blocked && is_exclusive(resource) && resource->tells_holds) ask->units = 0;
    }
}

static bool keeps_lock(const struct dag *dag, const struct dag_ask *ask) {
    const struct dag_resource *resource = &dag->resources[ask->resource];
    return ask->got != DAG_NONE && !ask->given_up && ask->released == DAG_NONE && is_exclusive(resource) &&
           resource->tells_holds;
}

static bool gets_lock(const struct dag *dag, uint32_t vertex) {
    const unsigned kind = dag->vertices.kind[vertex];
    return kind == VERTEX_ACQUIRED || kind == VERTEX_HELD;
}

// A monitor is given back in the frame that took it.
static bool gives_back_too_late(const struct dag *dag, const struct dag_ask *ask, uint32_t body) {
    return dag->resources[ask->resource].kind == RESOURCE_MONITOR && ask->released != DAG_NONE &&
           ask->released > dag->tasks[body].end;
}

// No task ends with a monitor: where no release is told, as where code of the JDK's took it (a class loader's, for one
// class), or only one of a later task's, others that do tell have it all the same. A lock may be kept for a later task
// of the thread; where no release is told by the recording's end, it was lost, and threads that come in another order
// would wait for ever.
static void ended_tasks_keep_nothing(struct dag *dag) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE;
        const uint32_t end = dag->threads[i].first + dag->threads[i].count;
        for (uint32_t v = dag->threads[i].first; v < end; v++) {
            body = dag_body_after(dag, v, body);
            if (!gets_lock(dag, v) || body == DAG_NONE || dag->tasks[body].end == DAG_NONE) continue;
            struct dag_ask *ask = &dag->asks[dag->vertices.task[v]];
            if (keeps_lock(dag, ask) || gives_back_too_late(dag, ask, body)) ask->units = 0;
        }
    }
}

static void begin_counts(struct replay *replay) {
    struct dag *dag = replay->dag;
    blocked_take_nothing(dag);
    for (uint32_t r = 0; r < dag->resource_count; r++) dag->resources[r].initial = known_units(dag, &dag->resources[r]);
    for (uint32_t i = 0; i < dag->ask_count; i++) { // objects that were put in first are not there before
        struct dag_resource *resource = &dag->resources[dag->asks[i].resource];
        bool put = resource->kind == RESOURCE_POOL && dag->asks[i].got == DAG_NONE && dag->asks[i].released != DAG_NONE;
        if (put) resource->initial = max_ns(resource->initial - dag->asks[i].units, 0);
    }
    for (uint32_t r = 0; r < dag->resource_count; r++)
        replay->counts[r] = (struct count){.available = dag->resources[r].initial,
                                           .listed = DAG_NONE,
                                           .uncovered = DAG_NONE,
                                           .before = DAG_NONE,
                                           .first_asked_ns = INT64_MAX};
}

static void change_level(struct count *count, int64_t units) {
    count->level += units;
    count->least = min_ns(count->least, count->level);
    count->most = max_ns(count->most, count->level);
}

// Of what was made before recording began some was out then, and its holder may have given it back before that was
// recorded. What its taker gives back goes round, and does so from the beginning.
static bool was_out_before(const struct dag_resource *resource, const struct dag_ask *ask) {
    return resource->capacity < 0 && ask->released != DAG_NONE;
}

// What is had though nothing is left was there from the beginning; if it had to be waited for, it came from where
// nothing is recorded of.
static void count_got(struct replay *replay, struct dag_ask *ask) {
    struct dag_resource *resource = &replay->dag->resources[ask->resource];
    struct count *count = &replay->counts[ask->resource];
    count->takes++;
    change_level(count, -ask->units);
    count->returns += ask->released != DAG_NONE;
    if (count->available < ask->units && !is_exclusive(resource)) {
        if (ask->asked != DAG_NONE && !was_out_before(resource, ask)) {
            ask->units = 0;
        } else {
            resource->initial += ask->units - count->available;
            count->available = ask->units;
        }
    }
    count->available -= ask->units;
}

// The thread's last vertex by then before it gives the resource back, if the body in which it does is the same. A body
// that had begun before recording did may be known later only, as one that was taken up while classes were woven: it
// has the resource from its start. DAG_NONE: the thread had none.
static uint32_t last_vertex_by(const struct dag *dag, uint32_t released, int64_t time_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t first = dag->threads[dag_thread_of(dag, released)].first;
    for (uint32_t v = released; v-- > first;) {
        if (vertices->time_ns[v] <= time_ns) return v;
        uint32_t task = vertices->kind[v] == VERTEX_START ? vertices->task[v] : DAG_NONE;
        if (task != DAG_NONE && dag->tasks[task].end > released)
            return dag->tasks[task].flags & TASK_BEGUN_BEFORE ? v : DAG_NONE;
    }
    return DAG_NONE;
}

static bool find_taking(struct replay *replay, struct dag_ask *ask) {
    ask->had_at = last_vertex_by(replay->dag, ask->released, replay->counts[ask->resource].first_asked_ns);
    replay->found_takings |= ask->had_at != DAG_NONE;
    return ask->had_at != DAG_NONE;
}

// What is done to a resource is told from its first contention on. So a thread that gives back what it is not known to
// have taken may have had it when the first one asked. It did not have it from the beginning of the recording: then it
// would never be free where the thread comes later than it did.
static void count_lock_freed(struct replay *replay, struct dag_ask *ask) {
    struct dag_resource *resource = &replay->dag->resources[ask->resource];
    const struct count *count = &replay->counts[ask->resource];
    if (count->takes > 0 || resource->initial < ask->units) { // its taking was lost: nothing changes
        ask->units = 0;
        return;
    }
    if (!find_taking(replay, ask)) resource->initial -= ask->units;
}

// No more of a pool was out when recording began than it has. A thread that gives back one beyond these slept for it
// then, and took it where nothing told so: of that one neither counts.
static bool was_taken_since(const struct dag_resource *resource, const struct count *count) {
    return resource->kind == RESOURCE_POOL && resource->capacity > 0 && count->given > resource->capacity;
}

static void count_freed(struct replay *replay, struct dag_ask *ask) {
    const struct dag_resource *resource = &replay->dag->resources[ask->resource];
    struct count *count = &replay->counts[ask->resource];
    bool alone = ask->got == DAG_NONE;
    count->given += alone;
    if (alone && is_exclusive(resource)) {
        count_lock_freed(replay, ask);
        return;
    }
    if (alone && was_taken_since(resource, count)) {
        ask->units = 0;
        return;
    }
    count->available += ask->units;
    change_level(count, ask->units);
}

static void find_initial(struct replay *replay) {
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        struct dag_ask *ask = &replay->dag->asks[replay->turns[i].item / TURNS];
        switch (replay->turns[i].item % TURNS) {
        case TURN_GETS:
            if (!ask->given_up) count_got(replay, ask);
            break;
        case TURN_FREES:
            count_freed(replay, ask);
            break;
        default:
            replay->counts[ask->resource].first_asked_ns =
                min_ns(replay->counts[ask->resource].first_asked_ns, replay->turns[i].time_ns);
        }
    }
}

// Where takers give back what they took, a thread that only gives back had taken it before that was told.
static void count_permits_had(struct replay *replay, struct dag_ask *ask) {
    const struct dag_resource *resource = &replay->dag->resources[ask->resource];
    struct count *count = &replay->counts[ask->resource];
    bool alone = ask->got == DAG_NONE, fits = count->had + ask->units <= resource->capacity;
    if (resource->kind != RESOURCE_PERMITS || !resource->goes_round || !alone || !fits) return;
    if (find_taking(replay, ask)) count->had += ask->units;
}

// A capacity tells the most permits that there were, those included that nothing had taken before they were given.
static void find_initial_permits(struct dag_resource *resource, const struct count *count) {
    int64_t surplus = max_ns(count->most - count->had, 0), needed = max_ns(count->had - count->least, 0);
    resource->initial = max_ns(resource->capacity - surplus, needed);
    resource->goes_round = surplus == 0;
}

static bool is_returned(const struct count *count) {
    return count->returns > 0 && count->returns * 10ull >= count->takes * 9ull;
}

// Elements that their takers put back are a pool of objects, others are messages.
static void find_what_goes_round(struct replay *replay) {
    struct dag *dag = replay->dag;
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        struct dag_resource *resource = &dag->resources[r];
        resource->goes_round =
            is_exclusive(resource) || resource->kind == RESOURCE_POOL || is_returned(&replay->counts[r]);
        if (resource->kind != RESOURCE_QUEUE || !resource->goes_round) continue;
        resource->kind = RESOURCE_POOL;
        resource->capacity = resource->initial + replay->counts[r].given;
    }
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        if (replay->turns[i].item % TURNS == TURN_FREES)
            count_permits_had(replay, &dag->asks[replay->turns[i].item / TURNS]);
    }
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        struct dag_resource *resource = &dag->resources[r];
        if (resource->kind == RESOURCE_PERMITS && resource->capacity > 0)
            find_initial_permits(resource, &replay->counts[r]);
    }
}

// ---- what was waited for

static void cover(struct replay *replay, struct count *count, int64_t time_ns) {
    uint32_t *link = &count->uncovered;
    while (*link != DAG_NONE) {
        struct dag_ask *ask = &replay->dag->asks[*link];
        if (count->available >= ask->units) {
            link = &replay->asks[*link].next;
            continue;
        }
        ask->unknown_ns = time_ns - replay->dag->vertices.time_ns[ask->asked];
        *link = replay->asks[*link].next;
    }
}

// Whether it waits behind others though there is enough: in a queue that is fair, or as a reader behind a writer.
static bool queues(const struct replay *replay, const struct dag_ask *ask) {
    const struct dag *dag = replay->dag;
    const struct dag_resource *resource = &dag->resources[ask->resource];
    uint32_t first = replay->counts[ask->resource].listed;
    if (first == DAG_NONE) return false;
    return resource->fair || (ask->shared && !dag->asks[first].shared && !resource->readers_pass);
}

static void begin_wait(struct replay *replay, uint32_t index) {
    struct dag_ask *ask = &replay->dag->asks[index];
    struct count *count = &replay->counts[ask->resource];
    if (ask->got == DAG_NONE || (count->available < ask->units && ask->units) || queues(replay, ask)) return;
    ask->unknown_ns = replay->dag->vertices.time_ns[ask->got] - replay->dag->vertices.time_ns[ask->asked];
    replay->asks[index].next = count->uncovered;
    count->uncovered = index;
}

static void leave_uncovered(struct replay *replay, struct count *count, uint32_t index) {
    uint32_t *link = &count->uncovered;
    while (*link != DAG_NONE && *link != index) link = &replay->asks[*link].next;
    if (*link == index) *link = replay->asks[index].next;
}

// ---- which release calls which ask: as in dag/simulate/resources.c

static int64_t place_of_new(const struct replay *replay, uint32_t index) {
    const struct dag_ask *ask = &replay->dag->asks[index];
    const struct dag_resource *resource = &replay->dag->resources[ask->resource];
    return replay->dag->vertices.time_ns[resource->fair ? ask->asked : ask->got];
}

static void list(struct replay *replay, uint32_t index) {
    const struct dag_ask *ask = &replay->dag->asks[index];
    uint32_t *first = &replay->counts[ask->resource].listed, *link = first;
    int64_t place_ns = place_of_new(replay, index);
    for (uint32_t i = *first; ask->given_up && i != DAG_NONE; i = replay->asks[i].next_listed)
        place_ns = max_ns(place_ns, replay->asks[i].place_ns);
    while (*link != DAG_NONE && replay->asks[*link].place_ns <= place_ns) link = &replay->asks[*link].next_listed;
    replay->asks[index].next_listed = *link;
    *link = index;
    replay->asks[index].place_ns = place_ns;
    replay->asks[index].called_ns = NOT_CALLED;
}

static void unlist(struct replay *replay, uint32_t index) {
    uint32_t *link = &replay->counts[replay->dag->asks[index].resource].listed;
    while (*link != DAG_NONE && *link != index) link = &replay->asks[*link].next_listed;
    if (*link == index) *link = replay->asks[index].next_listed;
}

// What is left of what there is when those have theirs that were called.
static int64_t left_uncalled(const struct replay *replay, const struct count *count) {
    int64_t left = count->available;
    for (uint32_t i = count->listed; i != DAG_NONE; i = replay->asks[i].next_listed)
        left -= replay->asks[i].called_ns != NOT_CALLED ? replay->dag->asks[i].units : 0;
    return left;
}

// Since a release, or since one that waited before them gave up (DAG_NONE).
static void call(struct replay *replay, const struct count *count, uint32_t freed, int64_t now_ns) {
    int64_t left = left_uncalled(replay, count);
    for (uint32_t i = count->listed; i != DAG_NONE; i = replay->asks[i].next_listed) {
        if (replay->asks[i].called_ns != NOT_CALLED) continue;
        left -= replay->dag->asks[i].units;
        if (left < 0) return;
        replay->asks[i].called_ns = now_ns;
        replay->asks[i].called_by = freed;
    }
}

// Another came first: those that were called last are not any more.
static void call_off(struct replay *replay, const struct count *count) {
    for (int64_t left = left_uncalled(replay, count); left < 0;) {
        uint32_t last = DAG_NONE;
        for (uint32_t i = count->listed; i != DAG_NONE; i = replay->asks[i].next_listed) {
            if (replay->asks[i].called_ns != NOT_CALLED && replay->dag->asks[i].units > 0) last = i;
        }
        if (last == DAG_NONE) return;
        replay->asks[last].called_ns = NOT_CALLED;
        replay->dag->asks[last].called_off = true;
        left += replay->dag->asks[last].units;
    }
}

static void end_wait(struct replay *replay, uint32_t index) {
    struct dag *dag = replay->dag;
    struct dag_ask *ask = &dag->asks[index];
    unlist(replay, index);
    leave_uncovered(replay, &replay->counts[ask->resource], index);
    if (replay->asks[index].called_ns == NOT_CALLED || !ask->units || ask->given_up) return;
    ask->waking_ns = dag->vertices.time_ns[ask->got] - replay->asks[index].called_ns;
    if (replay->asks[index].called_by == DAG_NONE) return;
    dag->vertices.rule[ask->got] = RULE_GRANT;
    dag->vertices.cause[ask->got] = replay->asks[index].called_by;
}

static void get(struct replay *replay, uint32_t index, int64_t time_ns) {
    struct dag_ask *ask = &replay->dag->asks[index];
    struct count *count = &replay->counts[ask->resource];
    if (ask->asked != DAG_NONE) end_wait(replay, index);
    if (ask->given_up) {
        call(replay, count, DAG_NONE, time_ns);
        return;
    }
    count->available -= ask->units;
    cover(replay, count, time_ns);
    call_off(replay, count);
}

static void find_causes_of_told(struct replay *replay) {
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        uint32_t index = replay->turns[i].item / TURNS;
        struct dag_ask *ask = &replay->dag->asks[index];
        struct count *count = &replay->counts[ask->resource];
        if (!replay->dag->resources[ask->resource].tells_holds) continue;
        switch (replay->turns[i].item % TURNS) {
        case TURN_ASKS:
            begin_wait(replay, index);
            if (ask->got != DAG_NONE) list(replay, index);
            break;
        case TURN_GETS:
            get(replay, index, replay->turns[i].time_ns);
            break;
        default:
            count->available += ask->units;
            call(replay, count, ask->released, replay->turns[i].time_ns);
        }
    }
}

// ---- where no release is told

// The innermost body around each acquisition, and its thread's next acquisition.
static void look_around(struct replay *replay) {
    const struct dag *dag = replay->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t body = DAG_NONE, before = DAG_NONE, last = dag->threads[i].first + dag->threads[i].count - 1;
        for (uint32_t v = dag->threads[i].first; v <= last; v++) {
            body = dag_body_after(dag, v, body);
            bool waits = vertices->kind[v] == VERTEX_WAIT_BEGIN || vertices->kind[v] == VERTEX_ACQUIRE;
            if (waits && before != DAG_NONE && replay->asks[before].next_wait == DAG_NONE)
                replay->asks[before].next_wait = v;
            if (vertices->kind[v] != VERTEX_ACQUIRED) continue;
            uint32_t ask = vertices->task[v];
            replay->asks[ask].body_end = body == DAG_NONE ? DAG_NONE : dag->tasks[body].end;
            replay->asks[ask].next_ask = replay->asks[ask].next_wait = DAG_NONE;
            if (before != DAG_NONE) replay->asks[before].next_ask = ask;
            before = ask;
        }
    }
}

// Whether the thread that got the lock can have kept it until another got it: it did not have to get it anew, and the
// body in which it got it went on. A lock within the JDK's own code is not kept over a wait: that has no place, which
// all others have in traces that tell of resources.
static bool may_have_kept(const struct replay *replay, uint32_t holder, int64_t until_ns) {
    const struct dag *dag = replay->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t end = replay->asks[holder].body_end, again = replay->asks[holder].next_ask;
    if (end == DAG_NONE || time_ns[end] < until_ns) return false;
    uint32_t waits = replay->asks[holder].next_wait;
    bool of_jdk = dag->asks[holder].site == 0 && dag->trace->version >= TELLS_RESOURCES;
    if (of_jdk && waits != DAG_NONE && time_ns[waits] < until_ns) return false;
    bool same = again != DAG_NONE && dag->asks[again].resource == dag->asks[holder].resource;
    return !same || time_ns[dag->asks[again].asked] >= until_ns;
}

// Of a lock that is kept for long hardly anyone comes to wait in its last moments: where the wait is less than a
// thousandth of what the lock would have been kept, something else had it, whose acquisition the trace does not tell.
#define LAST_MOMENTS 1000

static bool comes_in_last_moments(const struct dag *dag, const struct dag_ask *holder, const struct dag_ask *ask) {
    const int64_t *time_ns = dag->vertices.time_ns;
    return (time_ns[ask->got] - time_ns[ask->asked]) < (time_ns[ask->got] - time_ns[holder->got]) / LAST_MOMENTS;
}

// The lock goes over from one that waited for it to the next. As long as others waited as well it was not free, be it
// that something unknown had it in between.
static void hand_on(struct replay *replay, uint32_t before, uint32_t index) {
    struct dag *dag = replay->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    struct dag_ask *holder = &dag->asks[before], *ask = &dag->asks[index];
    bool meanwhile = time_ns[holder->got] >= time_ns[ask->asked];
    bool same = dag_thread_of(dag, holder->got) == dag_thread_of(dag, ask->got);
    bool kept = !comes_in_last_moments(dag, holder, ask) && may_have_kept(replay, before, time_ns[ask->got]);
    bool goes_over = !same && (meanwhile || kept);
    bool busy = goes_over || (replay->counts[ask->resource].waited > 0 && !same);
    if (busy) holder->held_ns = time_ns[ask->got] - time_ns[holder->got];
    if (!goes_over) return;
    dag->vertices.cause[ask->got] = holder->got;
    dag->vertices.rule[ask->got] = RULE_GRANT;
}

static void find_untold_holds(struct replay *replay) {
    struct dag *dag = replay->dag;
    look_around(replay);
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        uint32_t index = replay->turns[i].item / TURNS;
        const struct dag_ask *ask = &dag->asks[index];
        struct count *count = &replay->counts[ask->resource];
        enum turn turn = (enum turn)(replay->turns[i].item % TURNS);
        if (dag->resources[ask->resource].tells_holds || ask->given_up || ask->asked == DAG_NONE) continue;
        if (turn == TURN_ASKS) count->waiting++;
        if (turn != TURN_GETS) continue;
        count->waiting -= count->waiting > 0;
        if (count->before != DAG_NONE) hand_on(replay, count->before, index);
        count->before = index;
        count->waited = count->waiting;
    }
}

// Every acquisition that is known, until it is handed on.
static bool sort_untold_turns(struct replay *replay) {
    const struct dag *dag = replay->dag;
    replay->turn_count = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (dag->resources[ask->resource].tells_holds || ask->asked == DAG_NONE || ask->got == DAG_NONE) continue;
        add_turn(replay, ask->asked, TURN_ASKS, i);
        add_turn(replay, ask->got, TURN_GETS, i);
        add_turn(replay, ask->got, TURN_FREES, i);
        replay->turns[replay->turn_count - 1].time_ns += ask->held_ns;
    }
    return order_sort(replay->turns, replay->turn_count);
}

static bool find_untold_causes(struct replay *replay) {
    find_untold_holds(replay);
    if (!sort_untold_turns(replay)) return false;
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        uint32_t index = replay->turns[i].item / TURNS;
        struct dag_ask *ask = &replay->dag->asks[index];
        struct count *count = &replay->counts[ask->resource];
        switch (replay->turns[i].item % TURNS) {
        case TURN_ASKS:
            begin_wait(replay, index);
            break;
        case TURN_GETS:
            leave_uncovered(replay, count, index);
            count->available--;
            cover(replay, count, replay->turns[i].time_ns);
            break;
        default:
            count->available++;
        }
    }
    return true;
}

// ---- limits

static uint64_t place_of(const struct dag_ask *ask) {
    return (uint64_t)ask->resource << 32 | ask->site;
}

// What was had at once tells no limit; at its place others that had to wait may have told it.
static bool find_limits(const struct dag *dag) {
    struct idmap limited = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        bool tells = ask->asked != DAG_NONE && ask->limit_ns != INT64_MAX && ask->site;
        if (tells && idmap_get(&limited, place_of(ask)) == IDMAP_NONE) ok = idmap_add(&limited, place_of(ask), i);
    }
    for (uint32_t i = 0; ok && i < dag->ask_count; i++) {
        struct dag_ask *ask = &dag->asks[i];
        uint32_t known = ask->asked == DAG_NONE ? idmap_get(&limited, place_of(ask)) : IDMAP_NONE;
        if (known != IDMAP_NONE) ask->limit_ns = dag->asks[known].limit_ns;
    }
    idmap_destroy(&limited);
    return ok;
}

static bool find_all(struct replay *replay) {
    begin_counts(replay);
    forget_inner_blocks(replay);
    find_untold_releases(replay);
    forget_holds(replay->dag);
    ended_tasks_keep_nothing(replay->dag);
    find_initial(replay);
    find_what_goes_round(replay);
    for (uint32_t r = 0; r < replay->dag->resource_count; r++)
        replay->counts[r].available = replay->dag->resources[r].initial;
    if (replay->found_takings && !sort_turns(replay)) return false;
    find_causes_of_told(replay);
    return find_untold_causes(replay) && find_limits(replay->dag);
}

bool find_grants(struct builder *builder) {
    struct dag *dag = builder->dag;
    size_t asks = (size_t)dag->ask_count + 1;
    if (!dag->ask_count) return true;
    forget_unseen_ends(dag);
    struct replay replay = {.dag = dag,
                            .turns = malloc(TURNS * asks * sizeof *replay.turns),
                            .counts = calloc((size_t)dag->resource_count + 1, sizeof *replay.counts),
                            .asks = malloc(asks * sizeof *replay.asks)};
    bool ok = replay.turns && replay.counts && replay.asks && dag->ask_count <= UINT32_MAX / TURNS &&
              sort_turns(&replay) && find_all(&replay);
    free(replay.turns);
    free(replay.counts);
    free(replay.asks);
    return ok || no_memory(builder);
}
