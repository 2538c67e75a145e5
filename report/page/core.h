// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of `rehype report` computes by itself: a trace, its DAG, what a set of improvements makes of the run,
// and the lanes of both runs. The same code as the commands', compiled to WebAssembly for the page and natively for
// tests. One trace at a time, one thread. Numbers go out as arrays of doubles (64-bit integers mean nothing to
// JavaScript), texts end with a zero and are UTF-8. What a function returns by pointer is the core's, until its next
// call. Times are ns; those of lanes and profiles are from the run's beginning on, which is its first event of a thread
// that counts.
//
// An improvement goes in as the indices that it has in its DAG, since the page's trace gives the same DAG: `rehype
// report` writes them (report/page/document.h). Paths are the exception: a trace without its functions has others.
#ifndef REHYPE_REPORT_PAGE_CORE_H
#define REHYPE_REPORT_PAGE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_run { PAGE_RECORDED, PAGE_REPLAYED, PAGE_ESTIMATED, PAGE_RUNS };

// Memory for what comes in; freed with page_free, the trace's bytes by page_close.
void *page_alloc(size_t bytes);
void page_free(void *memory);

// Takes the bytes of a trace file, or of its columns (report/page/columns.h), from page_alloc, builds its DAG without
// the tracer's own cost, and measures the run as recorded and as replayed by that model (enum model_kind), in a window
// of recorded times as struct window has them (from_ns > to_ns: the whole run). Until then there are no runs;
// afterwards PAGE_ESTIMATED is as replayed. false, and page_message says why; the bytes are freed then. The model is
// the caller's choice: of those that the trace has the measurements for, one that comes to an end when nothing is
// changed. Traces of more than some 6,000,000 events of tasks are refused.
bool page_open(uint8_t *trace, size_t bytes, int model, double from_ns, double to_ns);
void page_close(void);
const char *page_message(void); // of what failed last, or was refused; "" for nothing

// ---- figures: those that objectives name (optimize/objective.h): "wall", "occupied.peak", ... NAN: unknown

uint32_t page_figure_count(void);
const char *page_figure_name(uint32_t figure);
double page_figure(enum page_run run, uint32_t figure); // composite and balanced are against the run as recorded
double page_replay_error(void);                         // share

// ---- the plan

enum page_outcome { PAGE_DONE, PAGE_STUCK, PAGE_REFUSED, PAGE_FAILED };

// What an improvement is, as optimize/improvement.h has it: DAG_NONE (UINT32_MAX) and 0 where its kind has no such.
enum { PAGE_WORDS = 11 }; // kind, site, context, path, factor, pool, threads, resource, capacity, first, alike

// Improvements that a plan may have, once for all; numbered from 0. `of` and `types` (one a line) are those of
// struct actor_change, "" where the kind has none. Returns its number, or -1 and page_message: it names nothing here.
int page_add_switch(const uint32_t words[PAGE_WORDS], const char *of, const char *types);
bool page_switches_conflict(uint32_t a, uint32_t b);

// The run with those improvements: figures of PAGE_ESTIMATED, and its lanes. PAGE_STUCK: it could not end, and
// page_message is the chain of sites; PAGE_REFUSED: of conflicting or refused improvements. After these PAGE_ESTIMATED
// is as replayed.
enum page_outcome page_estimate(const uint32_t *switches, uint32_t count);

// Of a plan that was stuck, until the next: whether a pool has no worker left, or else tasks wait for each other; and
// where the tasks of that chain ran as recorded, as records like page_lanes', in the chain's order, without those that
// never ran. Their number, which may be 0; page_lanes_data.
bool page_starves(void);
uint32_t page_stuck(void);

// ---- concurrency over time: mean number of threads in a state (enum thread_state; of virtual threads if `virtual`)
// in each of `bins` equal parts of [from_ns, to_ns) of that run

const double *page_profile(enum page_run run, uint32_t state, bool virtual_threads, double from_ns, double to_ns,
                           uint32_t bins);

// ---- lanes: what each thread was in, in [from_ns, to_ns), as `width` pixels show it (report/page/lanes.h)

double page_run_ns(enum page_run run); // length: the wall time of the whole run

// Lanes are numbered: threads come first, then rows of resources, then actors (report/page/laid_lanes.h). An actor is
// named by its path, a row by what it is of: "lock Bank.lock", "waits for lock Bank.lock".
uint32_t page_lane_count(enum page_run run); // of threads
uint32_t page_resource_lane_count(enum page_run run);
uint32_t page_actor_lane_count(enum page_run run);
const char *page_lane_name(enum page_run run, uint32_t lane);

// Records of LANE_FIELDS doubles: lane, begin ns, end ns, state (enum lane_state), span, depth (bodies that lie in each
// other). The span is the vertex that it begins at, half of one less of a sleep that no event tells of: a number that
// page_span takes, and that several records have, as a body's before and behind each of its waits; of what holds a
// resource the vertex at which its thread got it, and a quarter. -1: several,
// narrower than a pixel, drawn as their commonest state. Lane by lane, of a depth in order of time. width 0: nothing is
// gathered. Returns their number; page_lanes_data where they are.
enum { LANE_FIELDS = 6 };
uint32_t page_lanes(enum page_run run, double from_ns, double to_ns, uint32_t width, uint32_t first_lane,
                    uint32_t lanes);
const double *page_lanes_data(void);

// The innermost span at a time on a lane, -1: none.
double page_at(enum page_run run, uint32_t lane, double time_ns);

// What is known of a span, as JSON: {"vertex": it, "lane", "thread", "kind": "task"|"spawn"|"waiting"|"blocked"|"idle"|
// "held", "name", "site", "pool", "resource", "from_ns", "to_ns", "queued_ns": of a task from its spawn to its start,
// "computed_ns", "for": what was waited for in a sentence, "also": {"lane", "from_ns", "to_ns"} where it stands in the
// row of a resource or actor, or null, "arrows": [{"what": "spawned by"|"handed over in"|"spawns"|"result of"|"result
// for"|"unblocked by"|"unblocks"; between rows of resources "freed by"|"then held in"|"waited for in"|"frees it for",
// and of actors "sent by"|"sends"; "vertex": the span there, "lane", "here_lane", "time_ns", "here_ns": of its two
// ends}], "switches": [numbers of those that concern it: that change the task, or the one that is waited for, or the
// pool or resource]}. null where it is not known. At most 64 arrows of each way, in order of time, between threads and
// as many between rows; each leads to a span that has one back. "null": no span begins there.
const char *page_span(enum page_run run, double vertex);

// How long the wait at whose span's vertex the recorded run has one lasts when that switch alone is on; number -1: when
// none is. Less than 0: the run does not have it. NAN, and page_message: no such wait, or the run could not end.
double page_wait_alone(int number, double vertex);

// The critical path of a run: the chain of what of the program ended last, backwards: records like page_lanes' of what
// it ran through, in order of time, with what is narrower than a 4096th of the run gathered. page_lanes_data.
uint32_t page_critical_path(enum page_run run);

#endif
