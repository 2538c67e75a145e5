// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/cores.h"

#include <math.h>

bool cores_reserve(struct cores *cores, uint32_t strands) {
    return agenda_reserve(&cores->due, strands);
}

void cores_destroy(struct cores *cores) {
    agenda_destroy(&cores->due);
}

void cores_begin(struct cores *cores, double count, const struct cores_pause *pauses, uint32_t pause_count) {
    agenda_clear(&cores->due);
    *cores = (struct cores){
        .due = cores->due, .count = count, .next_ns = INT64_MAX, .pauses = pauses, .pause_count = pause_count};
}

static double rate(const struct cores *cores) {
    double computing = cores->due.count;
    return computing > cores->count ? cores->count / computing : 1;
}

// Until the next pause begins, as things are; INFINITY where none will.
static double until_pause_ns(const struct cores *cores) {
    if (cores->next_pause == cores->pause_count || cores->due.count == 0) return INFINITY;
    double left_ns = (double)cores->pauses[cores->next_pause].work_ns - cores->work_ns;
    return left_ns > 0 ? left_ns / (rate(cores) * cores->due.count) : 0;
}

static void serve(struct cores *cores, int64_t elapsed_ns) {
    double each_ns = (double)elapsed_ns * rate(cores);
    cores->served += (int64_t)(each_ns * CORES_TICKS);
    cores->work_ns += each_ns * cores->due.count;
}

// Nothing begins or ends between since_ns and now.
static void bring_up_to(struct cores *cores, int64_t now_ns) {
    int64_t elapsed_ns = now_ns - cores->since_ns;
    cores->since_ns = now_ns;
    if (cores->pause_left_ns > 0)
        cores->pause_left_ns -= elapsed_ns;
    else if (cores->due.count > 0)
        serve(cores, elapsed_ns);
}

static void look_ahead(struct cores *cores) {
    if (cores->due.count == 0) {
        cores->next_ns = cores->pause_left_ns > 0 ? cores->since_ns + cores->pause_left_ns : INT64_MAX;
        return;
    }
    double left_ns = (double)(cores->due.heap[0].time_ns - cores->served) / CORES_TICKS / rate(cores);
    double pause_ns = until_pause_ns(cores);
    if (cores->pause_left_ns > 0)
        cores->next_ns = cores->since_ns + cores->pause_left_ns;
    else
        cores->next_ns = cores->since_ns + (int64_t)fmax(0, pause_ns < left_ns ? ceil(pause_ns) : round(left_ns));
}

void cores_join(struct cores *cores, uint32_t strand, int64_t now_ns, int64_t compute_ns) {
    bring_up_to(cores, now_ns);
    agenda_put(&cores->due, strand, cores->served + compute_ns * CORES_TICKS);
    look_ahead(cores);
}

uint32_t cores_take(struct cores *cores) {
    bool paused = cores->pause_left_ns > 0;
    uint32_t done = AGENDA_NONE;
    bring_up_to(cores, cores->next_ns);
    if (!paused && until_pause_ns(cores) <= 0) {
        cores->pause_left_ns = cores->pauses[cores->next_pause++].length_ns;
    } else if (!paused) {
        int64_t due;
        done = agenda_take(&cores->due, &due);
    }
    look_ahead(cores);
    return done;
}
