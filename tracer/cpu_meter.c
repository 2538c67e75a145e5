// SPDX-License-Identifier: Apache-2.0
#include "tracer/cpu_meter.h"

#include "tracer/clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CPU_METER_LEAST_NS = 20000,
    AWAY_LEAST_NS = 2000, // less, between two clocks, is no sign that the thread was away
    DELAY_FDS_SHARE = 32, // of the process's descriptors one in so many may be kept open
    DELAY_FDS_MOST = 1024,
};

static enum { SOURCE_CLOCK, SOURCE_PAGE, SOURCE_RDPMC } source = SOURCE_CLOCK;
static uint64_t ticks_a_second = 1000000000u;

static bool delays_accounted;
static int delay_fds_most;
static _Atomic(int) delay_fds; // kept open, in all threads

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

static int open_schedstat(void) {
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

// "computed_ns waited_ns times_on_a_core". false when the kernel does not account for it: this thread is on a core.
static bool read_schedstat(int fd, uint64_t *waited_ns) {
    char text[96], *at = text;
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) return false;
    text[length] = '\0';
    strtoull(at, &at, 10);
    *waited_ns = strtoull(at, &at, 10);
    return strtoull(at, &at, 10) > 0;
}

static void choose_delays(void) {
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / DELAY_FDS_SHARE < DELAY_FDS_MOST;
    delay_fds_most = limited ? (int)(limit.rlim_cur / DELAY_FDS_SHARE) : DELAY_FDS_MOST;
    uint64_t unused;
    int fd = open_schedstat();
    delays_accounted = fd >= 0 && read_schedstat(fd, &unused);
    if (fd >= 0) close(fd);
}

static void open_delays(struct cpu_meter *meter) {
    meter->delay_fd = -1;
    if (!delays_accounted) return;
    if (atomic_fetch_add_explicit(&delay_fds, 1, memory_order_relaxed) < delay_fds_most) {
        meter->delay_fd = open_schedstat();
    }
    if (meter->delay_fd < 0) atomic_fetch_sub_explicit(&delay_fds, 1, memory_order_relaxed);
}

static void close_delays(struct cpu_meter *meter) {
    if (meter->delay_fd < 0) return;
    close(meter->delay_fd);
    atomic_fetch_sub_explicit(&delay_fds, 1, memory_order_relaxed);
    meter->delay_fd = -1;
}

static void read_delay(struct cpu_meter *meter) {
    if (!delays_accounted) return;
    int fd = meter->delay_fd >= 0 ? meter->delay_fd : open_schedstat();
    uint64_t waited_ns;
    if (fd >= 0 && read_schedstat(fd, &waited_ns) && waited_ns - meter->delay_from_ns > meter->delay_ns)
        meter->delay_ns = waited_ns - meter->delay_from_ns;
    if (fd >= 0 && meter->delay_fd < 0) close(fd);
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
    choose_delays();
    struct cpu_meter trial = {.fd = -1, .delay_fd = -1};
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

bool cpu_meter_counts_ns(void) {
    return source != SOURCE_RDPMC;
}

void cpu_meter_open(struct cpu_meter *meter) {
    memset(meter, 0, sizeof *meter);
    meter->fd = -1;
    if (source == SOURCE_RDPMC) meter->page = open_cycles(&meter->fd);
    if (source == SOURCE_PAGE) meter->page = open_task_clock(&meter->fd);
    if (source != SOURCE_RDPMC) re_anchor(meter);
    open_delays(meter);
    read_delay(meter);
}

void cpu_meter_delays_from_here(struct cpu_meter *meter) {
    meter->delay_from_ns += meter->delay_ns;
    meter->delay_ns = meter->told_delay_ns = 0;
}

void cpu_meter_close(struct cpu_meter *meter) {
    if (meter->page) munmap(meter->page, (size_t)sysconf(_SC_PAGESIZE));
    if (meter->fd >= 0) close(meter->fd);
    meter->page = NULL;
    meter->fd = -1;
    close_delays(meter);
}

const uint32_t *cpu_meter_turns(const struct cpu_meter *meter) {
    return meter->page ? &meter->page->lock : NULL;
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

// The lock of a counter's page, too, changes when the thread is scheduled in.
static uint64_t read_counter(struct cpu_meter *meter) {
    if (!meter->page) return 0;
    uint32_t lock = __atomic_load_n(&meter->page->lock, __ATOMIC_ACQUIRE);
    if (lock != meter->seen_lock) {
        meter->seen_lock = lock;
        read_delay(meter);
    }
    return read_cycles(meter->page);
}

// Without a page nothing says that the thread was away but that it computed for less time than has passed.
static void leave_anchor(struct cpu_meter *meter, uint64_t elapsed_ns) {
    uint64_t before_ns = meter->anchor_ns;
    re_anchor(meter);
    if (meter->page || meter->anchor_ns - before_ns + AWAY_LEAST_NS < elapsed_ns) read_delay(meter);
}

uint64_t cpu_meter_read(struct cpu_meter *meter, uint64_t ticks) {
    if (source == SOURCE_RDPMC) return read_counter(meter);
    uint64_t elapsed_ns = since_anchor_ns(meter, ticks);
    bool stayed = meter->page ? __atomic_load_n(&meter->page->lock, __ATOMIC_ACQUIRE) == meter->seen_lock
                              : elapsed_ns < CPU_METER_LEAST_NS;
    if (!stayed) leave_anchor(meter, elapsed_ns);
    uint64_t now_ns = stayed ? meter->anchor_ns + elapsed_ns : meter->anchor_ns;
    // What was taken for computing may turn out to have been time away (a host's steal, a short sleep).
    if (now_ns > meter->last_ns) meter->last_ns = now_ns;
    return meter->last_ns;
}
