// SPDX-License-Identifier: Apache-2.0
#include "base/hands.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct errand {
    hands_item *run;
    void *context;
    uint32_t count;
    atomic_uint next; // item that nobody has taken
};

struct helper {
    struct errand *errand;
    uint32_t hand;
    pthread_t thread;
};

uint32_t hands_there(void) {
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 2; // of more than the set has room for
    const uint32_t count = (uint32_t)CPU_COUNT(&cpus);
    return count < HANDS ? count : HANDS;
}

static void take_items(struct errand *errand, uint32_t hand) {
    for (uint32_t item; (item = atomic_fetch_add(&errand->next, 1)) < errand->count;) {
        errand->run(errand->context, hand, item);
    }
}

static void *help(void *of) {
    const struct helper *helper = of;
    take_items(helper->errand, helper->hand);
    return NULL;
}

void hands_run(hands_item *run, void *context, uint32_t count, uint32_t hands) {
    struct errand errand = {.run = run, .context = context, .count = count};
    struct helper helpers[HANDS];
    const uint32_t wanted = hands < count ? hands : count;
    uint32_t there = 1;
    for (; there < wanted; there++) {
        helpers[there] = (struct helper){.errand = &errand, .hand = there};
        if (pthread_create(&helpers[there].thread, NULL, help, &helpers[there]) != 0) break;
    }
    take_items(&errand, 0);
    while (there > 1) pthread_join(helpers[--there].thread, NULL);
}
