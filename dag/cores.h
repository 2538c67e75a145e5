// SPDX-License-Identifier: GPL-3.0-or-later
// Processor sharing: strands that compute share the cores fairly, as a fair scheduler has it, none on more than one.
//
// The clock of service: what each strand that computes gets, whoever it is, passes at min(1, cores / n) of real time,
// so a strand that has so much to compute is done when this clock has gone on by as much. Hence a heap by that clock's
// time, and nothing to touch when others come and go. Service stands still in pauses of the JVM, each of which comes
// when as much has been computed in all as had been when it was recorded.
#ifndef REHYPE_DAG_CORES_H
#define REHYPE_DAG_CORES_H

#include "dag/agenda.h"

struct cores_pause {
    int64_t work_ns; // computed in all before it
    int64_t length_ns;
};

struct cores {
    struct agenda due;                // who computes, by the clock of service
    double count;                     // cores; INFINITY: one for each
    int64_t since_ns;                 // when what follows was brought up to date
    int64_t served;                   // the clock of service, in CORES_TICKS a ns
    double work_ns;                   // computed in all
    int64_t next_ns;                  // when someone is done, or a pause begins; INT64_MAX: never
    const struct cores_pause *pauses; // rising, the caller's
    uint32_t pause_count, next_pause;
    int64_t pause_left_ns;
};

enum { CORES_TICKS = 1 << 16 };

// Zero-initialise; cores_reserve as agenda_reserve.
bool cores_reserve(struct cores *cores, uint32_t strands);
void cores_destroy(struct cores *cores);
void cores_begin(struct cores *cores, double count, const struct cores_pause *pauses, uint32_t pause_count);

// The strand computes for so long from now on; `now_ns` never falls, and is no later than next_ns.
void cores_join(struct cores *cores, uint32_t strand, int64_t now_ns, int64_t compute_ns);

// At next_ns: who is done; AGENDA_NONE where that is only a pause that begins or ends.
uint32_t cores_take(struct cores *cores);

#endif
