// SPDX-License-Identifier: Apache-2.0
// What the weaver's files share. How a method is rewritten, with k an offset (bci) in the code as it was:
//
//     [entry]                         at k = 0 only: nothing jumps here
//     jump[k]:  [before k...]         whatever jumped to k lands here; frames, handlers, ranges and lines go with it
//     moved[k]: the instruction at k  Uninitialized(k) of a frame and type annotations mean the instruction itself
//               [after k...]          reached by falling through only
//     end:      [thrown...] athrow    the last-resort handler
//
// Snippets leave the stack as it was and write no locals, so the frames of the method stay true where they land, and
// the handler needs but one frame, with no locals and a Throwable.
#ifndef REHYPE_TRACER_WEAVE_INTERNAL_H
#define REHYPE_TRACER_WEAVE_INTERNAL_H

#include "tracer/classfile.h"

enum { LARGEST_CODE_BYTES = 65535, LARGEST_U2 = 65535 };

#define OUT_OF_MEMORY "out of memory"

// A growing run of bytes in an arena. `failed` sticks when memory runs out.
struct buffer {
    struct arena *arena;
    uint8_t *bytes;
    size_t length, capacity;
    bool failed;
};

uint8_t *buffer_extend(struct buffer *buffer, size_t count); // the new bytes, zeroed or not; NULL without memory
void buffer_put(struct buffer *buffer, const void *bytes, size_t count);
void buffer_u1(struct buffer *buffer, uint8_t value);
void buffer_u2(struct buffer *buffer, uint16_t value);
void buffer_u4(struct buffer *buffer, uint32_t value);

// The constants that are appended to a class's pool; equal ones are appended once. 0 is never an index: it stands for
// "no room", which sticks in `why`.
struct pool_tail {
    struct buffer bytes;
    uint32_t *starts; // [count + 1]: of each constant in bytes, and the end
    uint16_t *slots;  // hash table of (number in starts) + 1, open addressing
    uint32_t count, capacity, slot_count;
    uint16_t first;  // index of the first appended constant: the class's own count
    const char *why; // the class as a whole can't be woven
};

uint16_t tail_utf8(struct pool_tail *tail, const char *text, size_t length);
uint16_t tail_class(struct pool_tail *tail, const char *name, size_t length);
uint16_t tail_integer(struct pool_tail *tail, int32_t value);
uint16_t tail_member(struct pool_tail *tail, enum constant_tag tag, uint16_t owner, const char *name,
                     size_t name_length, const char *descriptor, size_t descriptor_length);

struct snippet {
    const uint8_t *code;
    uint16_t length;
    uint16_t extra_stack; // slots above what was there
};

// What a snippet finds: how many locals it may read and what is on the stack, bottom to top, one letter a slot: A, I,
// F, Jj, Dd, or ? where it could be anything. Slots below are out of reach.
struct snippet_context {
    unsigned max_locals;
    const char *stack;
};

struct snippet_names {
    const char *helper;
    struct utf8 self;
};

bool snippet_assemble(const char *text, const struct snippet_context *context, const struct snippet_names *names,
                      struct pool_tail *tail, struct snippet *snippet, struct error *error);

struct insertion {
    struct insertion *next; // at the same place, in order of the calls
    struct snippet snippet;
    bool after;
};

// A method that was asked to change.
struct method_weave {
    const uint8_t *code;
    uint32_t code_length;
    struct insertion **at; // [code_length]: by bci; &INSIDE where no instruction starts
    struct insertion *entry, *thrown;
    unsigned extra_stack;  // the greatest of its snippets
    uint32_t begin;        // where the method's own code may be caught: 0; in a constructor behind this() or super()
    uint32_t init;         // bci of that call; 0 in other methods
    unsigned entry_locals; // of a constructor, as a frame counts them: this and one for each parameter; 0 in others
    bool straight;         // runs from top to bottom: needs no frames
    bool has_frames;       // has a StackMapTable
    bool handler_frame;    // thrown's handler needs an entry in it
    bool changed;
    const char *why; // not NULL: can't be woven
};

struct weaver {
    struct arena arena;
    struct class_layout layout;
    struct pool_tail tail;
    const char *helper;
    struct method_weave **weaves; // by method; NULL where nothing was asked. NULL as a whole until something is
    struct buffer fields;         // field_info of those that were added
    uint16_t field_count;         // of those
    uint16_t throwable;           // constants, 0 until needed
    uint16_t frames_name;
    struct weave_skip *skips;
};

extern struct insertion INSIDE;

// The method's record, made and its code studied at the first call. NULL and *error if there is no such code.
struct method_weave *weave_of(struct weaver *weaver, uint16_t method, struct error *error);

// Bytes of the instruction at bci, 0 if there is no whole valid one.
uint32_t instruction_length(const uint8_t *code, uint32_t code_length, uint32_t bci);

// The line of each instruction: lines[bci] for every bci of the code, 0 where unknown. NULL without memory.
uint16_t *weaver_lines(struct weaver *weaver, uint16_t method);

// What the invokedynamic that names the constant calls; no owner. false: it is no such constant.
bool dynamic_callee(const struct constant_pool *pool, uint16_t index, struct member_ref *callee);

// Whether the instruction can be left for the next one.
bool instruction_falls_through(uint8_t opcode);

// Calls `visit` with each bci that the instruction at bci may jump to, which may lie outside the code. false: it is no
// jump.
typedef void target_visitor(void *context, int64_t target);
bool code_targets(const struct method_weave *weave, uint32_t bci, target_visitor *visit, void *context);

// Decodes the method once: fills in at, begin, init, straight, or says why not. false: no memory.
bool code_study(struct method_weave *weave, const struct class_layout *layout, uint16_t method, struct arena *arena);

static inline bool starts_at(const struct method_weave *weave, uint32_t bci) {
    return bci < weave->code_length && weave->at[bci] != &INSIDE;
}

// The two maps of the picture on top; entries are meaningful where instructions start, and at code_length (the end).
struct code_map {
    uint16_t *jump, *moved; // room for any method of the class
    uint32_t end, handler_length;
};

// Each returns NULL, or why the method can't be woven.
const char *code_map_make(const struct method_weave *weave, struct code_map *map);
const char *code_write(const struct method_weave *weave, const struct code_map *map, struct buffer *out);

// Pairs of weaver_shifts; returns how many. With shifts NULL it only counts.
size_t code_shifts(const struct method_weave *weave, struct bci_shift *shifts);

// Rewrites a StackMapTable whose bytes are at reader (from number_of_entries), or makes one if reader is NULL. Writes
// the body.
const char *frames_write(const struct method_weave *weave, const struct code_map *map, struct reader *reader,
                         uint16_t throwable, struct buffer *out);

// Patch a copied attribute's body (or the exception table from its count on) in place.
const char *exceptions_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *table);
const char *lines_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body, size_t length);
const char *variables_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body, size_t length);
const char *annotations_patch(const struct method_weave *weave, const struct code_map *map, uint8_t *body,
                              size_t length);

// Moves behind an annotation, from its type on. false: it is malformed.
bool annotation_skip(struct reader *reader);

#endif
