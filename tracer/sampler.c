// SPDX-License-Identifier: Apache-2.0
#include "tracer/sampler.h"

#include "tracer/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in clock ticks of user space; both guests are
// part of user and nice already (proc_stat(5)).
static uint64_t machine_busy_ns(void) {
    enum { IDLE = 3, IOWAIT = 4, COLUMNS = 8 };
    char text[256], *at = text + strlen("cpu");
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return 0;
    text[length] = '\0';
    if (strncmp(text, "cpu ", 4) != 0) return 0;
    uint64_t busy = 0;
    for (int column = 0; column < COLUMNS; column++) {
        uint64_t ticks = strtoull(at, &at, 10);
        if (column != IDLE && column != IOWAIT) busy += ticks;
    }
    return busy * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t context_switches(int whose) {
    struct rusage usage;
    if (getrusage(whose, &usage) != 0) return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

// The two are not read at one instant, and the machine's comes in whole ticks.
static uint64_t raise_to_rest(uint64_t *before, uint64_t all, uint64_t own) {
    if (all > own && all - own > *before) *before = all - own;
    return *before;
}

struct event sampler_take(struct sampler *sampler) {
    struct event sample = {.time = clock_ticks(), .kind = EVENT_SAMPLE};
    const uint64_t own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    sample.operand[0] = raise_to_rest(&sampler->process_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID), own_ns);
    sample.operand[1] = raise_to_rest(&sampler->machine_ns, machine_busy_ns(), own_ns);
    sample.operand[2] =
        raise_to_rest(&sampler->switches, context_switches(RUSAGE_SELF), context_switches(RUSAGE_THREAD));
    return sample;
}
