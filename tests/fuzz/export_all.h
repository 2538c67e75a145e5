// SPDX-License-Identifier: GPL-3.0-or-later
// What exports draw of any trace: spans nest, times rise and stay within the window, and each writer comes to
// its end.
#ifndef REHYPE_TESTS_EXPORT_ALL_H
#define REHYPE_TESTS_EXPORT_ALL_H

#include "report/chrome.h"
#include "report/collapsed.h"
#include "report/perfetto.h"
#include "report/site_graph.h"
#include "report/speedscope.h"
#include "tests/fuzz/replay.h"

enum { OPEN_MOST = 4096 };

struct seen_moments {
    const struct timeline *timeline;
    uint32_t thread, depth;
    int64_t time_ns;
    enum span_kind open[OPEN_MOST];
};

static void see_moment(void *context, const struct moment *moment) {
    struct seen_moments *seen = context;
    if (moment->thread != seen->thread) {
        must(seen->depth == 0);
        seen->thread = moment->thread;
        seen->time_ns = seen->timeline->from_ns;
    }
    must(moment->time_ns >= seen->time_ns && moment->time_ns <= seen->timeline->to_ns);
    seen->time_ns = moment->time_ns;
    if (moment->kind == MOMENT_BEGIN) {
        must(seen->depth < OPEN_MOST);
        seen->open[seen->depth++] = moment->span.kind;
    } else if (moment->kind == MOMENT_END) {
        must(seen->depth > 0 && seen->open[--seen->depth] == moment->span.kind);
    }
}

static void export_window(const struct dag *dag, const struct window *window) {
    struct error error = ERROR_INIT;
    struct timeline timeline;
    if (timeline_init(&timeline, dag, window, &error)) {
        struct seen_moments seen = {.timeline = &timeline, .thread = DAG_NONE};
        struct beside runs[2] = {{.timeline = &timeline}, {.timeline = &timeline}};
        FILE *file = fopen("/dev/null", "we");
        must(file && timeline_visit(&timeline, see_moment, &seen, &error) && seen.depth == 0);
        beside_number(runs, 2);
        must(perfetto_write(runs, 2, file, &error) && chrome_write(runs, 2, file, &error));
        must(speedscope_write(&timeline, file, &error) && collapsed_write(&timeline, file, &error));
        must(site_graph_write_dot(&timeline, file, &error));
        fclose(file);
    }
    timeline_destroy(&timeline);
}

static inline void export_all(const struct trace *trace) {
    struct error error = ERROR_INIT;
    struct dag *dag = dag_build(trace, &error);
    if (!dag) return; // replay_all looks into why
    const int64_t length_ns = dag->last_ns - dag->first_ns;
    export_window(dag, NULL);
    export_window(dag, &(struct window){dag->first_ns + length_ns / 3, dag->last_ns - length_ns / 3});
    dag_free(dag);
}

#endif
