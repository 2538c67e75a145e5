// SPDX-License-Identifier: Apache-2.0
// Writes the woven class: what nobody asked to change is copied verbatim, and so is a method that can't be changed.
#include "tracer/weave_internal.h"

struct output {
    struct weaver *weaver;
    const struct method_weave *weave;
    const struct code_place *place;
    struct code_map map;
    struct buffer bytes;
};

static void copy_range(struct output *output, uint32_t start, uint32_t end) {
    buffer_put(&output->bytes, output->weaver->layout.pool.bytes + start, end - start);
}

static const char *write_exceptions(struct output *output) {
    const struct method_weave *weave = output->weave;
    const struct code_map *map = &output->map;
    size_t start = output->bytes.length;
    copy_range(output, output->place->exceptions, output->place->attributes);
    if (output->bytes.failed) return OUT_OF_MEMORY;
    uint8_t *table = output->bytes.bytes + start;
    const char *why = exceptions_patch(weave, map, table);
    if (why || !weave->thrown) return why;
    if (get_u2(table) == LARGEST_U2) return "it has too many exception handlers";
    set_u2(table, (uint16_t)(get_u2(table) + 1));
    buffer_u2(&output->bytes, map->jump[weave->begin]);
    buffer_u2(&output->bytes, (uint16_t)map->end);
    buffer_u2(&output->bytes, (uint16_t)map->end);
    buffer_u2(&output->bytes, 0);
    return NULL;
}

typedef const char *patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body, size_t length);

static patch *patch_of(struct utf8 name) {
    if (utf8_is(name, "LineNumberTable")) return lines_patch;
    if (utf8_is(name, "LocalVariableTable") || utf8_is(name, "LocalVariableTypeTable")) return variables_patch;
    if (utf8_is(name, "RuntimeVisibleTypeAnnotations") || utf8_is(name, "RuntimeInvisibleTypeAnnotations")) {
        return annotations_patch;
    }
    return NULL;
}

// Writes a StackMapTable, from the reader's if there is one.
static const char *write_frames(struct output *output, uint16_t name, struct reader *reader) {
    buffer_u2(&output->bytes, name);
    size_t length_at = output->bytes.length;
    buffer_u4(&output->bytes, 0);
    const char *why = frames_write(output->weave, &output->map, reader, output->weaver->throwable, &output->bytes);
    if (why || output->bytes.failed) return why ? why : OUT_OF_MEMORY;
    set_u4(output->bytes.bytes + length_at, (uint32_t)(output->bytes.length - length_at - 4));
    return NULL;
}

static const char *write_code_attribute(struct output *output, const struct attribute *attribute) {
    const uint8_t *bytes = output->weaver->layout.pool.bytes;
    if (utf8_is(attribute->name, "StackMapTable")) {
        struct reader reader = {.bytes = bytes, .at = attribute->body, .end = attribute->end};
        return write_frames(output, get_u2(bytes + attribute->start), &reader);
    }
    size_t body = output->bytes.length + (attribute->body - attribute->start);
    copy_range(output, attribute->start, attribute->end);
    patch *move = patch_of(attribute->name);
    if (!move || output->bytes.failed) return output->bytes.failed ? OUT_OF_MEMORY : NULL;
    return move(output->weave, &output->map, output->bytes.bytes + body, attribute->end - attribute->body);
}

static const char *write_code_attributes(struct output *output) {
    const struct constant_pool *pool = &output->weaver->layout.pool;
    struct reader reader = {.bytes = pool->bytes, .at = output->place->attributes, .end = output->place->end};
    unsigned count = read_u2(&reader);
    bool more = output->weave->handler_frame && !output->weave->has_frames;
    if (count + more > LARGEST_U2) return "it has too many attributes";
    buffer_u2(&output->bytes, (uint16_t)(count + more));
    struct attribute attribute;
    for (; count > 0 && read_attribute(&reader, pool, &attribute); count--) {
        const char *why = write_code_attribute(output, &attribute);
        if (why) return why;
    }
    return more ? write_frames(output, output->weaver->frames_name, NULL) : NULL;
}

static const char *write_stack_sizes(struct output *output) {
    const struct method_weave *weave = output->weave;
    unsigned found = output->place->max_stack;
    if (weave->thrown && found == 0) found = 1; // the handler's snippets find the Throwable
    unsigned stack = found + weave->extra_stack;
    if (stack > LARGEST_U2) return "its stack would be too deep";
    buffer_u2(&output->bytes, (uint16_t)stack);
    enum { MAX_LOCALS_BEFORE_CODE = 6 };
    buffer_u2(&output->bytes, get_u2(weave->code - MAX_LOCALS_BEFORE_CODE));
    return NULL;
}

static const char *write_code(struct output *output) {
    const char *why = code_map_make(output->weave, &output->map);
    if (why) return why;
    copy_range(output, output->place->start, output->place->start + 2);
    size_t length_at = output->bytes.length;
    buffer_u4(&output->bytes, 0);
    if ((why = write_stack_sizes(output))) return why;
    buffer_u4(&output->bytes, output->map.end + output->map.handler_length);
    if ((why = code_write(output->weave, &output->map, &output->bytes))) return why;
    if ((why = write_exceptions(output))) return why;
    if ((why = write_code_attributes(output))) return why;
    if (output->bytes.failed) return OUT_OF_MEMORY;
    set_u4(output->bytes.bytes + length_at, (uint32_t)(output->bytes.length - length_at - 4));
    return NULL;
}

// A method that can't be woven is written as it was, and the reason kept in its record.
static void write_method(struct output *output, uint16_t method) {
    const struct method_place *place = &output->weaver->layout.places[method];
    struct method_weave *weave = output->weaver->weaves ? output->weaver->weaves[method] : NULL;
    size_t start = output->bytes.length;
    if (weave && weave->changed && !weave->why) {
        output->weave = weave;
        output->place = &place->code;
        copy_range(output, place->start, place->code.start);
        weave->why = write_code(output);
        if (!weave->why) {
            copy_range(output, place->code.end, place->end);
            return;
        }
        output->bytes.length = start;
    }
    copy_range(output, place->start, place->end);
}

static bool prepare_map(struct output *output) {
    struct weaver *weaver = output->weaver;
    uint32_t longest = 0;
    for (uint16_t i = 0; weaver->weaves && i < weaver->layout.file.method_count; i++) {
        if (weaver->weaves[i] && weaver->weaves[i]->code_length > longest) longest = weaver->weaves[i]->code_length;
    }
    output->map.jump = ARENA_NEW(&weaver->arena, uint16_t, longest + 1);
    output->map.moved = ARENA_NEW(&weaver->arena, uint16_t, longest + 1);
    return output->map.jump && output->map.moved;
}

static void write_class(struct output *output) {
    struct weaver *weaver = output->weaver;
    const struct class_layout *layout = &weaver->layout;
    struct buffer *out = &output->bytes;
    enum { POOL_COUNT = 8 };
    copy_range(output, 0, POOL_COUNT);
    buffer_u2(out, (uint16_t)(layout->pool.count + weaver->tail.count));
    copy_range(output, POOL_COUNT + 2, layout->pool.end);
    buffer_put(out, weaver->tail.bytes.bytes, weaver->tail.bytes.length);
    copy_range(output, layout->pool.end, layout->fields);
    buffer_u2(out, (uint16_t)(get_u2(layout->pool.bytes + layout->fields) + weaver->field_count));
    copy_range(output, layout->fields + 2, layout->methods);
    buffer_put(out, weaver->fields.bytes, weaver->fields.length);
    copy_range(output, layout->methods, layout->methods + 2);
    for (uint16_t i = 0; i < layout->file.method_count; i++) write_method(output, i);
}

// Counts what became of the methods and lists the skipped ones.
static bool list_outcome(struct weaver *weaver, unsigned *woven, size_t *skip_count) {
    uint16_t methods = weaver->weaves ? weaver->layout.file.method_count : 0;
    *woven = 0;
    *skip_count = 0;
    for (uint16_t i = 0; i < methods; i++) {
        const struct method_weave *weave = weaver->weaves[i];
        if (!weave) continue;
        *skip_count += weave->why != NULL;
        *woven += !weave->why && weave->changed;
    }
    weaver->skips = ARENA_NEW(&weaver->arena, struct weave_skip, *skip_count);
    if (!weaver->skips) return false;
    struct weave_skip *skip = weaver->skips;
    for (uint16_t i = 0; i < methods; i++) {
        const struct method_weave *weave = weaver->weaves[i];
        if (weave && weave->why) *skip++ = (struct weave_skip){.method = i, .why = weave->why};
    }
    return true;
}

bool weaver_finish(struct weaver *weaver, const uint8_t **bytes, size_t *length, unsigned *woven,
                   const struct weave_skip **skips, size_t *skip_count, struct error *error) {
    *bytes = NULL;
    *length = 0;
    if (weaver->tail.why) return error_set(error, STATUS_FAILED, "%s", weaver->tail.why);
    struct output output = {.weaver = weaver, .bytes.arena = &weaver->arena};
    uint32_t attributes = weaver->layout.attributes;
    bool asked = weaver->weaves || weaver->field_count;
    if (asked) {
        if (!prepare_map(&output)) return error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
        write_class(&output);
        copy_range(&output, attributes, weaver->layout.length);
    }
    if (output.bytes.failed || !list_outcome(weaver, woven, skip_count)) {
        return error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
    }
    *skips = weaver->skips;
    if (*woven > 0 || weaver->field_count > 0) {
        *bytes = output.bytes.bytes;
        *length = output.bytes.length;
    }
    return true;
}
