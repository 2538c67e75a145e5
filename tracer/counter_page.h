// SPDX-License-Identifier: Apache-2.0
// Reads a performance counter from user space: the kernel's protocol for self-monitoring (linux/perf_event.h, struct
// perf_event_mmap_page). The kernel changes `lock` before and after each change of the page, on the very core that
// reads, so that a read that saw one value throughout saw one state. 10 to 20 ns.
#ifndef REHYPE_TRACER_COUNTER_PAGE_H
#define REHYPE_TRACER_COUNTER_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline bool counter_exists(uint32_t number) {
    return true;
}
static inline uint64_t counter_read(uint32_t number) {
    return __rdpmc((int)number);
}
#elif defined(__aarch64__)
// Of PMUv3's counters this reads the one that counts cycles only; the others are a register each.
enum { COUNTER_OF_CYCLES = 31 };
static inline bool counter_exists(uint32_t number) {
    return number == COUNTER_OF_CYCLES;
}
static inline uint64_t counter_read(uint32_t number) {
    uint64_t count;
    __asm__ volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(count));
    return count;
}
#else
static inline bool counter_exists(uint32_t number) {
    return false;
}
static inline uint64_t counter_read(uint32_t number) {
    return 0;
}
#endif

// Whether the thread whose page it is, asking now, may read its counter.
static inline bool counter_page_readable(const struct perf_event_mmap_page *page) {
    return page->cap_user_rdpmc && page->index && counter_exists(page->index - 1);
}

// What was counted since the event was opened. `read` is counter_read, but for tests. While the kernel has the counter
// for others (`index` is 0) that is what was counted until then.
static inline uint64_t counter_page_count(const struct perf_event_mmap_page *page, uint64_t (*read)(uint32_t number)) {
    uint32_t lock;
    uint64_t count;
    do {
        lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        const uint32_t index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
        count = (uint64_t)__atomic_load_n(&page->offset, __ATOMIC_RELAXED);
        if (index) {
            const unsigned unused = 64u - __atomic_load_n(&page->pmc_width, __ATOMIC_RELAXED);
            count += (uint64_t)((int64_t)(read(index - 1) << unused) >> unused);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE); // the loads above before the one below
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock);
    return count;
}

#endif
