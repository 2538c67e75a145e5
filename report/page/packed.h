// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes as a page carries them: gzip, then base64. A browser takes that apart without any library of ours.
#ifndef REHYPE_REPORT_PAGE_PACKED_H
#define REHYPE_REPORT_PAGE_PACKED_H

#include "base/error.h"

#include <stddef.h>

// The packed bytes as a text, which the caller frees with free(). NULL and *error: no memory. The same bytes give the
// same text. Cost: some 50 ns a byte.
char *packed_text(const void *bytes, size_t size, struct error *error);

// About how long that text will be, by a sample of the bytes where they are many; off by some per cent, 0 without
// memory. Cost: a tenth of packed_text's.
size_t packed_length(const void *bytes, size_t size);

#endif
