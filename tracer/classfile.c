// SPDX-License-Identifier: Apache-2.0
#include "tracer/classfile.h"

#include <string.h>

enum { MAGIC = 0xCAFEBABE, OLDEST_MAJOR = 45, OLDEST_MINOR = 3, LARGEST_CODE = 65535 };

void reader_fail(struct reader *reader, size_t at, const char *why) {
    if (reader->why) return;
    reader->why = why;
    reader->bad_at = at;
}

bool reader_has(struct reader *reader, size_t count) {
    if (reader->why) return false;
    if (reader->end - reader->at >= count) return true;
    reader_fail(reader, reader->at, "ends too early");
    return false;
}

uint8_t read_u1(struct reader *reader) {
    return reader_has(reader, 1) ? reader->bytes[reader->at++] : 0;
}

uint16_t read_u2(struct reader *reader) {
    if (!reader_has(reader, 2)) return 0;
    reader->at += 2;
    return get_u2(reader->bytes + reader->at - 2);
}

uint32_t read_u4(struct reader *reader) {
    if (!reader_has(reader, 4)) return 0;
    reader->at += 4;
    return get_u4(reader->bytes + reader->at - 4);
}

void read_skip(struct reader *reader, size_t count) {
    if (reader_has(reader, count)) reader->at += count;
}

static const uint8_t *constant_of(const struct constant_pool *pool, uint16_t index, enum constant_tag tag) {
    if (index == 0 || index >= pool->count || pool->offsets[index] == 0) return NULL;
    const uint8_t *constant = pool->bytes + pool->offsets[index];
    return *constant == tag ? constant : NULL;
}

bool pool_utf8(const struct constant_pool *pool, uint16_t index, struct utf8 *text) {
    const uint8_t *constant = constant_of(pool, index, CONSTANT_UTF8);
    if (!constant) return false;
    *text = (struct utf8){.bytes = (const char *)constant + 3, .length = get_u2(constant + 1)};
    return true;
}

bool pool_class_name(const struct constant_pool *pool, uint16_t index, struct utf8 *name) {
    const uint8_t *constant = constant_of(pool, index, CONSTANT_CLASS);
    return constant && pool_utf8(pool, get_u2(constant + 1), name);
}

bool pool_name_and_type(const struct constant_pool *pool, uint16_t index, struct utf8 *name, struct utf8 *descriptor) {
    const uint8_t *constant = constant_of(pool, index, CONSTANT_NAME_AND_TYPE);
    return constant && pool_utf8(pool, get_u2(constant + 1), name) && pool_utf8(pool, get_u2(constant + 3), descriptor);
}

bool pool_method(const struct constant_pool *pool, uint16_t index, struct member_ref *method) {
    const uint8_t *constant = constant_of(pool, index, CONSTANT_METHODREF);
    if (!constant) constant = constant_of(pool, index, CONSTANT_INTERFACE_METHODREF);
    return constant && pool_class_name(pool, get_u2(constant + 1), &method->owner) &&
           pool_name_and_type(pool, get_u2(constant + 3), &method->name, &method->descriptor);
}

bool pool_field(const struct constant_pool *pool, uint16_t index, struct member_ref *field) {
    const uint8_t *constant = constant_of(pool, index, CONSTANT_FIELDREF);
    return constant && pool_class_name(pool, get_u2(constant + 1), &field->owner) &&
           pool_name_and_type(pool, get_u2(constant + 3), &field->name, &field->descriptor);
}

// Bytes of a constant with its tag, 0 for an unknown tag. Utf8 adds its text.
static unsigned constant_size(uint8_t tag) {
    switch (tag) {
    case CONSTANT_UTF8:
    case CONSTANT_CLASS:
    case CONSTANT_STRING:
    case CONSTANT_METHOD_TYPE:
    case CONSTANT_MODULE:
    case CONSTANT_PACKAGE:
        return 3;
    case CONSTANT_METHOD_HANDLE:
        return 4;
    case CONSTANT_INTEGER:
    case CONSTANT_FLOAT:
    case CONSTANT_FIELDREF:
    case CONSTANT_METHODREF:
    case CONSTANT_INTERFACE_METHODREF:
    case CONSTANT_NAME_AND_TYPE:
    case CONSTANT_DYNAMIC:
    case CONSTANT_INVOKE_DYNAMIC:
        return 5;
    case CONSTANT_LONG:
    case CONSTANT_DOUBLE:
        return 9;
    default:
        return 0;
    }
}

static bool read_pool(struct reader *reader, struct arena *arena, struct constant_pool *pool) {
    pool->bytes = reader->bytes;
    pool->count = read_u2(reader);
    if (pool->count == 0) reader_fail(reader, reader->at - 2, "has no constant pool");
    if (reader->why || !reader_has(reader, 3 * (size_t)(pool->count - 1)))
        return false; // so a count alone can't make us allocate much
    uint32_t *offsets = ARENA_NEW(arena, uint32_t, pool->count);
    if (!offsets) return false;
    pool->offsets = offsets;
    for (uint32_t index = 1; index < pool->count; index++) {
        size_t start = reader->at;
        if (!reader_has(reader, 3)) return false;
        const uint8_t *constant = reader->bytes + start;
        unsigned size = constant_size(*constant);
        if (size == 0) {
            reader_fail(reader, start, "has a constant of an unknown kind");
            return false;
        }
        offsets[index] = (uint32_t)start;
        read_skip(reader, *constant == CONSTANT_UTF8 ? size + get_u2(constant + 1) : size);
        if (size == 9 && ++index == pool->count) {
            reader_fail(reader, start, "ends its pool within a constant that takes two indices");
        }
    }
    pool->end = (uint32_t)reader->at;
    return !reader->why;
}

static struct utf8 read_utf8(struct reader *reader, const struct constant_pool *pool) {
    struct utf8 text = {0};
    if (!pool_utf8(pool, read_u2(reader), &text)) reader_fail(reader, reader->at - 2, "should name a Utf8 here");
    return text;
}

static struct utf8 read_class_name(struct reader *reader, const struct constant_pool *pool) {
    struct utf8 name = {0};
    if (!pool_class_name(pool, read_u2(reader), &name)) reader_fail(reader, reader->at - 2, "should name a Class here");
    return name;
}

bool read_attribute(struct reader *reader, const struct constant_pool *pool, struct attribute *attribute) {
    attribute->start = (uint32_t)reader->at;
    attribute->name = read_utf8(reader, pool);
    uint32_t length = read_u4(reader);
    attribute->body = (uint32_t)reader->at;
    read_skip(reader, length);
    attribute->end = (uint32_t)reader->at;
    return !reader->why;
}

static bool skip_attributes(struct reader *reader, const struct constant_pool *pool) {
    struct attribute attribute;
    for (unsigned left = read_u2(reader); left > 0 && read_attribute(reader, pool, &attribute);) left--;
    return !reader->why;
}

static bool skip_fields(struct reader *reader, const struct constant_pool *pool) {
    for (unsigned left = read_u2(reader); left > 0 && !reader->why; left--) {
        read_u2(reader);
        read_utf8(reader, pool);
        read_utf8(reader, pool);
        skip_attributes(reader, pool);
    }
    return !reader->why;
}

static void read_lines(struct reader *reader, const struct attribute *table, struct class_method *method) {
    struct reader lines = {.bytes = reader->bytes, .at = table->body, .end = table->end};
    unsigned count = read_u2(&lines);
    if (lines.why || lines.end - lines.at != 4 * (size_t)count) {
        reader_fail(reader, table->body, "has a LineNumberTable of the wrong length");
        return;
    }
    for (; count > 0; count--) {
        read_u2(&lines);
        uint16_t line = read_u2(&lines);
        if (line && (line < method->first_line || method->first_line == 0)) method->first_line = line;
    }
}

static void read_code(struct reader *reader, const struct constant_pool *pool, const struct attribute *attribute,
                      struct code_place *place, struct class_method *method) {
    size_t behind = reader->at;
    *place = (struct code_place){.start = attribute->start, .end = attribute->end};
    reader->at = attribute->body;
    place->max_stack = read_u2(reader);
    method->max_locals = read_u2(reader);
    method->code_length = read_u4(reader);
    place->code = (uint32_t)reader->at;
    if (!reader->why && (method->code_length == 0 || method->code_length > LARGEST_CODE)) {
        reader_fail(reader, reader->at - 4, "has a code length that is not allowed");
    }
    read_skip(reader, method->code_length);
    place->exceptions = (uint32_t)reader->at;
    read_skip(reader, 8 * (size_t)read_u2(reader));
    place->attributes = (uint32_t)reader->at;
    struct attribute inner;
    for (unsigned left = read_u2(reader); left > 0 && read_attribute(reader, pool, &inner); left--) {
        if (utf8_is(inner.name, "LineNumberTable")) read_lines(reader, &inner, method);
    }
    if (!reader->why && reader->at != behind) reader_fail(reader, attribute->body, "has a Code of the wrong length");
}

static void read_method(struct reader *reader, const struct constant_pool *pool, struct method_place *place,
                        struct class_method *method) {
    place->start = (uint32_t)reader->at;
    method->access = read_u2(reader);
    method->name = read_utf8(reader, pool);
    method->descriptor = read_utf8(reader, pool);
    place->attributes = (uint32_t)reader->at;
    struct attribute attribute;
    for (unsigned left = read_u2(reader); left > 0 && read_attribute(reader, pool, &attribute); left--) {
        if (!utf8_is(attribute.name, "Code")) continue;
        if (place->code.end) reader_fail(reader, attribute.start, "has a second Code in one method");
        read_code(reader, pool, &attribute, &place->code, method);
    }
    place->end = (uint32_t)reader->at;
}

static bool read_methods(struct reader *reader, struct arena *arena, struct class_layout *layout) {
    uint16_t count = read_u2(reader);
    if (!reader_has(reader, 8 * (size_t)count)) return false; // so a count alone can't make us allocate much
    struct method_place *places = ARENA_NEW(arena, struct method_place, count);
    struct class_method *methods = ARENA_NEW(arena, struct class_method, count);
    if (!places || !methods) return false;
    for (uint16_t i = 0; i < count && !reader->why; i++) read_method(reader, &layout->pool, &places[i], &methods[i]);
    layout->places = places;
    layout->file.methods = methods;
    layout->file.method_count = count;
    return !reader->why;
}

static bool read_interfaces(struct reader *reader, struct arena *arena, struct class_layout *layout) {
    uint16_t count = read_u2(reader);
    if (!reader_has(reader, 2 * (size_t)count)) return false;
    struct utf8 *interfaces = ARENA_NEW(arena, struct utf8, count);
    if (!interfaces) return false;
    for (uint16_t i = 0; i < count; i++) interfaces[i] = read_class_name(reader, &layout->pool);
    layout->file.interfaces = interfaces;
    layout->file.interface_count = count;
    return !reader->why;
}

static bool read_class_attributes(struct reader *reader, struct class_layout *layout) {
    struct attribute attribute;
    for (unsigned left = read_u2(reader); left > 0 && read_attribute(reader, &layout->pool, &attribute); left--) {
        if (!utf8_is(attribute.name, "SourceFile")) continue;
        struct reader body = {.bytes = reader->bytes, .at = attribute.body, .end = attribute.end};
        layout->file.source_file = read_utf8(&body, &layout->pool);
        if (body.why) reader_fail(reader, body.bad_at, body.why);
    }
    if (!reader->why && reader->at != reader->end) reader_fail(reader, reader->at, "goes on after its end");
    return !reader->why;
}

static bool read_head(struct reader *reader) {
    if (reader->end > INT32_MAX) reader_fail(reader, INT32_MAX, "is larger than a class can be");
    if (read_u4(reader) != MAGIC) reader_fail(reader, 0, "does not start with CAFEBABE");
    return !reader->why;
}

bool classfile_parse(struct reader *reader, struct arena *arena, struct class_layout *layout) {
    struct class_file *file = &layout->file;
    if (!read_head(reader)) return false;
    uint16_t minor = read_u2(reader);
    file->major_version = read_u2(reader);
    if (file->major_version < OLDEST_MAJOR || (file->major_version == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
        reader_fail(reader, 4, "is of a version before 45.3"); // their Code attribute is laid out differently
    }
    if (!read_pool(reader, arena, &layout->pool)) return false;
    file->access = read_u2(reader);
    file->name = read_class_name(reader, &layout->pool);
    if (reader_has(reader, 2) && get_u2(reader->bytes + reader->at) == 0) {
        read_u2(reader);
    } else {
        file->super_name = read_class_name(reader, &layout->pool);
    }
    if (!read_interfaces(reader, arena, layout)) return false;
    layout->fields = (uint32_t)reader->at;
    if (!skip_fields(reader, &layout->pool)) return false;
    layout->methods = (uint32_t)reader->at;
    if (!read_methods(reader, arena, layout)) return false;
    layout->attributes = (uint32_t)reader->at;
    layout->length = (uint32_t)reader->end;
    return read_class_attributes(reader, layout);
}

bool classfile_has_field(const struct class_layout *layout, const char *name, const char *descriptor) {
    struct reader reader = {.bytes = layout->pool.bytes, .at = layout->fields, .end = layout->methods};
    for (unsigned left = read_u2(&reader); left > 0 && !reader.why; left--) {
        read_u2(&reader);
        bool same_name = utf8_is(read_utf8(&reader, &layout->pool), name);
        bool same_type = utf8_is(read_utf8(&reader, &layout->pool), descriptor);
        if (same_name && same_type) return true;
        skip_attributes(&reader, &layout->pool);
    }
    return false;
}

size_t descriptor_field_length(const char *text, size_t length) {
    size_t at = 0;
    while (at < length && text[at] == '[') at++;
    if (at == length || !memchr("BCDFIJLSZ", text[at], 9)) return 0;
    if (text[at] != 'L') return at + 1;
    const char *close = memchr(text + at, ';', length - at);
    return close && close > text + at + 1 ? (size_t)(close - text) + 1 : 0;
}

size_t descriptor_method_length(const char *text, size_t length, size_t *result) {
    if (length == 0 || text[0] != '(') return 0;
    size_t at = 1;
    while (at < length && text[at] != ')') {
        size_t parameter = descriptor_field_length(text + at, length - at);
        if (parameter == 0) return 0;
        at += parameter;
    }
    if (++at >= length) return 0;
    *result = at;
    if (text[at] == 'V') return at + 1;
    size_t type = descriptor_field_length(text + at, length - at);
    return type ? at + type : 0;
}
