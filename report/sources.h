// SPDX-License-Identifier: GPL-3.0-or-later
// The program's sources: the lines around a place of a trace. Sources and trace are untrusted, and need not be of one
// version.
#ifndef REHYPE_REPORT_SOURCES_H
#define REHYPE_REPORT_SOURCES_H

#include "base/arena.h"
#include "base/error.h"
#include "tracefile/tables.h"

enum { EXCERPT_AROUND = 3, EXCERPT_LINES = 2 * EXCERPT_AROUND + 1 };

enum excerpt_status {
    EXCERPT_FOUND,
    EXCERPT_NO_PLACE, // class or line is not known
    EXCERPT_NO_FILE,
    EXCERPT_UNREADABLE, // too large, no text, or the system said no
    EXCERPT_PAST_END,   // the file has fewer lines
};

struct excerpt {
    enum excerpt_status status;
    const char *path;            // of the file, or where there is none what was looked for ("com/acme/Main.java")
    const char *why;             // of EXCERPT_UNREADABLE: "is no text"
    bool told;                   // of EXCERPT_NO_FILE: an earlier excerpt was of the same file
    uint32_t line;               // of the place
    uint32_t first, count, last; // lines that are here; the file's last
    const char *lines[EXCERPT_LINES];
};

struct sources {
    struct source_file *files; // .java, .scala and .kt
    size_t count, capacity;
    const char **missing; // what was looked for in vain
    size_t missing_count, missing_capacity;
    size_t entries; // of folders, looked at so far
    struct arena arena;
};

// Looks through the folders and all below them, but for hidden ones and symbolic links, for files of sources; of very
// large ones not through all (SOURCES_ENTRIES). Zero-initialised sources have none. Errors: a folder that can't be
// opened (of those given only), no memory; then all is released.
enum { SOURCES_ENTRIES = 500000, SOURCES_DEPTH = 40, SOURCE_BYTES = 4 << 20 };
bool sources_open(struct sources *sources, const char *const *folders, size_t count, struct error *error);
void sources_close(struct sources *sources);

// The lines around a place, from the file whose path ends with the class's package and the file's name as the class
// file has it, or else the outermost class's with .java, .scala or .kt; where Scala or Kotlin leave the package out of
// the path, the one file of that name. Of several the one of the first folder and with the shortest path. Lines are
// valid UTF-8 without control characters, with blanks for tabs, and cut at EXCERPT_COLUMNS; they live in the arena.
// false: no memory. Cost: a step a source file, and reading one.
enum { EXCERPT_COLUMNS = 120 };
bool sources_excerpt(struct sources *sources, const struct trace_site *site, struct arena *arena,
                     struct excerpt *excerpt);

#endif
