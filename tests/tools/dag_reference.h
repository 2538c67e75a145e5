// SPDX-License-Identifier: GPL-3.0-or-later
// The meaning of an edit, slowly and plainly: edges are rewritten one by one as R Eq. 1 and 2 say (read as
// dag/edit/edit.h does), then times are computed over and over until nothing changes. Shares no code with dag/.
#ifndef REHYPE_TESTS_DAG_REFERENCE_H
#define REHYPE_TESTS_DAG_REFERENCE_H

#include "dag/propagate/propagate.h"

// Fills time_ns (a vertex each; DAG_ABSENT where removed). false when some vertices can never have a time. `sinks`:
// helped bodies whose wait is for what is inlined are moved to where they are needed.
bool reference_propagate(const struct dag *dag, const struct dag_edit *edit, bool sinks, int64_t *time_ns);

#endif
