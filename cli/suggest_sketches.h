// SPDX-License-Identifier: GPL-3.0-or-later
// What `rehype suggest --sketch` says of how changes are made.
#ifndef REHYPE_CLI_SUGGEST_SKETCHES_H
#define REHYPE_CLI_SUGGEST_SKETCHES_H

#include "optimize/search_result.h"
#include "report/sketch_text.h"

struct suggest_sketches {
    struct sketch_writer writer;
    const struct search_result *result;
    bool (*is_shown)(const struct search_result *result, size_t candidate); // in the table
};

// Of the changes in the best plan, and then of the others in the table, a sketch each; of those that differ from an
// earlier one in a number only, a line. What can't be estimated or would halt is no advice, and left out. Errors: no
// memory.
bool suggest_sketches_write(const struct suggest_sketches *sketches, struct error *error);

// "sketch" of each of the document's improvements. Errors: no memory.
bool suggest_sketches_add(const struct suggest_sketches *sketches, cJSON *document, struct error *error);

#endif
