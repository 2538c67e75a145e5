// SPDX-License-Identifier: GPL-3.0-or-later
// Latency along a path of messages (M5 of M, Sec. 4.4), and where it comes from.
//
// A path is a row of patterns. A chain is a message for each: the first is any that the first pattern means; each
// further one either was sent while the one before was handled (of several to one actor the first sent, so that a
// fan-out gives a chain for each receiver), or, where no message that the pattern means ever was sent so, is the first
// that the same actor begins after it began the one before: an update waits for the next turn of its receiver's loop.
// Patterns may mean several actors, as of a component that is made of several.
//
// From when the first is begun to when the last is handled, a chain consists of the time spans of Table 1, which add up
// to it exactly (s: begun by a trigger, or waited for; u: sent by the one before):
//   1  begin of s to sending of u             t_s(u) - t_b(s)
//   2  u waits in the mailbox                 t_b(u) - t_s(u)
//   3  begin of u to sending of the next      t_s(u2) - t_b(u1)
//   4  handling of the last, a u              t_e(u) - t_b(u)
//   5  begin of u to begin of the next s      t_b(s) - t_b(u)
//   6  handling of the last, an s             t_e(s) - t_b(s)
// Beside it stands Eq. 14's figure, which counts from when the first was sent.
#ifndef REHYPE_METRICS_LATENCY_H
#define REHYPE_METRICS_LATENCY_H

#include "metrics/message_pattern.h"
#include "metrics/messages.h"

#define LATENCY_STEPS_MOST 16
#define CASCADES_MOST      5

struct latency_segment {
    uint8_t id;    // of Table 1
    uint32_t step; // index of the pattern in which it begins
    int64_t total_ns;
    struct spread ns;
};

struct latency_figures {
    const char *path; // as it was given, or made of types
    uint64_t chains;
    uint64_t incomplete; // first messages of no chain
    int64_t total_ns;    // of all chains; the sum of the segments' totals
    struct spread latency_ns;
    double variance_ns2;        // its deviation squared
    struct spread from_sent_ns; // Eq. 14; of chains whose first message was seen being sent
    struct latency_segment segments[2 * LATENCY_STEPS_MOST];
    uint32_t segment_count;
    struct sliced by_begin; // mean latency of the chains that begin in a slice
};

// `path`: patterns with > between. All in the arena. Of the chains whose first message is begun in the window (NULL:
// all). Errors: no memory; STATUS_USAGE for a path that means nothing. Cost: two sorts of the messages.
bool latency_of_path(const struct actor_log *log, const char *path, const struct window *window, double slice_ms,
                     struct arena *arena, struct latency_figures *figures, struct error *error);

// The heaviest message cascades, by actor and message type: where one message had another sent, and so on, to the last
// or to where types repeat; heaviest by the time that lies in all such chains. At most CASCADES_MOST, *figures in the
// arena. Cost: some 500 ns a message, and that of each as a path.
bool latency_of_cascades(const struct actor_log *log, const struct window *window, double slice_ms, struct arena *arena,
                         struct latency_figures **figures, size_t *count, struct error *error);

#endif
