// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_wide;

static bool has_colours(FILE *file) {
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM"); // no-color.org
    if (unwanted && *unwanted) return false;
    return isatty(fileno(file)) == 1 && terminal && strcmp(terminal, "dumb") != 0;
}

unsigned terminal_look(FILE *file) {
    unsigned look = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? LOOK_UTF8 : 0;
    if (terminal_wide) look |= LOOK_WIDE;
    if (has_colours(file)) look |= LOOK_COLOUR;
    return look;
}
