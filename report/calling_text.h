// SPDX-License-Identifier: GPL-3.0-or-later
// Calling contexts as people read them: the program's frames, innermost first; those of the JDK, which tell how it came
// to that, and what the JDK makes of lambdas, are folded into the names of their classes.
#ifndef REHYPE_REPORT_CALLING_TEXT_H
#define REHYPE_REPORT_CALLING_TEXT_H

#include "metrics/calling_contexts.h"

#include <stdio.h>

extern const char *const calling_kind_names[CALLING_KINDS]; // created, submitted, executed

// "[ThreadPoolExecutor, AbstractExecutorService] < Main.submit:12 < Main.main:5"; cut to `size` (10 at least) with
// "..." at its end. Returns text.
const char *calling_text(const struct trace *trace, uint32_t context, char *text, size_t size);

// By site, at most `most` of them, and of each the contexts that most tasks come by; those that look the same are one.
bool calling_text_write(const struct dag *dag, const struct calling_contexts *found, size_t most, FILE *file,
                        unsigned look, struct error *error);

#endif
