// SPDX-License-Identifier: GPL-3.0-or-later
// Names as plans have them: of sites, methods, paths, resources and pools. They are written into the caller's `text`,
// cut off where that is too small.
#ifndef REHYPE_OPTIMIZE_PLAN_NAMES_H
#define REHYPE_OPTIMIZE_PLAN_NAMES_H

#include "dag/dag.h"

// Whether the DAG has a site on that line of that method other than the one of index `itself` (DAG_NONE: any).
bool site_shares_line(const struct dag *dag, const struct trace_site *site, uint32_t itself);

// All return text. Sites and paths are indices of the DAG.
char *site_plan_text(const struct dag *dag, uint32_t site, bool with_bci, char *text, size_t size);
char *site_own_text(const struct dag *dag, uint32_t site, char *text, size_t size); // with_bci where it needs to be
char *method_plan_text(const struct dag *dag, uint32_t method, char *text, size_t size); // trace method id
char *path_plan_text(const struct dag *dag, uint32_t path, char *text, size_t size);
// "HikariPool-1", "Cache.lock", the class where it has no name; with "@7", its id in the trace, where several have
// that.
char *resource_plan_text(const struct dag *dag, uint32_t resource, char *text, size_t size);
// Whether `wanted` names it: as above, by its name (of a field also without its class) or class alone, or as the site
// at which it is acquired.
bool resource_is_named(const struct dag *dag, uint32_t resource, const char *wanted);
// Whether both are one, of a recording and of a part of it: by name and id.
bool resource_is_same(const struct dag *a, uint32_t here, const struct dag *b, uint32_t there);
// "pool-1", or "pool-1@3" where that is the name of several pools: 3 is its id in the trace.
char *pool_plan_text(const struct dag *dag, uint32_t pool, char *text, size_t size);

#endif
