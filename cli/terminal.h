// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader's terminal can show, and what the reader asked it to.
#ifndef REHYPE_CLI_TERMINAL_H
#define REHYPE_CLI_TERMINAL_H

#include "report/look.h"

// --wide, of every command that prints tables.
extern bool terminal_wide;

#define TERMINAL_WIDE_OPTION                                                                                           \
    {                                                                                                                  \
        "--wide", 0, OPTION_FLAG, &terminal_wide, NULL,                                                                \
            "names in full, and lines as long as they need (else at most 100 characters)"                              \
    }

// Bits of report/look.h: the locale's encoding (setlocale must have been called), --wide, and colours where `file` is a
// terminal and NO_COLOR is not set.
unsigned terminal_look(FILE *file);

#endif
