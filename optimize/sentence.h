// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences with numbers, said bit by bit. What has no room is left out.
#ifndef REHYPE_OPTIMIZE_SENTENCE_H
#define REHYPE_OPTIMIZE_SENTENCE_H

#include "dag/dag.h"

struct sentence { // begins as zeros
    size_t used;
    char text[1024];
};

void say(struct sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What a sentence is made of, for the call that says it: say(&sentence, "%s of it", phrase_duration(ns).text).
struct phrase {
    char text[512];
};

struct phrase phrase_count(uint64_t count);                    // 12,345
struct phrase phrase_counted(uint64_t count, const char *one); // 1 task, 12,345 tasks
struct phrase phrase_duration(double ns);                      // 12.3 ms
struct phrase phrase_site(const struct dag *dag, uint32_t site);
struct phrase phrase_place(const struct dag *dag, uint32_t trace_site);
struct phrase phrase_method(const struct dag *dag, uint32_t method);
struct phrase phrase_pool(const struct dag *dag, uint32_t pool); // as in plans, or "pool 3"
struct phrase phrase_resource(const struct dag *dag, uint32_t resource, uint32_t trace_site); // as dag_resource_text

#endif
