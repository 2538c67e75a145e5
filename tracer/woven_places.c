// SPDX-License-Identifier: Apache-2.0
#include "tracer/woven_places.h"

#include "tracer/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct woven_place {
    const char *name; // NULL: none
    uint32_t number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct names texts; // each once
static struct woven_place *by_site;
static uint32_t capacity;

// With the lock held. NULL: no room.
static struct woven_place *make_room(uint32_t site) {
    if (site < capacity) return &by_site[site];
    uint32_t room = capacity ? capacity : 256;
    while (room <= site) room *= 2;
    struct woven_place *grown = realloc(by_site, room * sizeof *grown);
    if (!grown) return NULL;
    memset(grown + capacity, 0, (room - capacity) * sizeof *grown);
    by_site = grown;
    capacity = room;
    return &by_site[site];
}

static struct woven_place place_at(uint32_t site) {
    pthread_mutex_lock(&lock);
    const struct woven_place place = site < capacity ? by_site[site] : (struct woven_place){0};
    pthread_mutex_unlock(&lock);
    return place;
}

void woven_place_set_name(uint32_t site, const char *name) {
    pthread_mutex_lock(&lock);
    struct woven_place *place = site ? make_room(site) : NULL;
    if (place) place->name = names_keep(&texts, name, strlen(name));
    pthread_mutex_unlock(&lock);
}

const char *woven_place_name(uint32_t site) {
    return place_at(site).name;
}

void woven_place_set_number(uint32_t site, uint32_t number) {
    pthread_mutex_lock(&lock);
    struct woven_place *place = site ? make_room(site) : NULL;
    if (place) place->number = number;
    pthread_mutex_unlock(&lock);
}

uint32_t woven_place_number(uint32_t site) {
    return place_at(site).number;
}
