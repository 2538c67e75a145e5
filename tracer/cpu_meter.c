// SPDX-License-Identifier: Apache-2.0
#include "tracer/cpu_meter.h"

#include "tracer/clock.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPU_METER_LEAST_NS = 20000 };

static enum { SOURCE_CLOCK, SOURCE_PAGE, SOURCE_RDPMC } source = SOURCE_CLOCK;
static uint64_t ticks_a_second = 1000000000u;

static struct perf_event_mmap_page *open_page(uint32_t type, uint64_t config, int *fd) {
    struct perf_event_attr attr = {
        .size = sizeof attr, .type = type, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
    *fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (*fd < 0) return NULL;
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, *fd, 0);
    if (page != MAP_FAILED) return page;
    close(*fd);
    *fd = -1;
    return NULL;
}

static struct perf_event_mmap_page *open_cycles(int *fd) {
    struct perf_event_mmap_page *page = open_page(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, fd);
    if (page && page->cap_user_rdpmc && page->index) return page;
    if (page) {
        munmap(page, (size_t)sysconf(_SC_PAGESIZE));
        close(*fd);
        *fd = -1;
    }
    return NULL;
}

static struct perf_event_mmap_page *open_task_clock(int *fd) {
    struct perf_event_mmap_page *page = open_page(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, fd);
    if (!page) return NULL;
    close(*fd); // the mapping keeps the event alive: a program with 10,000 threads keeps its file descriptors
    *fd = -1;
    return page;
}

// Should the thread be away between the two clocks, or since its caller read one, the lock has changed by the next
// read.
static void re_anchor(struct cpu_meter *meter) {
    meter->seen_lock = meter->page ? __atomic_load_n(&meter->page->lock, __ATOMIC_ACQUIRE) : 0;
    meter->anchor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    meter->anchor_ticks = clock_ticks();
}

struct cpu_meter_kind cpu_meter_choose(uint64_t ticks_per_s) {
    ticks_a_second = ticks_per_s;
    struct cpu_meter trial = {.fd = -1};
    trial.page = open_cycles(&trial.fd);
    source = trial.page ? SOURCE_RDPMC : SOURCE_CLOCK;
    if (!trial.page && (trial.page = open_task_clock(&trial.fd))) source = SOURCE_PAGE;
    cpu_meter_close(&trial);
    switch (source) {
    case SOURCE_RDPMC:
        return (struct cpu_meter_kind){"cycles", "rdpmc"};
    case SOURCE_PAGE:
        return (struct cpu_meter_kind){"cpu_ns", "perf task-clock page"};
    default:
        return (struct cpu_meter_kind){"cpu_ns", "clock_gettime"};
    }
}

void cpu_meter_open(struct cpu_meter *meter) {
    memset(meter, 0, sizeof *meter);
    meter->fd = -1;
    if (source == SOURCE_RDPMC) meter->page = open_cycles(&meter->fd);
    if (source == SOURCE_PAGE) meter->page = open_task_clock(&meter->fd);
    if (source != SOURCE_RDPMC) re_anchor(meter);
}

void cpu_meter_close(struct cpu_meter *meter) {
    if (meter->page) munmap(meter->page, (size_t)sysconf(_SC_PAGESIZE));
    if (meter->fd >= 0) close(meter->fd);
    meter->page = NULL;
    meter->fd = -1;
}

// The kernel's protocol for self-monitoring (linux/perf_event.h, struct perf_event_mmap_page).
static uint64_t read_cycles(const struct perf_event_mmap_page *page) {
#if defined(__x86_64__)
    uint32_t lock, index;
    uint64_t count;
    do {
        lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        index = page->index;
        count = (uint64_t)page->offset;
        if (index) {
            unsigned unused = 64u - page->pmc_width;
            count += (uint64_t)((int64_t)(__rdpmc((int)index - 1) << unused) >> unused);
        }
        __asm__ volatile("" ::: "memory"); // the processor keeps loads in order by itself
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock);
    return count;
#else
    return (uint64_t)page->offset;
#endif
}

static uint64_t since_anchor_ns(const struct cpu_meter *meter, uint64_t ticks) {
    uint64_t elapsed = ticks > meter->anchor_ticks ? ticks - meter->anchor_ticks : 0;
    return (uint64_t)((double)elapsed * 1e9 / (double)ticks_a_second);
}

uint64_t cpu_meter_read(struct cpu_meter *meter, uint64_t ticks) {
    if (source == SOURCE_RDPMC) return meter->page ? read_cycles(meter->page) : 0;
    uint64_t elapsed_ns = since_anchor_ns(meter, ticks);
    bool stayed = meter->page ? __atomic_load_n(&meter->page->lock, __ATOMIC_ACQUIRE) == meter->seen_lock
                              : elapsed_ns < CPU_METER_LEAST_NS;
    if (!stayed) re_anchor(meter);
    uint64_t now_ns = stayed ? meter->anchor_ns + elapsed_ns : meter->anchor_ns;
    // What was taken for computing may turn out to have been time away (a host's steal, a short sleep).
    if (now_ns > meter->last_ns) meter->last_ns = now_ns;
    return meter->last_ns;
}
