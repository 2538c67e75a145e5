// SPDX-License-Identifier: GPL-3.0-or-later
// Commands and their options, as tables from which the arguments are parsed and --help is written.
#ifndef REHYPE_CLI_OPTIONS_H
#define REHYPE_CLI_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_LIST };

// What an option that may be repeated collects. The items are the program's own arguments.
struct text_list {
    const char **items;
    size_t count;
};

struct option_spec {
    const char *name; // "--output"; NULL ends a table
    char letter;      // 'o', or 0
    enum option_type type;
    void *target;         // bool, const char *, uint64_t or struct text_list of the command's own options
    const char *argument; // "FILE"; NULL for a flag
    const char *help;
};

struct operands {
    char **items;
    size_t count;
};

struct command {
    const char *name;
    const char *summary; // one line, no full stop
    const char *usage;   // after the name: "TRACE [--json]"
    const char *about;   // a paragraph or more
    const char *example; // lines, each indented by two spaces
    const struct option_spec *options;
    size_t operands_least, operands_most;
    bool passes_on; // options end at the first operand, which begins somebody else's command line
    // Returns the exit status; on failure *error is set, and the status is its.
    int (*run)(const struct operands *operands, struct error *error);
};

// Parses argv[1..] (argv[0] is the command's name) into the targets. Errors are STATUS_USAGE and name what was meant.
bool options_parse(const struct command *command, int argc, char **argv, struct operands *operands,
                   struct error *error);

// Whether --help or -h stands among the command's own arguments.
bool options_ask_help(const struct command *command, int argc, char **argv);
void options_write_help(const struct command *command, FILE *file);

// The name that is closest to `text` of those that `next` gives (NULL after the last), or NULL if none is close.
const char *nearest_name(const char *text, const char *(*next)(const void *names, size_t index), const void *names);

#endif
