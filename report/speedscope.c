// SPDX-License-Identifier: GPL-3.0-or-later
// Frames are numbered as they come, and listed behind the profiles.
#include "report/speedscope.h"

#include "report/beside.h"
#include "report/escape.h"
#include "report/interned.h"

#include <inttypes.h>
#include <stdlib.h>

struct speedscope {
    FILE *file;
    const struct timeline *timeline;
    struct interned frames;
    struct span_place *places; // a frame each, as far as there is room
    uint32_t place_capacity;
    uint32_t *open; // frames that are open on the thread
    uint32_t depth, open_capacity;
    uint32_t thread; // whose profile is being written; DAG_NONE: none
    bool any_event, no_memory;
};

static bool make_room(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    void **items = array;
    if (count < *capacity) return true;
    const uint32_t larger = 2 * *capacity + 64;
    void *moved = realloc(*items, larger * size);
    if (!moved) return false;
    *items = moved;
    *capacity = larger;
    return true;
}

// What it is named decides which frame it is; the place is that of the first.
static uint32_t frame_of(struct speedscope *scope, const struct span *span) {
    char text[SPAN_NAME_BYTES];
    const uint32_t known = scope->frames.count;
    const uint32_t number = interned_number(&scope->frames, span_name(scope->timeline->dag, span, text, sizeof text));
    scope->no_memory |=
        number == 0 || !make_room(&scope->places, scope->frames.count, &scope->place_capacity, sizeof *scope->places);
    if (scope->no_memory) return 0;
    if (scope->frames.count > known) scope->places[number - 1] = span_place(scope->timeline->dag, span);
    return number - 1;
}

static void begin_profile(struct speedscope *scope, uint32_t thread) {
    char name[SPAN_NAME_BYTES];
    fputs(scope->thread == DAG_NONE ? "\n{\"type\":\"evented\",\"name\":" : "]},\n{\"type\":\"evented\",\"name\":",
          scope->file);
    escape_json(scope->file, timeline_thread_name(scope->timeline, thread, name, sizeof name));
    fprintf(scope->file, ",\"unit\":\"nanoseconds\",\"startValue\":%" PRId64 ",\"endValue\":%" PRId64 ",\"events\":[",
            scope->timeline->from_ns, scope->timeline->to_ns);
    scope->thread = thread;
    scope->any_event = false;
}

static void write_event(struct speedscope *scope, char type, int64_t time_ns, uint32_t frame) {
    fprintf(scope->file, "%s{\"type\":\"%c\",\"at\":%" PRId64 ",\"frame\":%" PRIu32 "}",
            scope->any_event ? ",\n" : "\n", type, time_ns, frame);
    scope->any_event = true;
}

static void write_moment(void *context, const struct moment *moment) {
    struct speedscope *scope = context;
    if (moment->kind == MOMENT_MARK || scope->no_memory) return;
    if (scope->thread != moment->thread) begin_profile(scope, moment->thread);
    if (moment->kind == MOMENT_END) {
        write_event(scope, 'C', moment->time_ns, scope->open[--scope->depth]);
        return;
    }
    const uint32_t frame = frame_of(scope, &moment->span);
    scope->no_memory |= !make_room(&scope->open, scope->depth, &scope->open_capacity, sizeof *scope->open);
    if (scope->no_memory) return;
    scope->open[scope->depth++] = frame;
    write_event(scope, 'O', moment->time_ns, frame);
}

static void write_frames(struct speedscope *scope) {
    fputs("],\n\"shared\":{\"frames\":[", scope->file);
    for (uint32_t i = 0; i < scope->frames.count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", scope->file);
        escape_json(scope->file, scope->frames.texts[i]);
        if (scope->places[i].file) {
            fputs(",\"file\":", scope->file);
            escape_json(scope->file, scope->places[i].file);
        }
        if (scope->places[i].line) fprintf(scope->file, ",\"line\":%" PRIu32, scope->places[i].line);
        putc('}', scope->file);
    }
    fputs("\n]}}\n", scope->file);
}

static void write_head(struct speedscope *scope) {
    char command[SPAN_NAME_BYTES];
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"rehype\",\"name\":",
          scope->file);
    escape_json(scope->file, beside_command(scope->timeline->dag->trace, command, sizeof command));
    fputs(",\n\"profiles\":[", scope->file);
}

bool speedscope_write(const struct timeline *timeline, FILE *file, struct error *error) {
    struct speedscope scope = {.file = file, .timeline = timeline, .thread = DAG_NONE};
    write_head(&scope);
    bool ok = timeline_visit(timeline, write_moment, &scope, error);
    if (ok && scope.no_memory) ok = error_set(error, STATUS_FAILED, "no memory for the names of frames");
    if (scope.thread != DAG_NONE) fputs("]}", file);
    if (ok) write_frames(&scope);
    interned_destroy(&scope.frames);
    free(scope.places);
    free(scope.open);
    return ok;
}
