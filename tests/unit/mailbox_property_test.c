// SPDX-License-Identifier: GPL-3.0-or-later
// Random programs of actors on one dispatcher, played by a slow reference that knows nothing of traces: what the
// simulation says of a recording under an edit is what the reference does that plays the edited program.
//
// The reference. Main makes actors and sends messages at given times; a handler sends others at given times into it.
// What an actor has to do lies in a list, in the order in which it came, its initialisation first. A pool has so many
// workers and one list of jobs. Between two jobs of a worker, and before its first, lie GAP_NS.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_trace.h"
#include "simulate_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { ACTORS = 5, MESSAGES = 40, JOBS = ACTORS + MESSAGES, COPIES = 3, BOXES = ACTORS * COPIES, WORKERS = 5 };
enum { US = 1000, GAP_NS = 20 * US, CLOSE_NS = 60 * US, THROUGHPUT = 5, NONE = -1, POOLS = 2 };
enum { MAIN = 1, FIRST_WORKER, MAIN_TASK = 1000, FIRST_ACTOR = 100, FIRST_MESSAGE = 200 };

// Job j < ACTORS is the initialisation of actor j; the others are messages.
struct job {
    int actor, sender; // sender: the job in which it is sent; NONE: main
    uint64_t at_ns;    // from the sender's beginning
    uint64_t length_ns;
};

struct script {
    struct job jobs[JOBS]; // those of main rise by at_ns, and so do those of one sender
    int count;
};

struct shape { // of a run
    int workers[POOLS];
    int joins[ACTORS];  // itself, or another
    int copies[ACTORS]; // 1 or more
    int pool[ACTORS];
};

struct times {
    uint64_t start_ns[JOBS], end_ns[JOBS]; // start 0: it never ran
    int worker[JOBS];                      // that ran it
    uint64_t offered_ns[JOBS];
    bool tied; // things happened so close to each other that nothing says which was first
};

// ---- the reference

struct list {
    int items[JOBS * COPIES], count;
};

static void put(struct list *list, int item) {
    list->items[list->count++] = item;
}

static int take(struct list *list) {
    int item = list->items[0];
    memmove(list->items, list->items + 1, (size_t)--list->count * sizeof *list->items);
    return item;
}

struct worker {
    int job, copy, box; // NONE: idle
    uint64_t until_ns;  // it has the job until then; or it has been idle since
};

struct play {
    const struct script *program;
    const struct shape *shape;
    struct times *times;
    struct worker workers[POOLS][WORKERS];
    int made[POOLS];
    struct list queue[POOLS]; // jobs, with their copy: job + JOBS * copy
    struct list boxes[BOXES]; // likewise
    bool busy[BOXES];         // a job of it is offered or runs
    int in_a_row[BOXES], turn[ACTORS];
    int sent[JOBS]; // how many of those that a job sends were sent
    int main_sent;
    uint64_t now_ns, woken_ns[POOLS];
};

static int box_of(const struct play *play, int item) {
    const int actor = play->shape->joins[play->program->jobs[item % JOBS].actor];
    return actor * COPIES + item / JOBS;
}

static void begin(struct play *play, int pool, int w, int item, uint64_t now_ns) {
    const int job = item % JOBS;
    play->workers[pool][w] =
        (struct worker){job, item / JOBS, box_of(play, item), now_ns + GAP_NS + play->program->jobs[job].length_ns};
    if (item >= JOBS && job < ACTORS) return; // of a copy's initialisation nothing is noted
    play->times->start_ns[job] = now_ns + GAP_NS;
    play->times->end_ns[job] = now_ns + GAP_NS + play->program->jobs[job].length_ns;
    play->times->worker[job] = pool * WORKERS + w;
}

static int longest_idle(const struct play *play, int pool) {
    int best = NONE;
    for (int w = 0; w < play->made[pool]; w++) {
        if (play->workers[pool][w].job != NONE) continue;
        if (best == NONE || play->workers[pool][w].until_ns < play->workers[pool][best].until_ns) best = w;
    }
    return best;
}

static void offer(struct play *play, int item, uint64_t now_ns) {
    const int pool = play->shape->pool[play->program->jobs[item % JOBS].actor];
    const bool makes = play->made[pool] < play->shape->workers[pool];
    const int w = makes ? play->made[pool]++ : longest_idle(play, pool);
    if (!makes && w != NONE) {
        play->woken_ns[pool] = now_ns;
        play->times->tied |= now_ns <= play->workers[pool][w].until_ns + CLOSE_NS;
    }
    if (w == NONE)
        put(&play->queue[pool], item);
    else
        begin(play, pool, w, item, now_ns);
}

static void come(struct play *play, int item, uint64_t now_ns) {
    const int box = box_of(play, item);
    if (item < JOBS) play->times->offered_ns[item] = now_ns;
    if (play->busy[box]) {
        put(&play->boxes[box], item);
        return;
    }
    play->busy[box] = true;
    play->in_a_row[box] = 1;
    offer(play, item, now_ns);
}

static void send(struct play *play, int job, uint64_t now_ns) {
    const int actor = play->program->jobs[job].actor, copies = play->shape->copies[actor];
    if (job >= ACTORS) {
        const int copy = copies > 1 ? play->turn[actor]++ % copies : 0;
        come(play, job + JOBS * copy, now_ns);
        return;
    }
    if (play->shape->joins[actor] != actor) return; // it is not made
    for (int copy = 0; copy < copies; copy++) come(play, job + JOBS * copy, now_ns);
}

static void end(struct play *play, int pool, int w) {
    struct worker *worker = &play->workers[pool][w];
    const int box = worker->box;
    const uint64_t now_ns = worker->until_ns;
    play->times->tied |= play->woken_ns[pool] && now_ns <= play->woken_ns[pool] + CLOSE_NS;
    worker->job = NONE;
    play->busy[box] = play->boxes[box].count > 0;
    if (play->busy[box]) {
        const int item = take(&play->boxes[box]);
        if (++play->in_a_row[box] <= THROUGHPUT) {
            begin(play, pool, w, item, now_ns);
            return;
        }
        play->in_a_row[box] = 1;
        put(&play->queue[pool], item);
    }
    if (play->queue[pool].count) begin(play, pool, w, take(&play->queue[pool]), now_ns);
}

// The next of what a sender sends, NONE: it has sent all.
static int next_of(const struct script *program, int sender, int sent) {
    for (int j = 0; j < program->count; j++) {
        if (program->jobs[j].sender == sender && sent-- == 0) return j;
    }
    return NONE;
}

// One step: whatever comes first. false: there is nothing left.
static bool step(struct play *play) {
    uint64_t first_ns = UINT64_MAX;
    int job = next_of(play->program, NONE, play->main_sent), sender = NONE, pool = NONE, w = NONE;
    if (job != NONE) first_ns = play->program->jobs[job].at_ns;
    for (int p = 0; p < POOLS; p++) {
        for (int i = 0; i < play->made[p]; i++) {
            const struct worker *worker = &play->workers[p][i];
            if (worker->job == NONE) continue;
            const uint64_t from_ns = worker->until_ns - play->program->jobs[worker->job].length_ns;
            const int sends = next_of(play->program, worker->job, play->sent[worker->job]);
            if (sends != NONE && from_ns + play->program->jobs[sends].at_ns < first_ns) {
                first_ns = from_ns + play->program->jobs[sends].at_ns;
                job = sends, sender = worker->job, pool = NONE;
            }
            if (sends == NONE && worker->until_ns < first_ns) first_ns = worker->until_ns, pool = p, w = i;
        }
    }
    if (first_ns == UINT64_MAX) return false;
    play->times->tied |= first_ns == play->now_ns;
    play->now_ns = first_ns;
    if (pool != NONE) {
        end(play, pool, w);
        return true;
    }
    *(sender == NONE ? &play->main_sent : &play->sent[sender]) += 1;
    send(play, job, first_ns);
    return true;
}

static void play_all(const struct script *program, const struct shape *shape, struct times *times) {
    struct play *play = calloc(1, sizeof *play);
    memset(times, 0, sizeof *times);
    play->program = program;
    play->shape = shape;
    play->times = times;
    for (int p = 0; p < POOLS; p++)
        for (int w = 0; w < WORKERS; w++) play->workers[p][w].job = NONE;
    while (step(play)) continue;
    free(play);
}

// ---- programs, and what is recorded of them

static uint64_t some_us(struct random_source *source, uint64_t least, uint64_t more) {
    return least * US + random_below(source, more * US);
}

static struct script random_program(struct random_source *source) {
    struct script program = {.count = ACTORS};
    uint64_t now_ns = 100 * US;
    for (int a = 0; a < ACTORS; a++) {
        now_ns += some_us(source, 100, 300);
        program.jobs[a] = (struct job){a, NONE, now_ns, some_us(source, 200, 500)};
    }
    while (program.count < JOBS) {
        const int sender = random_below(source, 3) ? NONE : ACTORS + (int)random_below(source, MESSAGES);
        struct job job = {(int)random_below(source, ACTORS), NONE, 0, some_us(source, 300, 4000)};
        const bool by_handler = sender != NONE && sender < program.count && program.jobs[sender].length_ns > 900 * US;
        job.at_ns = now_ns += some_us(source, 100, 900);
        if (by_handler && next_of(&program, sender, 0) == NONE) {
            job.sender = sender;
            job.at_ns = 100 * US + random_below(source, program.jobs[sender].length_ns - 200 * US);
        }
        program.jobs[program.count++] = job;
    }
    return program;
}

static struct shape plain(int workers) {
    struct shape shape = {.workers = {workers, 1}};
    for (int a = 0; a < ACTORS; a++) shape.joins[a] = a, shape.copies[a] = 1;
    return shape;
}

struct told { // an event of a thread
    uint64_t time_ns;
    int job, kind; // kind: 0 sends it, 1 begins it, 2 ends it
};

static int by_time(const void *a, const void *b) {
    const struct told *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void tell(struct trace_builder *tb, uint32_t thread, const struct script *program, const struct told *told,
                 uint32_t class) {
    const struct job *job = &program->jobs[told->job];
    const uint64_t actor = FIRST_ACTOR + (uint64_t)job->actor;
    const bool init = told->job < ACTORS;
    const uint64_t id = init ? actor : FIRST_MESSAGE + (uint64_t)told->job;
    const uint64_t operand = message_operand(class, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    if (told->kind == 0 && init)
        tb_event(tb, thread, told->time_ns, EVENT_ACTOR_CREATED, id, 0, 0);
    else if (told->kind == 0)
        tb_event(tb, thread, told->time_ns, EVENT_MESSAGE_SENT, id, actor, operand);
    else if (told->kind == 1)
        tb_event(tb, thread, told->time_ns, init ? EVENT_INIT_BEGIN : EVENT_MESSAGE_BEGIN, id, 0, actor);
    else
        tb_event(tb, thread, told->time_ns, init ? EVENT_INIT_END : EVENT_MESSAGE_END, id, 0, 0);
}

static void tell_thread(struct trace_builder *tb, const struct script *program, const struct times *times, int worker,
                        uint32_t pool, uint32_t class) {
    struct told told[3 * JOBS];
    size_t count = 0;
    const uint32_t thread = worker == NONE ? MAIN : FIRST_WORKER + (uint32_t)worker;
    for (int j = 0; j < program->count; j++) {
        const int sender = program->jobs[j].sender;
        const bool sends = sender == NONE ? worker == NONE : times->worker[sender] == worker;
        if (sends) told[count++] = (struct told){times->offered_ns[j], j, 0};
        if (worker == NONE || times->worker[j] != worker) continue;
        told[count++] = (struct told){times->start_ns[j], j, 1};
        told[count++] = (struct told){times->end_ns[j], j, 2};
    }
    if (count == 0) return;
    qsort(told, count, sizeof *told, by_time);
    if (worker != NONE) tb_event(tb, thread, told[0].time_ns - GAP_NS + 1, EVENT_WORKER_BEGIN, pool);
    for (size_t i = 0; i < count; i++) tell(tb, thread, program, &told[i], class);
}

static void record(struct simulate_fixture *fixture, const struct script *program, const struct times *times,
                   int workers) {
    struct trace_builder *tb = tb_new();
    const uint32_t class = tb_class(tb, "p.Text");
    const uint32_t pool = tb_pool_like(tb, (struct trace_pool){.kind = "java.util.concurrent.ThreadPoolExecutor",
                                                               .queue = "java.util.concurrent.LinkedBlockingQueue",
                                                               .core = workers,
                                                               .maximum = workers,
                                                               .capacity = -1});
    uint64_t last_ns = 0;
    for (int j = 0; j < program->count; j++) last_ns = times->end_ns[j] > last_ns ? times->end_ns[j] : last_ns;
    tb_thread(tb, MAIN, "main", 0);
    for (int w = 0; w < workers; w++) tb_thread(tb, FIRST_WORKER + (uint32_t)w, "pool-1-thread", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK);
    for (int w = NONE; w < workers; w++) tell_thread(tb, program, times, w, pool, class);
    tb_event(tb, MAIN, last_ns + 1000, EVENT_THREAD_END, MAIN_TASK);
    simulate_fixture_open(fixture, tb);
}

// ---- comparing

static uint32_t actor_at(const struct dag *dag, int actor) {
    uint32_t index = 1;
    while (index <= dag->actor_count && dag->actors[index].id != FIRST_ACTOR + (uint64_t)actor) index++;
    assert_true(index <= dag->actor_count);
    return index;
}

static void edit(struct simulate_fixture *fixture, const struct shape *then, const struct shape *now) {
    const struct dag *dag = fixture->dag;
    if (now->workers[0] != then->workers[0]) dag_edit_resize(&fixture->edit, 1, now->workers[0]);
    const uint32_t own = dag_edit_own_pool(&fixture->edit, 1, now->workers[1]);
    for (int a = 0; a < ACTORS; a++) {
        const uint32_t actor = actor_at(dag, a);
        if (now->joins[a] != a) dag_edit_join_actor(&fixture->edit, dag, actor, actor_at(dag, now->joins[a]));
        if (now->copies[a] > 1) dag_edit_copy_actor(&fixture->edit, actor, (uint32_t)now->copies[a]);
        if (now->pool[a]) dag_edit_move_actor(&fixture->edit, actor, own);
    }
}

static void assert_played(const struct dag *run, const struct script *program, const struct times *expected,
                          uint64_t seed) {
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (!(task->flags & TASK_OF_ACTOR) || (run->part_of && t >= run->origin->task_count)) continue;
        const int job = task->id < FIRST_MESSAGE ? (int)(task->id - FIRST_ACTOR) : (int)(task->id - FIRST_MESSAGE);
        assert_true(job >= 0 && job < program->count);
        const int64_t start_ns = task->start == DAG_NONE ? 0 : run->vertices.time_ns[task->start];
        if (start_ns != (int64_t)expected->start_ns[job])
            fail_msg("seed %llu, job %d: starts at %lld, not at %llu", (unsigned long long)seed, job,
                     (long long)start_ns, (unsigned long long)expected->start_ns[job]);
    }
}

typedef void alter(struct random_source *source, struct shape *shape);

// false: nothing says what comes first in that program.
static bool compare(uint64_t seed, alter *alteration) {
    struct random_source source = {seed};
    const struct script program = random_program(&source);
    const struct shape then = plain(1 + (int)random_below(&source, WORKERS));
    struct shape now = then;
    struct times recorded, expected;
    struct simulate_fixture fixture;
    const struct model model = {.kind = MODEL_POOL};
    alteration(&source, &now);
    play_all(&program, &then, &recorded);
    play_all(&program, &now, &expected);
    if (recorded.tied || expected.tied) return false;
    record(&fixture, &program, &recorded, then.workers[0]);
    edit(&fixture, &then, &now);
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    assert_played(simulation_dag(fixture.simulation), &program, &expected, seed);
    simulate_fixture_close(&fixture);
    return true;
}

static void compare_many(alter *alteration) {
    enum { PROGRAMS = 400 };
    int compared = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) compared += compare(seed, alteration);
    assert_true(compared > PROGRAMS / 20); // of copies, which are made at one time, few are told apart
}

static void change_nothing(struct random_source *source, struct shape *shape) {
    (void)source, (void)shape;
}

static void change_workers(struct random_source *source, struct shape *shape) {
    shape->workers[0] = 1 + (int)random_below(source, WORKERS);
}

static void change_joins(struct random_source *source, struct shape *shape) {
    const int remain = 1 + (int)random_below(source, ACTORS - 1);
    for (int a = remain; a < ACTORS; a++) shape->joins[a] = a % remain;
}

static void change_copies(struct random_source *source, struct shape *shape) {
    shape->copies[random_below(source, ACTORS)] = 2 + (int)random_below(source, COPIES - 1);
}

static void change_dispatcher(struct random_source *source, struct shape *shape) {
    shape->workers[1] = 1 + (int)random_below(source, WORKERS);
    for (int a = 0; a < ACTORS; a++) shape->pool[a] = random_below(source, 2) > 0;
}

static void change_all(struct random_source *source, struct shape *shape) {
    change_workers(source, shape);
    change_joins(source, shape);
    change_dispatcher(source, shape);
    for (int a = 0; a < ACTORS; a++) shape->pool[a] = shape->pool[shape->joins[a]];
}

static void test_nothing_changed(void **state) {
    (void)state;
    compare_many(change_nothing);
}

static void test_another_size(void **state) {
    (void)state;
    compare_many(change_workers);
}

static void test_actors_join(void **state) {
    (void)state;
    compare_many(change_joins);
}

static void test_an_actor_gets_copies(void **state) {
    (void)state;
    compare_many(change_copies);
}

static void test_a_dispatcher_of_their_own(void **state) {
    (void)state;
    compare_many(change_dispatcher);
}

static void test_all_together(void **state) {
    (void)state;
    compare_many(change_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changed),
        cmocka_unit_test(test_another_size),
        cmocka_unit_test(test_actors_join),
        cmocka_unit_test(test_an_actor_gets_copies),
        cmocka_unit_test(test_a_dispatcher_of_their_own),
        cmocka_unit_test(test_all_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
