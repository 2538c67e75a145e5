// SPDX-License-Identifier: Apache-2.0
#include "base/hands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct errand {
    hands_item *run;
    void *context;
    uint32_t count;
    atomic_uint next; // item that nobody has taken
};

static void take_items(struct errand *errand, uint32_t hand) {
    for (uint32_t item; (item = atomic_fetch_add(&errand->next, 1)) < errand->count;) {
        errand->run(errand->context, hand, item);
    }
}

static void *help(void *errand) {
    take_items(errand, 1);
    return NULL;
}

void hands_run(hands_item *run, void *context, uint32_t count, uint32_t hands) {
    struct errand errand = {.run = run, .context = context, .count = count};
    pthread_t helper;
    bool helped = hands > 1 && count > 1 && pthread_create(&helper, NULL, help, &errand) == 0;
    take_items(&errand, 0);
    if (helped) pthread_join(helper, NULL);
}
