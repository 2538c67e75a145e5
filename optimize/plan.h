// SPDX-License-Identifier: GPL-3.0-or-later
// Improvements and plans (SPEC sections 2 and 4): one optimisation at one site (and context), and compatible sets of
// them.
#ifndef REHYPE_OPTIMIZE_PLAN_H
#define REHYPE_OPTIMIZE_PLAN_H

#include "dag/edit.h"

enum improvement_kind { KIND_INLINE, KIND_COUNT };
extern const char *const improvement_kind_names[KIND_COUNT];

struct improvement {
    enum improvement_kind kind;
    const struct dag *dag; // whose site, context and tasks these are
    uint32_t site;         // index into dag->sites
    uint32_t context;      // index into dag->contexts, or DAG_NONE: all contexts
    bool shares_line;      // with another site: its name says the bytecode index
    const uint32_t *tasks; // that it changes; dag tasks, rising
    uint32_t task_count;
    const char *refusal; // why it can't be estimated (one of its tasks can't be changed), or NULL
};

struct plan {
    struct improvement *improvements;
    size_t count;
    const char *trace_path; // as a path that can be opened from here, or NULL
};

// Reads a plan file, resolving sites and contexts against the DAG. trace_path alone is found first by plan_trace_path.
// Errors are STATUS_BAD_INPUT (STATUS_FAILED when the file can't be opened) and say which improvement: unknown kind,
// unknown site (with the nearest names), ambiguous site, conflicting improvements (both by name), wrong JSON (byte
// offset).
bool plan_read(const char *path, const struct dag *dag, struct arena *arena, struct plan *plan, struct error *error);
bool plan_trace_path(const char *path, struct arena *arena, const char **trace_path, struct error *error);
// The site that "Class.method[:LINE][@BCI]" names: index into dag->sites. The arena holds what the message needs.
// Errors are STATUS_BAD_INPUT: no such site (with the nearest names), several of them (with theirs).
bool plan_find_site(const struct dag *dag, const char *name, struct arena *arena, uint32_t *site, struct error *error);
// What plan_read reads, made with mode 0600; the trace is named relative to the plan.
bool plan_write(const char *path, const char *trace_path, const struct plan *plan, struct error *error);

// Two improvements conflict when they ask something for one task (R Sec. 4.3): different things exclude each other, and
// the same twice is an oversight.
bool improvements_conflict(const struct improvement *a, const struct improvement *b);

// Applies to an edit. false and *error (STATUS_FAILED) when an improvement is refused.
bool plan_apply(const struct plan *plan, struct dag_edit *edit, struct error *error);

// Whether the DAG has a site on that line of that method other than the one of index `itself` (DAG_NONE: any).
bool improvement_shares_line(const struct dag *dag, const struct trace_site *site, uint32_t itself);

// Writes "inline AgeQuery.queryAge:41" with the context where there is one: "... in Main.main > Server.handle".
char *improvement_text(const struct improvement *improvement, char *text, size_t size);

#endif
