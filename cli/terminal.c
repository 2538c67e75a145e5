// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/terminal.h"

#include <langinfo.h>
#include <string.h>

bool terminal_utf8(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
