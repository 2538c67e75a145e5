// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/recorded.h"

#include "cli/output.h"
#include "cli/trace_summary.h"
#include "report/look.h"
#include "report/text.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Before

static bool check_folder(const char *path, struct error *error) {
    char folder[PATH_MAX];
    size_t length = (size_t)(strrchr(path, '/') - path);
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? (int)length : 1, path);
    if (access(folder, W_OK | X_OK) == 0) return true;
    return error_set(error, STATUS_FAILED, "no trace can be written into %s: %s", folder, strerror(errno));
}

// The path as a glob pattern: bytes that glob would read are escaped, %p and %n are any number, and, with `others`, a
// pid may stand before the extension.
static void write_pattern(const char *path, bool others, char *pattern, size_t size) {
    const char *name = strrchr(path, '/'), *dot = strrchr(name, '.');
    const char *pid_at = others ? dot ? dot : path + strlen(path) : NULL;
    FILE *out = fmemopen(pattern, size, "w");
    if (!out) return;
    for (const char *at = path;; at++) {
        if (at == pid_at) fputs(".[0-9]*", out);
        if (!*at) break;
        if (*at == '%' && at[1] && strchr("pnt", at[1])) {
            fputs(at[1] == 't' ? "[0-9]*-[0-9]*" : "[0-9]*", out);
            at++;
        } else {
            if (strchr("*?[\\", *at)) putc('\\', out);
            putc(*at, out);
        }
    }
    fclose(out);
}

// Of a recording of several files.
static void remove_parts(const char *path) {
    glob_t found = {0};
    char pattern[2 * PATH_MAX] = "";
    write_pattern(path, false, pattern, sizeof pattern);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (output_begins_like(found.gl_pathv[i], "trace")) unlink(found.gl_pathv[i]);
        }
    }
    globfree(&found);
}

bool recorded_make_way(const char *path, struct error *error) {
    struct stat old;
    if (!check_folder(path, error)) return false;
    if (strstr(path, "%n")) remove_parts(path);
    if (stat(path, &old) != 0) return true;
    if (!S_ISREG(old.st_mode) || (old.st_size > 0 && !output_begins_like(path, "trace"))) {
        return error_set(error, STATUS_FAILED,
                         "not overwriting %s: it is not a rehype trace; choose another file with -o", path);
    }
    if (unlink(path) == 0) return true;
    return error_set(error, STATUS_FAILED, "the old %s can't be removed: %s", path, strerror(errno));
}

// ---- After

static void write_headline(const struct trace *trace, FILE *file, unsigned look) {
    look_printf(file, look, 8, "rehype: %s: %s, %s events of %s threads, %s lost, clock %s%s", trace->path,
                text_bytes(trace->bytes).s, text_count(trace->event_count).s, text_count(trace->stream_count).s,
                trace->lost_events ? text_count(trace->lost_events).s : "none",
                trace->header.clock ? trace->header.clock : "-",
                trace->whole ? "" : "; CUT SHORT: the JVM was killed, its last events are missing");
    if (trace->stacks.moment_count > 0)
        look_printf(file, look, 8,
                    "rehype: stacks sampled at %s moments; `rehype coverage` says how much they have seen",
                    text_count(trace->stacks.moment_count).s);
}

static void summarise(const char *path, bool in_full, FILE *file, unsigned look) {
    struct error error = ERROR_INIT;
    char text[ERROR_MAX_CAUSES * ERROR_CAUSE_BYTES];
    struct trace *trace = trace_open(path, false, &error);
    if (trace) {
        write_headline(trace, file, look);
        if (in_full)
            trace_summary_write(trace, file, look, &error);
        else
            trace_summary_write_stop(trace, file, look);
    }
    if (error.status != STATUS_OK) fprintf(file, "rehype: %s\n", error_text(&error, text, sizeof text));
    trace_close(trace);
}

static void find(const char *path, glob_t *found) {
    *found = (glob_t){0};
    for (int others = 0; others < 2; others++) {
        char pattern[2 * PATH_MAX] = "";
        write_pattern(path, others == 1, pattern, sizeof pattern);
        glob(pattern, others ? GLOB_APPEND : 0, NULL, found);
    }
}

static bool is_since(const char *path, time_t start) {
    struct stat trace;
    return stat(path, &trace) == 0 && trace.st_mtime + 1 >= start;
}

size_t recorded_visit(const char *path, time_t start, recorded_visitor *visit, void *context) {
    glob_t found;
    size_t count = 0;
    find(path, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (is_since(found.gl_pathv[i], start)) visit(context, found.gl_pathv[i], count++);
    }
    globfree(&found);
    return count;
}

struct summary {
    bool in_full;
    FILE *file;
    unsigned look;
};

enum { SUMMARIES_MOST = 8 };

static void summarise_file(void *context, const char *path, size_t index) {
    const struct summary *summary = context;
    if (index < SUMMARIES_MOST) summarise(path, summary->in_full && index == 0, summary->file, summary->look);
}

void recorded_summarise(const char *path, time_t start, bool in_full, FILE *file, unsigned look) {
    struct summary summary = {in_full, file, look};
    const size_t count = recorded_visit(path, start, summarise_file, &summary);
    if (count > SUMMARIES_MOST) fprintf(file, "rehype: ... and %zu more files\n", count - SUMMARIES_MOST);
    if (count > 0) return;
    fprintf(file,
            "rehype: no trace was written to %s.\n"
            "Either the command started no JVM, or its environment was cleared on the way (JAVA_TOOL_OPTIONS),\n"
            "or the JVM could not load the tracer: then its own message is above.\n",
            path);
}
