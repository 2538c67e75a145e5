// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a class. What the weaver makes of it must be a class to it again, with the calls that the
// class had, in their order, each where the shifts lead back from. Seeds: tests/fuzz/weave_corpus.
#include "tests/fuzz/weave_everything.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static __attribute__((noinline)) void must(bool good) {
    if (!good) abort();
}

static bool same(struct utf8 one, struct utf8 other) {
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

static bool is_same_call(const struct call_site *was, const struct call_site *is, uint32_t bci) {
    return was->bci == bci && was->opcode == is->opcode && same(was->owner, is->owner) && same(was->name, is->name) &&
           same(was->descriptor, is->descriptor);
}

static uint32_t bci_before(const struct bci_shift *shifts, size_t count, uint32_t bci) {
    uint32_t subtract = 0;
    for (size_t i = 0; i < count && shifts[i].from <= bci; i++) {
        must(i == 0 || shifts[i].from > shifts[i - 1].from);
        subtract = shifts[i].subtract;
    }
    return bci - subtract;
}

// The woven class may have calls beside those: where a reference led beyond the end of the pool, there is something
// now.
static void compare_calls(struct weaver *weaver, struct weaver *woven, uint16_t method) {
    const struct call_site *was, *is;
    const struct bci_shift *shifts;
    const size_t was_count = weaver_call_sites(weaver, method, &was), is_count = weaver_call_sites(woven, method, &is),
                 shift_count = weaver_shifts(weaver, method, &shifts);
    size_t k = 0;
    for (size_t i = 0; i < was_count; i++, k++) {
        while (k < is_count && !is_same_call(&was[i], &is[k], bci_before(shifts, shift_count, is[k].bci))) k++;
        must(k < is_count);
    }
}

static void weave_again(struct weaver *woven) {
    struct error error = ERROR_INIT;
    const uint8_t *bytes;
    const struct weave_skip *skips;
    size_t length, skip_count;
    unsigned count;
    weaver_helper(woven, "p/Other");
    for (uint16_t i = 0; i < weaver_class(woven)->method_count; i++) {
        weaver_insert(woven, i, INSERT_ENTRY, 0, "int 7; call enter (I)V", &error);
        weaver_insert(woven, i, INSERT_BEFORE_RETURN, 0, "int 7; call exit (I)V", &error);
    }
    if (!weaver_finish(woven, &bytes, &length, &count, &skips, &skip_count, &error) || !bytes) return;
    struct weaver *twice = weaver_open(bytes, length, &error);
    must(twice != NULL);
    weaver_close(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct error error = ERROR_INIT;
    const uint8_t *woven_bytes;
    size_t woven_length;
    struct weaver *weaver = weave_everything(bytes, length, &woven_bytes, &woven_length);
    if (woven_bytes) {
        struct weaver *woven = weaver_open(woven_bytes, woven_length, &error);
        must(woven && weaver_class(woven)->method_count == weaver_class(weaver)->method_count);
        for (uint16_t i = 0; i < weaver_class(woven)->method_count; i++) compare_calls(weaver, woven, i);
        weave_again(woven);
        weaver_close(woven);
    }
    weaver_close(weaver);
    return 0;
}
