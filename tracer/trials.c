// SPDX-License-Identifier: Apache-2.0
#include "tracer/trials.h"

#include <pthread.h>
#include <signal.h>

static pthread_t thread;
static bool under_way;
static struct trials result;

static struct trials try_all(bool monotonic) {
    struct clock_source clock = clock_init(monotonic);
    struct cpu_meter_kind meter = cpu_meter_choose(clock.ticks_per_s);
    return (struct trials){clock, meter, clock_uses_counter ? clock_skew_ticks() : 0};
}

static void *run(void *monotonic) {
    result = try_all(monotonic != NULL);
    return NULL;
}

// The program's signals are the program's.
void trials_begin(bool monotonic) {
    static char yes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    under_way = pthread_create(&thread, NULL, run, monotonic ? &yes : NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct trials trials_result(bool monotonic) {
    if (!under_way) return try_all(monotonic);
    under_way = false;
    pthread_join(thread, NULL);
    return result;
}
