// SPDX-License-Identifier: GPL-3.0-or-later
// The critical path of a run: from what of the program ended last backwards, each time to what the thread did before,
// or, where it came later than that, to what it had to await: a spawn, a result, a release. Any of it taking less time,
// the run might end earlier; the rest has slack.
#ifndef REHYPE_REPORT_PAGE_CRITICAL_PATH_H
#define REHYPE_REPORT_PAGE_CRITICAL_PATH_H

#include "report/page/lanes.h"

// The innermost piece at each time of the path, in order of time. Errors: no memory. Cost: a walk over the run.
bool critical_path_visit(const struct lanes *lanes, lane_visitor *visit, void *context, struct error *error);

#endif
