// SPDX-License-Identifier: Apache-2.0
#include "tracer/mail.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 14, MOST = 1 << 20 };

struct letter {
    uint64_t object, actor, message;
    struct letter *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bucket { struct letter *first, *last; } buckets[BUCKETS];
static uint32_t under_way;

static struct bucket *bucket_of(uint64_t object, uint64_t actor) {
    uint64_t hash = (object * 0x9e3779b97f4a7c15u) ^ (actor * 0xc2b2ae3d27d4eb4fu);
    return &buckets[(hash >> 32) % BUCKETS];
}

static struct letter *letter_new(void) {
    pthread_mutex_lock(&lock);
    bool room = under_way < MOST;
    under_way += room;
    pthread_mutex_unlock(&lock);
    return room ? malloc(sizeof(struct letter)) : NULL;
}

bool mail_put(uint64_t object, uint64_t actor, uint64_t message) {
    struct letter *letter = letter_new();
    if (!letter) return false;
    *letter = (struct letter){object, actor, message, NULL};
    struct bucket *bucket = bucket_of(object, actor);
    pthread_mutex_lock(&lock);
    if (bucket->last)
        bucket->last->next = letter;
    else
        bucket->first = letter;
    bucket->last = letter;
    pthread_mutex_unlock(&lock);
    return true;
}

// With the lock held.
static struct letter *unlink_first(struct bucket *bucket, uint64_t object, uint64_t actor) {
    struct letter *before = NULL, *letter = bucket->first;
    for (; letter && (letter->object != object || letter->actor != actor); letter = letter->next) before = letter;
    if (!letter) return NULL;
    if (before)
        before->next = letter->next;
    else
        bucket->first = letter->next;
    if (bucket->last == letter) bucket->last = before;
    under_way--;
    return letter;
}

uint64_t mail_take(uint64_t object, uint64_t actor) {
    pthread_mutex_lock(&lock);
    struct letter *letter = unlink_first(bucket_of(object, actor), object, actor);
    pthread_mutex_unlock(&lock);
    uint64_t message = letter ? letter->message : 0;
    free(letter);
    return message;
}

void mail_clear(void) {
    pthread_mutex_lock(&lock);
    for (unsigned b = 0; b < BUCKETS; b++) {
        for (struct letter *letter = buckets[b].first, *next; letter; letter = next) {
            next = letter->next;
            free(letter);
        }
        buckets[b] = (struct bucket){NULL, NULL};
    }
    under_way = 0;
    pthread_mutex_unlock(&lock);
}
