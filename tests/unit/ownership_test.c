// SPDX-License-Identifier: GPL-3.0-or-later
// What of a run made by hand is the program's to change: sites and pools of its own, and a framework's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "optimize/ownership.h"
#include "steps.h"

enum { MAIN = STEP_MAIN, WORKER = STEP_WORKER };

struct fixture {
    struct steps steps;
    struct ownership found;
    uint64_t next_task;
    uint32_t own, through, acceptor; // sites
};

static struct fixture begin(void) {
    struct fixture f = {.next_task = 1};
    steps_begin(&f.steps);
    f.own = tb_site(f.steps.tb, "com.acme.shop.Offers", "list", 20);
    f.through = tb_site(f.steps.tb, "com.acme.shop.Stock", "find", 30);
    f.acceptor = tb_site(f.steps.tb, "org.server.Poller", "run", 40);
    tb_site_through(f.steps.tb, f.through, "org.driver.Pool", "get");
    tb_site_of_library(f.steps.tb, f.acceptor);
    return f;
}

static void find(struct fixture *f) {
    steps_build(&f->steps);
    assert_true(ownership_find(&f->found, f->steps.dag));
}

static void end(struct fixture *f) {
    ownership_destroy(&f->found);
    steps_end(&f->steps);
}

// A task of the class that is handed over at the site.
static uint64_t hand_over(struct fixture *f, uint32_t site, const char *class_name) {
    const uint64_t task = f->next_task++;
    step(&f->steps, MAIN, EVENT_TASK_CREATED, task, tb_class(f->steps.tb, class_name));
    f->steps.site = site;
    step_spawn(&f->steps, MAIN, task);
    return task;
}

static void run(struct fixture *f, uint32_t site, const char *class_name) {
    step_body(&f->steps, hand_over(f, site, class_name));
}

static bool is_own(const struct fixture *f, const char *method) {
    const struct dag *dag = f->steps.dag;
    for (uint32_t s = 0; s < dag->site_count; s++) {
        if (strcmp(dag->sites[s].site.method, method) == 0) return f->found.site[s];
    }
    fail_msg("no site %s", method);
    return false;
}

static void test_what_a_library_hands_over_for_itself_is_its_own(void **state) {
    struct fixture f = begin();
    for (unsigned i = 0; i < 2; i++) run(&f, f.own, "com.acme.shop.Offers.lambda$list$0");
    run(&f, f.through, "org.driver.Pool$Adder");
    run(&f, f.acceptor, "org.server.SocketProcessor");
    find(&f);
    assert_true(f.found.knows_application);
    assert_true(is_own(&f, "list"));
    assert_false(is_own(&f, "find"));
    assert_false(is_own(&f, "run"));
    end(&f);
}

static void test_what_is_handed_over_through_a_library_is_the_programs(void **state) {
    struct fixture f = begin();
    run(&f, f.acceptor, "org.server.SocketProcessor");
    run(&f, f.own, "com.acme.shop.Offers.lambda$list$0");
    for (unsigned i = 0; i < 2; i++) run(&f, f.through, "com.acme.stock.Look"); // of its packages
    find(&f);
    assert_true(is_own(&f, "find"));
    end(&f);
}

static void test_what_somebody_awaits_is_the_programs(void **state) {
    struct fixture f = begin();
    run(&f, f.acceptor, "org.server.SocketProcessor");
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t task = hand_over(&f, f.through, "org.driver.Pool$Adder");
        step_body(&f.steps, task);
        step_await(&f.steps, MAIN, task);
    }
    find(&f);
    assert_true(is_own(&f, "find"));
    end(&f);
}

static void test_what_runs_the_programs_code_is_the_programs(void **state) {
    struct fixture f = begin();
    const uint64_t task = hand_over(&f, f.through, "org.driver.Wrapper"), within = f.next_task++;
    run(&f, f.acceptor, "org.server.SocketProcessor");
    step_start(&f.steps, task);
    f.steps.site = f.own;
    step_spawn(&f.steps, WORKER, within);
    step_finish(&f.steps, task);
    find(&f);
    assert_true(is_own(&f, "find"));
    end(&f);
}

static void test_executors_of_libraries_run_what_they_are_given(void **state) {
    struct fixture f = begin();
    run(&f, f.acceptor, "org.server.SocketProcessor");
    for (unsigned i = 0; i < 2; i++)
        run(&f, f.through, "org.springframework.aop.interceptor.AsyncExecutionInterceptor.lambda$invoke$0");
    find(&f);
    assert_true(is_own(&f, "find"));
    end(&f);
}

static bool is_own_type(const struct fixture *f, const char *class_name) {
    const struct dag *dag = f->steps.dag;
    for (uint32_t c = 1; c < dag->trace->class_count; c++) {
        if (strcmp(dag->trace->classes[c].name, class_name) == 0) return f->found.actor_type[c];
    }
    fail_msg("no class %s", class_name);
    return false;
}

static void test_types_of_actors_are_the_programs_by_their_names(void **state) {
    (void)state;
    static const char *const names[] = {"com.acme.orders.Basket", "Basket", "akka.actor.typed.Adapter",
                                        "org.engine.rpc.Dispatcher"};
    struct fixture f = begin();
    run(&f, f.own, "com.acme.shop.Offers$Job");
    run(&f, f.acceptor, "org.server.Poller$Job");
    for (unsigned i = 0; i < 4; i++) tb_class(f.steps.tb, names[i]);
    find(&f);
    for (unsigned i = 0; i < 4; i++) assert_int_equal(is_own_type(&f, names[i]), i < 3);
    end(&f);
}

static void test_without_an_application_all_is_the_programs(void **state) {
    struct fixture f = begin();
    run(&f, f.acceptor, "org.server.SocketProcessor");
    find(&f);
    assert_false(f.found.knows_application);
    assert_true(is_own(&f, "run"));
    end(&f);
}

static void request(struct fixture *f, uint64_t request, uint64_t task) {
    step_start(&f->steps, task);
    step(&f->steps, WORKER, EVENT_REQUEST_BEGIN, request, 0, 0);
    step(&f->steps, WORKER, EVENT_REQUEST_END, request, 0, REQUEST_ANSWERED);
    step_finish(&f->steps, task);
}

static void test_pools_that_serve_requests_are_the_programs(void **state) {
    struct fixture f = begin();
    const uint32_t web = f.steps.pool, utility = tb_pool(f.steps.tb, "utility", 2);
    run(&f, f.own, "com.acme.shop.Offers.lambda$list$0");
    request(&f, 1000, hand_over(&f, f.acceptor, "org.server.SocketProcessor"));
    f.steps.pool = utility;
    run(&f, f.acceptor, "org.server.Housekeeping");
    find(&f);
    assert_true(f.found.pool[web]);
    assert_false(f.found.pool[utility]);
    end(&f);
}

static void test_a_librarys_pool_that_the_program_hands_over_to_once_stays_the_librarys(void **state) {
    struct fixture f = begin();
    const uint32_t inner = f.steps.pool, own = tb_pool(f.steps.tb, "own", 2), shared = tb_pool(f.steps.tb, "shared", 2);
    for (unsigned i = 0; i < 3; i++) run(&f, f.acceptor, "org.server.Housekeeping");
    run(&f, tb_site(f.steps.tb, "com.acme.shop.Shop", "end", 70), "com.acme.shop.Offers$End");
    f.steps.pool = own;
    run(&f, f.own, "com.acme.shop.Offers$Job");
    f.steps.pool = shared;
    run(&f, f.acceptor, "org.server.Housekeeping");
    for (unsigned i = 0; i < 2; i++) run(&f, f.own, "com.acme.shop.Offers$Job");
    find(&f);
    assert_false(f.found.pool[inner]);
    assert_false(is_own(&f, "end"));
    assert_true(f.found.pool[own]);
    assert_true(f.found.pool[shared]);
    assert_true(is_own(&f, "list"));
    end(&f);
}

static void test_what_a_service_does_once_or_while_nobody_asks_is_left_out(void **state) {
    struct fixture f = begin();
    const uint32_t warm_up = tb_site(f.steps.tb, "com.acme.shop.Shop", "warmUp", 50),
                   once = tb_site(f.steps.tb, "com.acme.shop.Shop", "once", 60);
    for (unsigned i = 0; i < 3; i++) run(&f, warm_up, "com.acme.shop.Shop$Load");
    for (uint64_t i = 0; i < 3; i++) {
        request(&f, 1000 + i, hand_over(&f, f.acceptor, "org.server.SocketProcessor"));
        if (i == 1) run(&f, once, "com.acme.shop.Shop$Once");
        if (i < 2) run(&f, f.own, "com.acme.shop.Offers.lambda$list$0");
    }
    find(&f);
    assert_false(is_own(&f, "warmUp"));
    assert_false(is_own(&f, "once"));
    assert_true(is_own(&f, "list"));
    end(&f);
}

// Without an application, as where all that is there is the service: loops that its start hands over twice last as long
// as it does, and another pool has nothing but them.
static void test_loops_of_a_service_are_left_out(void **state) {
    struct fixture f = begin();
    const uint32_t web = f.steps.pool, looping = tb_pool(f.steps.tb, "looping", 2);
    const uint32_t loops = tb_site(f.steps.tb, "com.acme.broker.Broker", "start", 50);
    request(&f, 1000, hand_over(&f, f.own, "com.acme.broker.Request"));
    f.steps.pool = looping;
    const uint64_t one = hand_over(&f, loops, "com.acme.broker.Loop"),
                   other = hand_over(&f, loops, "com.acme.broker.Loop");
    f.steps.pool = web;
    for (uint64_t i = 1; i < 3; i++) request(&f, 1000 + i, hand_over(&f, f.own, "com.acme.broker.Request"));
    step_body(&f.steps, one);
    step_body(&f.steps, other);
    find(&f);
    assert_false(f.found.knows_application);
    assert_true(is_own(&f, "list"));
    assert_false(is_own(&f, "start"));
    assert_true(f.found.pool[web]);
    assert_false(f.found.pool[looping]);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_library_hands_over_for_itself_is_its_own),
        cmocka_unit_test(test_what_is_handed_over_through_a_library_is_the_programs),
        cmocka_unit_test(test_what_somebody_awaits_is_the_programs),
        cmocka_unit_test(test_what_runs_the_programs_code_is_the_programs),
        cmocka_unit_test(test_executors_of_libraries_run_what_they_are_given),
        cmocka_unit_test(test_types_of_actors_are_the_programs_by_their_names),
        cmocka_unit_test(test_without_an_application_all_is_the_programs),
        cmocka_unit_test(test_pools_that_serve_requests_are_the_programs),
        cmocka_unit_test(test_a_librarys_pool_that_the_program_hands_over_to_once_stays_the_librarys),
        cmocka_unit_test(test_what_a_service_does_once_or_while_nobody_asks_is_left_out),
        cmocka_unit_test(test_loops_of_a_service_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
