// SPDX-License-Identifier: GPL-3.0-or-later
// Asks everything of the weaver that can be asked of a class, for tests on corrupt input.
#ifndef REHYPE_TESTS_WEAVE_EVERYTHING_H
#define REHYPE_TESTS_WEAVE_EVERYTHING_H

#include "tracer/weave.h"

static inline void insert_everything(struct weaver *weaver, uint16_t method) {
    struct error error = ERROR_INIT;
    const struct call_site *sites;
    size_t count = weaver_call_sites(weaver, method, &sites);
    for (size_t i = 0; i < count; i++) {
        weaver_insert(weaver, method, INSERT_BEFORE_BCI, sites[i].bci, "int 9; call site (I)V", &error);
        weaver_insert(weaver, method, INSERT_AFTER_BCI, sites[i].bci, "int 99999; call site (I)V", &error);
    }
    weaver_insert(weaver, method, INSERT_ENTRY, 0, "int 7; call enter (I)V", &error);
    weaver_insert(weaver, method, INSERT_BEFORE_RETURN, 0, "int 7; call exit (I)V", &error);
    weaver_catch_all(weaver, method, "dup; int 7; call exitThrew (Ljava/lang/Object;I)V", &error);
}

// NULL if the bytes are no class. *woven is NULL if nothing could be woven, else it lives as long as the weaver
// returned.
static inline struct weaver *weave_everything(const uint8_t *bytes, size_t length, const uint8_t **woven,
                                              size_t *woven_length) {
    struct error error = ERROR_INIT;
    *woven = NULL;
    struct weaver *weaver = weaver_open(bytes, length, &error);
    if (!weaver) return NULL;
    uint16_t methods = weaver_class(weaver)->method_count;
    weaver_refers_to(weaver, "run", "()");
    for (uint16_t i = 0; i < methods; i++) insert_everything(weaver, i);
    weaver_add_field(weaver, "added", "J", 0x1080, &error);
    const struct weave_skip *skips;
    const struct bci_shift *shifts;
    size_t skip_count;
    unsigned count;
    weaver_finish(weaver, woven, woven_length, &count, &skips, &skip_count, &error);
    for (uint16_t i = 0; i < methods; i++) weaver_shifts(weaver, i, &shifts);
    return weaver;
}

#endif
