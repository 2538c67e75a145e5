// SPDX-License-Identifier: Apache-2.0
#include "tracer/compilers.h"

#include "tracer/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASKS "/proc/self/task"

enum { LOOK_PERIOD = 10, TEXT_SIZE = 96 };

// "" where the thread is gone.
static void read_of_thread(int tid, const char *file, char text[static TEXT_SIZE]) {
    char path[64];
    snprintf(path, sizeof path, TASKS "/%d/%s", tid, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, TEXT_SIZE - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = '\0';
}

static bool is_compiler(int tid) {
    char name[TEXT_SIZE];
    read_of_thread(tid, "comm", name);
    return strncmp(name, "C1 Compiler", 11) == 0 || strncmp(name, "C2 Compiler", 11) == 0 ||
           strncmp(name, "JVMCI Compiler", 14) == 0;
}

// As pthread_getcpuclockid has it, for a thread whose pthread_t nobody gives us.
static clockid_t cpu_clock_of(int tid) {
    enum { CPUCLOCK_SCHED = 2, CPUCLOCK_PERTHREAD = 4, SHIFT = 3 };
    return (clockid_t)(~(unsigned)tid << SHIFT | CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED);
}

// false: it has ended.
static bool bring_up_to_date(struct compiler_thread *thread) {
    char text[TEXT_SIZE], *at = text;
    struct timespec time;
    if (clock_gettime(cpu_clock_of(thread->tid), &time) != 0) return false;
    thread->computed_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    read_of_thread(thread->tid, "schedstat", text);
    (void)strtoull(at, &at, 10); // computed, as of when it came onto its core
    const uint64_t waited_ns = strtoull(at, NULL, 10);
    if (waited_ns > thread->waited_ns) thread->waited_ns = waited_ns;
    return true;
}

static void leave_out(struct compilers *compilers, uint32_t index) {
    compilers->ended_computed_ns += compilers->threads[index].computed_ns;
    compilers->ended_waited_ns += compilers->threads[index].waited_ns;
    compilers->threads[index] = compilers->threads[--compilers->count];
}

// Threads get rising ids, until these begin anew: a compiler that the JVM makes after that is missed.
static void look_for_new(struct compilers *compilers) {
    DIR *tasks = opendir(TASKS);
    if (!tasks) return;
    int highest_tid = compilers->highest_tid;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        const int tid = atoi(entry->d_name);
        if (tid <= compilers->highest_tid) continue;
        if (tid > highest_tid) highest_tid = tid;
        if (compilers->count < COMPILERS_MOST && is_compiler(tid))
            compilers->threads[compilers->count++] = (struct compiler_thread){.tid = tid};
    }
    closedir(tasks);
    compilers->highest_tid = highest_tid;
}

static void look_if_due(struct compilers *compilers) {
    struct stat tasks;
    const uint64_t links = stat(TASKS, &tasks) == 0 ? tasks.st_nlink : 0;
    const bool due = ++compilers->takes_since >= LOOK_PERIOD;
    if (!due && links == compilers->process_threads) return;
    compilers->process_threads = links;
    compilers->takes_since = 0;
    look_for_new(compilers);
}

bool compilers_take(struct compilers *compilers, uint64_t time, struct event *event) {
    look_if_due(compilers);
    for (uint32_t i = 0; i < compilers->count;) {
        if (bring_up_to_date(&compilers->threads[i]))
            i++;
        else
            leave_out(compilers, i);
    }
    *event = (struct event){.time = time, .kind = EVENT_COMPILING};
    event->operand[0] = compilers->ended_computed_ns;
    event->operand[1] = compilers->ended_waited_ns;
    event->operand[2] = compilers->count;
    for (uint32_t i = 0; i < compilers->count; i++) {
        event->operand[0] += compilers->threads[i].computed_ns;
        event->operand[1] += compilers->threads[i].waited_ns;
    }
    return compilers->count > 0 || compilers->ended_computed_ns > 0;
}
