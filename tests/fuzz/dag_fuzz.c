// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: bytes as events of a few threads, tasks, pools and resources, four bytes an event, so that what is tried
// is what stands behind the reader. The first bytes choose the pools' and resources' rules, the cores and the edit.
#include "tests/fuzz/export_all.h"
#include "tests/fuzz/replay.h"
#include "trace_builder.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    THREADS = 6,
    VIRTUAL_FROM = 5,
    SETTINGS = 6,
    RECORD = 4,
    EVENTS_MOST = 120,
    POOLS = 2,
    SITES = 2,
    RESOURCES = 8
};

struct story {
    struct trace_builder *tb;
    uint64_t now_ns[THREADS + 1], cpu_ns[THREADS + 1];
    uint32_t method, class;
};

// Kinds as the analyser tells them apart, and rules that one byte can say.
static void name_pool(struct trace_builder *tb, const char *name, uint8_t rules) {
    static const char *const kinds[] = {"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ForkJoinPool",
                                        "java.util.concurrent.ScheduledThreadPoolExecutor", "p.Unknown"};
    static const char *const queues[] = {
        "java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.SynchronousQueue",
        "java.util.concurrent.PriorityBlockingQueue", "java.util.concurrent.ArrayBlockingQueue"};
    static const char *const rejections[] = {"java.util.concurrent.ThreadPoolExecutor$AbortPolicy",
                                             "java.util.concurrent.ThreadPoolExecutor$CallerRunsPolicy"};
    const bool bounded = (rules >> 2 & 3) == 3;
    tb_pool_like(tb, (struct trace_pool){.kind = kinds[rules & 3],
                                         .queue = queues[rules >> 2 & 3],
                                         .name = name,
                                         .core = rules >> 4 & 3,
                                         .maximum = (rules >> 4 & 3) + (rules >> 6 & 1),
                                         .capacity = bounded ? 1 : -1,
                                         .keep_alive_ns = rules & 0x40 ? 50 : -1,
                                         .rejection = rejections[rules >> 7]});
}

// Kinds and capacities that one byte can say; without it the trace says nothing of resources.
static void name_resources(struct trace_builder *tb, uint8_t rules) {
    for (uint32_t id = 1; rules && id <= RESOURCES; id++) {
        const enum resource_kind kind = (enum resource_kind)((rules + id) % RESOURCE_KINDS);
        tb_resource(tb, id, kind, (rules >> 3 & 3) - 1, rules >> 5 & (RESOURCE_FAIR | RESOURCE_READERS_PASS));
    }
}

static struct story begin(const uint8_t settings[SETTINGS]) {
    struct story story = {.tb = tb_new()};
    story.method = tb_method(story.tb, "Noise", "make");
    for (uint32_t i = 1; i <= SITES; i++) tb_site(story.tb, "Noise", "make", i);
    story.class = tb_class(story.tb, "Noise");
    for (uint32_t i = 0; i < POOLS; i++) name_pool(story.tb, i ? "other" : "pool", settings[i]);
    tb_cores(story.tb, settings[2] & 7);
    if (settings[2] & 8) tb_cycle_unit(story.tb, "cycles");
    tb_thread(story.tb, 0, "JVM", THREAD_SYSTEM);
    for (uint32_t t = 1; t <= THREADS; t++) {
        tb_thread(story.tb, t, "thread", t >= VIRTUAL_FROM && settings[2] & 16 ? THREAD_VIRTUAL : 0);
    }
    name_resources(story.tb, (uint8_t)(settings[2] >> 5 | settings[4] >> 4 << 3));
    if (settings[4] & 15) tb_running(story.tb, settings[4] & 15);
    tb_event(story.tb, 1, 0, EVENT_ENTER, story.method);
    return story;
}

static uint64_t operand_c(const struct story *story, unsigned kind, uint8_t byte) {
    switch (kind) {
    case EVENT_SPAWN_BEGIN:
        return byte % (POOLS + 1);
    case EVENT_BLOCK_BEGIN:
        return story->class;
    case EVENT_ACTOR_CREATED:
        return story->class;
    case EVENT_TASK_END:
    case EVENT_GIVEN_UP:
        return byte % 3;
    case EVENT_MESSAGE_SENT:
        return message_operand(story->class, (enum message_origin)(byte & 3), (enum message_way)((byte >> 2) % 3), 0);
    case EVENT_MESSAGE_END:
        return byte % MESSAGE_OUTCOMES;
    case EVENT_INIT_END:
        return init_operand(0, (enum init_outcome)(byte & 1));
    case EVENT_MESSAGE_QUEUED:
    case EVENT_MESSAGE_BEGIN:
        return byte & 15;
    case EVENT_ACQUIRE_BEGIN:
        return want_operand(1 + (byte >> 1 & 1), byte & 1, 1 + (byte >> 3) % SITES);
    case EVENT_DUE:
        return (uint64_t)(int64_t)(int8_t)byte;
    case EVENT_WAIT_BEGIN:
        return wait_operand((enum wait_for)(byte & 3), byte & 4 ? story->class : 0, 1 + (byte >> 3) % SITES);
    default:
        return 0;
    }
}

static uint64_t operand_b(struct story *story, unsigned thread, unsigned kind, const uint8_t record[RECORD]) {
    if (event_has_cpu(kind)) return story->cpu_ns[thread] += record[1] * (uint64_t)(record[2] >> 4) / 15;
    if (kind == EVENT_TASK_CREATED) return story->class;
    if (kind == EVENT_SPAWN_BEGIN) return 1 + (record[3] >> 4) % SITES;
    if (kind == EVENT_HELD || kind == EVENT_RELEASED)
        return want_operand(1 + (record[3] & 1), record[3] >> 1 & 1, 1 + (record[3] >> 4) % SITES);
    return record[3] >> 4;
}

static uint64_t operand_a(const struct story *story, unsigned kind, const uint8_t record[RECORD]) {
    const uint64_t id = record[2] & 15;
    if (kind == EVENT_LIMIT) return record[2] * UINT64_C(4);
    if (kind <= EVENT_EXIT_THROW) return story->method;
    if (kind >= EVENT_WORKER_BEGIN && kind <= EVENT_POOL_SHUTDOWN) return 1 + id % POOLS;
    if (kind == EVENT_WAIT_BEGIN && (record[3] & 3) == WAIT_FOR_POOL) return 1 + id % POOLS;
    if (kind == EVENT_MOUNT || kind == EVENT_UNMOUNT) return 1 + id % THREADS;
    return id;
}

// Kinds from EVENT_ACQUIRE_BEGIN on share one number of the five bits, those from EVENT_MESSAGE_SENT on another.
static unsigned kind_of(const uint8_t record[RECORD]) {
    const unsigned code = record[0] & 31;
    if (code == 31) return EVENT_ACQUIRE_BEGIN + (record[3] >> 2) % (EVENT_MESSAGE_SENT - EVENT_ACQUIRE_BEGIN);
    if (code == 30) return EVENT_MESSAGE_SENT + (record[3] >> 2) % (EVENT_KINDS - EVENT_MESSAGE_SENT);
    return 1 + code % EVENT_BYTECODES;
}

// Thread and kind, ns since the thread's event before, ids, the rest.
static void add(struct story *story, const uint8_t record[RECORD]) {
    const unsigned kind = kind_of(record);
    const bool of_jvm = kind == EVENT_GC_BEGIN || kind == EVENT_GC_END || kind == EVENT_SAMPLE ||
                        kind == EVENT_COMPILING || kind == EVENT_ALLOCATED;
    const unsigned thread = of_jvm ? 0 : 1 + (record[0] >> 5) % THREADS;
    const uint64_t a = operand_a(story, kind, record), b = operand_b(story, thread, kind, record);
    tb_event(story->tb, thread, story->now_ns[thread] += 1 + record[1], kind, a, b, operand_c(story, kind, record[3]));
}

static struct trace *open_story(const struct story *story, int file) {
    struct error error = ERROR_INIT;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    tb_write(story->tb, path);
    struct trace *trace = trace_open(path, false, &error);
    must(trace != NULL);
    return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < SETTINGS || size > SETTINGS + RECORD * EVENTS_MOST) return -1;
    struct story story = begin(data);
    for (size_t at = SETTINGS; at + RECORD <= size; at += RECORD) add(&story, data + at);
    const int file = memfd_create("story", MFD_CLOEXEC);
    must(file >= 0);
    struct trace *trace = open_story(&story, file);
    replay_all(trace, data[3], data[5]);
    export_all(trace);
    trace_close(trace);
    close(file);
    tb_free(story.tb);
    return 0;
}
