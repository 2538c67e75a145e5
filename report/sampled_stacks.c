// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sampled_stacks.h"

#include "metrics/moments.h"
#include "report/escape.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FRAMES_MOST = 4096 };

struct seen {
    uint32_t thread, context;
    uint64_t times;
};

static int compare(const void *a, const void *b) {
    const struct seen *left = a, *right = b;
    if (left->thread != right->thread) return left->thread < right->thread ? -1 : 1;
    return (left->context > right->context) - (left->context < right->context);
}

static const char *name_of(const struct trace *trace, uint32_t thread, char *text, size_t size) {
    const char *name = NULL;
    for (uint32_t s = 0; s < trace->stream_count && !name; s++)
        if (trace->streams[s].id == thread) name = trace->streams[s].thread.name;
    snprintf(text, size, "thread %" PRIu32, thread);
    return name && *name ? name : text;
}

static void write_frame(const struct trace *trace, uint32_t frame, FILE *file) {
    char text[1024];
    const struct trace_site *of = &trace->frames[frame];
    snprintf(text, sizeof text, "%s.%s", of->class_name ? of->class_name : "?", of->method ? of->method : "?");
    putc(';', file);
    escape_frame(file, frame ? text : "...");
}

// Of a deeper stack the outermost frames are left out.
static void write_stack(const struct trace *trace, const struct seen *seen, FILE *file) {
    char text[32];
    uint32_t frames[FRAMES_MOST], depth = 0;
    escape_frame(file, name_of(trace, seen->thread, text, sizeof text));
    for (uint32_t c = seen->context; c && depth < FRAMES_MOST; c = trace->calling_contexts[c].caller)
        frames[depth++] = trace->calling_contexts[c].frame;
    while (depth > 0) write_frame(trace, frames[--depth], file);
    fprintf(file, " %" PRIu64 "\n", seen->times);
}

bool sampled_stacks_write(const struct trace *trace, const struct window *window, FILE *file, struct error *error) {
    const struct trace_stacks *stacks = &trace->stacks;
    const struct moments moments = moments_within(stacks, window);
    struct seen *seen = malloc((stacks->run_count + 1) * sizeof *seen);
    size_t count = 0;
    if (!seen) return error_set(error, STATUS_FAILED, "no memory for the stacks");
    for (size_t i = 0; i < stacks->run_count; i++) {
        const struct moments of_run = moments_of_run(&moments, &stacks->runs[i]);
        if (of_run.first < of_run.end)
            seen[count++] = (struct seen){stacks->runs[i].thread, stacks->runs[i].context, of_run.end - of_run.first};
    }
    qsort(seen, count, sizeof *seen, compare);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && compare(&seen[i], &seen[i + 1]) == 0)
            seen[i + 1].times += seen[i].times;
        else
            write_stack(trace, &seen[i], file);
    }
    free(seen);
    return count > 0 || error_set(error, STATUS_BAD_INPUT, "%s has no sampled stacks there: record it with --sample HZ",
                                  trace->path);
}
