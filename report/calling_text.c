// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/calling_text.h"

#include "dag/names.h"
#include "report/look.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_OF_A_KIND = 3, LINE_BYTES = 240, INDENT = 25 };

const char *const calling_kind_names[CALLING_KINDS] = {"created", "submitted", "executed"};

static bool is_folded(const char *class_name) {
    return dag_is_jdk_class(class_name) || strstr(class_name, "$$Lambda") != NULL;
}

// Without its package; of a hidden class, without what tells it from others.
static const char *simple_name(const char *class_name, int *length) {
    *length = (int)strcspn(class_name, "/+"); // Main$$Lambda.0x00007f3328001c00, Main$$Lambda/0x00007f3328001c00
    const char *hidden = strstr(class_name, "$$Lambda");
    if (hidden) *length = (int)(hidden - class_name) + (int)strlen("$$Lambda");
    const char *name = class_name + *length;
    while (name > class_name && name[-1] != '.') name--;
    *length -= (int)(name - class_name);
    return name;
}

static const char CUT[] = " ...";

// Text that grows up to `size`.
struct line {
    char *text;
    size_t size, used;
    bool full;
};

static bool ends_with(const struct line *line, const char *end) {
    size_t length = strlen(end);
    return line->used >= length && memcmp(line->text + line->used - length, end, length) == 0;
}

static void add(struct line *line, const char *text, int length) {
    if (line->full) return;
    line->full = line->used + (size_t)length + sizeof CUT > line->size;
    if (line->full) {
        line->used -= ends_with(line, " < ") ? 3 : ends_with(line, ", ") ? 2 : 0;
        text = CUT;
        length = ends_with(line, CUT) ? 0 : sizeof CUT - 1;
    }
    memcpy(line->text + line->used, text, (size_t)length);
    line->used += (size_t)length;
    line->text[line->used] = '\0';
}

// Whether `part` is one of the parts of the line so far, which " < " separates.
static bool has_part(const struct line *line, const char *part) {
    size_t length = strlen(part);
    for (const char *at = line->text; (at = strstr(at, part)); at++) {
        bool begins = at == line->text || (at >= line->text + 3 && strncmp(at - 3, " < ", 3) == 0);
        if (begins && (at[length] == '\0' || strncmp(at + length, " < ", 3) == 0)) return true;
    }
    return false;
}

static const struct trace_site *frame_of(const struct trace *trace, uint32_t context) {
    return &trace->frames[trace->calling_contexts[context].frame];
}

static bool same_class(const struct trace_site *a, const struct trace_site *b) {
    return a->class_name && b->class_name && strcmp(a->class_name, b->class_name) == 0;
}

// The classes of the JDK's frames from `context` on; returns the first context behind them.
static uint32_t make_folded(const struct trace *trace, uint32_t context, struct line *part) {
    const struct trace_site *before = NULL;
    for (; context; context = trace->calling_contexts[context].caller) {
        const struct trace_site *frame = frame_of(trace, context);
        if (!frame->class_name || !is_folded(frame->class_name)) break;
        if (before && same_class(before, frame)) continue;
        int length;
        const char *name = simple_name(frame->class_name, &length);
        add(part, before ? ", " : "[", before ? 2 : 1);
        add(part, name, length);
        before = frame;
    }
    add(part, "]", 1);
    return context;
}

static void make_frame(const struct trace_site *frame, struct line *part) {
    char line[16];
    int length;
    const char *name = simple_name(frame->class_name, &length), *method = frame->method ? frame->method : "?";
    add(part, name, length);
    add(part, ".", 1);
    add(part, method, (int)strlen(method));
    if (frame->line) add(part, line, snprintf(line, sizeof line, ":%" PRIu32, frame->line));
}

// Returns the context that comes next.
static uint32_t make_part(const struct trace *trace, uint32_t context, struct line *part) {
    const struct trace_site *frame = frame_of(trace, context);
    if (frame->class_name && is_folded(frame->class_name)) return make_folded(trace, context, part);
    if (frame->class_name)
        make_frame(frame, part);
    else
        add(part, "...", 3);
    return trace->calling_contexts[context].caller;
}

// What was there before, as in recursion, is one "..." however often it comes. A part that was cut still fits into an
// empty line.
const char *calling_text(const struct trace *trace, uint32_t context, char *text, size_t size) {
    struct line line = {.text = text, .size = size};
    bool recursing = false;
    *text = '\0';
    while (context && !line.full) {
        char part_text[LINE_BYTES];
        struct line part = {.text = part_text,
                            .size = (size < sizeof part_text ? size : sizeof part_text) - sizeof CUT};
        context = make_part(trace, context, &part);
        bool again = has_part(&line, part_text);
        if (again && recursing) continue;
        if (line.used) add(&line, " < ", 3);
        if (again)
            add(&line, "...", 3);
        else
            add(&line, part_text, (int)part.used);
        recursing = again;
    }
    return text;
}

struct shown {
    char text[LINE_BYTES];
    double share;
};

static int by_share(const void *a, const void *b) {
    const struct shown *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    return strcmp(x->text, y->text);
}

// Those of one kind, as they look; returns how many.
static size_t show(const struct trace *trace, const struct calling_site *site, enum calling_kind kind,
                   struct shown *shown) {
    size_t count = 0;
    for (size_t i = 0; i < site->context_count; i++) {
        if (site->contexts[i].kind != kind) continue;
        struct shown *next = &shown[count];
        calling_text(trace, site->contexts[i].context, next->text, sizeof next->text);
        next->share = site->contexts[i].share;
        size_t same = 0;
        while (strcmp(shown[same].text, next->text) != 0) same++;
        if (same < count)
            shown[same].share += next->share;
        else
            count++;
    }
    qsort(shown, count, sizeof *shown, by_share);
    return count;
}

static void write_kind(enum calling_kind kind, const struct shown *shown, size_t count, FILE *file, unsigned look) {
    for (size_t i = 0; i < count && i < SHOWN_OF_A_KIND; i++) {
        look_printf(file, look, INDENT, "    %-9s %7s  %s", i == 0 ? calling_kind_names[kind] : "",
                    text_percent(shown[i].share).s, shown[i].text);
    }
    if (count > SHOWN_OF_A_KIND)
        fprintf(file, "    %-9s %7s  and %s more\n", "", "", text_count(count - SHOWN_OF_A_KIND).s);
}

// Of tasks without a site: whether the JDK was seen to hand some of them over.
static bool was_submitted(const struct calling_site *site) {
    for (size_t i = 0; i < site->context_count; i++) {
        if (site->contexts[i].kind == CALLING_SUBMITTED) return true;
    }
    return false;
}

static void write_heading(const struct dag *dag, const struct calling_site *site, FILE *file, unsigned look) {
    char place[512];
    const char *class_name = site->task_class ? dag->trace->classes[site->task_class].name : NULL;
    const char *how = was_submitted(site) ? "handed over by the JDK alone: " : "not handed over: ";
    if (site->site != DAG_NONE) {
        how = "spawned in ";
        class_name = dag_site_text(dag, site->site, place, sizeof place);
    }
    look_printf(file, look, INDENT, "  %s%s, %s task%s", how, class_name ? class_name : "of an unknown class",
                text_count(site->tasks).s, site->tasks == 1 ? "" : "s");
}

bool calling_text_write(const struct dag *dag, const struct calling_contexts *found, size_t most, FILE *file,
                        unsigned look, struct error *error) {
    for (size_t s = 0; s < found->site_count && s < most; s++) {
        const struct calling_site *site = &found->sites[s];
        struct shown *shown = malloc((site->context_count + 1) * sizeof *shown);
        if (!shown) return error_set(error, STATUS_FAILED, "no memory for calling contexts");
        write_heading(dag, site, file, look);
        for (int kind = 0; kind < CALLING_KINDS; kind++) {
            size_t count = show(dag->trace, site, (enum calling_kind)kind, shown);
            write_kind((enum calling_kind)kind, shown, count, file, look);
        }
        free(shown);
    }
    if (found->site_count > most)
        fprintf(file, "  and %s more: --json lists them\n", text_count(found->site_count - most).s);
    return true;
}
