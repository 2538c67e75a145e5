// SPDX-License-Identifier: GPL-3.0-or-later
// Ids of Runnables that are known by their tags alone: in what order an object gets and gives them, what tags that
// costs, and what is learnt of the places that make such objects. The JVM is one that only tags.
#include "tracer/identity.h"
#include "tracer/makers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct tracer tracer;

uint64_t task_id_new(struct thread_state *state) {
    return state->native->next_task++;
}

// An object is where its tag is.
enum { OBJECTS = 100000, QUEUES_MOST = 4096, KIND = 3, QUEUE = 3 };
static jlong object_tags[OBJECTS];
static unsigned tags_set;

static jvmtiError JNICALL get_tag(jvmtiEnv *env, jobject object, jlong *tag) {
    *tag = *(jlong *)object;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject object, jlong tag) {
    *(jlong *)object = tag;
    tags_set++;
    return JVMTI_ERROR_NONE;
}

static jobject object(unsigned i) {
    return (jobject)&object_tags[i];
}

static struct native_thread native;
static struct thread_state thread = {.native = &native};

static int start(void **state) {
    static struct jvmtiInterface_1_ functions = {.GetTag = get_tag, .SetTag = set_tag};
    static const struct jvmtiInterface_1_ *jvm = &functions;
    tracer.jvmti = (jvmtiEnv *)&jvm;
    native = (struct native_thread){.next_task = 100};
    return 0;
}

// The JVM collects all objects.
static int collect(void **state) {
    for (unsigned i = 0; i < OBJECTS; i++) {
        if (object_tags[i]) identity_freed((uint64_t)object_tags[i]);
        object_tags[i] = 0;
    }
    tags_set = 0;
    return 0;
}

static uint64_t spawn(unsigned i, bool is_new) {
    bool was_new = !is_new;
    uint64_t id = identity_spawn(&thread, object(i), &was_new);
    assert_int_equal(was_new, is_new);
    return id;
}

static void run(unsigned i) {
    uint64_t id = spawn(i, true);
    assert_int_equal(identity_begin(object(i)), id);
}

static unsigned queues(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < OBJECTS; i++) count += (object_tags[i] & KIND) == QUEUE;
    return count;
}

// A place, whose objects are all followed, has learnt that these need none, or that one needed its own.
static bool is_followed(uint32_t maker) {
    uint32_t made = 0;
    unsigned followed = 0;
    for (unsigned i = 0; i < MAKER_SAMPLED; i++) followed += makers_follow(maker, &made);
    return followed == MAKER_SAMPLED;
}

static void test_what_is_handed_over_begins_once(void **state) {
    uint64_t id = spawn(0, true);
    assert_int_equal(identity_last_pending(object(0)), id);
    assert_int_equal(identity_begin(object(1)), 0);
    assert_int_equal(identity_begin(object(0)), id);
    assert_int_equal(identity_begin(object(0)), 0);
    assert_int_equal(identity_last_pending(object(0)), 0);
}

static void test_of_one_object_the_first_handed_over_begins_first(void **state) {
    uint64_t next = spawn(0, true), last = next;
    for (unsigned round = 0; round < 50; round++) { // the queue's head goes on, and it grows
        for (unsigned i = 0; i < 3; i++) assert_int_equal(spawn(0, true), ++last);
        assert_int_equal(identity_last_pending(object(0)), last);
        for (unsigned i = 0; i < 2; i++) assert_int_equal(identity_begin(object(0)), next++);
    }
    while (next <= last) assert_int_equal(identity_begin(object(0)), next++);
    assert_int_equal(identity_begin(object(0)), 0);
}

static uint64_t put(unsigned i, uint32_t stage) {
    thread.puts_into = stage;
    const uint64_t id = spawn(i, true);
    thread.puts_into = 0;
    return id;
}

// What tells threads to end is one object for all stages.
static void test_what_lies_in_two_stages_is_taken_from_its_own(void **state) {
    const uint64_t first = put(0, 3);
    assert_int_equal(identity_take(object(0), 5), 0);
    const uint64_t other = put(0, 5), second = put(0, 3);
    assert_int_equal(identity_last_pending(object(0)), second);
    assert_int_equal(identity_take(object(0), 5), other);
    assert_int_equal(identity_take(object(0), 5), 0);
    assert_int_equal(identity_take(object(0), 3), first);
    assert_int_equal(identity_take(object(0), 3), second);
    assert_int_equal(identity_take(object(0), 3), 0);
    const uint64_t elsewhere = spawn(1, true); // no stage was told
    assert_int_equal(identity_take(object(1), 3), elsewhere);
}

static void test_a_class_that_is_handed_over_keeps_its_tag(void **state) {
    const jlong tag = 7 << 2;
    object_tags[0] = tag;
    assert_int_not_equal(spawn(0, true), 0);
    assert_int_equal(identity_begin(object(0)), 0);
    assert_int_equal(object_tags[0], tag);
}

static void test_an_object_handed_over_again_and_again_keeps_its_tag(void **state) {
    for (unsigned i = 0; i < 10000; i++) run(0);
    assert_int_equal(queues(), 1);
    assert_in_range(tags_set, 1, 2 * 16); // two each time, until it gets a queue, as one in 16 that begins does
}

static void test_objects_handed_over_once_have_few_queues(void **state) {
    for (unsigned i = 0; i < 1600; i++) run(i);
    assert_int_equal(queues(), 100);
}

static void test_queues_have_a_bound_and_go_with_their_objects(void **state) {
    for (unsigned i = 0; i < OBJECTS; i++) run(i);
    assert_in_range(queues(), QUEUES_MOST, QUEUES_MOST + 1);
    // One more, that is needed, stays for as long as it is.
    unsigned i = 0;
    while (object_tags[i]) i++;
    uint64_t first = spawn(i, true);
    assert_int_equal(spawn(i, true), first + 1);
    assert_int_equal(object_tags[i] & KIND, QUEUE);
    assert_int_equal(identity_begin(object(i)), first);
    assert_int_equal(identity_begin(object(i)), first + 1);
    assert_int_equal(object_tags[i], 0);
    collect(NULL);
    for (i = 0; i < 1600; i++) run(i);
    assert_int_equal(queues(), 100);
}

static void test_what_was_made_is_what_is_handed_over(void **state) {
    uint32_t maker = makers_new();
    for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) {
        assert_true(is_followed(maker));
        uint64_t id = task_id_new(&thread);
        identity_created(object(i), maker, id);
        assert_int_equal(identity_last_pending(object(i)), 0);
        assert_int_equal(spawn(i, false), id);
        assert_int_equal(identity_begin(object(i)), id);
    }
    assert_false(is_followed(maker)); // handed over at once, each would have got an id anyway
}

static void test_what_was_made_before_other_tasks_needs_its_id(void **state) {
    uint32_t maker = makers_new();
    for (unsigned i = 0; i < 2 * MAKER_NEEDLESS_MOST; i++) {
        uint64_t id = task_id_new(&thread);
        identity_created(object(i), maker, id);
        if (i == 0) task_id_new(&thread);
        assert_int_equal(spawn(i, false), id);
    }
    assert_true(is_followed(maker));
}

static void test_what_was_made_and_not_handed_over_needs_its_id_where_it_begins(void **state) {
    uint32_t maker = makers_new(), unused = makers_new();
    identity_created(object(0), maker, 1);
    assert_int_equal(identity_begin(object(0)), 1);
    assert_int_equal(identity_begin(object(0)), 0);
    for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) {
        identity_created(object(0), maker, 2 + i);
        identity_created(object(1), unused, 1000 + i);
        collect(NULL);
    }
    assert_true(is_followed(maker));
    assert_false(is_followed(unused));
}

// A lambda that holds nothing is one object, whoever evaluates it.
static void test_evaluations_of_one_object_are_tasks_each(void **state) {
    uint32_t maker = makers_new();
    uint64_t first = identity_evaluated(&thread, object(0), maker);
    uint64_t second = identity_evaluated(&thread, object(0), maker);
    assert_int_equal(second, first + 1);
    assert_int_equal(spawn(0, false), first);
    assert_int_equal(identity_last_pending(object(0)), first);
    uint64_t third = identity_evaluated(&thread, object(0), maker);
    assert_int_equal(spawn(0, false), second);
    assert_int_equal(identity_begin(object(0)), first);
    assert_int_equal(identity_take_created(&thread, object(0)), third);
    assert_int_equal(identity_take_created(&thread, object(0)), 0);
    assert_int_equal(identity_begin(object(0)), second);
    assert_int_equal(identity_begin(object(0)), 0);
}

static void test_what_was_handed_over_begins_before_what_was_only_evaluated(void **state) {
    uint32_t maker = makers_new();
    uint64_t evaluated = identity_evaluated(&thread, object(0), maker);
    identity_evaluated(&thread, object(0), maker);
    assert_int_equal(spawn(0, false), evaluated);
    uint64_t another = identity_evaluated(&thread, object(0), maker);
    assert_int_equal(identity_begin(object(0)), evaluated);
    assert_int_equal(identity_begin(object(0)), another - 1);
    assert_int_equal(identity_begin(object(0)), another);
}

// What has its id already: by itself, behind others that were handed over, before those that were only evaluated.
static void test_what_had_its_id_before_is_handed_over_as_others_are(void **state) {
    identity_hand_over(object(0), 7);
    assert_int_equal(identity_last_pending(object(0)), 7);
    identity_hand_over(object(0), 8);
    assert_int_equal(identity_begin(object(0)), 7);
    assert_int_equal(identity_begin(object(0)), 8);
    assert_int_equal(identity_begin(object(0)), 0);
    uint32_t maker = makers_new();
    uint64_t first = identity_evaluated(&thread, object(1), maker);
    identity_hand_over(object(1), 9);
    uint64_t second = identity_evaluated(&thread, object(1), maker);
    identity_hand_over(object(1), 10);
    assert_int_equal(identity_last_pending(object(1)), 10);
    assert_int_equal(identity_begin(object(1)), 9);
    assert_int_equal(identity_begin(object(1)), 10);
    assert_int_equal(spawn(1, false), first);
    assert_int_equal(spawn(1, false), second);
}

static void test_evaluations_that_nobody_begins_have_a_bound(void **state) {
    uint32_t maker = makers_new();
    for (unsigned i = 0; i < 4096; i++) assert_int_not_equal(identity_evaluated(&thread, object(0), maker), 0);
    for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++)
        assert_int_equal(identity_evaluated(&thread, object(0), maker), 0);
    assert_false(is_followed(maker));
    assert_int_not_equal(identity_begin(object(0)), 0);
    assert_int_not_equal(identity_evaluated(&thread, object(0), maker), 0);
}

static void test_what_is_wrapped_by_a_task_needs_no_id(void **state) {
    uint32_t maker = makers_new();
    for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) {
        native.made_last = identity_evaluated(&thread, object(0), maker);
        identity_wrapped(&thread, object(0));
        assert_int_equal(identity_take_created(&thread, object(0)), native.made_last);
    }
    assert_false(is_followed(maker));
    native.made_last = identity_evaluated(&thread, object(0), maker = makers_new());
    task_id_new(&thread);
    for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) identity_wrapped(&thread, object(0));
    assert_true(is_followed(maker)); // it made another since
}

// Objects that keep a queue, since they were run so often.
static void have_queues(unsigned objects) {
    for (unsigned i = 0; i < objects; i++) {
        while ((object_tags[i] & KIND) != QUEUE) run(i);
    }
}

// What places learn of objects with queues is what they learn of others.
static void test_an_only_id_in_a_queue_is_as_one_in_a_tag(void **state) {
    enum { WRAPPED, HANDED_OVER, TAKEN, COLLECTED, CASES };
    for (unsigned what = 0; what < CASES; what++) {
        uint32_t maker = makers_new();
        have_queues(MAKER_NEEDLESS_MOST);
        for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) {
            assert_true(is_followed(maker));
            uint64_t id = native.made_last = identity_evaluated(&thread, object(i), maker);
            if (what == WRAPPED) identity_wrapped(&thread, object(i));
            if (what == HANDED_OVER) assert_int_equal(spawn(i, false), id);
            if (what == TAKEN) assert_int_equal(identity_take_created(&thread, object(i)), id);
            if (what == COLLECTED) {
                identity_freed((uint64_t)object_tags[i]);
                object_tags[i] = 0;
            }
        }
        assert_false(is_followed(maker));
        collect(NULL);
    }
}

static void test_an_id_in_a_queue_may_prove_to_be_needed(void **state) {
    enum { BEGUN, HANDED_OVER, TAKEN, CASES };
    for (unsigned what = 0; what < CASES; what++) {
        uint32_t maker = makers_new();
        have_queues(1);
        uint64_t id = identity_evaluated(&thread, object(0), maker);
        task_id_new(&thread);
        if (what == BEGUN) assert_int_equal(identity_begin(object(0)), id);
        if (what == HANDED_OVER) assert_int_equal(spawn(0, false), id);
        if (what == TAKEN) assert_int_equal(identity_take_created(&thread, object(0)), id);
        for (unsigned i = 0; i < MAKER_NEEDLESS_MOST; i++) makers_needless(maker);
        assert_true(is_followed(maker));
        collect(NULL);
    }
}

static void test_who_is_pending_once_keeps_its_site(void **state) {
    uint32_t site = 9;
    assert_int_equal(identity_take_pending(object(0), &site), 0);
    assert_int_equal(site, 0);
    identity_set_pending(object(0), 5, 123);
    assert_int_equal(identity_take_pending(object(0), &site), 5);
    assert_int_equal(site, 123);
    assert_int_equal(identity_take_pending(object(0), &site), 0);
    identity_set_pending(object(0), 6, CARRIED_SITE_MAX + 1);
    assert_int_equal(identity_take_pending(object(0), &site), 6);
    assert_int_equal(site, 0);
}

static void test_what_had_a_queue_may_be_a_thread_or_pending_once(void **state) {
    uint32_t site;
    for (unsigned i = 0; i < 2; i++) {
        spawn(i, true);
        spawn(i, true);
    }
    assert_int_equal(queues(), 2);
    assert_int_equal(identity_of_thread(object(0)), 0);
    identity_set_thread(object(0), 5);
    assert_int_equal(identity_of_thread(object(0)), 5);
    identity_set_pending(object(1), 6, 7);
    assert_int_equal(identity_take_pending(object(1), &site), 6);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, collect)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_handed_over_begins_once),
        TEST(test_of_one_object_the_first_handed_over_begins_first),
        TEST(test_what_lies_in_two_stages_is_taken_from_its_own),
        TEST(test_a_class_that_is_handed_over_keeps_its_tag),
        TEST(test_an_object_handed_over_again_and_again_keeps_its_tag),
        TEST(test_objects_handed_over_once_have_few_queues),
        TEST(test_queues_have_a_bound_and_go_with_their_objects),
        TEST(test_what_was_made_is_what_is_handed_over),
        TEST(test_what_was_made_before_other_tasks_needs_its_id),
        TEST(test_what_was_made_and_not_handed_over_needs_its_id_where_it_begins),
        TEST(test_evaluations_of_one_object_are_tasks_each),
        TEST(test_what_was_handed_over_begins_before_what_was_only_evaluated),
        TEST(test_what_had_its_id_before_is_handed_over_as_others_are),
        TEST(test_evaluations_that_nobody_begins_have_a_bound),
        TEST(test_what_is_wrapped_by_a_task_needs_no_id),
        TEST(test_an_only_id_in_a_queue_is_as_one_in_a_tag),
        TEST(test_an_id_in_a_queue_may_prove_to_be_needed),
        TEST(test_who_is_pending_once_keeps_its_site),
        TEST(test_what_had_a_queue_may_be_a_thread_or_pending_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
