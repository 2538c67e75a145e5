// SPDX-License-Identifier: Apache-2.0
// Where things stand in a class file: a bounded reader and the layout that the weaver works from. Nothing is copied:
// names are slices of the class's bytes and places are byte offsets into it. Code is located, not decoded.
// Class-file format: JVMS chapter 4 (SE 25).
#ifndef REHYPE_TRACER_CLASSFILE_H
#define REHYPE_TRACER_CLASSFILE_H

#include "base/arena.h"
#include "tracer/weave.h"

// Reads big-endian numbers. The first failure sticks: from then on every read gives 0, and `why` and `bad_at` tell what
// was wrong where. So a caller may read on and look once, but loops over counts must look at every turn.
struct reader {
    const uint8_t *bytes;
    size_t at, end;
    const char *why; // NULL while all is well
    size_t bad_at;
};

void reader_fail(struct reader *reader, size_t at, const char *why);
bool reader_has(struct reader *reader, size_t count); // false (and failed) if fewer bytes are left
uint8_t read_u1(struct reader *reader);
uint16_t read_u2(struct reader *reader);
uint32_t read_u4(struct reader *reader);
void read_skip(struct reader *reader, size_t count);

static inline uint16_t get_u2(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t get_u4(const uint8_t *bytes) {
    return (uint32_t)get_u2(bytes) << 16 | get_u2(bytes + 2);
}

static inline void set_u2(uint8_t *bytes, uint16_t value) {
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

static inline void set_u4(uint8_t *bytes, uint32_t value) {
    set_u2(bytes, (uint16_t)(value >> 16));
    set_u2(bytes + 2, (uint16_t)value);
}

enum constant_tag {
    CONSTANT_UTF8 = 1,
    CONSTANT_INTEGER = 3,
    CONSTANT_FLOAT = 4,
    CONSTANT_LONG = 5,
    CONSTANT_DOUBLE = 6,
    CONSTANT_CLASS = 7,
    CONSTANT_STRING = 8,
    CONSTANT_FIELDREF = 9,
    CONSTANT_METHODREF = 10,
    CONSTANT_INTERFACE_METHODREF = 11,
    CONSTANT_NAME_AND_TYPE = 12,
    CONSTANT_METHOD_HANDLE = 15,
    CONSTANT_METHOD_TYPE = 16,
    CONSTANT_DYNAMIC = 17,
    CONSTANT_INVOKE_DYNAMIC = 18,
    CONSTANT_MODULE = 19,
    CONSTANT_PACKAGE = 20,
};

struct constant_pool {
    const uint8_t *bytes;    // of the class file
    const uint32_t *offsets; // of the tag bytes; 0 for index 0 and the second half of a long or double
    uint16_t count;          // indices are 1 to count - 1
    uint32_t end;            // offset of what follows the pool
};

// false if the index does not name a constant of that kind.
bool pool_utf8(const struct constant_pool *pool, uint16_t index, struct utf8 *text);
bool pool_class_name(const struct constant_pool *pool, uint16_t index, struct utf8 *name);
bool pool_name_and_type(const struct constant_pool *pool, uint16_t index, struct utf8 *name, struct utf8 *descriptor);
bool pool_method(const struct constant_pool *pool, uint16_t index,
                 struct member_ref *method); // either kind of Methodref
bool pool_field(const struct constant_pool *pool, uint16_t index, struct member_ref *field);

struct attribute {
    struct utf8 name;
    uint32_t start, body, end; // start: its name index; body: after its length
};

// Reads one attribute's head and moves behind it.
bool read_attribute(struct reader *reader, const struct constant_pool *pool, struct attribute *attribute);

struct code_place {
    uint32_t start, end; // of the Code attribute, from its name index; 0, 0 if the method has none
    uint32_t code;       // of the first instruction
    uint32_t exceptions; // of exception_table_length
    uint32_t attributes; // of attributes_count
    uint16_t max_stack;
};

struct method_place {
    uint32_t start, attributes, end; // attributes: of attributes_count
    struct code_place code;
};

struct class_layout {
    struct class_file file;
    struct constant_pool pool;
    uint32_t fields, methods, attributes; // offsets of the respective count
    uint32_t length;                      // of the whole file
    const struct method_place *places;    // as many as file.methods
};

// Memory comes from the arena: O(constants + methods). Cost: one walk over the pool, fields and methods and over the
// line tables. On malformed input false, and reader->why and bad_at say what and where; why is NULL if memory ran out.
bool classfile_parse(struct reader *reader, struct arena *arena, struct class_layout *layout);

bool classfile_has_field(const struct class_layout *layout, const char *name, const char *descriptor);

// Bytes of the field descriptor that `text` starts with, 0 if it starts with none.
size_t descriptor_field_length(const char *text, size_t length);
// Bytes of the method descriptor that `text` starts with, 0 if none; *result is where its return type starts.
size_t descriptor_method_length(const char *text, size_t length, size_t *result);

#endif
