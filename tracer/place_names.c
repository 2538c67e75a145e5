// SPDX-License-Identifier: Apache-2.0
#include "tracer/place_names.h"

#include "tracer/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct names texts;   // each once
static const char **by_site; // NULL: none
static uint32_t capacity;

// With the lock held.
static bool have_room(uint32_t site) {
    if (site < capacity) return true;
    uint32_t room = capacity ? capacity : 256;
    while (room <= site) room *= 2;
    const char **grown = realloc(by_site, room * sizeof *grown);
    if (!grown) return false;
    memset(grown + capacity, 0, (room - capacity) * sizeof *grown);
    by_site = grown;
    capacity = room;
    return true;
}

void place_names_set(uint32_t site, const char *name) {
    pthread_mutex_lock(&lock);
    if (site && have_room(site)) by_site[site] = names_keep(&texts, name, strlen(name));
    pthread_mutex_unlock(&lock);
}

const char *place_name(uint32_t site) {
    pthread_mutex_lock(&lock);
    const char *name = site < capacity ? by_site[site] : NULL;
    pthread_mutex_unlock(&lock);
    return name;
}
