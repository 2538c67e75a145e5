// SPDX-License-Identifier: GPL-3.0-or-later
// Plans (SPEC section 4): compatible sets of improvements, and their files.
#ifndef REHYPE_OPTIMIZE_PLAN_H
#define REHYPE_OPTIMIZE_PLAN_H

#include "optimize/improvement.h"

struct plan {
    struct improvement *improvements;
    size_t count;
    const char *trace_path; // as a path that can be opened from here, or NULL
};

// Reads a plan file, resolving sites, contexts, paths and pools against the DAG. What is left out to be chosen leaves
// the improvement open. Stages are worked out from the DAG; what the file says of them is not read. trace_path alone is
// found first by plan_trace_path. Errors are STATUS_BAD_INPUT (STATUS_FAILED when the file can't be opened) and say
// which improvement: unknown kind, site or pool (with the nearest names), unknown path (with those of the site),
// ambiguous site or pool, a number out of its range, conflicting improvements (both by name), wrong JSON (byte offset).
bool plan_read(const char *path, const struct dag *dag, struct arena *arena, struct plan *plan, struct error *error);
// The same plan for another recording of the program, by the names that plan_read would read: its errors, less the
// path.
bool plan_for_other(const struct plan *plan, const struct dag *dag, struct arena *arena, struct plan *other,
                    struct error *error);
bool plan_trace_path(const char *path, struct arena *arena, const char **trace_path, struct error *error);
// The site that "Class.method[:LINE][@BCI]" names: index into dag->sites. The arena holds what the message needs.
// Errors are STATUS_BAD_INPUT: no such site (with the nearest names), several of them (with theirs).
bool plan_find_site(const struct dag *dag, const char *name, struct arena *arena, uint32_t *site, struct error *error);
// What plan_read reads, made with mode 0600; the trace is named relative to the plan.
bool plan_write(const char *path, const char *trace_path, const struct plan *plan, struct error *error);

// Gives every open improvement the path, factor or first stage under which `judge` finds the plan best, one after the
// other, the first tried without those that are still open; of factors the smallest that brings WORTH_SHARE of the best
// one's gain, of first stages the faster, on the spawner if that is as fast. judge tells how good a plan without open
// ones is, or its wall time: less is better, INFINITY where it can't be estimated (but still returns true). Errors:
// judge's; STATUS_FAILED where an improvement has nothing to choose from, or nothing that can be estimated. Without
// open improvements it does nothing.
#define WORTH_SHARE 0.95 // a factor or size is shown that brings so much of what the best one does
typedef bool plan_judge(void *context, const struct plan *plan, bool wall, double *value, struct error *error);
bool plan_resolve(struct plan *plan, plan_judge *judge, void *context, struct arena *arena, struct error *error);

// Applies to an edit, for an estimate by that model. false and *error (STATUS_FAILED) when an improvement is refused,
// or the model doesn't know its kind. None may be open.
bool plan_apply(const struct plan *plan, enum model_kind model, struct dag_edit *edit, struct error *error);

#endif
