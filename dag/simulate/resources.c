// SPDX-License-Identifier: GPL-3.0-or-later
// Resources: what processes hold and wait for beside results, workers and cores. A resource is a count of units; a lock
// has one, a semaphore its permits, a pool its connections, a queue its elements. So an acquisition takes units, a
// release gives them back, and both happen in order of time.
//
// Order. A fair resource is handed over to the process that has waited longest. Any other is had by whichever process
// comes while there is enough: a release calls the next waiter, which needs its wake-up latency to come; if another
// comes first, the waiter that was called last sleeps on until the next release. Waiters are called in the order in
// which they got it when recorded, which is what is known of how the lock chooses.
//
// A wait that was recorded, and of which nothing known was the cause, keeps its length; meanwhile something unknown has
// the unit, where there is but one. A time limit is an event that races the grant: where both come at one time, the
// grant counts. Where the outcome is another than recorded, the task goes on as another of its site did that had this
// outcome (donors.c). Without one the outcome stays as recorded, whatever its limit says, and is counted.
#include "dag/simulate/resources.h"

#include "dag/ns.h"
#include "dag/order.h"
#include "dag/simulate/donors.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/starvation.h"

#include <stdlib.h>

// ---- what was had before it is told of, by vertex

static bool find_had(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) count += dag->asks[i].had_at != DAG_NONE;
    struct order_key *order = malloc(((size_t)count + 1) * sizeof *order);
    sim->had = malloc(((size_t)count + 1) * sizeof *sim->had);
    for (uint32_t i = 0; order && sim->had && i < dag->ask_count; i++) {
        if (dag->asks[i].had_at != DAG_NONE)
            order[sim->had_count++] = (struct order_key){.time_ns = dag->asks[i].had_at, .tie = i, .item = i};
    }
    bool ok = order && sim->had && order_sort(order, sim->had_count);
    for (uint32_t i = 0; ok && i < sim->had_count; i++) sim->had[i] = order[i].item;
    free(order);
    return ok;
}

static uint32_t first_had_at(const struct simulation *sim, uint32_t vertex) {
    uint32_t low = 0, high = sim->had_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sim->dag->asks[sim->had[middle]].had_at < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool resources_new(struct simulation *sim) {
    sim->resources = calloc((size_t)sim->dag->resource_count + 1, sizeof *sim->resources);
    return sim->resources && find_had(sim) &&
           events_reserve(&sim->events, SUBJECT_RESOURCE, sim->dag->resource_count + 1) && donors_new(sim);
}

void resources_free(struct simulation *sim) {
    free(sim->resources);
    free(sim->holds);
    free(sim->had);
    donors_free(sim);
}

static int64_t units_at_beginning(const struct simulation *sim, uint32_t index) {
    const struct dag_resource *resource = &sim->dag->resources[index];
    int64_t capacity = sim->edit->resource_units[index];
    return capacity ? resource->initial + capacity - resource->capacity : resource->initial;
}

void resources_begin_run(struct simulation *sim) {
    sim->grants = sim->model != MODEL_DAG && sim->dag->resource_count > 0;
    sim->hold_count = 0;
    sim->unused_hold = DAG_NONE;
    sim->outcomes_kept = sim->outcomes_changed = 0;
    sim->starvation = (struct starvation){0};
    for (uint32_t r = 0; r < sim->dag->resource_count; r++) {
        sim->resources[r] = (struct resource){.available = units_at_beginning(sim, r),
                                              .first = DAG_NONE,
                                              .holder = DAG_NONE,
                                              .unlocked = sim->edit->unlocked[r]};
    }
}

static struct resource *resource_of(struct simulation *sim, uint32_t ask) {
    return &sim->resources[sim->dag->asks[ask].resource];
}

static bool is_fair(const struct simulation *sim, uint32_t ask) {
    return sim->dag->resources[sim->dag->asks[ask].resource].fair;
}

// ---- holders

static void hold(struct simulation *sim, uint32_t index, uint32_t ask) {
    uint32_t at = sim->unused_hold;
    if (at != DAG_NONE) {
        sim->unused_hold = sim->holds[at].next;
    } else {
        if (sim->hold_count == sim->hold_capacity) {
            uint32_t larger = sim->hold_capacity ? 2 * sim->hold_capacity : 64;
            struct hold *moved = realloc(sim->holds, larger * sizeof *moved);
            sim->no_memory |= !moved;
            if (!moved) return;
            sim->holds = moved;
            sim->hold_capacity = larger;
        }
        at = sim->hold_count++;
    }
    sim->holds[at] = (struct hold){.ask = ask, .next = sim->processes[index].holds};
    sim->processes[index].holds = at;
}

// Whether the process had it.
static bool let_go(struct simulation *sim, uint32_t index, uint32_t ask) {
    for (uint32_t *link = &sim->processes[index].holds; *link != DAG_NONE; link = &sim->holds[*link].next) {
        uint32_t at = *link;
        if (sim->holds[at].ask != ask) continue;
        *link = sim->holds[at].next;
        sim->holds[at].next = sim->unused_hold;
        sim->unused_hold = at;
        return true;
    }
    return false;
}

static bool is_lock(const struct dag_resource *resource) {
    return resource->kind == RESOURCE_MONITOR || resource->kind == RESOURCE_LOCK ||
           resource->kind == RESOURCE_READ_WRITE_LOCK;
}

// Whether it is a lock that the process has already: a body that moved in may ask for what is held around it. Where no
// release is told it has had it for a time at the least, be it that something unknown had it behind that.
static bool owns(const struct simulation *sim, uint32_t index, uint32_t ask) {
    uint32_t resource = sim->dag->asks[ask].resource;
    const struct dag_resource *of = &sim->dag->resources[resource];
    if (!is_lock(of) || !of->tells_holds) return false;
    for (uint32_t h = sim->processes[index].holds; h != DAG_NONE; h = sim->holds[h].next) {
        if (sim->dag->asks[sim->holds[h].ask].resource == resource) return true;
    }
    return false;
}

// ---- waiters, the next to be called first

static int64_t key_of(const struct simulation *sim, uint32_t ask, int64_t now_ns) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    return is_fair(sim, ask) || of->got == DAG_NONE ? now_ns : sim->dag->vertices.time_ns[of->got];
}

static int64_t last_key(const struct simulation *sim, const struct resource *resource) {
    int64_t key = INT64_MIN;
    for (uint32_t i = resource->first; i != DAG_NONE; i = sim->processes[i].wait.next) key = sim->processes[i].wait.key;
    return key;
}

// What gave up came before none that was there then.
static void list(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    struct resource *resource = resource_of(sim, process->wait.ask);
    process->wait.key = key_of(sim, process->wait.ask, now_ns);
    if (sim->dag->asks[process->wait.ask].given_up)
        process->wait.key = max_ns(process->wait.key, last_key(sim, resource));
    uint32_t *link = &resource->first;
    while (*link != DAG_NONE && sim->processes[*link].wait.key <= process->wait.key)
        link = &sim->processes[*link].wait.next;
    process->wait.next = *link;
    *link = index;
    process->wait.state = ASK_LISTED;
    if (process->worker.pool) sim->pools[process->worker.pool].asking++;
}

static void unlist(struct simulation *sim, uint32_t index) {
    uint32_t *link = &resource_of(sim, sim->processes[index].wait.ask)->first;
    while (*link != index) link = &sim->processes[*link].wait.next;
    *link = sim->processes[index].wait.next;
    if (sim->processes[index].worker.pool) sim->pools[sim->processes[index].worker.pool].asking--;
}

// ---- taking

static bool is_enough(const struct simulation *sim, uint32_t index, uint32_t ask) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    const struct resource *resource = &sim->resources[of->resource];
    if (of->units == 0 || resource->unlocked || owns(sim, index, ask)) return true;
    return resource->available - resource->unknown >= of->units;
}

// Whether it gives up as it did, though there is enough: it stands in nobody's way.
static bool is_passed_over(const struct simulation *sim, uint32_t index) {
    const struct process *process = &sim->processes[index];
    return process->wait.state == ASK_AS_RECORDED && is_enough(sim, index, process->wait.ask);
}

// Whether what comes has it. A writer that waits keeps readers out that come after it, but where these pass.
static bool fits(const struct simulation *sim, uint32_t index, uint32_t ask) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    const struct resource *resource = &sim->resources[of->resource];
    if (!is_enough(sim, index, ask)) return false;
    if (of->units == 0 || resource->unlocked || owns(sim, index, ask)) return true;
    uint32_t first = resource->first;
    while (first != DAG_NONE && is_passed_over(sim, first)) first = sim->processes[first].wait.next;
    if (first == DAG_NONE || first == index) return true;
    const bool behind_writer = of->shared && !sim->dag->asks[sim->processes[first].wait.ask].shared;
    return !is_fair(sim, ask) && !(behind_writer && !sim->dag->resources[of->resource].readers_pass);
}

// Whether it computes, or waits for a carrier to do so: it has been woken, and comes to look for itself.
static bool is_awake(const struct process *process) {
    return process->edge.state == EDGE_COMPUTES || process->edge.state == EDGE_READY;
}

// The waiter that was called last, and is not awake yet; DAG_NONE: there is none.
static uint32_t last_called(const struct simulation *sim, const struct resource *resource) {
    uint32_t last = DAG_NONE;
    for (uint32_t i = resource->first; i != DAG_NONE; i = sim->processes[i].wait.next) {
        if (sim->processes[i].wait.state == ASK_CALLED && !is_awake(&sim->processes[i])) last = i;
    }
    return last;
}

// A thread that was woken wakes up, whether another takes meanwhile what it was woken for or not: called again by then,
// it is there as soon as if it had not been called off. (One that is slow to wake would else be called and called off
// for ever, and the resource idle all the while.)
static bool was_waking(const struct simulation *sim, const struct process *process) {
    const int64_t waking_ns = sim->dag->asks[process->wait.ask].waking_ns, since_ns = process->wait.roused_ns;
    return since_ns != INT64_MIN && since_ns + waking_ns > process->wait.called_ns;
}

// From when on a waiter is awake that slept when it was called. Of what was called off when recorded only the last
// call's latency is known.
static int64_t awake_from_ns(const struct simulation *sim, const struct process *process) {
    const struct dag_ask *ask = &sim->dag->asks[process->wait.ask];
    const bool roused = !ask->called_off && was_waking(sim, process);
    return (roused ? process->wait.roused_ns : process->wait.called_ns) + ask->waking_ns;
}

// What came first has what the waiters were called for: they sleep on.
static void call_off(struct simulation *sim, struct resource *resource, int64_t now_ns) {
    while (resource->promised > 0 && resource->promised > resource->available) {
        uint32_t index = last_called(sim, resource);
        if (index == DAG_NONE) return;
        struct process *process = &sim->processes[index];
        resource->promised -= sim->dag->asks[process->wait.ask].units;
        event_remove(&sim->events, SUBJECT_PROCESS, index);
        if (!was_waking(sim, process)) process->wait.roused_ns = process->wait.called_ns;
        process->wait.state = ASK_LISTED;
        process->edge.state = EDGE_AHEAD;
        process->timed = false;
        if (process->wait.limit_ns != INT64_MAX)
            event_put(&sim->events, NOTICE_LIMIT, index, max_ns(process->wait.limit_ns, now_ns));
    }
}

static void take(struct simulation *sim, uint32_t index, uint32_t ask, int64_t now_ns) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    struct resource *resource = &sim->resources[of->resource];
    if (of->units == 0 || resource->unlocked || owns(sim, index, ask)) return;
    resource->available -= of->units;
    resource->holder = index;
    bool keeps = of->released != DAG_NONE || sim->dag->resources[of->resource].goes_round; // else it is gone for good
    if (keeps) hold(sim, index, ask);
    call_off(sim, resource, now_ns);
}

// Whatever the process that runs now does to itself, it goes on with anyway.
static void go_on(struct simulation *sim, uint32_t index) {
    if (index != sim->advancing) process_make_ready(sim, index);
}

// The waiter goes on from then: with the resource where that is handed over, else to see whether it is still there.
static void call(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    struct resource *resource = resource_of(sim, process->wait.ask);
    event_remove(&sim->events, SUBJECT_PROCESS, index);
    if (is_fair(sim, process->wait.ask)) {
        unlist(sim, index);
        take(sim, index, process->wait.ask, now_ns);
        process->wait.state = ASK_GRANTED;
    } else {
        resource->promised += sim->dag->asks[process->wait.ask].units;
        process->wait.state = ASK_CALLED;
    }
    process->wait.called_ns = now_ns;
    go_on(sim, index);
}

// It could have it now, and does not. Counted once.
static void keep_outcome(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    sim->outcomes_kept += process->wait.called_ns == INT64_MAX;
    process->wait.called_ns = now_ns;
}

static void serve(struct simulation *sim, struct resource *resource, int64_t now_ns) {
    uint32_t index = resource->first;
    while (index != DAG_NONE) {
        const struct process *process = &sim->processes[index];
        uint32_t next = process->wait.next;
        int32_t units = sim->dag->asks[process->wait.ask].units;
        bool waits = process->wait.state == ASK_LISTED || process->wait.state == ASK_AS_RECORDED;
        if (waits && resource->available - resource->unknown - resource->promised < units) return;
        if (process->wait.state == ASK_LISTED) call(sim, index, now_ns);
        if (process->wait.state == ASK_AS_RECORDED) keep_outcome(sim, index, now_ns);
        index = next;
    }
}

static void give_back(struct simulation *sim, uint32_t ask, int64_t now_ns) {
    struct resource *resource = resource_of(sim, ask);
    resource->available += sim->dag->asks[ask].units;
    serve(sim, resource, now_ns);
}

// ---- what a process goes through

// Where cores are shared out anew a holder stands ready for as long as it has to now.
static int64_t but_for_ready(const struct simulation *sim, int64_t ns, int64_t ready_ns) {
    return sim->shares ? ns - ready_ns : ns;
}

// Of a lock whose releases are not told: as long as it had it.
static void give_back_in_time(struct simulation *sim, uint32_t ask, int64_t now_ns) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    if (sim->dag->resources[of->resource].tells_holds || of->units == 0 || sim->resources[of->resource].unlocked)
        return;
    sim->resources[of->resource].held = ask;
    event_put(&sim->events, NOTICE_RELEASE, of->resource, now_ns + but_for_ready(sim, of->held_ns, of->held_ready_ns));
}

void resource_times_out(struct simulation *sim, uint32_t resource, int64_t now_ns) {
    uint32_t ask = sim->resources[resource].held;
    if (let_go(sim, sim->resources[resource].holder, ask)) give_back(sim, ask, now_ns);
}

// When the process gives up that asks now. Without a donor it would not know how to go on: then it does not, though its
// time is up.
static void set_limit(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    const struct dag_ask *of = &sim->dag->asks[process->wait.ask];
    bool limited = of->limit_ns != INT64_MAX;
    bool keeps = limited && (of->given_up || donor_is_there(sim, index, process->wait.ask));
    process->wait.limit_ns = keeps ? now_ns + of->limit_ns : INT64_MAX;
    process->wait.late_ns = limited && !keeps ? now_ns + of->limit_ns : INT64_MAX;
}

static void begin_wait(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    list(sim, index, now_ns);
    if (process->wait.limit_ns != INT64_MAX)
        event_put(&sim->events, NOTICE_LIMIT, index, max_ns(process->wait.limit_ns, now_ns));
    starvation_look(sim, index);
}

// Nothing tells how it would go on with the resource, so it waits for it in vain.
static void begin_giving_up(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    process->wait.called_ns = INT64_MAX;
    if (fits(sim, index, process->wait.ask)) keep_outcome(sim, index, now_ns);
    list(sim, index, now_ns);
    process->wait.state = ASK_AS_RECORDED;
    event_put(&sim->events, NOTICE_LIMIT, index, max_ns(process->wait.limit_ns, now_ns));
}

// What a wait of unknown cause keeps from others: the only unit there is. Of several, more may wait so than there are.
static int64_t kept_by_unknown(const struct simulation *sim, uint32_t ask) {
    const struct dag_resource *of = &sim->dag->resources[sim->dag->asks[ask].resource];
    return is_lock(of) || of->capacity == 1 ? sim->dag->asks[ask].units : 0;
}

// Something unknown has it. What was given up meanwhile, is so again.
static void begin_unknown(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    const struct dag_ask *of = &sim->dag->asks[process->wait.ask];
    process->wait.state = ASK_UNKNOWN;
    process->wait.called_ns = now_ns + but_for_ready(sim, of->unknown_ns, of->unknown_ready_ns);
    if (of->given_up) process->wait.called_ns = min_ns(process->wait.called_ns, process->wait.limit_ns);
    resource_of(sim, process->wait.ask)->unknown += kept_by_unknown(sim, process->wait.ask);
}

bool resource_ask(struct simulation *sim, uint32_t index, uint32_t ask, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    const struct dag_ask *of = &sim->dag->asks[ask];
    process->wait.ask = ask;
    process->wait.roused_ns = INT64_MIN;
    set_limit(sim, index, now_ns);
    if (of->got == DAG_NONE) return true; // it waits when recording ends, and goes on for ever
    if (of->given_up && !donor_is_there(sim, index, ask)) {
        begin_giving_up(sim, index, now_ns);
    } else if (of->asked != DAG_NONE && of->unknown_ns > 0 && !resource_of(sim, ask)->unlocked &&
               !owns(sim, index, ask)) {
        begin_unknown(sim, index, now_ns);
    } else if (fits(sim, index, ask)) {
        take(sim, index, ask, now_ns);
        process->wait.state = of->asked != DAG_NONE ? ASK_GRANTED_AT_ONCE : ASK_NOT;
        if (process->wait.state == ASK_NOT) give_back_in_time(sim, ask, now_ns);
        return true;
    } else {
        begin_wait(sim, index, now_ns);
    }
    return false;
}

// A process that was called looks for the resource.
static bool arrive(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    struct resource *resource = resource_of(sim, process->wait.ask);
    const struct dag_ask *ask = &sim->dag->asks[process->wait.ask];
    unlist(sim, index);
    resource->promised -= ask->units;
    if (is_enough(sim, index, process->wait.ask)) {
        take(sim, index, process->wait.ask, now_ns);
        return true;
    }
    bool late = process->wait.limit_ns <= now_ns;
    list(sim, index, now_ns);
    if (late)
        resource_limit(sim, index, now_ns);
    else if (process->wait.limit_ns != INT64_MAX)
        event_put(&sim->events, NOTICE_LIMIT, index, process->wait.limit_ns);
    return false;
}

static void give_up(struct simulation *sim, uint32_t index, int64_t now_ns) {
    sim->processes[index].wait.state = ASK_GIVEN_UP;
    sim->processes[index].wait.called_ns = now_ns;
    go_on(sim, index);
}

// Whether it has what it waited for without a known cause. Where it got it right then when recorded, that was for it,
// whatever others wait so, too; else something known came first, and it waits on like others.
static bool gets_after_unknown(const struct simulation *sim, uint32_t index, uint32_t ask) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    const int64_t *then_ns = sim->dag->vertices.time_ns;
    bool whole = of->unknown_ns == then_ns[of->got] - then_ns[of->asked];
    return whole ? sim->resources[of->resource].available >= of->units : fits(sim, index, ask);
}

// Whatever is not known has given the resource up.
static bool end_unknown(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    struct resource *resource = resource_of(sim, process->wait.ask);
    uint32_t first = resource->first;
    resource->unknown -= kept_by_unknown(sim, process->wait.ask);
    bool precedes = first == DAG_NONE || key_of(sim, process->wait.ask, now_ns) <= sim->processes[first].wait.key;
    bool late = sim->dag->asks[process->wait.ask].given_up && process->wait.limit_ns <= now_ns;
    bool gets = !late && precedes && gets_after_unknown(sim, index, process->wait.ask);
    if (late)
        give_up(sim, index, now_ns);
    else if (gets)
        take(sim, index, process->wait.ask, now_ns);
    else
        begin_wait(sim, index, now_ns);
    serve(sim, resource, now_ns);
    return gets;
}

void resource_limit(struct simulation *sim, uint32_t index, int64_t now_ns) {
    unlist(sim, index);
    give_up(sim, index, now_ns);
    serve(sim, resource_of(sim, sim->processes[index].wait.ask), now_ns); // what waited behind it
}

bool resource_settle(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct process *process = &sim->processes[index];
    if (process->wait.state == ASK_CALLED && !arrive(sim, index, now_ns)) return false;
    if (process->wait.state == ASK_UNKNOWN && !end_unknown(sim, index, now_ns)) return false;
    if (process->wait.state != ASK_GIVEN_UP) give_back_in_time(sim, process->wait.ask, now_ns);
    bool granted = process->wait.state == ASK_CALLED || process->wait.state == ASK_GRANTED;
    sim->outcomes_kept += granted && process->wait.late_ns < process->wait.called_ns;
    return true;
}

bool resource_has_wait_of(const struct simulation *sim, const struct process *process, int64_t *time_ns) {
    const struct dag_ask *ask = &sim->dag->asks[process->wait.ask];
    const int64_t *then_ns = sim->dag->vertices.time_ns;
    int64_t reached_ns = process->now_ns + process->lead.ns, residual_ns = sim->costs->granted_ns[ask->resource];
    bool waited = ask->asked != DAG_NONE, told = sim->dag->resources[ask->resource].tells_holds;
    switch (process->wait.state) {
    case ASK_LISTED:
    case ASK_AS_RECORDED:
        return false;
    case ASK_GRANTED_AT_ONCE:
        *time_ns = reached_ns;
        return true;
    case ASK_UNKNOWN:
        *time_ns = max_ns(reached_ns, process->wait.called_ns);
        return true;
    case ASK_GIVEN_UP:
        residual_ns = sim->dag->wakeup_ns;
        if (ask->given_up) residual_ns = then_ns[ask->got] - then_ns[ask->asked] - ask->limit_ns;
        break;
    default:
        if (waited && !told) residual_ns = 0;
        if (waited && told && !ask->given_up) residual_ns = awake_from_ns(sim, process) - process->wait.called_ns;
    }
    *time_ns = max_ns(reached_ns, process->wait.called_ns) + max_ns(residual_ns, 0);
    return true;
}

void resource_had(struct simulation *sim, uint32_t index, uint32_t vertex, int64_t now_ns) {
    for (uint32_t i = first_had_at(sim, vertex); i < sim->had_count; i++) {
        uint32_t ask = sim->had[i];
        if (sim->dag->asks[ask].had_at != vertex) return;
        if (is_enough(sim, index, ask)) take(sim, index, ask, now_ns);
    }
}

void resource_release(struct simulation *sim, uint32_t index, uint32_t ask, int64_t now_ns) {
    const struct dag_ask *of = &sim->dag->asks[ask];
    if (resource_of(sim, ask)->unlocked || of->units == 0) return;
    bool gives = of->got == DAG_NONE && of->had_at == DAG_NONE; // what it never took
    if (!gives && !let_go(sim, index, ask)) return;
    // Of a lock some of whose releases are told, this one comes before it would have come back by itself.
    if (sim->resources[of->resource].held == ask) event_remove(&sim->events, SUBJECT_RESOURCE, of->resource);
    give_back(sim, ask, now_ns);
}

void resource_release_cut(struct simulation *sim, uint32_t index, int64_t now_ns) {
    uint32_t next = DAG_NONE;
    for (uint32_t at = sim->processes[index].holds; at != DAG_NONE; at = next) {
        const uint32_t ask = sim->holds[at].ask;
        next = sim->holds[at].next;
        if (sim->dag->asks[ask].released == DAG_NONE) resource_release(sim, index, ask, now_ns);
    }
}
