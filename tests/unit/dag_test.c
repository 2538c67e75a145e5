// SPDX-License-Identifier: GPL-3.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/propagate.h"
#include "trace_builder.h"
static void test_simple_inline(void **state) {
    (void)state;
    struct trace_builder *tb = tb_new();
    uint32_t pool = tb_pool(tb, "pool-1", 1), site = tb_site(tb, "Main", "run", 12);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "pool-1-thread-1", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 100);
    tb_event(tb, 1, 100, EVENT_SPAWN_BEGIN, 7, site, pool);
    tb_event(tb, 1, 110, EVENT_SPAWN_BEGIN, 50, 0, 0);
    tb_event(tb, 1, 120, EVENT_SPAWN_END, 50);
    tb_event(tb, 1, 130, EVENT_SPAWN_END, 7);
    tb_event(tb, 1, 200, EVENT_WAIT_BEGIN, 7, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, 1, 1310, EVENT_WAIT_END, 7);
    tb_event(tb, 1, 1400, EVENT_THREAD_END, 1);
    tb_event(tb, 2, 250, EVENT_THREAD_START, 50);
    tb_event(tb, 2, 260, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 2, 300, EVENT_TASK_START, 7);
    tb_event(tb, 2, 1300, EVENT_RESULT, 7);
    tb_event(tb, 2, 1320, EVENT_TASK_END, 7);
    tb_event(tb, 2, 1330, EVENT_IDLE, pool);
    struct trace *trace = tb_open(tb);
    struct error error = ERROR_INIT;
    struct dag *dag = dag_build(trace, &error);
    assert_non_null(dag);
    struct dag_edit edit;
    struct dag_run run;
    assert_true(dag_edit_init(&edit, dag, &error));
    assert_true(dag_run_init(&run, dag, &error));
    assert_int_equal(dag_propagate(dag, &edit, &run), DAG_OK);
    for (uint32_t v = 0; v < dag->vertex_count; v++) assert_int_equal(run.time_ns[v], dag->vertices.time_ns[v]);
    for (uint32_t t = 0; t < dag->task_count; t++)
        if (dag->tasks[t].id == 7) dag_edit_inline(&edit, t);
    assert_int_equal(dag_propagate(dag, &edit, &run), DAG_OK);
    dag_edit_destroy(&edit);
    dag_run_destroy(&run);
    dag_free(dag);
    trace_close(trace);
    tb_free(tb);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_simple_inline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
