// SPDX-License-Identifier: GPL-3.0-or-later
// Made names.msgpack of tests/golden/traces, which exports are tried on: `names_make FILE`. It has one of each thing
// that they draw (tasks, functions, a wait, a lock, a message, pauses of the collector, samples), and names with which
// a careless writer of JSON, XML, DOT, CSV or stacks goes wrong: quotes, backslashes, brackets, control characters,
// separators, characters of two to four bytes, and one too long for the room that it gets, whose cut lies within a
// character.
#include "trace_builder.h"

#include <stdlib.h>
#include <string.h>

enum { JVM = 0, MAIN = 1, WORKER = 2, OTHER = 3 };
enum { MAIN_TASK = 1, RUN = 2, SPAWNED = 10, LATER = 11, LOCK = 20, ACTOR = 30, MESSAGE = 31 };

enum { LONG = 1201 };

// So that every cut at an even place is within a character.
static const char *long_name(char name[LONG]) {
    name[0] = 'x';
    for (size_t i = 1; i + 2 < LONG; i += 2) memcpy(name + i, "\xc3\xa9", 3);
    return name;
}

static void machine(struct trace_builder *tb) {
    tb_thread(tb, JVM, "JVM", THREAD_SYSTEM);
    tb_event(tb, JVM, 1000, EVENT_SAMPLE, 1000000, 2000000, 10);
    tb_event(tb, JVM, 300000, EVENT_GC_BEGIN);
    tb_event(tb, JVM, 340000, EVENT_GC_END);
    tb_event(tb, JVM, 501000, EVENT_SAMPLE, 1750000, 3000000, 60);
    tb_event(tb, JVM, 901000, EVENT_SAMPLE, 2150000, 3600000, 70);
}

static void main_thread(struct trace_builder *tb, uint32_t pool, uint32_t message) {
    char name[LONG];
    const uint32_t site = tb_site(tb, "a.\"Quoted\"<&>", "run\\now", 12);
    const uint32_t method = tb_method(tb, "a.B;C", "step one\n"), inner = tb_method(tb, "\xc3\xa9", long_name(name));
    tb_thread(tb, MAIN, "main \"1\"; <b>\x01\x7f", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK, 100);
    tb_event(tb, MAIN, 10000, EVENT_ENTER, method);
    tb_event(tb, MAIN, 20000, EVENT_SPAWN_BEGIN, SPAWNED, site, pool);
    tb_event(tb, MAIN, 25000, EVENT_SPAWN_END, SPAWNED);
    tb_event(tb, MAIN, 30000, EVENT_ENTER, inner);
    tb_event(tb, MAIN, 40000, EVENT_EXIT_THROW, inner);
    tb_event(tb, MAIN, 45000, EVENT_MESSAGE_SENT, MESSAGE, ACTOR, message);
    tb_event(tb, MAIN, 50000, EVENT_WAIT_BEGIN, SPAWNED, 40000, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, MAIN, 510000, EVENT_WAIT_END, SPAWNED, 42000);
    tb_event(tb, MAIN, 520000, EVENT_EXIT, method);
    tb_event(tb, MAIN, 530000, EVENT_TAKEN, SPAWNED);
    tb_event(tb, MAIN, 540000, EVENT_BLOCK_BEGIN, LOCK, 60000);
    tb_event(tb, MAIN, 640000, EVENT_BLOCK_END, LOCK, 62000);
    tb_event(tb, MAIN, 900000, EVENT_TASK_END, MAIN_TASK, 100000);
}

static void worker(struct trace_builder *tb, uint32_t pool, uint32_t class) {
    const uint32_t method = tb_method(tb, "a.B", "sleep");
    tb_thread(tb, WORKER, "p\xc3\xb6ol-\xf0\x9f\x90\xa2-\xe2\x80\xa8-1", 0);
    tb_event(tb, WORKER, 60000, EVENT_THREAD_START, RUN, 0);
    tb_event(tb, WORKER, 61000, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, WORKER, 70000, EVENT_TASK_CREATED, LATER, class);
    tb_event(tb, WORKER, 79000, EVENT_RUN_DELAY, 1000);
    tb_event(tb, WORKER, 80000, EVENT_TASK_START, SPAWNED, 10000);
    tb_event(tb, WORKER, 90000, EVENT_ENTER, method); // sleeps in it, though no event says so
    tb_event(tb, WORKER, 490000, EVENT_EXIT, method);
    tb_event(tb, WORKER, 500000, EVENT_RESULT, SPAWNED);
    tb_event(tb, WORKER, 505000, EVENT_TASK_END, SPAWNED, 300000);
    tb_event(tb, WORKER, 506000, EVENT_IDLE, pool);
}

// Handles the message, and then a task that was never submitted and whose end is lost.
static void other(struct trace_builder *tb, uint32_t pool) {
    tb_thread(tb, OTHER, "p\xc3\xb6ol-\xf0\x9f\x90\xa2-\xe2\x80\xa8-1", 0);
    tb_event(tb, OTHER, 90000, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, OTHER, 100000, EVENT_MESSAGE_BEGIN, MESSAGE, 1000, ACTOR);
    tb_event(tb, OTHER, 200000, EVENT_MESSAGE_END, MESSAGE, 90000, MESSAGE_HANDLED);
    tb_event(tb, OTHER, 700000, EVENT_TASK_START, LATER, 100000);
    tb_event(tb, OTHER, 800000, EVENT_TAKEN, SPAWNED);
}

int main(int argc, char **argv) {
    char name[LONG];
    if (argc != 2) return 2;
    struct trace_builder *tb = tb_new();
    const uint32_t pool = tb_pool(tb, "p\xc3\xb6ol, \"one\"", 2), tick = tb_class(tb, "a.Tick --> \"x\"\t]]>");
    tb_resource(tb, LOCK, RESOURCE_LOCK, 1, 0);
    tb_resource_is(tb, LOCK, "Bank.\"lock\"", tb_class(tb, "java.util.concurrent.locks.ReentrantLock$NonfairSync"));
    tb_actor(tb, ACTOR, "user/\"cart\"\\");
    machine(tb);
    main_thread(tb, pool, (uint32_t)message_operand(tick, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false));
    worker(tb, pool, tb_class(tb, long_name(name)));
    other(tb, pool);
    tb_write(tb, argv[1]);
    tb_free(tb);
    return EXIT_SUCCESS;
}
