// SPDX-License-Identifier: GPL-3.0-or-later
// Run as: weave_fuzz CORPUS, starting with tests/fuzz/weave_corpus. What the weaver made must be a class to it again.
#include "tests/fuzz/weave_everything.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const uint8_t *woven, *again;
    size_t woven_length, again_length;
    struct weaver *weaver = weave_everything(bytes, length, &woven, &woven_length);
    if (woven) {
        struct weaver *second = weave_everything(woven, woven_length, &again, &again_length);
        if (!second) abort();
        weaver_close(second);
    }
    weaver_close(weaver);
    return 0;
}
