// SPDX-License-Identifier: GPL-3.0-or-later
// Events to columns and back: of each its kind, its time since the thread's event before in quanta, what the thread
// computed, and its operands as far as they were not guessed (column_model.h). One walk does both, so that what comes
// back is what went in. A time comes back in the quantum in which it was, on one grid for all threads.
#ifndef REHYPE_REPORT_PAGE_COLUMN_EVENTS_H
#define REHYPE_REPORT_PAGE_COLUMN_EVENTS_H

#include "report/page/column_model.h"
#include "report/page/column_store.h"

enum { FUNCTION_KINDS = 3 }; // EVENT_ENTER to EVENT_EXIT_THROW

struct event_coder {
    struct column_store store;
    struct column_model model;
    uint64_t quantum_ns;
    bool cpu_is_ns;                 // what events count as computing goes with their times
    const struct event_cost *costs; // what recording took, by kind
    bool leaves_out;                // function events are left out, some of them
    // Of the thread in hand
    uint64_t quanta;   // the time of the event before
    uint64_t next_ns;  // the earliest that the next event may have
    uint64_t cost_ps;  // what recording took since the event before
    uint64_t cpu_lead; // of time, or 0, before what was computed, at the last event that told that
    uint64_t cpu;
};

bool event_coder_init(struct event_coder *coder, bool writes); // false: no memory
void event_coder_destroy(struct event_coder *coder);
void event_coder_begin_thread(struct event_coder *coder);

// Takes the next event to the columns, and leaves it as it will come back; or brings it back. Its kind may be wrong
// then, as coder->store.failed says.
void event_code(struct event_coder *coder, struct event *event);

// The same of how many function events of each kind were left out just before the next event.
void event_code_left_out(struct event_coder *coder, uint64_t left_out[FUNCTION_KINDS]);

// A number of the thread's, or of the trace's.
uint64_t event_code_number(struct event_coder *coder, uint64_t number);

#endif
