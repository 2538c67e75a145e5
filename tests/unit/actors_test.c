// SPDX-License-Identifier: GPL-3.0-or-later
// Actors and messages, solved by hand: costs of what lies in each other, what becomes of messages, latency and its
// segments. Times of the story (tests/tools/actor_story.c) are in microseconds in the comments.
#include "actor_story.h"
#include "metrics/actor_runs.h"
#include "metrics/actor_shares.h"
#include "metrics/actors.h"
#include "metrics/latency.h"
#include "metrics/messages.h"
#include "metrics/metrics.h"
#include "random_trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define US 1000

enum { THREAD = 1, OTHER };

struct told {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct actor_log log;
    struct arena arena;
    struct error error;
};

static struct told tell_of(struct trace_builder *tb) {
    struct told told = {.tb = tb, .error = ERROR_INIT};
    told.trace = tb_open(tb);
    told.dag = dag_build(told.trace, &told.error);
    assert_non_null(told.dag);
    assert_true(actor_log_read(told.dag, &told.log, &told.error));
    return told;
}

static void forget(struct told *told) {
    actor_log_destroy(&told->log);
    dag_free(told->dag);
    trace_close(told->trace);
    arena_destroy(&told->arena);
    tb_free(told->tb);
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

static const struct logged_actor *actor(const struct told *told, uint64_t id) {
    for (uint32_t a = 0; a < told->log.actor_count; a++) {
        if (told->log.actors[a].id == id) return &told->log.actors[a];
    }
    fail_msg("no actor %lu", (unsigned long)id);
    return NULL;
}

static const struct logged_message *message(const struct told *told, uint64_t id) {
    for (uint32_t m = 0; m < told->log.message_count; m++) {
        if (told->log.messages[m].id == id) return &told->log.messages[m];
    }
    fail_msg("no message %lu", (unsigned long)id);
    return NULL;
}

static uint32_t class_of(const struct told *told, const char *name) {
    for (uint32_t c = 1; c < told->trace->class_count; c++) {
        if (strcmp(told->trace->classes[c].name, name) == 0) return c;
    }
    fail_msg("no class %s", name);
    return 0;
}

static struct trace_builder *threads(void) {
    struct trace_builder *tb = tb_new();
    tb_thread(tb, THREAD, "one", 0);
    tb_thread(tb, OTHER, "other", 0);
    tb_event(tb, THREAD, 0, EVENT_THREAD_START, 900, 1);
    return tb;
}

static const uint64_t plain = UINT64_C(0); // told by the program to an actor, of no known class

// ---- costs

// C's initialisation, 100..300, has those of A, 150..170, and B, 180..200, in it: 200 - 20 - 20. The paper's counter
// would subtract A's from B's as well, and so give B 0 and C 180.
static void test_nested_initialisations_are_subtracted_once(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    enum { A = 1, B, C };
    tb_event(tb, THREAD, 10, EVENT_INIT_BEGIN, C, 100);
    tb_event(tb, THREAD, 20, EVENT_INIT_BEGIN, A, 150);
    tb_event(tb, THREAD, 30, EVENT_INIT_END, A, 170);
    tb_event(tb, THREAD, 40, EVENT_INIT_BEGIN, B, 180);
    tb_event(tb, THREAD, 50, EVENT_INIT_END, B, 200);
    tb_event(tb, THREAD, 60, EVENT_INIT_END, C, 300);
    struct told told = tell_of(tb);
    assert_near(actor(&told, A)->initialisation, 20);
    assert_near(actor(&told, B)->initialisation, 20);
    assert_near(actor(&told, C)->initialisation, 160);
    forget(&told);
}

// A, 20..80, with B in it, 30..70, and C in that, 40..50: 60 - 40, 40 - 10, 10.
static void test_initialisations_nest_in_depth(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    enum { A = 1, B, C };
    tb_event(tb, THREAD, 10, EVENT_INIT_BEGIN, A, 20);
    tb_event(tb, THREAD, 20, EVENT_INIT_BEGIN, B, 30);
    tb_event(tb, THREAD, 30, EVENT_INIT_BEGIN, C, 40);
    tb_event(tb, THREAD, 40, EVENT_INIT_END, C, 50);
    tb_event(tb, THREAD, 50, EVENT_INIT_END, B, 70);
    tb_event(tb, THREAD, 60, EVENT_INIT_END, A, 80);
    struct told told = tell_of(tb);
    assert_near(actor(&told, A)->initialisation, 20);
    assert_near(actor(&told, B)->initialisation, 30);
    assert_near(actor(&told, C)->initialisation, 10);
    forget(&told);
}

// Actor 1 handles a message, 100..200, in which the library makes actor 2, 110..150, whose constructor runs 120..140.
// Both count: the message costs 100, the actor 20. In the share each once: (20 + 20) / (20 + 20 + 60).
static void test_a_creation_in_a_handler_counts_in_both(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 100, 1);
    tb_event(tb, THREAD, 20, EVENT_UPKEEP_BEGIN, 0, 110);
    tb_event(tb, THREAD, 25, EVENT_ACTOR_CREATED, 2, 1, 0);
    tb_event(tb, THREAD, 30, EVENT_INIT_BEGIN, 2, 120);
    tb_event(tb, THREAD, 40, EVENT_INIT_END, 2, 140);
    tb_event(tb, THREAD, 50, EVENT_UPKEEP_END, 2, 150);
    tb_event(tb, THREAD, 60, EVENT_MESSAGE_END, 50, 200);
    struct told told = tell_of(tb);
    struct actor_shares shares = {0};
    const struct dag_edit none = {0};
    assert_near(message(&told, 50)->cost, 100);
    assert_near(actor(&told, 2)->initialisation, 20);
    assert_near(actor(&told, 2)->creation, 20);
    assert_near(actor(&told, 1)->computed_once, 60);
    assert_true(actor_shares_read(told.dag, &shares, &told.error));
    assert_near(actor_shares_under(&shares, told.dag, &none), 0.4);
    actor_shares_destroy(&shares);
    forget(&told);
}

// As above; then actor 3, made in 30, joins actor 2, which gets another copy.
static void test_the_share_follows_edits(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 5, EVENT_INIT_BEGIN, 3, 10);
    tb_event(tb, THREAD, 6, EVENT_INIT_END, 3, 40);
    tb_event(tb, THREAD, 7, EVENT_INIT_BEGIN, 2, 40);
    tb_event(tb, THREAD, 8, EVENT_INIT_END, 2, 60);
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 100, 2);
    tb_event(tb, THREAD, 60, EVENT_MESSAGE_END, 50, 150);
    struct told told = tell_of(tb);
    struct actor_shares shares = {0};
    struct dag_edit edit = {0};
    assert_true(actor_shares_read(told.dag, &shares, &told.error));
    assert_true(dag_edit_init(&edit, told.dag, &told.error));
    assert_int_equal(told.dag->actor_count, 2);
    const uint32_t of_2 = told.dag->actors[1].id == 2 ? 1 : 2;
    assert_near(actor_shares_under(&shares, told.dag, &edit), 0.5);
    dag_edit_join_actor(&edit, told.dag, 3 - of_2, of_2);
    assert_near(actor_shares_under(&shares, told.dag, &edit), 20.0 / 70);
    dag_edit_copy_actor(&edit, of_2, 2);
    assert_near(actor_shares_under(&shares, told.dag, &edit), 40.0 / 90);
    dag_edit_destroy(&edit);
    actor_shares_destroy(&shares);
    forget(&told);
}

// Where another actor's message is handled within one, it is no part of that.
static void test_a_message_in_a_message_is_its_own(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 100, 1);
    tb_event(tb, THREAD, 20, EVENT_MESSAGE_SENT, 51, 2, plain);
    tb_event(tb, THREAD, 30, EVENT_MESSAGE_BEGIN, 51, 120, 2);
    tb_event(tb, THREAD, 40, EVENT_MESSAGE_SENT, 52, 3, plain);
    tb_event(tb, THREAD, 50, EVENT_MESSAGE_END, 51, 150);
    tb_event(tb, THREAD, 60, EVENT_MESSAGE_END, 50, 200);
    struct told told = tell_of(tb);
    assert_near(message(&told, 50)->cost, 70);
    assert_near(message(&told, 51)->cost, 30);
    assert_int_equal(told.log.actors[message(&told, 51)->sender].id, 1);
    assert_int_equal(told.log.actors[message(&told, 52)->sender].id, 2);
    assert_int_equal(told.log.messages[message(&told, 52)->cause].id, 51);
    forget(&told);
}

static void test_bytecodes_come_first(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 9, EVENT_BYTECODES, 1000);
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 100, 1);
    tb_event(tb, THREAD, 19, EVENT_BYTECODES, 1700);
    tb_event(tb, THREAD, 20, EVENT_MESSAGE_END, 50, 200);
    tb_event(tb, THREAD, 30, EVENT_MESSAGE_BEGIN, 51, 210, 1);
    tb_event(tb, THREAD, 35, EVENT_LOST, 3);
    tb_event(tb, THREAD, 40, EVENT_MESSAGE_END, 51, 300);
    struct told told = tell_of(tb);
    assert_int_equal(told.log.unit, LOG_BYTECODES);
    assert_near(message(&told, 50)->cost, 700);
    assert_true(isnan(message(&told, 51)->cost)); // what was executed is not known across a loss
    forget(&told);
}

// Nothing was measured at messages, though it may have been elsewhere.
static void test_without_computing_time_counts(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 0, 1);
    tb_event(tb, THREAD, 25, EVENT_MESSAGE_END, 50, 0);
    struct told told = tell_of(tb);
    assert_int_equal(told.log.unit, LOG_NS);
    assert_near(message(&told, 50)->cost, 15);
    forget(&told);
}

// ---- who is of the program

static void test_actors_below_user_are_the_programs(void **state) {
    (void)state;
    static const struct {
        uint64_t id, parent;
        const char *name;
        bool of_program;
    } actors[] = {{1, 0, "pekko://a/", false},
                  {2, 1, "user", false},
                  {3, 2, "x", true},
                  {4, 3, "y", true},
                  {5, 1, "system", false},
                  {6, 5, "user", false},
                  {7, 6, "z", false},
                  {8, 0, "home-made", true},
                  {9, 8, "child", true},
                  {10, 0, NULL, true},
                  {11, 0, "akka://a/user/late", true},
                  {12, 0, "akka://a/system/x", false},
                  {13, 0, "akka://a:25520/user", false}};
    struct trace_builder *tb = threads();
    for (size_t i = 0; i < sizeof actors / sizeof *actors; i++) {
        if (actors[i].name) tb_actor(tb, actors[i].id, actors[i].name);
        tb_event(tb, THREAD, 10 + i, EVENT_ACTOR_CREATED, actors[i].id, actors[i].parent);
    }
    struct told told = tell_of(tb);
    for (size_t i = 0; i < sizeof actors / sizeof *actors; i++) {
        if (actor(&told, actors[i].id)->of_program != actors[i].of_program) fail_msg("actor %zu", i + 1);
    }
    char path[64];
    assert_string_equal(actor_log_path(&told.log, (uint32_t)(actor(&told, 4) - told.log.actors), path, sizeof path),
                        "pekko://a/user/x/y");
    forget(&told);
}

// ---- balances

static void check_sum(const struct balances *of) {
    assert_int_equal(of->sent + of->scheduled + of->copies + of->library_made + of->unseen,
                     of->received + of->to_futures + of->dead_letters + of->queued);
    assert_int_equal(of->created, of->stopped + of->living);
}

static void test_balances(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    const struct balances of = messages_balances(&told.log);
    assert_int_equal(of.sent, 15); // ask, to nobody, unknown, answer, 8 moved, 2 hits, status
    assert_int_equal(of.scheduled, 8);
    assert_int_equal(of.received, 20); // ask, unknown, 8 ticks, 8 moved, 2 hits
    assert_int_equal(of.to_futures, 1);
    assert_int_equal(of.dead_letters, 1);
    assert_int_equal(of.queued, 1);
    assert_int_equal(of.unhandled, 1);
    assert_int_equal(of.asks, 1);
    assert_int_equal(of.created, 3); // one more did not start
    assert_int_equal(of.stopped, 0);
    assert_int_equal(of.restarts, 1);
    assert_int_equal(of.failed_starts, 1);
    check_sum(&of);
    forget(&told);
}

// Put aside twice and then handled; put aside and a dead letter; put aside and still there; handled, but never sent.
static void test_what_was_put_aside_counts_once(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    const uint64_t copy = message_operand(0, MESSAGE_COPY, MESSAGE_TO_ACTOR, false);
    for (uint64_t m = 50; m <= 52; m++) tb_event(tb, OTHER, m, EVENT_MESSAGE_SENT, m, 1, m == 51 ? copy : plain);
    uint64_t now = 100;
    for (uint64_t m = 50; m <= 52; m++) {
        tb_event(tb, THREAD, now++, EVENT_MESSAGE_BEGIN, m, 1, 1);
        tb_event(tb, THREAD, now++, EVENT_MESSAGE_END, m, 2, MESSAGE_PUT_ASIDE);
    }
    tb_event(tb, THREAD, 200, EVENT_MESSAGE_QUEUED, 60, 1, 50);
    tb_event(tb, THREAD, 201, EVENT_MESSAGE_QUEUED, 61, 1, 51);
    tb_event(tb, THREAD, 210, EVENT_MESSAGE_BEGIN, 60, 3, 1);
    tb_event(tb, THREAD, 211, EVENT_MESSAGE_END, 60, 4, MESSAGE_PUT_ASIDE);
    tb_event(tb, THREAD, 212, EVENT_DEAD_LETTER, 61);
    tb_event(tb, THREAD, 220, EVENT_MESSAGE_QUEUED, 70, 1, 60);
    tb_event(tb, THREAD, 230, EVENT_MESSAGE_BEGIN, 70, 5, 1);
    tb_event(tb, THREAD, 240, EVENT_MESSAGE_END, 70, 6);
    tb_event(tb, THREAD, 250, EVENT_MESSAGE_BEGIN, 80, 7, 1);
    tb_event(tb, THREAD, 260, EVENT_MESSAGE_END, 80, 8);
    struct told told = tell_of(tb);
    const struct balances of = messages_balances(&told.log);
    assert_int_equal(of.sent, 2);
    assert_int_equal(of.copies, 1);
    assert_int_equal(of.unseen, 1);
    assert_int_equal(of.received, 2);
    assert_int_equal(of.dead_letters, 1);
    assert_int_equal(of.queued, 1);
    check_sum(&of);
    assert_int_equal(message(&told, 70)->sent_ns, 50);
    forget(&told);
}

static void test_a_restart_that_fails_is_no_failed_start(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 10, EVENT_ACTOR_CREATED, 1, 0);
    tb_event(tb, THREAD, 20, EVENT_INIT_BEGIN, 1, 1);
    tb_event(tb, THREAD, 30, EVENT_INIT_END, 1, 2);
    tb_event(tb, THREAD, 40, EVENT_ACTOR_RESTARTED, 1);
    tb_event(tb, THREAD, 50, EVENT_INIT_BEGIN, 1, 3);
    tb_event(tb, THREAD, 60, EVENT_INIT_END, 1, 4, init_operand(0, INIT_FAILED));
    struct told told = tell_of(tb);
    const struct balances of = messages_balances(&told.log);
    assert_int_equal(of.failed_starts, 0);
    assert_int_equal(of.restarts, 1);
    forget(&told);
}

// ---- actors

static const struct actor_type_use *type_named(const struct told *told, const struct actor_figures *figures,
                                               const char *name) {
    for (size_t i = 0; i < figures->type_count; i++) {
        if (figures->types[i].type == class_of(told, name)) return &figures->types[i];
    }
    fail_msg("no type %s", name);
    return NULL;
}

// Physics 16,030 / 20 = 801.5; the renderer 12,805 / 40 = 320.125; the sound 240 / (10 + 10) = 12; the broken one 0.
static void test_utilisation(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    struct actor_figures figures;
    assert_true(actors_find(&told.log, NULL, &told.arena, &figures, &told.error));
    assert_int_equal(figures.count, 3);
    assert_int_equal(figures.failed_starts, 1);
    assert_int_equal(figures.unit, LOG_NS);
    assert_near(figures.utilisation.max, 801.5);
    assert_near(figures.utilisation.min, 12);
    assert_near(figures.utilisation.mean, (801.5 + 320.125 + 12) / 3);
    assert_near(figures.computation_total, 29075 * US);
    assert_near(figures.initialisation_share, 98.0 / (98 + 29075));
    const struct actor_type_use *renderer = type_named(&told, &figures, "p.Renderer");
    assert_int_equal(renderer->all.received, 13); // 4 ticks, 8 moved, 1 unknown
    assert_int_equal(renderer->all.message_count, 3);
    assert_int_equal(renderer->all.messages[0].class, class_of(&told, "p.Scene$Tick"));
    assert_near(renderer->all.messages[0].computation, 12000 * US);
    const struct actor_type_use *physics = type_named(&told, &figures, "p.Physics");
    assert_int_equal(physics->all.sent, 11); // 8 moved, 2 hits, 1 answer
    assert_int_equal(figures.types[0].type, class_of(&told, "p.Physics"));
    assert_int_equal(figures.each_count, 3);
    forget(&told);
}

static void test_a_window_has_what_begins_in_it(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    struct actor_figures figures;
    const struct window second = {1000 * US + STORY_TURN_NS, 1000 * US + 2 * STORY_TURN_NS - 1};
    assert_true(actors_find(&told.log, &second, &told.arena, &figures, &told.error));
    assert_int_equal(figures.count, 3); // the broken one is gone
    assert_int_equal(figures.created, 0);
    assert_true(isnan(figures.utilisation.mean)); // none was initialised in it
    assert_near(figures.computation_total, (4000 + 3200 + 20 + 200) * US);
    forget(&told);
}

// ---- messages

static void test_flow_and_parallelism(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    struct message_figures figures;
    assert_true(messages_find(&told.log, NULL, 0, &told.arena, &figures, &told.error));
    assert_int_equal(figures.flow.received, 20);
    assert_near(figures.flow.per_s, 20 / 0.065);
    assert_near(figures.flow.processing_total, 29140 * US);
    assert_near(figures.parallelism_mean, 29140.0 / 65000);
    assert_near(figures.parallelism_max, 2);
    assert_int_equal(figures.types[0].class, class_of(&told, "p.Scene$Tick"));
    assert_near(figures.types[0].flow.processing_ns.mean, 3500 * US);
    assert_near(figures.types[0].flow.queue_wait_ns.max, 19 * US); // the renderer's
    assert_null(figures.flow.by_count.values);
    forget(&told);
}

static double sum(const struct sliced *sliced, size_t count) {
    double all = 0;
    for (size_t i = 0; i < count; i++) all += sliced->values[i];
    return all;
}

static void test_slices_add_up(void **state) {
    (void)state;
    static const double lengths_ms[] = {0.05, 1, 3.7, 16, 64.9, 65, 1000};
    struct told told = tell_of(actor_story(false));
    for (size_t i = 0; i < sizeof lengths_ms / sizeof *lengths_ms; i++) {
        struct message_figures figures;
        assert_true(messages_find(&told.log, NULL, lengths_ms[i], &told.arena, &figures, &told.error));
        const size_t count = figures.slices.count;
        assert_int_equal(count, (size_t)ceil(65 / lengths_ms[i]));
        assert_near(sum(&figures.flow.by_count, count), (double)figures.flow.received);
        assert_near(sum(&figures.flow.by_processing, count), figures.flow.processing_total);
        assert_near(sum(&figures.flow.by_waiting, count), figures.flow.waiting_total);
        for (size_t t = 0; t < figures.type_count; t++)
            assert_near(sum(&figures.types[t].flow.by_processing, count), figures.types[t].flow.processing_total);
    }
    forget(&told);
}

// Handled 50..250 in slices of 100 from 0 to 300: 50, 100, 50; one message, begun in the first. Its wait, 10..50.
static void test_what_straddles_is_shared_out(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_SENT, 50, 1, plain);
    tb_event(tb, THREAD, 50, EVENT_MESSAGE_BEGIN, 50, 1, 1);
    tb_event(tb, THREAD, 250, EVENT_MESSAGE_END, 50, 2);
    tb_event(tb, THREAD, 300, EVENT_THREAD_END, 900, 3);
    struct told told = tell_of(tb);
    struct message_figures figures;
    assert_true(messages_find(&told.log, NULL, 0.0001, &told.arena, &figures, &told.error));
    assert_int_equal(figures.slices.count, 3);
    static const double shares[] = {50, 100, 50};
    for (size_t i = 0; i < 3; i++) {
        assert_near(figures.flow.by_processing.values[i], shares[i]);
        assert_near(figures.by_parallelism.values[i], shares[i] / 100);
        assert_near(figures.flow.by_count.values[i], i == 0);
        assert_near(figures.flow.by_waiting.values[i], i == 0 ? 40 : 0);
    }
    assert_near(figures.by_parallelism.of.mean, 2.0 / 3);
    assert_near(figures.by_parallelism.of.variance, 1.0 / 12);
    assert_false(messages_find(&told.log, NULL, 1e-9, &told.arena, &figures, &told.error));
    assert_int_equal(told.error.status, STATUS_USAGE);
    forget(&told);
}

// ---- latency

static const char story_path[] = "Physics:Tick > Renderer:Moved > Renderer:Tick";

// A segment each, in us; they and the whole are the same in every chain.
static void check_story_path(bool coupled, uint64_t chains, const int64_t segments_us[4]) {
    static const uint8_t ids[] = {1, 2, 5, 6};
    struct told told = tell_of(actor_story(coupled));
    struct latency_figures found;
    int64_t whole_us = 0;
    assert_true(latency_of_path(&told.log, story_path, NULL, 0, &told.arena, &found, &told.error));
    assert_int_equal(found.chains, chains);
    assert_int_equal(found.segment_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(found.segments[i].id, ids[i]);
        assert_near(found.segments[i].ns.mean, (double)segments_us[i] * US);
        assert_near(found.segments[i].ns.std, 0);
        whole_us += segments_us[i];
    }
    assert_near(found.latency_ns.mean, (double)whole_us * US);
    assert_int_equal(found.total_ns, whole_us * US * (int64_t)chains);
    assert_near(found.from_sent_ns.mean, (double)(whole_us + 10) * US); // the trigger waited 10
    assert_int_equal(found.incomplete, STORY_TURNS - chains);
    forget(&told);
}

// Apart, what moved at 1,000 is rendered from 16,020 on; coupled, from 3,600 on.
static void test_latency_falls_when_coupled(void **state) {
    (void)state;
    check_story_path(false, 3, (const int64_t[]){990, 2100, 12920, 3000});
    check_story_path(true, 4, (const int64_t[]){990, 2100, 500, 3000});
}

// A message to each of two actors, one of which gets two and sends on: spans 1, 2, 3, 2, 4.
static void test_fan_out(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    const uint32_t go = tb_class(tb, "p.Go"), part = tb_class(tb, "p.Part"), done = tb_class(tb, "p.Done");
    const uint64_t parts = message_operand(part, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    for (uint64_t a = 1; a <= 4; a++) tb_actor(tb, a, a == 1 ? "master" : a == 4 ? "sink" : "worker");
    tb_event(tb, OTHER, 5, EVENT_MESSAGE_SENT, 50, 1, message_operand(go, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false));
    tb_event(tb, THREAD, 10, EVENT_MESSAGE_BEGIN, 50, 1, 1);
    for (uint64_t m = 0; m < 3; m++) tb_event(tb, THREAD, 20 + m, EVENT_MESSAGE_SENT, 60 + m, m == 1 ? 3 : 2, parts);
    tb_event(tb, THREAD, 30, EVENT_MESSAGE_END, 50, 2);
    for (uint64_t m = 0; m < 3; m++) {
        tb_event(tb, THREAD, 100 + 100 * m, EVENT_MESSAGE_BEGIN, 60 + m, 3, m == 1 ? 3 : 2);
        tb_event(tb, THREAD, 150 + 100 * m, EVENT_MESSAGE_SENT, 70 + m, 4,
                 message_operand(done, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false));
        tb_event(tb, THREAD, 160 + 100 * m, EVENT_MESSAGE_END, 60 + m, 4);
    }
    for (uint64_t m = 0; m < 3; m++) {
        tb_event(tb, OTHER, 500 + 10 * m, EVENT_MESSAGE_BEGIN, 70 + m, 3, 4);
        tb_event(tb, OTHER, 507 + 10 * m, EVENT_MESSAGE_END, 70 + m, 4);
    }
    struct told told = tell_of(tb);
    struct latency_figures found;
    assert_true(latency_of_path(&told.log, "master:Go>worker:Part>sink:*", NULL, 0, &told.arena, &found, &told.error));
    assert_int_equal(found.chains, 2);
    assert_int_equal(found.segment_count, 5);
    static const int64_t totals[] = {10 + 11, 80 + 179, 50 + 50, 350 + 260, 7 + 7};
    static const uint8_t ids[] = {1, 2, 3, 2, 4};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(found.segments[i].id, ids[i]);
        assert_int_equal(found.segments[i].total_ns, totals[i]);
    }
    assert_int_equal(found.total_ns, 497 + 507);
    forget(&told);
}

static void test_paths_that_mean_nothing(void **state) {
    (void)state;
    static const char *const paths[] = {"Nobody:Tick", "Physics:Nothing", "Physics:Tick > ", ""};
    struct told told = tell_of(actor_story(false));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct latency_figures found;
        told.error = (struct error)ERROR_INIT;
        assert_false(latency_of_path(&told.log, paths[i], NULL, 0, &told.arena, &found, &told.error));
        assert_int_equal(told.error.status, STATUS_USAGE);
    }
    forget(&told);
}

// By time in all of them: tick and what moved, of four turns; tick and hit, of two.
static void test_cascades(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    struct latency_figures *found;
    size_t count;
    assert_true(latency_of_cascades(&told.log, NULL, 0, &told.arena, &found, &count, &told.error));
    assert_int_equal(count, 2);
    assert_string_equal(found[0].path, "Physics:Tick > Renderer:Moved");
    assert_string_equal(found[1].path, "Physics:Tick > Sound:Hit");
    assert_int_equal(found[0].chains, 4);
    assert_int_equal(found[1].chains, 2);
    forget(&told);
}

// ---- triggers

static struct message_pattern pattern(struct told *told, const char *text) {
    struct message_pattern pattern;
    assert_true(message_pattern_parse(text, strlen(text), &told->log, &told->arena, &pattern, &told->error));
    return pattern;
}

// The renderer is triggered 4 times in 65 ms, and of its 12,810 spends 810 on other messages. No trigger comes between
// the two that tell what moved.
static void test_triggers(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    const struct message_pattern tick = pattern(&told, "renderer:Tick"), moved = pattern(&told, "p.Renderer:*Moved");
    struct trigger_figures found;
    assert_true(triggers_find(&told.log, &tick, &moved, NULL, 16, &told.arena, &found, &told.error));
    assert_int_equal(found.each_count, 1);
    assert_int_equal(found.each[0].triggers, 4);
    assert_near(found.each[0].per_s, 4 / 0.065);
    assert_near(found.each[0].overhead_share, 810.0 / 12810);
    assert_int_equal(found.groups, 4);
    assert_near(found.consistency, 1);
    assert_near(found.each[0].by_overhead.of.max, 210.0 / 3210); // the first slice has the unknown one
    forget(&told);
}

// Both triggered, physics is not the overhead of the renderer.
static void test_triggers_of_several(void **state) {
    (void)state;
    struct told told = tell_of(actor_story(false));
    const struct message_pattern tick = pattern(&told, "Tick");
    struct trigger_figures found;
    assert_true(triggers_find(&told.log, &tick, NULL, NULL, 0, &told.arena, &found, &told.error));
    assert_int_equal(found.each_count, 2);
    assert_int_equal(found.all.triggers, 8);
    assert_near(found.all.overhead_share, (810.0 + 30) / (12810 + 16030));
    assert_int_equal(found.groups, 0);
    assert_true(isnan(found.consistency));
    forget(&told);
}

// Actor 1, handling 50, sends 2 two updates, between whose begins a trigger begins; handling 51, two without; handling
// 52, two of which one is never handled.
static void test_a_trigger_between_updates(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    const uint32_t tick = tb_class(tb, "Tick"), update = tb_class(tb, "Update");
    const uint64_t updates = message_operand(update, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    for (uint64_t m = 0; m < 3; m++) {
        tb_event(tb, THREAD, 10 + 10 * m, EVENT_MESSAGE_BEGIN, 50 + m, 1, 1);
        tb_event(tb, THREAD, 11 + 10 * m, EVENT_MESSAGE_SENT, 60 + 2 * m, 2, updates);
        tb_event(tb, THREAD, 12 + 10 * m, EVENT_MESSAGE_SENT, 61 + 2 * m, 2, updates);
        tb_event(tb, THREAD, 13 + 10 * m, EVENT_MESSAGE_END, 50 + m, 2);
    }
    tb_event(tb, THREAD, 50, EVENT_MESSAGE_SENT, 70, 2,
             message_operand(tick, MESSAGE_SCHEDULED, MESSAGE_TO_ACTOR, false));
    static const uint64_t order[] = {60, 70, 61, 62, 63, 64};
    for (uint64_t i = 0; i < 6; i++) {
        tb_event(tb, OTHER, 100 + 10 * i, EVENT_MESSAGE_BEGIN, order[i], 1, 2);
        tb_event(tb, OTHER, 105 + 10 * i, EVENT_MESSAGE_END, order[i], 2);
    }
    struct told told = tell_of(tb);
    const struct message_pattern trigger = pattern(&told, "Tick"), of = pattern(&told, "*:Update");
    struct trigger_figures found;
    assert_true(triggers_find(&told.log, &trigger, &of, NULL, 0, &told.arena, &found, &told.error));
    assert_int_equal(found.groups, 2);
    assert_int_equal(found.consistent, 1);
    assert_int_equal(found.unfinished, 1);
    assert_near(found.consistency, 0.5);
    forget(&told);
}

// ---- several traces

static void test_sums_and_correlation(void **state) {
    (void)state;
    struct actor_run runs[3] = {0};
    for (int r = 0; r < 3; r++) {
        runs[r].findings.messages.balances.sent = (uint64_t)(10 * r);
        runs[r].findings.messages.balances.copies = 1;
        runs[r].metrics.wall_ns = 1000 - 100 * r;
    }
    const struct balances sum = actor_runs_sum(runs, 3);
    assert_int_equal(sum.sent, 30);
    assert_int_equal(balances_sent(&sum), 33);
    assert_near(actor_runs_correlation(runs, 3), -1);
    assert_true(isnan(actor_runs_correlation(runs, 2)));
    runs[0].metrics.wall_ns = runs[1].metrics.wall_ns = runs[2].metrics.wall_ns;
    assert_true(isnan(actor_runs_correlation(runs, 3)));
}

// ---- beside tasks

// A dispatcher's worker runs a mailbox as a task, 100..500, in which the actor begins, 120..160, and handles a message,
// 200..400. There is one task, of 400, and main; the worker is occupied and active throughout; another, which handles a
// message outside of any task, 600..700, is so then.
static void test_actors_are_no_tasks(void **state) {
    (void)state;
    struct trace_builder *tb = threads();
    const uint32_t pool = tb_pool(tb, "dispatcher", 2), site = tb_site(tb, "p.Main", "main", 3);
    tb_event(tb, THREAD, 5, EVENT_MAIN_BEGIN, 900, 1);
    tb_event(tb, THREAD, 10, EVENT_ACTOR_CREATED, 1, 0);
    tb_event(tb, THREAD, 20, EVENT_MESSAGE_SENT, 50, 1, plain);
    tb_event(tb, THREAD, 30, EVENT_SPAWN_BEGIN, 7, site, pool);
    tb_event(tb, THREAD, 40, EVENT_SPAWN_END, 7);
    tb_event(tb, THREAD, 1000, EVENT_THREAD_END, 900, 2);
    tb_event(tb, OTHER, 2, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, OTHER, 100, EVENT_TASK_START, 7, 1);
    tb_event(tb, OTHER, 120, EVENT_INIT_BEGIN, 1, 21);
    tb_event(tb, OTHER, 160, EVENT_INIT_END, 1, 61);
    tb_event(tb, OTHER, 200, EVENT_MESSAGE_BEGIN, 50, 101, 1);
    tb_event(tb, OTHER, 400, EVENT_MESSAGE_END, 50, 301);
    tb_event(tb, OTHER, 500, EVENT_TASK_END, 7, 401);
    tb_event(tb, OTHER, 600, EVENT_MESSAGE_BEGIN, 51, 401, 1);
    tb_event(tb, OTHER, 700, EVENT_MESSAGE_END, 51, 501);
    struct told told = tell_of(tb);
    struct metrics_work work = {0};
    struct metrics metrics;
    assert_true(metrics_of_run(told.dag, true, NULL, NULL, &work, &metrics, &told.error));
    assert_int_equal(metrics.tasks.count, 2);
    assert_near(metrics.tasks.granularity.max, 400);
    assert_near(metrics.tasks.granularity.mean, (400 + 1) / 2.0); // main computes 1
    assert_near(metrics.tasks.queue_wait_ns.max, 70);
    assert_near(metrics.threads[STATE_OCCUPIED].mean * (double)metrics.wall_ns, 995 + 400 + 100);
    metrics_work_destroy(&work);
    forget(&told);
}

// ---- any events

static void check_latency(const struct latency_figures *of) {
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < of->segment_count; i++) total_ns += of->segments[i].total_ns;
    assert_int_equal(total_ns, of->total_ns);
}

// Segments add up to the latency, slices to the whole, and messages to what becomes of them.
static void check_laws(const struct actor_findings *findings) {
    const struct message_figures *messages = &findings->messages;
    const struct actor_figures *actors = &findings->actors;
    check_sum(&messages->balances);
    assert_near(sum(&messages->flow.by_count, messages->slices.count), (double)messages->flow.received);
    assert_near(sum(&messages->flow.by_processing, messages->slices.count), messages->flow.processing_total);
    for (size_t i = 0; i < findings->latency_count; i++) check_latency(&findings->latencies[i]);
    double computed = 0;
    for (size_t i = 0; i < actors->type_count; i++) computed += actors->types[i].all.computation;
    assert_near(computed, actors->computation_total);
}

static void test_laws_of_any_events(void **state) {
    (void)state;
    static const char *const paths[] = {"* > *", "* > *:* > *"};
    unsigned chains = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct trace_builder *tb = seed % 2 ? random_actors(seed) : random_actor_events(seed);
        struct trace *trace = tb_open(tb);
        struct error error = ERROR_INIT;
        struct dag *dag = dag_build(trace, &error);
        struct arena arena = ARENA_INIT;
        struct actor_findings findings = {0};
        const struct actor_questions questions = {
            .paths = paths, .path_count = seed % 4 >= 2 ? 2 : 0, .slice_ms = 1e-4, .trigger = seed % 3 ? NULL : "*"};
        assert_non_null(dag);
        const bool ok = actor_findings_make(dag, NULL, &questions, &arena, &findings, &error);
        assert_true(ok || error.status == STATUS_USAGE);
        if (ok && findings.any) check_laws(&findings);
        for (size_t i = 0; ok && i < findings.latency_count; i++) chains += findings.latencies[i].chains > 0;
        actor_findings_destroy(&findings);
        arena_destroy(&arena);
        dag_free(dag);
        trace_close(trace);
        tb_free(tb);
    }
    assert_true(chains > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_initialisations_are_subtracted_once),
        cmocka_unit_test(test_initialisations_nest_in_depth),
        cmocka_unit_test(test_a_creation_in_a_handler_counts_in_both),
        cmocka_unit_test(test_the_share_follows_edits),
        cmocka_unit_test(test_a_message_in_a_message_is_its_own),
        cmocka_unit_test(test_bytecodes_come_first),
        cmocka_unit_test(test_without_computing_time_counts),
        cmocka_unit_test(test_actors_below_user_are_the_programs),
        cmocka_unit_test(test_balances),
        cmocka_unit_test(test_what_was_put_aside_counts_once),
        cmocka_unit_test(test_a_restart_that_fails_is_no_failed_start),
        cmocka_unit_test(test_utilisation),
        cmocka_unit_test(test_a_window_has_what_begins_in_it),
        cmocka_unit_test(test_flow_and_parallelism),
        cmocka_unit_test(test_slices_add_up),
        cmocka_unit_test(test_what_straddles_is_shared_out),
        cmocka_unit_test(test_latency_falls_when_coupled),
        cmocka_unit_test(test_fan_out),
        cmocka_unit_test(test_paths_that_mean_nothing),
        cmocka_unit_test(test_cascades),
        cmocka_unit_test(test_triggers),
        cmocka_unit_test(test_triggers_of_several),
        cmocka_unit_test(test_a_trigger_between_updates),
        cmocka_unit_test(test_sums_and_correlation),
        cmocka_unit_test(test_actors_are_no_tasks),
        cmocka_unit_test(test_laws_of_any_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
