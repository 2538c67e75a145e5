// SPDX-License-Identifier: GPL-3.0-or-later
// The second decode: lays down the vertices of each thread in recorded order, and with them bodies, brackets and
// contexts.
#include "dag/build/builder.h"
#include "dag/build/reader.h"
#include "dag/build/vertices.h"
#include "dag/ns.h"

#include <string.h>

// Where one stream's laying stands.
struct lay {
    struct builder *builder;
    uint32_t stream;
    uint64_t ordinal;          // of the event in hand
    uint32_t sighting;         // of the task that it names, or IDMAP_NONE
    int64_t time_ns, delay_ns; // of the event; waited for a core so far
    int64_t ready_ns;          // and, of a virtual thread, for a carrier
    struct mounting mounting;  // of a virtual thread
    int64_t limit_ns;          // of the wait that begins next
    bool time_is_up;           // of the one that ends next
    struct open_entry gave_up; // the one that ended last
    uint32_t gave_up_at;   // WAIT_END or GIVEN_UP of what the thread waited for last, if its time was up; else DAG_NONE
    uint32_t asked_before; // so often it asked in vain for the resource that it waits for
    uint64_t turns;        // times on a core before the boundary that comes next, if they were many
    uint32_t boundary;     // vertex of the last one, DAG_NONE: it has none
    struct open_upkeeps upkeeps;
    uint64_t tracer_ps;        // what the tracer took since the last vertex
    uint64_t bytecodes, given; // executed so far; as much of it as some body has got, or none was open
    bool bytecodes_lost;       // what was told of them last is not the last that there was to tell
    bool lossy;                // a worker that began nothing since events were lost: what is open may be over
    uint32_t body;             // entries of the open stack up to the innermost body of a task in its own right, or less
};

static struct dag_thread *current_thread(const struct lay *lay) {
    return &lay->builder->dag->threads[lay->builder->dag->thread_count - 1];
}

static bool begin_thread(struct lay *lay) {
    struct builder *builder = lay->builder;
    const struct stream_facts *facts = &builder->streams[lay->stream];
    builder->thread_of_stream[lay->stream] = builder->dag->thread_count;
    if (!add_thread(builder, lay->stream)) return false;
    struct dag_thread *thread = current_thread(lay);
    thread->worker = facts->is_worker;
    thread->pool = facts->pool;
    thread->system = builder->trace->streams[lay->stream].thread.flags & THREAD_SYSTEM;
    thread->is_virtual = builder->trace->streams[lay->stream].thread.flags & THREAD_VIRTUAL;
    const uint32_t id = builder->trace->streams[lay->stream].id;
    thread->stands_in = id >= builder->first_told && id < builder->end_told;
    return true;
}

static bool put(struct lay *lay, enum vertex_kind kind, uint32_t task) {
    if (lay->builder->thread_of_stream[lay->stream] == DAG_NONE && !begin_thread(lay)) return false;
    return add_vertex(lay->builder, kind, lay->time_ns, lay->ordinal, task);
}

static uint32_t last_vertex(const struct lay *lay) {
    return lay->builder->dag->vertex_count - 1;
}

static struct sighting *named(const struct lay *lay) { // NULL for ids that the scan didn't meet
    return lay->sighting == IDMAP_NONE ? NULL : &lay->builder->sightings[lay->sighting];
}

static struct dag_task *task_at(const struct lay *lay, uint32_t task) {
    return task == DAG_NONE ? NULL : &lay->builder->dag->tasks[task];
}

static bool is_own_body(const struct open_entry *entry) {
    return entry->kind == OPEN_BODY && entry->task != DAG_NONE;
}

// The innermost open body of a task in its own right, or NULL. Whatever was taken off the stack since one was put on,
// there is none above lay->body.
static const struct open_entry *open_body(struct lay *lay) {
    const struct open_stack *open = &lay->builder->open;
    if (lay->body > open->depth) lay->body = open->depth;
    while (lay->body && !is_own_body(&open->entries[lay->body - 1])) lay->body--;
    return lay->body ? &open->entries[lay->body - 1] : NULL;
}

static bool push(struct lay *lay, struct open_entry entry) {
    entry.functions = lay->builder->functions.depth;
    return open_push(&lay->builder->open, entry) || no_memory(lay->builder);
}

// What the thread has executed since this was last called is the body's in which it did so; NULL: in none.
static void give_bytecodes(struct lay *lay, const struct open_entry *body) {
    int64_t *executed = lay->builder->dag->bytecodes;
    if (executed && body && executed[body->task] >= 0) executed[body->task] += (int64_t)(lay->bytecodes - lay->given);
    lay->given = lay->bytecodes;
}

static bool lay_bytecodes(struct lay *lay, const struct event *event) {
    const uint64_t executed = event->operand[0];
    bool grown = executed >= lay->bytecodes && executed <= INT64_MAX;
    lay->bytecodes = executed;
    if (lay->bytecodes_lost || !grown) lay->given = executed;
    lay->bytecodes_lost = false;
    return true;
}

static bool begin_body(struct lay *lay, const struct sighting *sighting) {
    const struct open_entry *around = open_body(lay);
    give_bytecodes(lay, around);
    if (!put(lay, VERTEX_START, sighting->task)) return false;
    struct dag_task *task = task_at(lay, sighting->task);
    task->start = task->pickup = last_vertex(lay);
    task->thread = lay->builder->thread_of_stream[lay->stream];
    task->enclosing = around ? around->task : DAG_NONE;
    if (!around) current_thread(lay)->bodies++;
    if (lay->builder->dag->bytecodes && !lay->bytecodes_lost) lay->builder->dag->bytecodes[sighting->task] = 0;
    struct path_mark outer = path_begin(lay->builder);
    const uint32_t number = (uint32_t)(sighting - lay->builder->sightings);
    struct open_entry body = {
        .kind = OPEN_BODY, .id = sighting->id, .sighting = number, .task = sighting->task, .outer = outer};
    if (!push(lay, body)) return false;
    lay->body = lay->builder->open.depth;
    return true;
}

static bool is_of_resource(const struct dag *dag, uint32_t vertex) {
    return vertex_is_of_resource(dag->vertices.kind[vertex]);
}

// The vertex before, but for those of resources, if it is of a kind; else `vertex` itself.
static uint32_t back_to(const struct lay *lay, uint32_t vertex, enum vertex_kind kind) {
    const struct dag *dag = lay->builder->dag;
    uint32_t first = current_thread(lay)->first, before = vertex;
    while (before > first && is_of_resource(dag, before - 1)) before--;
    return before > first && dag->vertices.kind[before - 1] == kind ? before - 1 : vertex;
}

// [IDLE, BUSY, START]: what a worker does to get a task belongs to that task, the queue's locks included.
static void take_pickup(struct lay *lay, uint32_t index) {
    struct dag *dag = lay->builder->dag;
    struct dag_task *task = &dag->tasks[index];
    uint32_t busy = back_to(lay, task->start, VERTEX_BUSY);
    if (busy == task->start) return;
    task->pickup = back_to(lay, busy, VERTEX_IDLE);
    for (uint32_t v = task->pickup; v < task->start; v++) {
        if (!is_of_resource(dag, v)) dag->vertices.task[v] = index;
    }
}

static bool end_body(struct lay *lay, const struct open_entry *entry, bool recorded, uint8_t outcome) {
    if (entry->task == DAG_NONE) return true;
    lay->builder->functions.depth = entry->functions;
    give_bytecodes(lay, entry);
    if (!recorded && lay->builder->dag->bytecodes) lay->builder->dag->bytecodes[entry->task] = -1;
    struct dag_task *task = task_at(lay, entry->task);
    if (!path_end(lay->builder, entry->outer, &task->path)) return false;
    task->outcome = outcome;
    // A result is set by the last line of a body's wrapper: what is cut off after it is not the body.
    if (!recorded && task->result == DAG_NONE) task->flags |= TASK_UNFINISHED;
    if (!put(lay, VERTEX_END, entry->task)) return false;
    task->end = last_vertex(lay);
    return true;
}

// Closes all entries above `depth`, whose own ends were lost or never came.
static bool close_above(struct lay *lay, uint32_t depth) {
    struct open_stack *open = &lay->builder->open;
    while (open->depth > depth) {
        const struct open_entry *entry = &open->entries[--open->depth];
        if (entry->kind == OPEN_BODY && !end_body(lay, entry, false, TASK_RETURNED)) return false;
    }
    return true;
}

static bool current_thread_is_worker(const struct lay *lay) {
    return lay->builder->streams[lay->stream].is_worker;
}

static bool goes_on(const struct lay *lay, const struct open_entry *entry) {
    return is_own_body(entry) &&
           lay->builder->sightings[entry->sighting].seen & (SEEN_END | SEEN_RUN | SEEN_MAIN | SEEN_OF_ACTOR);
}

// Closes what is open up to what is known to go on: a body whose end is told later, or nowhere, as a thread's own.
// Where it was seen last.
static bool close_lost(struct lay *lay) {
    struct open_stack *open = &lay->builder->open;
    const int64_t now_ns = lay->time_ns;
    bool ok = true;
    while (ok && open->depth > 0 && !goes_on(lay, &open->entries[open->depth - 1])) {
        const struct open_entry *entry = &open->entries[--open->depth];
        if (!is_own_body(entry)) continue;
        lay->time_ns = lay->builder->dag->vertices.time_ns[last_vertex(lay)];
        ok = end_body(lay, entry, false, TASK_RETURNED);
    }
    lay->time_ns = now_ns;
    return ok;
}

// Before what a worker does in no task.
static bool close_lost_before(struct lay *lay) {
    const bool lossy = lay->lossy;
    lay->lossy = false;
    return !lossy || close_lost(lay);
}

// The body that began among what was lost, or NULL.
static const struct sighting *take_lost_start(struct lay *lay) {
    struct builder *builder = lay->builder;
    if (builder->lost_starts_laid == builder->lost_start_count) return NULL; // there may be none, and no array
    const struct lost_start *start = &builder->lost_starts[builder->lost_starts_laid];
    if (start->stream != lay->stream || start->ordinal != lay->ordinal) return NULL;
    builder->lost_starts_laid++;
    const struct sighting *sighting = &builder->sightings[start->sighting];
    return sighting->own_task && task_at(lay, sighting->task)->start == DAG_NONE ? sighting : NULL;
}

// Brackets and waits last for a moment, and are over. Of all bodies that are open it is no longer known how many
// bytecodes they executed.
static bool lay_lost(struct lay *lay, const struct event *event) {
    struct open_stack *open = &lay->builder->open;
    const struct sighting *begun = take_lost_start(lay);
    while (open->depth > 0 && open->entries[open->depth - 1].kind != OPEN_BODY) open->depth--;
    lay->lossy = current_thread_is_worker(lay);
    lay->bytecodes_lost = true;
    for (uint32_t i = 0; i < open->depth && lay->builder->dag->bytecodes; i++) {
        if (is_own_body(&open->entries[i])) lay->builder->dag->bytecodes[open->entries[i].task] = -1;
    }
    return !begun || (close_lost_before(lay) && begin_body(lay, begun));
}

// Finds what this event closes, closes what lies above it, and takes it off. NULL if there is nothing, or on failure.
static bool pop(struct lay *lay, enum open_kind kind, uint64_t id, struct open_entry *entry) {
    struct open_stack *open = &lay->builder->open;
    uint32_t depth = open_find(open, kind, id);
    *entry = (struct open_entry){.id = id, .task = DAG_NONE};
    if (!depth) return true;
    if (!close_above(lay, depth)) return false;
    *entry = open->entries[--open->depth];
    return true;
}

// Whether a task does what is in hand of which nothing else is known: as if that were lost as well.
static bool is_of_lost_body(struct lay *lay) {
    return lay->lossy && !open_body(lay);
}

static bool lay_result(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    if (!sighting || sighting->task == DAG_NONE || is_of_lost_body(lay)) return true;
    if (!put(lay, VERTEX_RESULT, sighting->task)) return false;
    struct dag_task *task = task_at(lay, sighting->task);
    bool earlier = task->result == DAG_NONE || lay->time_ns < lay->builder->dag->vertices.time_ns[task->result];
    if (!earlier) return true;
    task->result = last_vertex(lay);
    const struct open_entry *around = task->flags & TASK_NESTED ? open_body(lay) : NULL;
    if (around) task->enclosing = around->task;
    return true;
}

static bool lay_thread_start(struct lay *lay, const struct event *event) {
    const struct sighting *run = named(lay);
    bool is_main = run && run->seen & SEEN_MAIN;
    if (run && run->own_task && !is_main && run->run_on == lay->stream && task_at(lay, run->task)->start == DAG_NONE) {
        const bool at_work = run->seen & SEEN_AT_WORK;
        if ((at_work && !put(lay, VERTEX_THREAD_START, DAG_NONE)) || !begin_body(lay, run)) return false;
        if (!at_work) current_thread(lay)->run_task = run->task;
        return true;
    }
    return put(lay, VERTEX_THREAD_START, DAG_NONE);
}

static bool is_at_work(const struct lay *lay, const struct open_entry *entry) {
    return is_own_body(entry) && lay->builder->sightings[entry->sighting].seen & SEEN_AT_WORK;
}

// The task that it was at when recording began is over.
static bool lay_worker_begin(struct lay *lay, const struct event *event) {
    (void)event;
    struct open_stack *open = &lay->builder->open;
    if (open->depth == 0 || !is_at_work(lay, &open->entries[0])) return true;
    if (!close_above(lay, 1)) return false;
    open->depth = 0;
    return end_body(lay, &open->entries[0], true, TASK_RETURNED);
}

static bool lay_thread_end(struct lay *lay, const struct event *event) {
    struct open_stack *open = &lay->builder->open;
    bool in_run = open->depth && open->entries[0].kind == OPEN_BODY && open->entries[0].task != DAG_NONE &&
                  open->entries[0].task == current_thread(lay)->run_task;
    if (!close_above(lay, in_run)) return false;
    if (!in_run) return put(lay, VERTEX_THREAD_END, DAG_NONE);
    open->depth = 0;
    return end_body(lay, &open->entries[0], true, TASK_RETURNED);
}

static bool lay_main(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    if (!sighting || !sighting->own_task || task_at(lay, sighting->task)->start != DAG_NONE) return true;
    if (!close_above(lay, 0)) return false; // the launcher's own
    lay->builder->functions.depth = 0;
    if (!begin_body(lay, sighting)) return false;
    current_thread(lay)->run_task = sighting->task;
    return true;
}

// Of what someone awaits, though it is no task of its own.
static bool note_nested(struct lay *lay, const struct sighting *sighting, struct nested_note **notes, uint32_t *count,
                        uint32_t *capacity) {
    const struct open_entry *around = open_body(lay);
    if (!around || sighting->own_task || sighting->kind != SIGHTING_TASK) return true;
    if (!GROW(*notes, *count, *capacity)) return no_memory(lay->builder);
    (*notes)[(*count)++] = (struct nested_note){sighting->task, around->task, last_vertex(lay) + 1};
    return true;
}

static bool note_making(struct lay *lay, const struct sighting *sighting) {
    struct builder *builder = lay->builder;
    return note_nested(lay, sighting, &builder->makings, &builder->making_count, &builder->making_capacity);
}

static bool note_beginning(struct lay *lay, const struct sighting *sighting) {
    struct builder *builder = lay->builder;
    return note_nested(lay, sighting, &builder->beginnings, &builder->beginning_count, &builder->beginning_capacity);
}

static bool note_creation(struct lay *lay, const struct sighting *sighting) {
    const struct open_entry *around = open_body(lay);
    if (!sighting->own_task) return note_making(lay, sighting);
    return note_made(lay->builder, sighting->task, around ? around->task : DAG_NONE);
}

static bool lay_created(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    if (sighting && event->kind == EVENT_TASK_CREATED && !note_creation(lay, sighting)) return false;
    if (!sighting || !sighting->handed_over || sighting->created_on != lay->stream) return true;
    struct dag_task *task = task_at(lay, sighting->task);
    if (task->spawn_begin != DAG_NONE) return true;
    const struct open_entry *around = open_body(lay);
    if (!put(lay, VERTEX_SPAWN_BEGIN, sighting->task)) return false;
    task->spawn_begin = task->spawn_end = last_vertex(lay);
    task->spawner = around ? around->task : DAG_NONE;
    if (!around) current_thread(lay)->pinned = true;
    return true;
}

// Put back from a stash, a message has another number.
static bool lay_queued(struct lay *lay, const struct event *event) {
    return event->operand[2] == event->operand[0] || lay_created(lay, event);
}

static bool lay_spawn_begin(struct lay *lay, const struct event *event) {
    struct builder *builder = lay->builder;
    struct sighting *sighting = named(lay);
    if (!sighting) return true;
    struct dag_task *task = sighting->own_task ? task_at(lay, sighting->task) : NULL;
    if (task && task->spawn_begin != DAG_NONE) task = NULL; // handed over once more: the first time counts
    const struct open_entry *around = open_body(lay);
    if (is_of_lost_body(lay)) return true;
    if (!put(lay, VERTEX_SPAWN_BEGIN, task ? sighting->task : DAG_NONE)) return false;
    if (!task) {
        if (sighting->kind == SIGHTING_WORKER) sighting->spawn_begin = last_vertex(lay);
    } else {
        task->spawn_begin = task->spawn_end = last_vertex(lay);
        task->pool = (uint32_t)event->operand[2];
        task->spawner = around ? around->task : DAG_NONE;
        note_made_at_once(builder->dag, sighting->task);
        if (!around) current_thread(lay)->pinned = true;
        if (!site_intern(builder, (uint32_t)event->operand[1], &task->site)) return false;
        if (!context_intern(builder, around ? around->functions : 0, &task->context)) return false;
    }
    return push(
        lay, (struct open_entry){.kind = OPEN_BRACKET, .id = sighting->id, .task = task ? sighting->task : DAG_NONE});
}

// What had been accepted, and then gave way to another.
static bool lay_discarded(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    bool is_task = sighting && sighting->own_task && sighting->task != DAG_NONE;
    if (is_task && event->operand[1] == SPAWN_REJECTED) task_at(lay, sighting->task)->flags |= TASK_REJECTED;
    return true;
}

static bool lay_spawn_end(struct lay *lay, const struct event *event) {
    struct open_entry bracket;
    bool open = open_find(&lay->builder->open, OPEN_BRACKET, event->operand[0]);
    if (!pop(lay, OPEN_BRACKET, event->operand[0], &bracket)) return false;
    if (!open) return lay_discarded(lay, event);
    if (!put(lay, VERTEX_SPAWN_END, bracket.task)) return false;
    struct dag_task *task = task_at(lay, bracket.task);
    if (!task) return true;
    task->spawn_end = last_vertex(lay);
    if (event->operand[1] == SPAWN_REJECTED) task->flags |= TASK_REJECTED;
    return true;
}

// What an actor does is its thread's pool's to dispatch.
static bool note_actor(struct lay *lay, uint32_t task, uint64_t actor) {
    struct builder *builder = lay->builder;
    struct dag *dag = builder->dag;
    uint32_t index = idmap_get(&builder->actor_of_id, actor);
    if (index == IDMAP_NONE) {
        index = dag->actor_count + 1;
        if (!GROW(builder->actors, index, builder->actor_capacity)) return no_memory(builder);
        if (!idmap_add(&builder->actor_of_id, actor, index)) return no_memory(builder);
        builder->actors[index] = (struct dag_actor){actor, DAG_NONE, current_thread(lay)->pool};
        dag->actor_count = index;
    }
    dag->actor_of[task] = index;
    dag->tasks[task].pool = current_thread(lay)->pool;
    if (dag->tasks[task].flags & TASK_INIT) builder->actors[index].init = task;
    return true;
}

static bool lay_task_start(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    if (!sighting) return true;
    if (!close_lost_before(lay)) return false;
    if (sighting->own_task && task_at(lay, sighting->task)->start == DAG_NONE) {
        if (!begin_body(lay, sighting)) return false;
        take_pickup(lay, sighting->task);
        if (event->kind == EVENT_MESSAGE_BEGIN) return note_actor(lay, sighting->task, event->operand[2]);
        return event->kind != EVENT_INIT_BEGIN || note_actor(lay, sighting->task, event->operand[0]);
    }
    if (!note_beginning(lay, sighting)) return false;
    return push(lay, (struct open_entry){.kind = OPEN_BODY, .id = sighting->id, .task = DAG_NONE});
}

static uint8_t outcome_of(const struct event *event) {
    const uint64_t outcome = event->operand[2];
    if (event->kind == EVENT_MESSAGE_END) return outcome == MESSAGE_THREW ? TASK_THREW : TASK_RETURNED;
    if (event->kind == EVENT_INIT_END) return init_outcome(outcome) == INIT_FAILED ? TASK_THREW : TASK_RETURNED;
    return (uint8_t)outcome;
}

static bool lay_task_end(struct lay *lay, const struct event *event) {
    struct open_entry body;
    if (!pop(lay, OPEN_BODY, event->operand[0], &body)) return false;
    if (body.task != DAG_NONE) return end_body(lay, &body, true, outcome_of(event));
    const struct sighting *sighting = named(lay);
    bool sets_result = sighting && !sighting->own_task && !(sighting->seen & SEEN_RESULT);
    return !sets_result || lay_result(lay, event); // without RESULT waiters see the result at the end
}

static bool note_other_wait(struct builder *builder, struct other_wait wait) {
    if (!GROW(builder->other_waits, builder->other_wait_count, builder->other_wait_capacity)) return no_memory(builder);
    builder->other_waits[builder->other_wait_count++] = wait;
    return true;
}

static int64_t take_limit(struct lay *lay) {
    int64_t limit_ns = lay->limit_ns;
    lay->limit_ns = INT64_MAX;
    return limit_ns;
}

// The last vertex, and what was told of the stretch that it ended.
static void take_back(struct lay *lay) {
    struct builder *builder = lay->builder;
    const uint32_t v = --builder->dag->vertex_count;
    current_thread(lay)->count--;
    while (builder->turned_count && builder->turned[builder->turned_count - 1].to == v) builder->turned_count--;
    if (builder->has_costs) lay->tracer_ps += (uint64_t)builder->dag->tracer.edge_ns[v] * 1000;
}

// Whether the wait before gave up, and the thread waits for the same once more before it does anything else: it has
// waited on, and looked up now and then. Of a signal each try has a number of its own.
static bool tries_again(const struct lay *lay, const struct open_entry *wait) {
    const struct open_entry *before = &lay->gave_up;
    if (lay->gave_up_at == DAG_NONE || lay->gave_up_at != last_vertex(lay)) return false;
    if (current_thread(lay)->is_virtual) return false; // its vertices stand in more places (carriers.c)
    if (lay->builder->dag->vertices.kind[lay->gave_up_at] != VERTEX_WAIT_END) return false;
    const bool same = before->id == wait->id || wait->wait_for == WAIT_FOR_RELEASE;
    return same && before->site == wait->site && before->wait_for == wait->wait_for;
}

// The two are one wait. Its limit is that of all its tries, if it gives up at last; else it has none.
static void go_on_waiting(struct lay *lay, struct open_entry *wait) {
    struct builder *builder = lay->builder;
    struct dag *dag = builder->dag;
    const uint32_t end = lay->gave_up_at;
    if (dag->await_count && dag->awaits[dag->await_count - 1].end == end) dag->await_count--;
    if (builder->other_wait_count && builder->other_waits[builder->other_wait_count - 1].vertex == end)
        builder->other_wait_count--;
    take_back(lay);
    wait->begin = lay->gave_up.begin;
    wait->limit_ns = min_ns(wait->limit_ns, INT64_MAX - lay->gave_up.limit_ns) + lay->gave_up.limit_ns;
    wait->tries = lay->gave_up.tries + 1;
    lay->boundary = wait->begin;
    dag->vertices.task[wait->begin] = wait->task;
}

static bool lay_wait_begin(struct lay *lay, const struct event *event) {
    enum wait_for wait_for = wait_for_of(event->operand[2]);
    int64_t limit_ns = take_limit(lay);
    bool by_id = wait_for == WAIT_FOR_TASK || wait_for == WAIT_FOR_RELEASE;
    const struct sighting *target = by_id ? named(lay) : NULL;
    struct open_entry wait = {.kind = OPEN_WAIT,
                              .id = event->operand[0],
                              .task = target ? target->task : DAG_NONE,
                              .limit_ns = wait_for == WAIT_FOR_TASK ? limit_ns : INT64_MAX,
                              .site = (uint32_t)event->operand[2],
                              .wait_for = (uint8_t)wait_for};
    if (wait.task != DAG_NONE && wait_for == WAIT_FOR_RELEASE)
        lay->builder->dag->tasks[wait.task].flags |= TASK_SIGNAL | (target->seen & SEEN_LATCH ? 0 : TASK_OTHERS);
    if (tries_again(lay, &wait)) {
        go_on_waiting(lay, &wait);
        return push(lay, wait);
    }
    if (!put(lay, VERTEX_WAIT_BEGIN, wait.task)) return false;
    wait.begin = last_vertex(lay);
    return push(lay, wait);
}

// A wait for a task that has ended, if it had a limit.
static bool note_await(struct lay *lay, const struct open_entry *wait, bool given_up) {
    struct builder *builder = lay->builder;
    struct dag *dag = builder->dag;
    if (wait->task == DAG_NONE || wait->limit_ns == INT64_MAX || (wait->tries && !given_up)) return true;
    if (!GROW(dag->awaits, dag->await_count, builder->await_capacity)) return no_memory(builder);
    struct dag_await await = {wait->begin, last_vertex(lay), wait->site, given_up, wait->limit_ns};
    if (given_up) await.limit_ns = min_ns(await.limit_ns, lay->time_ns - dag->vertices.time_ns[await.begin]);
    dag->awaits[dag->await_count++] = await;
    return true;
}

static bool add_turned(struct builder *builder, struct turned stretch) {
    if (!GROW(builder->turned, builder->turned_count, builder->turned_capacity)) return no_memory(builder);
    builder->turned[builder->turned_count++] = stretch;
    return true;
}

static bool lay_timed_out(struct lay *lay, const struct event *event) {
    lay->time_is_up = true;
    return true;
}

static bool lay_wait_end(struct lay *lay, const struct event *event) {
    struct builder *builder = lay->builder;
    struct open_entry wait;
    bool open = open_find(&builder->open, OPEN_WAIT, event->operand[0]), given_up = lay->time_is_up;
    lay->time_is_up = false;
    if (!pop(lay, OPEN_WAIT, event->operand[0], &wait)) return false;
    if (!open) return true;
    if (!put(lay, VERTEX_WAIT_END, wait.task) || !note_await(lay, &wait, given_up)) return false;
    const struct turned tries = {wait.begin, last_vertex(lay), wait.tries};
    if (wait.tries && !add_turned(builder, tries)) return false;
    lay->gave_up = wait;
    lay->gave_up_at = given_up ? last_vertex(lay) : DAG_NONE;
    if (wait.wait_for == WAIT_FOR_POOL) {
        if (wait.id == 0) return true;
        return note_other_wait(builder, (struct other_wait){.vertex = last_vertex(lay), .pool = (uint32_t)wait.id});
    }
    uint32_t target = wait.wait_for == WAIT_FOR_TASK ? lay->sighting : IDMAP_NONE;
    if (target == IDMAP_NONE || builder->sightings[target].kind != SIGHTING_WORKER) return true;
    return note_other_wait(builder, (struct other_wait){.vertex = last_vertex(lay), .sighting = target});
}

static bool lay_taken(struct lay *lay, const struct event *event) {
    const struct sighting *sighting = named(lay);
    if (!sighting || sighting->task == DAG_NONE) return true;
    return put(lay, VERTEX_WAIT_BEGIN, sighting->task) && put(lay, VERTEX_WAIT_END, sighting->task);
}

static bool lay_shutdown(struct lay *lay, const struct event *event) {
    struct builder *builder = lay->builder;
    return put(lay, VERTEX_SHUTDOWN, DAG_NONE) && add_shutdown(builder, (uint32_t)event->operand[0], last_vertex(lay));
}

// What the thread has of a resource already, or DAG_NONE: the ask by which it got it last.
static uint32_t open_hold(const struct lay *lay, uint32_t resource) {
    const struct builder *builder = lay->builder;
    for (uint32_t i = builder->hold_count; i-- > 0;) {
        if (builder->dag->asks[builder->holds[i]].resource == resource) return i;
    }
    return DAG_NONE;
}

static bool push_hold(struct builder *builder, uint32_t ask) {
    if (!GROW(builder->holds, builder->hold_count, builder->hold_capacity)) return no_memory(builder);
    builder->holds[builder->hold_count++] = ask;
    return true;
}

// A lock that its thread has already is had once more for nothing.
static bool is_had(const struct lay *lay, uint32_t resource) {
    return is_exclusive(&lay->builder->dag->resources[resource]) && open_hold(lay, resource) != DAG_NONE;
}

// Whether it asks a queue for the next element once more, after its time was up, before it does anything else.
static bool asks_again(const struct lay *lay, const struct dag_ask *ask) {
    const struct dag *dag = lay->builder->dag;
    if (lay->gave_up_at == DAG_NONE || lay->gave_up_at != last_vertex(lay)) return false;
    if (current_thread(lay)->is_virtual || dag->vertices.kind[lay->gave_up_at] != VERTEX_GIVEN_UP) return false;
    const struct dag_ask *before = &dag->asks[dag->vertices.task[lay->gave_up_at]];
    return before->resource == ask->resource && before->site == ask->site &&
           dag->resources[ask->resource].kind == RESOURCE_QUEUE;
}

// As with waits: the two are one. A program that looks into a queue time and again gives up nothing.
static void go_on_asking(struct lay *lay, int64_t limit_ns) {
    struct dag *dag = lay->builder->dag;
    struct dag_ask *ask = &dag->asks[dag->vertices.task[lay->gave_up_at]];
    take_back(lay);
    ask->got = DAG_NONE;
    ask->given_up = false;
    ask->limit_ns = min_ns(limit_ns, INT64_MAX - ask->limit_ns) + ask->limit_ns;
    lay->boundary = ask->asked;
    lay->asked_before++;
}

static bool lay_acquire(struct lay *lay, const struct event *event) {
    struct dag_ask ask = ask_of_event(event);
    const int64_t limit_ns = take_limit(lay);
    if (!resource_intern(lay->builder, event, &ask.resource)) return false;
    if (asks_again(lay, &ask)) {
        go_on_asking(lay, limit_ns);
        return true;
    }
    if (!put(lay, VERTEX_ACQUIRE, DAG_NONE)) return false;
    ask.asked = last_vertex(lay);
    ask.limit_ns = limit_ns;
    lay->asked_before = 0;
    return ask_add(lay->builder, ask, ask.asked);
}

// Without its begin, or with other vertices in between, it says nothing.
static bool lay_acquired(struct lay *lay, const struct event *event) {
    struct dag *dag = lay->builder->dag;
    if (lay->builder->thread_of_stream[lay->stream] == DAG_NONE) return true;
    uint32_t begin = last_vertex(lay);
    if (dag->vertices.kind[begin] != VERTEX_ACQUIRE) return true;
    uint32_t index = dag->vertices.task[begin];
    if (dag->resources[dag->asks[index].resource].id != event->operand[0]) return true;
    bool given_up = event->kind == EVENT_GIVEN_UP;
    if (!put(lay, given_up ? VERTEX_GIVEN_UP : VERTEX_ACQUIRED, index)) return false;
    struct dag_ask *ask = &dag->asks[index];
    ask->got = last_vertex(lay);
    ask->given_up = given_up;
    if (given_up) ask->limit_ns = min_ns(ask->limit_ns, lay->time_ns - dag->vertices.time_ns[begin]);
    if (lay->asked_before && !given_up) ask->limit_ns = INT64_MAX;
    lay->gave_up_at = given_up && event->operand[2] == GIVEN_UP_TIME ? last_vertex(lay) : DAG_NONE;
    return given_up || event->kind == EVENT_BLOCK_END || push_hold(lay->builder, index);
}

static bool lay_held(struct lay *lay, const struct event *event) {
    struct dag_ask ask = ask_of_event(event);
    if (!resource_intern(lay->builder, event, &ask.resource)) return false;
    lay->builder->dag->resources[ask.resource].tells_holds = true;
    if (is_had(lay, ask.resource)) ask.units = 0;
    if (!put(lay, VERTEX_HELD, DAG_NONE)) return false;
    ask.got = last_vertex(lay);
    uint32_t index = lay->builder->dag->ask_count;
    return ask_add(lay->builder, ask, ask.got) && push_hold(lay->builder, index);
}

// What the thread did not take goes to the threads that wait for it.
static bool lay_released(struct lay *lay, const struct event *event) {
    struct builder *builder = lay->builder;
    struct dag_ask ask = ask_of_event(event);
    if (!resource_intern(builder, event, &ask.resource)) return false;
    builder->dag->resources[ask.resource].tells_holds = true;
    uint32_t open = open_hold(lay, ask.resource);
    if (!put(lay, VERTEX_RELEASED, DAG_NONE)) return false;
    uint32_t vertex = last_vertex(lay);
    if (open == DAG_NONE) {
        ask.released = vertex;
        return ask_add(builder, ask, vertex);
    }
    uint32_t index = builder->holds[open];
    builder->hold_count--;
    for (uint32_t i = open; i < builder->hold_count; i++) builder->holds[i] = builder->holds[i + 1];
    builder->dag->asks[index].released = vertex;
    builder->dag->asks[index].returned_at = ask.site;
    builder->dag->vertices.task[vertex] = index;
    return true;
}

// Of a task that the trace does not mention otherwise nothing else is known.
static bool lay_due(struct lay *lay, const struct event *event) {
    const struct builder *builder = lay->builder;
    const struct sighting *sighting = named(lay);
    bool has_vertices = builder->thread_of_stream[lay->stream] != DAG_NONE;
    if (sighting && sighting->task != DAG_NONE)
        note_due(builder->dag, sighting->task, event, has_vertices ? last_vertex(lay) : DAG_NONE);
    return true;
}

static bool lay_enter(struct lay *lay, const struct event *event) {
    const uint32_t method = (uint32_t)event->operand[0];
    if (!function_push(&lay->builder->functions, method)) return no_memory(lay->builder);
    return !open_body(lay) || path_add(lay->builder, method);
}

static bool lay_exit(struct lay *lay, const struct event *event) {
    const struct open_entry *body = open_body(lay);
    function_pop(&lay->builder->functions, (uint32_t)event->operand[0], body ? body->functions : 0);
    return true;
}

static bool lay_limit(struct lay *lay, const struct event *event) {
    lay->limit_ns = (int64_t)(event->operand[0] & INT64_MAX);
    return true;
}

static bool lay_of_worker(struct lay *lay, const struct event *event) {
    const unsigned kind = event->kind;
    if (!close_lost_before(lay)) return false;
    return put(lay, kind == EVENT_IDLE ? VERTEX_IDLE : kind == EVENT_BUSY ? VERTEX_BUSY : VERTEX_RETIRE, DAG_NONE);
}

static bool lay_upkeep_begin(struct lay *lay, const struct event *event) {
    (void)event;
    upkeep_begin(lay->builder, &lay->upkeeps, lay->time_ns);
    return true;
}

static bool lay_upkeep_end(struct lay *lay, const struct event *event) {
    return upkeep_end(lay->builder, &lay->upkeeps, lay->time_ns, event->operand[0]);
}

static bool note_request(struct lay *lay, const struct event *event, uint32_t vertex) {
    struct builder *builder = lay->builder;
    const struct open_entry *body = open_body(lay);
    if (!GROW(builder->requests, builder->request_count, builder->request_capacity)) return no_memory(builder);
    const uint64_t operand = event->operand[event->kind == EVENT_REQUEST_NAMED ? 1 : 2];
    builder->requests[builder->request_count++] = (struct request_sighting){
        event->operand[0], operand, vertex, body ? body->task : DAG_NONE, lay->time_ns, event->kind};
    return true;
}

static bool lay_request(struct lay *lay, const struct event *event) {
    return put(lay, VERTEX_REQUEST, DAG_NONE) && note_request(lay, event, last_vertex(lay));
}

static bool lay_request_named(struct lay *lay, const struct event *event) {
    return note_request(lay, event, DAG_NONE);
}

static bool (*const lay_kind[EVENT_KINDS])(struct lay *lay, const struct event *event) = {
    [EVENT_ENTER] = lay_enter,
    [EVENT_EXIT] = lay_exit,
    [EVENT_EXIT_THROW] = lay_exit,
    [EVENT_THREAD_START] = lay_thread_start,
    [EVENT_THREAD_END] = lay_thread_end,
    [EVENT_MAIN_BEGIN] = lay_main,
    [EVENT_TASK_CREATED] = lay_created,
    [EVENT_SPAWN_BEGIN] = lay_spawn_begin,
    [EVENT_SPAWN_END] = lay_spawn_end,
    [EVENT_TASK_START] = lay_task_start,
    [EVENT_TASK_END] = lay_task_end,
    [EVENT_TAKEN] = lay_taken,
    [EVENT_RESULT] = lay_result,
    [EVENT_WAIT_BEGIN] = lay_wait_begin,
    [EVENT_WAIT_END] = lay_wait_end,
    [EVENT_WORKER_BEGIN] = lay_worker_begin,
    [EVENT_IDLE] = lay_of_worker,
    [EVENT_BUSY] = lay_of_worker,
    [EVENT_RETIRE] = lay_of_worker,
    [EVENT_POOL_SHUTDOWN] = lay_shutdown,
    [EVENT_BYTECODES] = lay_bytecodes,
    [EVENT_LOST] = lay_lost,
    [EVENT_BLOCK_BEGIN] = lay_acquire,
    [EVENT_ACQUIRE_BEGIN] = lay_acquire,
    [EVENT_BLOCK_END] = lay_acquired,
    [EVENT_ACQUIRED] = lay_acquired,
    [EVENT_GIVEN_UP] = lay_acquired,
    [EVENT_HELD] = lay_held,
    [EVENT_RELEASED] = lay_released,
    [EVENT_DUE] = lay_due,
    [EVENT_LIMIT] = lay_limit,
    [EVENT_TIMED_OUT] = lay_timed_out,
    [EVENT_MESSAGE_SENT] = lay_created,
    [EVENT_MESSAGE_QUEUED] = lay_queued,
    [EVENT_MESSAGE_BEGIN] = lay_task_start,
    [EVENT_MESSAGE_END] = lay_task_end,
    [EVENT_ACTOR_CREATED] = lay_created,
    [EVENT_INIT_BEGIN] = lay_task_start,
    [EVENT_INIT_END] = lay_task_end,
    [EVENT_UPKEEP_BEGIN] = lay_upkeep_begin,
    [EVENT_UPKEEP_END] = lay_upkeep_end,
    [EVENT_REQUEST_BEGIN] = lay_request,
    [EVENT_REQUEST_NAMED] = lay_request_named,
    [EVENT_REQUEST_END] = lay_request,
};

static bool lay_event(struct lay *lay, const struct event *event) {
    return !lay_kind[event->kind] || lay_kind[event->kind](lay, event);
}

#define READY_MOST_NS ((UINT64_C(1) << 53) - 1) // 104 days, so that sums stay sums

// It has not been ready for longer than since its last vertex; what is told beyond that as it begins was before its
// first.
static void note_ready(struct lay *lay, int64_t ready_ns) {
    struct builder *builder = lay->builder;
    if (builder->thread_of_stream[lay->stream] != DAG_NONE) {
        struct dag_thread *thread = current_thread(lay);
        int64_t since_ns = lay->time_ns - builder->dag->vertices.time_ns[last_vertex(lay)];
        if (thread->count == 1) thread->ready_ns += max_ns(ready_ns - since_ns, 0);
        ready_ns = min_ns(ready_ns, since_ns);
    }
    lay->ready_ns += ready_ns;
}

static bool note_turned(struct lay *lay, uint32_t boundary) {
    const struct turned stretch = {lay->boundary, boundary, lay->turns};
    lay->boundary = boundary;
    lay->turns = 0;
    return stretch.turns == 0 || stretch.from == DAG_NONE || add_turned(lay->builder, stretch);
}

// At a boundary the last vertex of the event takes what the thread has computed and waited for cores so far
// (compute.c).
static bool note_boundary(struct lay *lay, const struct event *event) {
    struct builder *builder = lay->builder;
    struct dag *dag = builder->dag;
    if (event->kind == EVENT_TURNS) lay->turns = event->operand[0];
    if (event->kind == EVENT_RUN_DELAY) lay->delay_ns = (int64_t)(event->operand[0] & INT64_MAX);
    if (event->kind == EVENT_READY) note_ready(lay, (int64_t)(event->operand[0] & READY_MOST_NS));
    if (!builder->has_cpu || !event_has_cpu(event->kind)) return true;
    if (builder->thread_of_stream[lay->stream] == DAG_NONE) return true;
    uint32_t v = last_vertex(lay);
    if (dag->vertices.event[v] != lay->ordinal) return true; // of a nested task, which has no vertices
    dag->vertices.compute_ns[v] = (int64_t)event->operand[1];
    builder->measured |= event->operand[1] != 0;
    if (builder->has_delay) dag->vertices.queued_ns[v] = lay->delay_ns + lay->ready_ns;
    return note_turned(lay, v);
}

// What an event cost before its time is part of the edge to its first vertex, what it cost behind, of the next one.
static void note_tracer(struct lay *lay, const struct event *event, uint32_t first) {
    struct dag *dag = lay->builder->dag;
    const struct event_cost *cost = &lay->builder->trace->costs[event->kind];
    lay->tracer_ps += cost->before_ps;
    if (dag->vertex_count > first) {
        dag->tracer.edge_ns[first] = (int64_t)(lay->tracer_ps + 500) / 1000;
        dag->tracer.event_kind[first] = event->kind;
        lay->tracer_ps = 0;
    }
    lay->tracer_ps += cost->after_ps;
}

static void extend_window(struct dag *dag, const struct event_batch *batch) {
    int64_t first_ns = (int64_t)batch->events[0].time, last_ns = (int64_t)batch->events[batch->count - 1].time;
    if (first_ns < dag->first_ns) dag->first_ns = first_ns;
    if (last_ns > dag->last_ns) dag->last_ns = last_ns;
}

static bool lay_stream(struct builder *builder, uint32_t stream) {
    struct lay lay = {
        .builder = builder, .stream = stream, .limit_ns = INT64_MAX, .gave_up_at = DAG_NONE, .boundary = DAG_NONE};
    bool counted = !(builder->trace->streams[stream].thread.flags & THREAD_SYSTEM);
    bool mounts = builder->trace->streams[stream].thread.flags & THREAD_VIRTUAL;
    struct event_reader reader;
    reader_begin(builder, &reader, stream);
    builder->open.depth = builder->functions.depth = builder->paths.depth = builder->hold_count = 0;
    uint64_t first = 0;
    for (const struct event_batch *batch; (batch = reader_next(builder, &reader)) != NULL; first += batch->count) {
        for (uint32_t i = 0; i < batch->count; i++) {
            lay.ordinal = first + i;
            lay.sighting = batch->sightings[i];
            lay.time_ns = (int64_t)batch->events[i].time;
            uint32_t vertex = builder->dag->vertex_count;
            if (!lay_event(&lay, &batch->events[i])) return false;
            if (!note_boundary(&lay, &batch->events[i])) return false;
            if (mounts && !note_mounting(builder, &lay.mounting, &batch->events[i], vertex, lay.delay_ns)) return false;
            if (builder->has_costs) note_tracer(&lay, &batch->events[i], vertex);
        }
        if (counted) extend_window(builder->dag, batch);
    }
    return builder->error->status == STATUS_OK && close_above(&lay, 0);
}

static void mark_mailboxes(struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->flags & TASK_OF_ACTOR && task->enclosing != DAG_NONE)
            dag->tasks[task->enclosing].flags |= TASK_HANDLES;
    }
}

// Whether its worker came to it from another job, and not from sleep.
static bool is_behind_another(const struct dag *dag, const struct dag_task *task) {
    if (task->start == dag->threads[task->thread].first) return false;
    const unsigned before = dag->vertices.kind[task->start - 1];
    return before != VERTEX_BUSY && before != VERTEX_IDLE && before != VERTEX_THREAD_START;
}

// Tasks that never came to an end, or never began.
static void finish_tasks(struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        struct dag_task *task = &dag->tasks[t];
        if (task->flags & TASK_NESTED) continue;
        if (dag_comes_unsent(dag->trace, task) && is_behind_another(dag, task)) task->pool = 0;
        if (task->start != DAG_NONE) {
            task->flags &= (uint16_t)~TASK_REJECTED; // caller-runs, or a handler that ran it
        } else if (!(task->flags & TASK_REJECTED)) {
            task->flags |= TASK_UNFINISHED;
            if (task->result != DAG_NONE) task->outcome = TASK_CANCELLED;
        }
        if (task->result == DAG_NONE && !(task->flags & TASK_UNFINISHED)) task->result = task->end;
    }
}

static bool prepare_bytecodes(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!builder->trace->events_of_kind[EVENT_BYTECODES]) return true;
    dag->bytecodes = ARENA_NEW(&dag->arena, int64_t, (size_t)dag->task_count + 1);
    for (uint32_t t = 0; dag->bytecodes && t < dag->task_count; t++) dag->bytecodes[t] = -1;
    return dag->bytecodes || no_memory(builder);
}

static bool prepare_actors(struct builder *builder) {
    struct dag *dag = builder->dag;
    const uint64_t *events = builder->trace->events_of_kind;
    if (!events[EVENT_MESSAGE_BEGIN] && !events[EVENT_INIT_BEGIN]) return true;
    dag->actor_of = ARENA_NEW(&dag->arena, uint32_t, (size_t)dag->task_count + 1);
    if (dag->actor_of) memset(dag->actor_of, 0, ((size_t)dag->task_count + 1) * sizeof *dag->actor_of);
    return dag->actor_of || no_memory(builder);
}

static bool keep_actors(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (dag->actor_count == 0) return true;
    dag->actors = ARENA_NEW(&dag->arena, struct dag_actor, (size_t)dag->actor_count + 1);
    if (!dag->actors) return no_memory(builder);
    memcpy(dag->actors, builder->actors, ((size_t)dag->actor_count + 1) * sizeof *dag->actors);
    dag->actors[0] = (struct dag_actor){0, DAG_NONE, 0};
    return true;
}

static bool lay_streams(struct builder *builder) {
    const struct trace *trace = builder->trace;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id != 0 && !lay_stream(builder, s)) return false;
    }
    return true;
}

struct laying { // all streams, by one hand, and room for them by others
    struct builder *builder;
    struct vertex_room room;
    bool ok;
};

// While one hand lays, others get the arrays their memory ahead of it.
static void lay_or_make_room(void *of, uint32_t hand, uint32_t item) {
    struct laying *laying = of;
    (void)hand;
    if (item > 0) {
        vertex_room_get(&laying->room, item - 1);
        return;
    }
    laying->ok = lay_streams(laying->builder);
    vertex_room_close(laying->builder);
}

static bool lay_all(struct builder *builder) {
    struct laying laying = {.builder = builder};
    if (!vertex_room_open(builder, &laying.room)) return false;
    hands_run(lay_or_make_room, &laying, 1 + laying.room.pieces, builder->hands);
    return laying.ok;
}

bool lay_vertices(struct builder *builder) {
    const struct trace *trace = builder->trace;
    if (!prepare_bytecodes(builder) || !prepare_actors(builder) || !prepare_due(builder)) return false;
    builder->has_costs = trace->tells_costs;
    builder->has_cpu = trace->header.cycle_unit != NULL;
    builder->has_delay =
        builder->has_cpu && (trace->events_of_kind[EVENT_RUN_DELAY] || trace->events_of_kind[EVENT_READY]);
    builder->dag->first_ns = INT64_MAX;
    builder->dag->last_ns = INT64_MIN;
    if (!lay_all(builder) || !keep_actors(builder) || !find_upkeeps(builder)) return false;
    if (builder->dag->first_ns > builder->dag->last_ns) builder->dag->first_ns = builder->dag->last_ns = 0;
    finish_tasks(builder->dag);
    mark_mailboxes(builder->dag);
    return sites_take_classes(builder);
}
