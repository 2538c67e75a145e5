// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences with numbers, said bit by bit into a text of fixed size. What has no room is left out.
#ifndef REHYPE_OPTIMIZE_SENTENCE_H
#define REHYPE_OPTIMIZE_SENTENCE_H

#include "dag/dag.h"

struct sentence {
    char *text;
    size_t size, used;
};

struct sentence sentence_begin(char *text, size_t size);
void say(struct sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_count(struct sentence *sentence, uint64_t count);                    // 12,345
void say_counted(struct sentence *sentence, uint64_t count, const char *one); // 1 task, 12,345 tasks
void say_duration(struct sentence *sentence, double ns);                      // 12.3 ms
void say_share(struct sentence *sentence, double share);                      // 0.123 -> 12.3 %
void say_site(struct sentence *sentence, const struct dag *dag, uint32_t site);
void say_pool(struct sentence *sentence, const struct dag *dag, uint32_t pool); // as in plans, or "pool 3"

#endif
