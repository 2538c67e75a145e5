// SPDX-License-Identifier: GPL-3.0-or-later
// Random edits of a fixture's DAG, of the kinds asked for.
#ifndef REHYPE_TESTS_RANDOM_EDIT_H
#define REHYPE_TESTS_RANDOM_EDIT_H

#include "random_trace.h"
#include "simulate_fixture.h"

enum {
    EDIT_INLINE = 1,
    EDIT_MERGE = 2,
    EDIT_SPLIT = 4,
    EDIT_STAGE = 8,
    EDIT_RESIZE = 16,
    EDIT_RESOURCES = 32,
    EDIT_ALL = 63
};

// Instead of the fixture's edit.
void random_edit(struct simulate_fixture *fixture, struct random_source *source, unsigned kinds);

#endif
