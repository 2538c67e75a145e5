// SPDX-License-Identifier: Apache-2.0
#include "tracer/core_watch.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The kernel's struct rseq, as far as it is needed.
struct registered {
    uint32_t core_at_start;
    int32_t core; // negative: it isn't registered
    uint64_t rseq_cs;
};

// What glibc registers threads with. It must stand before the place at which an aborted sequence goes on, or the kernel
// ends the process; there is nothing else at that place, since a sequence without instructions is never aborted.
#if defined(__x86_64__)
#define SIGNATURE 0x53053053u
#elif defined(__AARCH64EL__)
#define SIGNATURE 0xd428bc00u
#else
#define SIGNATURE 0u
#endif

static const uint32_t place[] = {SIGNATURE, 0};
const struct core_watch_sequence core_watch_sequence = {.start = &place[1], .abort = &place[1]};

static char *thread_pointer(void) {
#if defined(__x86_64__)
    char *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
#elif defined(__aarch64__)
    return __builtin_thread_pointer();
#else
    return NULL;
#endif
}

static ptrdiff_t offset; // of a thread's struct, from its pointer; 0: unknown, or none

// By name, since the agent is loaded by older C libraries, too.
static void look_it_up(void) {
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    const ptrdiff_t *from_pointer = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const bool there = SIGNATURE && size && from_pointer && *size >= sizeof(struct registered);
    offset = there ? *from_pointer : 0;
}

uint64_t *core_watch_begin(void) {
    struct registered *here = (struct registered *)(void *)(thread_pointer() + offset);
    if (!offset || __atomic_load_n(&here->core, __ATOMIC_RELAXED) < 0) return NULL;
    core_watch_lost(&here->rseq_cs);
    return &here->rseq_cs;
}

void core_watch_end(uint64_t *rseq_cs) {
    const uint64_t ours = (uint64_t)(uintptr_t)&core_watch_sequence;
    if (__atomic_load_n(rseq_cs, __ATOMIC_RELAXED) == ours) __atomic_store_n(rseq_cs, 0, __ATOMIC_RELAXED);
}

// Trial ---------------------------------------------------------------------------------------------------------------

static const struct timespec nap = {.tv_nsec = 50000};

static void sleep_a_little(void) {
    nanosleep(&nap, NULL);
}

static void wait_a_little(void) {
    uint32_t never = 0;
    syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0);
}

static void ask_the_kernel(void) {
    syscall(SYS_gettid);
}

struct trial {
    int away, seen; // times, as the kernel says; and of them, as it looks here
    int lost;       // times, as it looks here
};

static long switches_so_far(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

static struct trial try_out(uint64_t *rseq_cs, void (*does)(void), int times) {
    struct trial trial = {0};
    for (int i = 0; i < times; i++) {
        core_watch_lost(rseq_cs);
        const long before = switches_so_far();
        does();
        const bool away = switches_so_far() != before, lost = core_watch_lost(rseq_cs);
        trial.away += away;
        trial.seen += away && lost;
        trial.lost += lost;
    }
    return trial;
}

static bool sees_all(struct trial trial) {
    return trial.away > 0 && trial.seen == trial.away;
}

// That it is always seen would tell nothing if that were seen, too, which is none.
bool core_watch_works(void) {
    enum { NAPS = 4, CALLS = 64 };
    look_it_up();
    uint64_t *rseq_cs = core_watch_begin();
    if (!rseq_cs) return false;
    const bool works = sees_all(try_out(rseq_cs, sleep_a_little, NAPS)) &&
                       sees_all(try_out(rseq_cs, wait_a_little, NAPS)) &&
                       try_out(rseq_cs, ask_the_kernel, CALLS).lost < CALLS / 2;
    core_watch_end(rseq_cs);
    return works;
}
