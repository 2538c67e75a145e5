// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/agenda.h"

#include <stdlib.h>

static void *grown(void *array, uint32_t count, size_t size) {
    return realloc(array, (size_t)count * size);
}

bool agenda_reserve(struct agenda *agenda, uint32_t strands) {
    if (strands <= agenda->capacity) return true;
    agenda_entry *heap = grown(agenda->heap, strands, sizeof *heap);
    if (heap) agenda->heap = heap;
    uint32_t *place = grown(agenda->place, strands, sizeof *place);
    if (place) agenda->place = place;
    if (!heap || !place) return false;
    for (uint32_t s = agenda->capacity; s < strands; s++) place[s] = AGENDA_NONE;
    agenda->capacity = strands;
    return true;
}

void agenda_clear(struct agenda *agenda) {
    for (uint32_t i = 0; i < agenda->count; i++) agenda->place[(uint32_t)agenda->heap[i]] = AGENDA_NONE;
    agenda->count = 0;
}

void agenda_destroy(struct agenda *agenda) {
    free(agenda->heap);
    free(agenda->place);
    *agenda = (struct agenda){0};
}

static void set_place(struct agenda *agenda, uint32_t index, agenda_entry entry) {
    agenda->heap[index] = entry;
    agenda->place[(uint32_t)entry] = index;
}

static void sift_up(struct agenda *agenda, uint32_t index, agenda_entry entry) {
    while (index > 0 && entry < agenda->heap[(index - 1) / 2]) {
        set_place(agenda, index, agenda->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    set_place(agenda, index, entry);
}

// An entry from the bottom belongs there again, as a rule: the gap goes all the way down, and the entry up from there.
static void fill(struct agenda *agenda, uint32_t index, agenda_entry entry) {
    const agenda_entry *heap = agenda->heap;
    uint32_t right = 2 * index + 2;
    for (; right < agenda->count; right = 2 * index + 2) {
        uint32_t earlier = right - (heap[right - 1] < heap[right]);
        set_place(agenda, index, heap[earlier]);
        index = earlier;
    }
    if (right == agenda->count) { // no right one
        set_place(agenda, index, heap[right - 1]);
        index = right - 1;
    }
    sift_up(agenda, index, entry);
}

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    sift_up(agenda, agenda->count++, agenda_entry_of(strand, time_ns));
}

void agenda_remove(struct agenda *agenda, uint32_t strand) {
    uint32_t index = agenda->place[strand];
    if (index == AGENDA_NONE) return;
    agenda->place[strand] = AGENDA_NONE;
    agenda_entry last = agenda->heap[--agenda->count];
    if (index < agenda->count) fill(agenda, index, last);
}

uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns) {
    if (agenda->count == 0) return AGENDA_NONE;
    agenda_entry next = agenda->heap[0];
    agenda_remove(agenda, (uint32_t)next);
    *time_ns = (int64_t)(next >> 64);
    return (uint32_t)next;
}
