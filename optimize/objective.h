// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan is ranked by, and what it must meet (SPEC section 3).
#ifndef REHYPE_OPTIMIZE_OBJECTIVE_H
#define REHYPE_OPTIMIZE_OBJECTIVE_H

#include "metrics/metrics.h"

// One of these names, or an expression: metric names, numbers, + - * / ^ ( ), sqrt, log, min, max.
//   balanced, composite  SPEC section 2
//   wall                 wall ratio
//   threads              geometric mean of the ratios of occupied peak and mean
//   granularity          ratio of (1 + overhead share) / (1 - idle share)
//   utilisation          of actors; NAN until traces have any
//   throughput           1 / how many times as many requests fit into the pool (R Sec. 5: pool maximum / peak): the
//                        pool stays as it is, so the ratio of the occupied peaks
//   edits                number of improvements, among plans that gain by `balanced`
struct objective;
struct requirement; // NAME OP NUMBER[%], OP one of <= >= < > ==: 'wall<=0%' (change against base), 'occupied.peak<=8'

// Parsed into the arena. Errors: STATUS_USAGE with the position and the names that there are.
bool objective_parse(const char *text, struct arena *arena, const struct objective **objective, struct error *error);
bool requirement_parse(const char *text, struct arena *arena, const struct requirement **requirement,
                       struct error *error);

// Less is better. m and base: one a trace, at least one. Over several traces the geometric mean of ratios, which all
// named objectives but `edits` are, and the arithmetic mean of expressions; equal values have exactly that mean.
// `edits` is the number of improvements in the plan. NAN where a trace lacks what it asks for.
double objective_value(const struct objective *objective, const struct metrics *m, const struct metrics *base,
                       size_t traces, unsigned edits);

// How much m betters the base; a gain within the noise is no plan. For `edits`, by `balanced`.
double objective_gain(const struct objective *objective, const struct metrics *m, const struct metrics *base,
                      size_t traces);

// Whether that gain is by `balanced`.
bool objective_gains_by_balanced(const struct objective *objective);

// STATUS_USAGE when the trace of this base lacks what the objective asks for.
bool objective_check(const struct objective *objective, const struct metrics *base, struct error *error);

// What expressions can name, "wall", "occupied.peak", ..., numbered from 0; and its value, NAN where that is unknown.
// Only composite and balanced are against the base.
size_t quantity_count(void);
const char *quantity_name(size_t quantity);
double quantity_of(size_t quantity, const struct metrics *m, const struct metrics *base);

// Whether it names what only metrics_compute gives.
bool objective_needs_all(const struct objective *objective);
bool requirement_needs_all(const struct requirement *requirement);

// NULL when met, else the requirement's text. A change in per cent is that from `replayed` (optimize/estimator.h).
const char *requirement_failed(const struct requirement *requirement, const struct metrics *m,
                               const struct metrics *base, const struct metrics *replayed);

// R's filter: wall, occupied.peak and occupied.mean not above base by more than `noise` (a ratio); of a service the
// throughput not below it, wall not by more than a tenth above it, and the peak not above it by more than 2 % where
// noise is less. NULL or which failed.
const char *filter_failed(const struct metrics *m, const struct metrics *base, double noise);

#endif
