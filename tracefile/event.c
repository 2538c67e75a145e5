// SPDX-License-Identifier: Apache-2.0
#include "tracefile/event.h"

#include <stddef.h>

static const struct event_kind_info kinds[EVENT_KINDS] = {
    [EVENT_ENTER] = {"enter", 1},
    [EVENT_EXIT] = {"exit", 1},
    [EVENT_EXIT_THROW] = {"exit_throw", 1},
    [EVENT_TASK_CREATED] = {"task_created", 2},
    [EVENT_SPAWN_BEGIN] = {"spawn_begin", 3},
    [EVENT_SPAWN_END] = {"spawn_end", 2},
    [EVENT_TASK_START] = {"task_start", 2},
    [EVENT_TASK_END] = {"task_end", 3},
    [EVENT_RESULT] = {"result", 1},
    [EVENT_WAIT_BEGIN] = {"wait_begin", 3},
    [EVENT_WAIT_END] = {"wait_end", 2},
    [EVENT_TAKEN] = {"taken", 1},
    [EVENT_WORKER_BEGIN] = {"worker_begin", 1},
    [EVENT_IDLE] = {"idle", 1},
    [EVENT_BUSY] = {"busy", 1},
    [EVENT_RETIRE] = {"retire", 1},
    [EVENT_POOL_SHUTDOWN] = {"pool_shutdown", 1},
    [EVENT_THREAD_START] = {"thread_start", 2},
    [EVENT_THREAD_END] = {"thread_end", 2},
    [EVENT_MAIN_BEGIN] = {"main_begin", 2},
    [EVENT_GC_BEGIN] = {"gc_begin", 0},
    [EVENT_GC_END] = {"gc_end", 0},
    [EVENT_LOST] = {"lost", 1},
    [EVENT_RUN_DELAY] = {"run_delay", 1},
    [EVENT_BLOCK_BEGIN] = {"block_begin", 3},
    [EVENT_BLOCK_END] = {"block_end", 2},
    [EVENT_SAMPLE] = {"sample", 3},
    [EVENT_MOUNT] = {"mount", 2},
    [EVENT_UNMOUNT] = {"unmount", 2},
    [EVENT_BYTECODES] = {"bytecodes", 1},
};

const struct event_kind_info *event_kind_info(unsigned kind) {
    return kind > EVENT_NONE && kind < EVENT_KINDS ? &kinds[kind] : NULL;
}
