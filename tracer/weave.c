// SPDX-License-Identifier: Apache-2.0
#include "tracer/weave_internal.h"

#include <string.h>

enum { FIRST_FRAMES_MAJOR = 50, FRAMES_ONLY_MAJOR = 51 };

struct weaver *weaver_open(const uint8_t *bytes, size_t length, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct weaver *weaver = ARENA_NEW(&arena, struct weaver, 1);
    struct reader reader = {.bytes = bytes, .end = length};
    if (!weaver || !classfile_parse(&reader, &arena, &weaver->layout)) {
        if (reader.why) {
            error_set_at(error, reader.bad_at, "the class file %s", reader.why);
        } else {
            error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
        }
        arena_destroy(&arena);
        return NULL;
    }
    weaver->arena = arena;
    weaver->tail = (struct pool_tail){.bytes.arena = &weaver->arena, .first = weaver->layout.pool.count};
    weaver->fields.arena = &weaver->arena;
    weaver->helper = "java/lang/Rehype";
    return weaver;
}

void weaver_close(struct weaver *weaver) {
    if (!weaver) return;
    struct arena arena = weaver->arena; // the weaver itself lies in it
    arena_destroy(&arena);
}

bool weaver_has_field(const struct weaver *weaver, const char *name, const char *descriptor) {
    return classfile_has_field(&weaver->layout, name, descriptor);
}

const struct class_file *weaver_class(const struct weaver *weaver) {
    return &weaver->layout.file;
}

void weaver_helper(struct weaver *weaver, const char *class_name) {
    weaver->helper = arena_string(&weaver->arena, class_name, strlen(class_name));
    if (!weaver->helper) weaver->tail.why = OUT_OF_MEMORY;
}

uint32_t weaver_refers_to(const struct weaver *weaver, weaver_kind *kind) {
    const struct constant_pool *pool = &weaver->layout.pool;
    uint32_t bits = 0;
    for (uint32_t index = 1; index < pool->count; index++) {
        const uint8_t *constant = pool->bytes + pool->offsets[index];
        if (pool->offsets[index] == 0) continue;
        bool dynamic = *constant == CONSTANT_INVOKE_DYNAMIC;
        if (!dynamic && *constant != CONSTANT_METHODREF && *constant != CONSTANT_INTERFACE_METHODREF) continue;
        struct utf8 name, descriptor;
        if (pool_name_and_type(pool, get_u2(constant + 3), &name, &descriptor)) bits |= kind(name, descriptor, dynamic);
    }
    return bits;
}

// Annotations

static bool is_candidate(struct utf8 annotation) {
    return utf8_is(annotation, "Ljdk/internal/vm/annotation/IntrinsicCandidate;") ||
           utf8_is(annotation, "Ljdk/internal/HotSpotIntrinsicCandidate;"); // before JDK 16
}

static bool any_candidate(struct reader *reader, const struct constant_pool *pool) {
    for (unsigned left = read_u2(reader); left > 0 && !reader->why; left--) {
        struct utf8 type;
        if (!reader_has(reader, 2)) return false;
        if (pool_utf8(pool, get_u2(reader->bytes + reader->at), &type) && is_candidate(type)) return true;
        if (!annotation_skip(reader)) return false;
    }
    return false;
}

bool weaver_is_intrinsic(const struct weaver *weaver, uint16_t method) {
    const struct class_layout *layout = &weaver->layout;
    if (method >= layout->file.method_count) return false;
    const struct method_place *place = &layout->places[method];
    struct reader reader = {.bytes = layout->pool.bytes, .at = place->attributes, .end = place->end};
    struct attribute attribute;
    for (unsigned left = read_u2(&reader); left > 0 && read_attribute(&reader, &layout->pool, &attribute); left--) {
        struct reader body = {.bytes = reader.bytes, .at = attribute.body, .end = attribute.end};
        bool visible = utf8_is(attribute.name, "RuntimeVisibleAnnotations");
        if (visible && any_candidate(&body, &layout->pool)) return true;
    }
    return false;
}

// Call sites

uint16_t *weaver_lines(struct weaver *weaver, uint16_t method) {
    const struct class_layout *layout = &weaver->layout;
    const struct code_place *place = &layout->places[method].code;
    uint32_t length = layout->file.methods[method].code_length;
    uint16_t *lines = ARENA_NEW(&weaver->arena, uint16_t, length);
    if (!lines) return NULL;
    struct reader reader = {.bytes = layout->pool.bytes, .at = place->attributes, .end = place->end};
    struct attribute attribute;
    for (unsigned left = read_u2(&reader); left > 0 && read_attribute(&reader, &layout->pool, &attribute); left--) {
        if (!utf8_is(attribute.name, "LineNumberTable")) continue;
        for (const uint8_t *entry = reader.bytes + attribute.body + 2; entry < reader.bytes + attribute.end;
             entry += 4) {
            if (get_u2(entry) < length) lines[get_u2(entry)] = get_u2(entry + 2);
        }
    }
    for (uint32_t bci = 1; bci < length; bci++) {
        if (lines[bci] == 0) lines[bci] = lines[bci - 1];
    }
    return lines;
}

static bool is_call(uint8_t opcode) {
    enum { OP_INVOKEVIRTUAL = 182, OP_INVOKEINTERFACE = 185 };
    return opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKEINTERFACE;
}

static bool is_dynamic(uint8_t opcode) {
    return opcode == 0xba; // invokedynamic
}

bool dynamic_callee(const struct constant_pool *pool, uint16_t index, struct member_ref *callee) {
    if (index == 0 || index >= pool->count || !pool->offsets[index]) return false;
    const uint8_t *constant = pool->bytes + pool->offsets[index];
    callee->owner = (struct utf8){"", 0};
    return *constant == CONSTANT_INVOKE_DYNAMIC &&
           pool_name_and_type(pool, get_u2(constant + 3), &callee->name, &callee->descriptor);
}

// Fills in the calls of the code, of methods or dynamic ones; with sites NULL it only counts. A malformed instruction
// ends the walk.
static size_t list_calls(const struct weaver *weaver, uint16_t method, bool dynamic, const uint16_t *lines,
                         struct call_site *sites) {
    const struct class_layout *layout = &weaver->layout;
    const uint8_t *code = layout->pool.bytes + layout->places[method].code.code;
    uint32_t code_length = layout->file.methods[method].code_length;
    size_t count = 0;
    for (uint32_t bci = 0, length; bci < code_length; bci += length) {
        length = instruction_length(code, code_length, bci);
        if (length == 0) break;
        struct member_ref callee;
        if (dynamic ? !is_dynamic(code[bci]) : !is_call(code[bci])) continue;
        uint16_t index = get_u2(code + bci + 1);
        if (!(dynamic ? dynamic_callee : pool_method)(&layout->pool, index, &callee)) continue;
        if (sites) {
            sites[count] = (struct call_site){.bci = bci,
                                              .line = lines[bci],
                                              .opcode = code[bci],
                                              .owner = callee.owner,
                                              .name = callee.name,
                                              .descriptor = callee.descriptor};
        }
        count++;
    }
    return count;
}

static size_t sites_of(struct weaver *weaver, uint16_t method, bool dynamic, const struct call_site **sites) {
    *sites = NULL;
    if (method >= weaver->layout.file.method_count) return 0;
    size_t count = list_calls(weaver, method, dynamic, NULL, NULL);
    if (count == 0) return 0;
    uint16_t *lines = weaver_lines(weaver, method);
    struct call_site *list = ARENA_NEW(&weaver->arena, struct call_site, count);
    if (!lines || !list) return 0;
    *sites = list;
    return list_calls(weaver, method, dynamic, lines, list);
}

size_t weaver_call_sites(struct weaver *weaver, uint16_t method, const struct call_site **sites) {
    return sites_of(weaver, method, false, sites);
}

size_t weaver_dynamic_sites(struct weaver *weaver, uint16_t method, const struct call_site **sites) {
    return sites_of(weaver, method, true, sites);
}

size_t weaver_handlers(struct weaver *weaver, uint16_t method, const uint16_t **bcis) {
    *bcis = NULL;
    const struct class_layout *layout = &weaver->layout;
    if (method >= layout->file.method_count || layout->file.methods[method].code_length == 0) return 0;
    const uint8_t *table = layout->pool.bytes + layout->places[method].code.exceptions;
    size_t entries = get_u2(table), count = 0;
    uint16_t *list = ARENA_NEW(&weaver->arena, uint16_t, entries + 1);
    for (size_t i = 0; list && i < entries; i++) {
        uint16_t handler = get_u2(table + 2 + 8 * i + 4);
        size_t known = 0;
        while (known < count && list[known] != handler) known++;
        if (known == count) list[count++] = handler;
    }
    *bcis = list;
    return count;
}

// Insertion

static bool has_frames(const struct class_layout *layout, const struct code_place *place) {
    struct reader reader = {.bytes = layout->pool.bytes, .at = place->attributes, .end = place->end};
    struct attribute attribute;
    for (unsigned left = read_u2(&reader); left > 0 && read_attribute(&reader, &layout->pool, &attribute); left--) {
        if (utf8_is(attribute.name, "StackMapTable")) return true;
    }
    return false;
}

struct method_weave *weave_of(struct weaver *weaver, uint16_t method, struct error *error) {
    const struct class_layout *layout = &weaver->layout;
    if (method >= layout->file.method_count || layout->file.methods[method].code_length == 0) {
        error_set(error, STATUS_USAGE, "method %u has no code to insert into", method);
        return NULL;
    }
    if (!weaver->weaves) {
        weaver->weaves = ARENA_NEW(&weaver->arena, struct method_weave *, layout->file.method_count);
    }
    if (weaver->weaves && weaver->weaves[method]) return weaver->weaves[method];
    struct method_weave *weave = weaver->weaves ? ARENA_NEW(&weaver->arena, struct method_weave, 1) : NULL;
    if (!weave || !code_study(weave, layout, method, &weaver->arena)) {
        error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
        return NULL;
    }
    weave->has_frames = has_frames(layout, &layout->places[method].code);
    weaver->weaves[method] = weave;
    return weave;
}

static bool insert_last(struct weaver *weaver, struct method_weave *weave, struct insertion **list,
                        const struct snippet *snippet, bool after, struct error *error) {
    struct insertion *insertion = ARENA_NEW(&weaver->arena, struct insertion, 1);
    if (!insertion) return error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
    *insertion = (struct insertion){.snippet = *snippet, .after = after};
    while (*list) list = &(*list)->next;
    *list = insertion;
    if (snippet->extra_stack > weave->extra_stack) weave->extra_stack = snippet->extra_stack;
    weave->changed = true;
    return true;
}

// What a return instruction finds on the stack, as snippet_context has it.
static const char *returned_stack(struct utf8 descriptor) {
    size_t result = 0;
    if (!descriptor_method_length(descriptor.bytes, descriptor.length, &result)) return "";
    switch (descriptor.bytes[result]) {
    case 'V':
        return "";
    case 'J':
        return "Jj";
    case 'D':
        return "Dd";
    case 'F':
        return "F";
    case 'L':
    case '[':
        return "A";
    default:
        return "I";
    }
}

static bool check_bci(const struct method_weave *weave, enum insert_where where, uint32_t bci, struct error *error) {
    if (!starts_at(weave, bci)) return error_set(error, STATUS_USAGE, "no instruction starts at bci %u", bci);
    if (where == INSERT_AFTER_BCI && !instruction_falls_through(weave->code[bci])) {
        return error_set(error, STATUS_USAGE, "the instruction at bci %u does not go on to the next", bci);
    }
    return true;
}

static bool insert_before_returns(struct weaver *weaver, struct method_weave *weave, const struct snippet *snippet,
                                  struct error *error) {
    enum { OP_IRETURN = 172, OP_RETURN = 177 };
    for (uint32_t bci = 0; bci < weave->code_length; bci++) {
        if (!starts_at(weave, bci) || weave->code[bci] < OP_IRETURN || weave->code[bci] > OP_RETURN) continue;
        if (!insert_last(weaver, weave, &weave->at[bci], snippet, false, error)) return false;
    }
    return true;
}

static bool assemble(struct weaver *weaver, const struct snippet_context *context, const char *text,
                     struct snippet *snippet, struct error *error) {
    const struct snippet_names names = {.helper = weaver->helper, .self = weaver->layout.file.name};
    return snippet_assemble(text, context, &names, &weaver->tail, snippet, error);
}

bool weaver_insert(struct weaver *weaver, uint16_t method, enum insert_where where, uint32_t bci, const char *snippet,
                   struct error *error) {
    struct method_weave *weave = weave_of(weaver, method, error);
    if (!weave) return false;
    const struct class_method *its = &weaver->layout.file.methods[method];
    struct snippet_context context = {.max_locals = its->max_locals, .stack = "????????"};
    if (where == INSERT_ENTRY) context.stack = "";
    if (where == INSERT_BEFORE_RETURN) context.stack = returned_stack(its->descriptor);
    struct snippet code;
    if (!assemble(weaver, &context, snippet, &code, error)) return false;
    if (weave->why) return true; // weaver_finish lists it
    if (where == INSERT_BEFORE_RETURN) return insert_before_returns(weaver, weave, &code, error);
    if (where == INSERT_ENTRY && weave->begin == 0)
        return insert_last(weaver, weave, &weave->entry, &code, false, error);
    if (where == INSERT_ENTRY) return insert_last(weaver, weave, &weave->at[weave->init], &code, true, error);
    return check_bci(weave, where, bci, error) &&
           insert_last(weaver, weave, &weave->at[bci], &code, where == INSERT_AFTER_BCI, error);
}

// Whether the handler needs a frame. Version 50 may do without frames as a whole, and then the old verifier is asked.
static bool needs_handler_frame(const struct weaver *weaver, const struct method_weave *weave) {
    uint16_t major = weaver->layout.file.major_version;
    return major >= FRAMES_ONLY_MAJOR || (major == FIRST_FRAMES_MAJOR && (weave->has_frames || weave->straight));
}

bool weaver_catch_all(struct weaver *weaver, uint16_t method, const char *snippet, struct error *error) {
    struct method_weave *weave = weave_of(weaver, method, error);
    const struct snippet_context context = {.max_locals = 0, .stack = "A"}; // the handler's frame has no locals
    struct snippet code;
    if (!weave || !assemble(weaver, &context, snippet, &code, error)) return false;
    if (weave->why) return true;
    weave->handler_frame = needs_handler_frame(weaver, weave);
    if (weave->handler_frame && !weaver->throwable) {
        weaver->throwable = tail_class(&weaver->tail, "java/lang/Throwable", strlen("java/lang/Throwable"));
    }
    if (weave->handler_frame && !weave->has_frames && !weaver->frames_name) {
        weaver->frames_name = tail_utf8(&weaver->tail, "StackMapTable", strlen("StackMapTable"));
    }
    if (weaver->tail.why) return error_set(error, STATUS_FAILED, "%s", weaver->tail.why);
    return insert_last(weaver, weave, &weave->thrown, &code, false, error);
}

bool weaver_add_field(struct weaver *weaver, const char *name, const char *descriptor, uint16_t access,
                      struct error *error) {
    const struct class_layout *layout = &weaver->layout;
    if (descriptor_field_length(descriptor, strlen(descriptor)) != strlen(descriptor) || !*descriptor) {
        return error_set(error, STATUS_USAGE, "'%s' is no field descriptor", descriptor);
    }
    if (classfile_has_field(layout, name, descriptor)) {
        return error_set(error, STATUS_USAGE, "the class has a field %s already", name);
    }
    if (get_u2(layout->pool.bytes + layout->fields) + weaver->field_count == LARGEST_U2) {
        return error_set(error, STATUS_FAILED, "the class has no room for a field");
    }
    buffer_u2(&weaver->fields, access);
    buffer_u2(&weaver->fields, tail_utf8(&weaver->tail, name, strlen(name)));
    buffer_u2(&weaver->fields, tail_utf8(&weaver->tail, descriptor, strlen(descriptor)));
    buffer_u2(&weaver->fields, 0);
    if (weaver->fields.failed) weaver->tail.why = OUT_OF_MEMORY;
    if (weaver->tail.why) return error_set(error, STATUS_FAILED, "%s", weaver->tail.why);
    weaver->field_count++;
    return true;
}

size_t weaver_shifts(struct weaver *weaver, uint16_t method, const struct bci_shift **shifts) {
    *shifts = NULL;
    if (!weaver->weaves || method >= weaver->layout.file.method_count) return 0;
    const struct method_weave *weave = weaver->weaves[method];
    if (!weave || weave->why || !weave->changed) return 0;
    size_t count = code_shifts(weave, NULL);
    struct bci_shift *pairs = ARENA_NEW(&weaver->arena, struct bci_shift, count);
    if (!pairs) return 0;
    *shifts = pairs;
    return code_shifts(weave, pairs);
}
