// SPDX-License-Identifier: Apache-2.0
#include "tracer/cpu_meter.h"

#include "tracer/clock.h"
#include "tracer/core_watch.h"
#include "tracer/counter_page.h"

#include <fcntl.h>
#include <stdatomic.h>
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
    TRIAL_NS = 200000, // of computing, to see what a counter counts
};

// Best first. Reference cycles come at the rate of the processor's clock counter, however fast it runs. The kernel's
// work for a thread is part of the thread's, but the default perf_event_paranoid, 2, keeps it from being counted.
static const struct counter {
    const char *name;
    uint64_t config;
    bool user_only;
} counters[] = {
    {"rdpmc reference cycles", PERF_COUNT_HW_REF_CPU_CYCLES, false},
    {"rdpmc cycles", PERF_COUNT_HW_CPU_CYCLES, false},
    {"rdpmc reference cycles, user mode", PERF_COUNT_HW_REF_CPU_CYCLES, true},
    {"rdpmc cycles, user mode", PERF_COUNT_HW_CPU_CYCLES, true},
};
static const struct counter *counter; // that is used; NULL: none
static double cycles_per_ns;          // about, of that

// Of threads without a counter, which know by it whether they were away.
static bool watched;       // by restartable sequences
static bool page_of_clock; // else they have a page of the task clock
static uint64_t ticks_a_second = 1000000000u;

static bool delays_accounted, schedstat_tells_cpu;
static int delay_fds_most;
static _Atomic(int) delay_fds; // kept open, in all threads

static void close_page(struct perf_event_mmap_page *page) {
    if (page) munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

// The mapping keeps the event alive: a program with 10,000 threads keeps its file descriptors.
static struct perf_event_mmap_page *open_page(struct perf_event_attr attr) {
    attr.size = sizeof attr;
    attr.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return NULL;
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return page == MAP_FAILED ? NULL : page;
}

static struct perf_event_mmap_page *open_counter(const struct counter *of) {
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .config = of->config, .exclude_kernel = of->user_only};
#if defined(__aarch64__)
    enum { CONFIG1_LONG = 1, CONFIG1_RDPMC = 2 }; // PMUv3: 64 bits wide; to be read by users
    attr.config1 = CONFIG1_LONG | CONFIG1_RDPMC;
#endif
    struct perf_event_mmap_page *page = open_page(attr);
    if (page && counter_page_readable(page)) return page;
    close_page(page);
    return NULL;
}

static struct perf_event_mmap_page *open_task_clock(void) {
    return open_page(
        (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1});
}

static int open_schedstat(void) {
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

// The next number of a text, and what stands behind it. It is read after each wait, where strtoull is too slow.
static uint64_t take_number(const char **at) {
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (uint64_t)(**at - '0');
    if (**at) ++*at;
    return number;
}

struct schedstat {
    uint64_t computed_ns, waited_ns, times;
};

// "computed_ns waited_ns times_on_a_core". false when the kernel does not account for it: this thread is on a core.
static bool read_schedstat(int fd, struct schedstat *stat) {
    char text[96];
    const char *at = text;
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) return false;
    text[length] = '\0';
    stat->computed_ns = take_number(&at);
    stat->waited_ns = take_number(&at);
    stat->times = take_number(&at);
    return stat->times > 0;
}

// Whether what the file says of computing is the thread's CPU time, as of when it came onto its core.
static bool tells_cpu_time(int fd) {
    enum { NEAR_NS = 1000000 };
    struct schedstat stat;
    nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
    uint64_t clock_now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return read_schedstat(fd, &stat) && stat.computed_ns <= clock_now_ns && clock_now_ns - stat.computed_ns < NEAR_NS;
}

static void choose_delays(void) {
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / DELAY_FDS_SHARE < DELAY_FDS_MOST;
    delay_fds_most = limited ? (int)(limit.rlim_cur / DELAY_FDS_SHARE) : DELAY_FDS_MOST;
    struct schedstat unused;
    int fd = open_schedstat();
    delays_accounted = fd >= 0 && read_schedstat(fd, &unused);
    schedstat_tells_cpu = delays_accounted && tells_cpu_time(fd);
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

// *stat, if it isn't NULL, is all that the kernel says. false: nothing.
static bool read_delay(struct cpu_meter *meter, struct schedstat *stat) {
    if (!delays_accounted) return false;
    int fd = meter->delay_fd >= 0 ? meter->delay_fd : open_schedstat();
    struct schedstat own;
    if (!stat) stat = &own;
    const bool ok = fd >= 0 && read_schedstat(fd, stat);
    if (ok) {
        const uint64_t waited_ns = stat->waited_ns - meter->delay_from_ns;
        if (waited_ns > meter->delay_ns) meter->delay_ns = waited_ns;
        meter->came += stat->times - meter->times;
        meter->times = stat->times;
    }
    if (fd >= 0 && meter->delay_fd < 0) close(fd);
    return ok;
}

uint32_t cpu_meter_turn(struct cpu_meter *meter) {
    if (meter->rseq_cs) return meter->turns += core_watch_lost(meter->rseq_cs);
    return meter->page ? __atomic_load_n(&meter->page->lock, __ATOMIC_ACQUIRE) : 0;
}

// Should the thread be away between the two clocks, or since its caller read one, its turn is another by the next read.
static void re_anchor(struct cpu_meter *meter) {
    meter->seen_turn = cpu_meter_turn(meter);
    meter->anchor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    meter->anchor_ticks = clock_ticks();
}

// What the counter counts in a ns of computing; 0 if none can be opened.
static double rate_of(const struct counter *of) {
    struct perf_event_mmap_page *page = open_counter(of);
    if (!page) return 0;
    const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), from = counter_page_count(page, counter_read);
    uint64_t now_ns = from_ns;
    while (now_ns < from_ns + TRIAL_NS) now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t counted = counter_page_count(page, counter_read) - from;
    close_page(page);
    return (double)counted / (double)(now_ns - from_ns);
}

// Some virtual machines have counters that stand still, or anything but count.
static bool choose_counter(void) {
    const double least = 0.01, most = 20;
    for (counter = counters; counter < counters + sizeof counters / sizeof *counters; counter++) {
        cycles_per_ns = rate_of(counter);
        if (cycles_per_ns > least && cycles_per_ns < most) return true;
    }
    counter = NULL;
    return false;
}

static bool task_clock_opens(void) {
    struct perf_event_mmap_page *trial = open_task_clock();
    close_page(trial);
    return trial != NULL;
}

struct cpu_meter_kind cpu_meter_choose(uint64_t ticks_per_s) {
    ticks_a_second = ticks_per_s;
    choose_delays();
    watched = core_watch_works();
    page_of_clock = !watched && task_clock_opens();
    if (choose_counter()) return (struct cpu_meter_kind){"cycles", counter->name};
    if (watched) return (struct cpu_meter_kind){"cpu_ns", "rseq"};
    return (struct cpu_meter_kind){"cpu_ns", page_of_clock ? "perf task-clock page" : "clock_gettime"};
}

bool cpu_meter_counts_ns(void) {
    return counter == NULL;
}

void cpu_meter_open(struct cpu_meter *meter) {
    memset(meter, 0, sizeof *meter);
    if (counter) meter->page = open_counter(counter);
    meter->counts = meter->page != NULL;
    if (!meter->page && watched) meter->rseq_cs = core_watch_begin();
    if (!meter->page && page_of_clock) meter->page = open_task_clock();
    if (!meter->counts) re_anchor(meter);
    if (counter) meter->from_ns = meter->anchor_ns;
    open_delays(meter);
    read_delay(meter, NULL);
}

void cpu_meter_delays_from_here(struct cpu_meter *meter) {
    meter->delay_from_ns += meter->delay_ns;
    meter->delay_ns = meter->told_delay_ns = 0;
    meter->came = 0;
}

void cpu_meter_close(struct cpu_meter *meter) {
    close_page(meter->page);
    meter->page = NULL;
    if (meter->rseq_cs) core_watch_end(meter->rseq_cs);
    meter->rseq_cs = NULL;
    close_delays(meter);
}

static uint64_t since_anchor_ns(const struct cpu_meter *meter, uint64_t ticks) {
    uint64_t elapsed = ticks > meter->anchor_ticks ? ticks - meter->anchor_ticks : 0;
    return (uint64_t)((double)elapsed * 1e9 / (double)ticks_a_second);
}

// The lock of a counter's page, too, changes when the thread is scheduled in.
static uint64_t read_counter(struct cpu_meter *meter) {
    uint32_t turn = cpu_meter_turn(meter);
    if (turn != meter->seen_turn) {
        meter->seen_turn = turn;
        read_delay(meter, NULL);
    }
    return counter_page_count(meter->page, counter_read);
}

static bool turns_are_told(const struct cpu_meter *meter) {
    return meter->page || meter->rseq_cs;
}

// Who has just come onto its core computed what it had when it left it: one system call tells all. The CPU clock would
// have the kernel lock the core's run queue.
static bool anchor_at_waking(struct cpu_meter *meter) {
    if (!schedstat_tells_cpu || !turns_are_told(meter)) return false;
    struct schedstat stat;
    uint32_t turn = cpu_meter_turn(meter);
    if (!read_delay(meter, &stat)) return false;
    meter->seen_turn = turn;
    meter->anchor_ns = stat.computed_ns;
    meter->anchor_ticks = clock_ticks();
    return true;
}

// Otherwise nothing says that the thread was away but that it computed for less time than has passed.
static void leave_anchor(struct cpu_meter *meter, uint64_t elapsed_ns, bool wakes) {
    uint64_t before_ns = meter->anchor_ns;
    if (wakes && anchor_at_waking(meter)) return;
    re_anchor(meter);
    if (turns_are_told(meter) || meter->anchor_ns - before_ns + AWAY_LEAST_NS < elapsed_ns) read_delay(meter, NULL);
}

static uint64_t read_ns(struct cpu_meter *meter, uint64_t ticks, bool wakes) {
    uint64_t elapsed_ns = since_anchor_ns(meter, ticks);
    bool stayed = turns_are_told(meter) ? cpu_meter_turn(meter) == meter->seen_turn : elapsed_ns < CPU_METER_LEAST_NS;
    if (!stayed) leave_anchor(meter, elapsed_ns, wakes);
    uint64_t now_ns = stayed ? meter->anchor_ns + elapsed_ns : meter->anchor_ns;
    // What was taken for computing may turn out to have been time away (a host's steal, a short sleep).
    if (now_ns > meter->last_ns) meter->last_ns = now_ns;
    return meter->last_ns;
}

uint64_t cpu_meter_read(struct cpu_meter *meter, uint64_t ticks, bool wakes) {
    if (meter->closed) return 0;
    if (meter->counts) return read_counter(meter);
    uint64_t ns = read_ns(meter, ticks, wakes);
    return counter ? (uint64_t)((double)(ns - meter->from_ns) * cycles_per_ns) : ns;
}
