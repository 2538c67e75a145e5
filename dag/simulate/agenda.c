// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/agenda.h"

#include <stdlib.h>

static void *grown(void *array, uint32_t count, size_t size) {
    return realloc(array, (size_t)count * size);
}

bool agenda_reserve(struct agenda *agenda, uint32_t strands) {
    if (strands <= agenda->capacity) return true;
    struct agenda_entry *heap = grown(agenda->heap, strands, sizeof *heap);
    if (heap) agenda->heap = heap;
    uint32_t *place = grown(agenda->place, strands, sizeof *place);
    if (place) agenda->place = place;
    if (!heap || !place) return false;
    for (uint32_t s = agenda->capacity; s < strands; s++) place[s] = AGENDA_NONE;
    agenda->capacity = strands;
    return true;
}

void agenda_clear(struct agenda *agenda) {
    for (uint32_t i = 0; i < agenda->count; i++) agenda->place[agenda->heap[i].strand] = AGENDA_NONE;
    agenda->count = 0;
}

void agenda_destroy(struct agenda *agenda) {
    free(agenda->heap);
    free(agenda->place);
    *agenda = (struct agenda){0};
}

static bool comes_before(const struct agenda_entry *a, const struct agenda_entry *b) {
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->strand < b->strand;
}

static void set_place(struct agenda *agenda, uint32_t index, struct agenda_entry entry) {
    agenda->heap[index] = entry;
    agenda->place[entry.strand] = index;
}

static void sift_up(struct agenda *agenda, uint32_t index, struct agenda_entry entry) {
    while (index > 0 && comes_before(&entry, &agenda->heap[(index - 1) / 2])) {
        set_place(agenda, index, agenda->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    set_place(agenda, index, entry);
}

static void sift_down(struct agenda *agenda, uint32_t index, struct agenda_entry entry) {
    for (uint32_t child; (child = 2 * index + 1) < agenda->count; index = child) {
        if (child + 1 < agenda->count && comes_before(&agenda->heap[child + 1], &agenda->heap[child])) child++;
        if (!comes_before(&agenda->heap[child], &entry)) break;
        set_place(agenda, index, agenda->heap[child]);
    }
    set_place(agenda, index, entry);
}

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    sift_up(agenda, agenda->count++, (struct agenda_entry){time_ns, strand});
}

void agenda_remove(struct agenda *agenda, uint32_t strand) {
    uint32_t index = agenda->place[strand];
    if (index == AGENDA_NONE) return;
    agenda->place[strand] = AGENDA_NONE;
    struct agenda_entry last = agenda->heap[--agenda->count];
    if (index == agenda->count) return;
    if (index > 0 && comes_before(&last, &agenda->heap[(index - 1) / 2]))
        sift_up(agenda, index, last);
    else
        sift_down(agenda, index, last);
}

uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns) {
    if (agenda->count == 0) return AGENDA_NONE;
    struct agenda_entry next = agenda->heap[0];
    agenda_remove(agenda, next.strand);
    *time_ns = next.time_ns;
    return next.strand;
}
