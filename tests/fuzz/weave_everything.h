// SPDX-License-Identifier: GPL-3.0-or-later
// Asks of the weaver what can be asked of a class, for tests on corrupt input: everything, or what the class's own
// byte at WAYS_AT says, which no class file of today uses (the high byte of its minor version).
#ifndef REHYPE_TESTS_WEAVE_EVERYTHING_H
#define REHYPE_TESTS_WEAVE_EVERYTHING_H

#include "tracer/weave.h"

#include <stdio.h>

enum { WAYS_AT = 4, EVERY_BCI_MOST = 256, GROWTHS_MOST = 2, GROWTH_PUSHES = 4500 };

enum weave_ways {
    WAYS_NO_ENTRY = 1,
    WAYS_NO_RETURNS = 2,
    WAYS_NO_CATCH = 4,
    WAYS_NO_FIELD = 8,
    WAYS_NOT_AFTER = 16,
    WAYS_NOT_BEFORE = 32,
    WAYS_EVERY_BCI = 64, // of short methods: before and after whatever stands there
    WAYS_GROW = 0xf8,    // beyond what 16-bit branches reach: all of these bits, since it takes its time
};

#define GROWTH_PUSH "int 999; pop;"

static inline const char *growth(void) {
    static char text[GROWTH_PUSHES * (sizeof GROWTH_PUSH - 1) + 1];
    if (*text) return text;
    for (size_t i = 0; i < GROWTH_PUSHES; i++)
        __builtin_memcpy(text + i * (sizeof GROWTH_PUSH - 1), GROWTH_PUSH, sizeof GROWTH_PUSH);
    text[sizeof text - 2] = '\0'; // a snippet ends without the ';'
    return text;
}

static inline void insert_around(struct weaver *weaver, uint16_t method, uint32_t bci, unsigned ways) {
    struct error error = ERROR_INIT;
    if (!(ways & WAYS_NOT_BEFORE)) {
        weaver_insert(weaver, method, INSERT_BEFORE_BCI, bci, "int 9; call site (I)V", &error);
    }
    if (!(ways & WAYS_NOT_AFTER)) {
        weaver_insert(weaver, method, INSERT_AFTER_BCI, bci, "int 99999; call site (I)V", &error);
    }
}

static inline void insert_at_monitors(struct weaver *weaver, uint16_t method) {
    enum { ACC_STATIC = 8 };
    struct error error = ERROR_INIT;
    char snippet[64];
    const struct monitor_site *monitors;
    size_t count = weaver_monitors(weaver, method, &monitors);
    for (size_t i = 0; i < count; i++) {
        weaver_receiver(weaver, method, monitors[i].bci, (struct utf8){"", 0});
        snprintf(snippet, sizeof snippet, "aload %d; call monitor (Ljava/lang/Object;)V", monitors[i].local);
        if (monitors[i].exits)
            weaver_insert(weaver, method, INSERT_BEFORE_BCI, monitors[i].bci, "dup; call monitor (Ljava/lang/Object;)V",
                          &error);
        else if (monitors[i].local >= 0)
            weaver_insert(weaver, method, INSERT_AFTER_BCI, monitors[i].bci, snippet, &error);
    }
    if (!(weaver_class(weaver)->methods[method].access & ACC_STATIC) && weaver_keeps_receiver(weaver, method))
        weaver_insert(weaver, method, INSERT_BEFORE_RETURN, 0, "aload 0; pop", &error);
}

static inline void insert_everything(struct weaver *weaver, uint16_t method, unsigned ways) {
    struct error error = ERROR_INIT;
    const struct call_site *sites;
    size_t count = weaver_call_sites(weaver, method, &sites);
    if (!(ways & WAYS_NOT_BEFORE) && !weaver_is_intrinsic(weaver, method)) {
        weaver_count_blocks(weaver, method, "count", &error);
    }
    for (size_t i = 0; i < count; i++) {
        weaver_receiver(weaver, method, sites[i].bci, sites[i].descriptor);
        insert_around(weaver, method, sites[i].bci, ways);
    }
    if (!(ways & WAYS_NOT_AFTER) && weaver_class(weaver)->methods[method].code_length > 0)
        insert_at_monitors(weaver, method);
    uint32_t length = weaver_class(weaver)->methods[method].code_length;
    for (uint32_t bci = 0; ways & WAYS_EVERY_BCI && bci < length && bci < EVERY_BCI_MOST; bci++) {
        insert_around(weaver, method, bci, ways);
    }
    for (size_t i = 0; (ways & WAYS_GROW) == WAYS_GROW && i < count && i < GROWTHS_MOST; i++) {
        weaver_insert(weaver, method, INSERT_BEFORE_BCI, sites[i].bci, growth(), &error);
    }
    if (!(ways & WAYS_NO_ENTRY)) weaver_insert(weaver, method, INSERT_ENTRY, 0, "int 7; call enter (I)V", &error);
    if (!(ways & WAYS_NO_RETURNS)) {
        weaver_insert(weaver, method, INSERT_BEFORE_RETURN, 0, "int 7; call exit (I)V", &error);
    }
    if (!(ways & WAYS_NO_CATCH)) {
        weaver_catch_all(weaver, method, "dup; int 7; call exitThrew (Ljava/lang/Object;I)V", &error);
    }
}

static inline uint32_t any_kind(struct utf8 name, struct utf8 descriptor, bool dynamic) {
    return utf8_is(name, "run") || utf8_is(descriptor, "()V") || dynamic;
}

// NULL if the bytes are no class. *woven is NULL if nothing could be woven, else it lives as long as the weaver
// returned.
static inline struct weaver *weave_everything(const uint8_t *bytes, size_t length, const uint8_t **woven,
                                              size_t *woven_length) {
    struct error error = ERROR_INIT;
    *woven = NULL;
    struct weaver *weaver = weaver_open(bytes, length, &error);
    if (!weaver) return NULL;
    const uint16_t methods = weaver_class(weaver)->method_count;
    const unsigned ways = bytes[WAYS_AT];
    weaver_refers_to(weaver, any_kind);
    for (uint16_t i = 0; i < methods; i++) insert_everything(weaver, i, ways);
    if (!(ways & WAYS_NO_FIELD)) weaver_add_field(weaver, "added", "J", 0x1080, &error);
    const struct weave_skip *skips;
    size_t skip_count;
    unsigned count;
    weaver_finish(weaver, woven, woven_length, &count, &skips, &skip_count, &error);
    return weaver;
}

#endif
