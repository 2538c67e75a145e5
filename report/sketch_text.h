// SPDX-License-Identifier: GPL-3.0-or-later
// Sketches (report/sketch.h) as text and as JSON, with the real lines where there are sources.
#ifndef REHYPE_REPORT_SKETCH_TEXT_H
#define REHYPE_REPORT_SKETCH_TEXT_H

#include "report/look.h"
#include "report/sketch.h"
#include "report/sources.h"

#include <cjson/cJSON.h>
#include <stdio.h>

struct sketch_writer {
    FILE *file;              // of text
    unsigned look;           // report/look.h; code stays as it is, however long its lines
    struct sources *sources; // NULL: no real lines
    struct arena *arena;     // scratch, which grows with each sketch
};

// "3  inline Main.run:12", the real lines, what is and what would be, and what to watch for. `behind` stands behind the
// name. Errors: no memory.
bool sketch_write(const struct sketch_writer *writer, size_t number, const struct improvement *improvement,
                  const char *behind, struct error *error);

// One line, that it is as the one of that number but for a number of its own.
void sketch_write_alike(const struct sketch_writer *writer, size_t number, const struct improvement *improvement,
                        size_t like);

// {"before", "after", "watch"}, with sources also "source", which is null where no line is found. NULL: no memory.
cJSON *sketch_json(const struct sketch_writer *writer, const struct improvement *improvement);

#endif
