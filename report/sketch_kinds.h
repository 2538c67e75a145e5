// SPDX-License-Identifier: GPL-3.0-or-later
// What each kind of change writes into its sketch (report/sketch_draft.h).
#ifndef REHYPE_REPORT_SKETCH_KINDS_H
#define REHYPE_REPORT_SKETCH_KINDS_H

#include "report/sketch_draft.h"

// sketch_tasks.c: of tasks of a site.
void sketch_inline(struct draft *draft);
void sketch_hoist_branch(struct draft *draft);
void sketch_merge(struct draft *draft);
void sketch_split(struct draft *draft);

void sketch_combinator(struct draft *draft); // sketch_stages.c

void sketch_resize_pool(struct draft *draft); // sketch_pools.c

// sketch_resources.c
void sketch_resize_resource(struct draft *draft);
void sketch_unlock(struct draft *draft);

// sketch_actors.c
void sketch_own_pool(struct draft *draft);
void sketch_merge_actors(struct draft *draft);
void sketch_split_actor(struct draft *draft);
void sketch_inline_message(struct draft *draft);

#endif
