// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader's terminal can show.
#ifndef REHYPE_CLI_TERMINAL_H
#define REHYPE_CLI_TERMINAL_H

#include <stdbool.h>

bool terminal_utf8(void); // the locale's encoding; setlocale must have been called

#endif
