// SPDX-License-Identifier: GPL-3.0-or-later
// Plans and candidates of actors, on the story of physics, renderer and sound (actor_story.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actor_story.h"
#include "optimize/actor_candidates.h"
#include "optimize/candidates.h"
#include "optimize/communities.h"
#include "optimize/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct story {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct error error;
    char path[64];
};

static int set_up(void **state) {
    struct story *s = calloc(1, sizeof *s);
    s->error = (struct error)ERROR_INIT;
    s->tb = actor_story(true);
    s->trace = tb_open(s->tb);
    s->dag = dag_build(s->trace, &s->error);
    snprintf(s->path, sizeof s->path, "/tmp/rehype-actor-plan-%d.json", getpid());
    *state = s;
    return s->dag ? 0 : -1;
}

static int tear_down(void **state) {
    struct story *s = *state;
    unlink(s->path);
    arena_destroy(&s->arena);
    dag_free(s->dag);
    trace_close(s->trace);
    tb_free(s->tb);
    free(s);
    return 0;
}

static bool read_plan(struct story *s, const char *improvements, struct plan *plan) {
    FILE *file = fopen(s->path, "w");
    fprintf(file, "{\"schema\": \"rehype.plan/1\", \"improvements\": [%s]}", improvements);
    fclose(file);
    s->error = (struct error)ERROR_INIT;
    return plan_read(s->path, s->dag, &s->arena, plan, &s->error);
}

static void assert_named(struct story *s, const char *improvement, const char *expected) {
    struct plan plan;
    char text[256];
    if (!read_plan(s, improvement, &plan)) fail_msg("%s", s->error.cause[0]);
    assert_int_equal(plan.count, 1);
    assert_string_equal(improvement_text(&plan.improvements[0], text, sizeof text), expected);
    assert_true(plan.improvements[0].task_count > 0);
}

static void assert_refused(struct story *s, const char *improvement, const char *part) {
    struct plan plan;
    assert_false(read_plan(s, improvement, &plan));
    assert_int_equal(s->error.status, STATUS_BAD_INPUT);
    if (!strstr(s->error.cause[0], part)) fail_msg("'%s' lacks '%s'", s->error.cause[0], part);
}

static void test_names_may_be_short(void **state) {
    struct story *s = *state;
    assert_named(s, "{\"kind\": \"own-pool\", \"params\": {\"type\": \"p.Sound\", \"threads\": 2}}",
                 "own-pool p.Sound of 2 threads");
    assert_named(s, "{\"kind\": \"own-pool\", \"params\": {\"type\": \"Sound\", \"threads\": 1}}",
                 "own-pool p.Sound of 1 thread");
    assert_named(s, "{\"kind\": \"split-actor\", \"params\": {\"actor\": \"/user/renderer\", \"factor\": 3}}",
                 "split-actor akka://ris/user/renderer into 3");
    assert_named(s, "{\"kind\": \"inline-message\", \"params\": {\"types\": [\"Moved\", \"p.Scene$Hit\"]}}",
                 "inline-message p.Scene$Moved, p.Scene$Hit");
}

static void test_what_is_not_there_is_told_with_the_nearest(void **state) {
    struct story *s = *state;
    assert_refused(s, "{\"kind\": \"own-pool\", \"params\": {\"type\": \"p.Sounds\", \"threads\": 2}}", "p.Sound");
    assert_refused(s, "{\"kind\": \"own-pool\", \"params\": {\"type\": \"p.Sound\"}}", "\"threads\" is missing");
    assert_refused(s, "{\"kind\": \"split-actor\", \"params\": {\"actor\": \"/user/rendered\"}}",
                   "akka://ris/user/renderer");
    assert_refused(s, "{\"kind\": \"inline-message\", \"params\": {\"types\": []}}", "\"types\" is missing");
    assert_refused(s, "{\"kind\": \"inline-message\", \"params\": {\"types\": [7]}}", "no name");
    assert_refused(s, "{\"kind\": \"merge-actors\", \"params\": {\"type\": \"p.Sound\", \"factor\": 1}}", "factor");
    assert_refused(s, "{\"kind\": \"merge-actors\", \"site\": \"A.b\", \"params\": {\"type\": \"p.Sound\"}}", "site");
}

static void test_conflicts(void **state) {
    struct story *s = *state;
    static const char split[] = "{\"kind\": \"split-actor\", \"params\": {\"actor\": \"/user/sound\", \"factor\": 2}}",
                      merge[] = "{\"kind\": \"merge-actors\", \"params\": {\"type\": \"p.Sound\", \"factor\": 2}}",
                      moves[] = "{\"kind\": \"own-pool\", \"params\": {\"type\": \"p.Sound\", \"threads\": 1}}";
    char both[512];
    struct plan plan;
    snprintf(both, sizeof both, "%s, %s", split, merge);
    assert_refused(s, both, "conflicts");
    snprintf(both, sizeof both, "%s, %s", moves, moves);
    assert_refused(s, both, "conflicts");
    snprintf(both, sizeof both, "%s, %s", split, moves);
    assert_true(read_plan(s, both, &plan));
    assert_int_equal(plan.count, 2);
}

static void test_a_plan_is_read_as_it_was_written(void **state) {
    struct story *s = *state;
    struct plan plan, again;
    assert_true(read_plan(s,
                          "{\"kind\": \"inline-message\", \"params\": {\"types\": [\"p.Scene$Moved\"]}},"
                          "{\"kind\": \"split-actor\", \"params\": {\"actor\": \"/user/sound\", \"factor\": 4}},"
                          "{\"kind\": \"own-pool\", \"params\": {\"type\": \"p.Physics\", \"threads\": 3}}",
                          &plan));
    assert_true(plan_write(s->path, NULL, &plan, &s->error));
    assert_true(plan_read(s->path, s->dag, &s->arena, &again, &s->error));
    assert_int_equal(again.count, 3);
    for (size_t i = 0; i < plan.count; i++) {
        char x[256], y[256];
        improvement_text(&plan.improvements[i], x, sizeof x);
        assert_string_equal(x, improvement_text(&again.improvements[i], y, sizeof y));
        assert_int_equal(improvement_key(&plan.improvements[i], 1), improvement_key(&again.improvements[i], 1));
    }
}

static bool count_kind(void *context, const struct improvement *improvement) {
    unsigned *counts = context;
    counts[improvement->kind]++;
    assert_null(improvement->refusal);
    assert_true(improvement->task_count > 0);
    return true;
}

// Each type has one actor: there is none to merge, and none sleeps.
static void test_what_is_offered(void **state) {
    struct story *s = *state;
    unsigned counts[KIND_COUNT] = {0};
    struct ownership own;
    assert_true(ownership_find(&own, s->dag));
    assert_true(actor_candidates(s->dag, &own, KINDS_ALL, &s->arena, count_kind, counts, &s->error));
    assert_int_equal(counts[KIND_MERGE_ACTORS], 0);
    assert_int_equal(counts[KIND_OWN_POOL], 0);
    assert_true(counts[KIND_SPLIT_ACTOR] >= 2);
    assert_int_equal(counts[KIND_INLINE_MESSAGE], 2); // physics talks to the renderer, and to the sound
    memset(counts, 0, sizeof counts);
    assert_true(actor_candidates(s->dag, &own, KIND_BIT(KIND_INLINE), &s->arena, count_kind, counts, &s->error));
    for (unsigned k = 0; k < KIND_COUNT; k++) assert_int_equal(counts[k], 0);
    ownership_destroy(&own);
}

// What is no type of the program's is not changed, nor are messages to it.
static void test_actors_of_libraries_are_left_alone(void **state) {
    struct story *s = *state;
    unsigned counts[KIND_COUNT] = {0};
    struct ownership own;
    assert_true(ownership_find(&own, s->dag));
    for (uint32_t c = 0; c < s->dag->trace->class_count; c++) {
        const char *name = s->dag->trace->classes[c].name;
        if (name && strcmp(name, "p.Renderer") == 0) own.actor_type[c] = false;
    }
    assert_true(actor_candidates(s->dag, &own, KINDS_ALL, &s->arena, count_kind, counts, &s->error));
    assert_int_equal(counts[KIND_INLINE_MESSAGE], 1); // physics to the sound
    ownership_destroy(&own);
}

// Two pairs, of which one message goes from one to the other.
static void test_who_talks_mostly_to_each_other(void **state) {
    (void)state;
    struct graph_node nodes[5] = {
        {NODE_TYPE, 1, 1}, {NODE_TYPE, 2, 1}, {NODE_TYPE, 3, 1}, {NODE_TYPE, 4, 1}, {NODE_OUTSIDE, 0, 0}};
    struct graph_edge edges[] = {{0, 1, 9, 500, 0}, {1, 0, 9, 500, 0},  {2, 3, 9, 700, 0},
                                 {1, 2, 9, 1, 0},   {4, 0, 9, 9000, 0}, {3, 3, 9, 100, 0}};
    const struct message_graph graph = {.nodes = nodes, .node_count = 5, .edges = edges, .edge_count = 6};
    struct error error = ERROR_INIT;
    uint32_t community[5];
    assert_true(communities_find(&graph, community, &error));
    assert_int_equal(community[0], community[1]);
    assert_int_equal(community[2], community[3]);
    assert_int_not_equal(community[0], community[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names_may_be_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_there_is_told_with_the_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_conflicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_plan_is_read_as_it_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_actors_of_libraries_are_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_offered, set_up, tear_down),
        cmocka_unit_test(test_who_talks_mostly_to_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
