// SPDX-License-Identifier: Apache-2.0
// The assembler of snippets. It runs each instruction on a model of the stack, one entry a slot: `kind` is the type's
// letter (a long is the two slots Jj, a double Dd), `origin` is 0 for what the snippet pushed and n for the n-th slot
// of what it found. A snippet is neutral if at its end the stack is the found slots in their old order and nothing
// else.
#include "tracer/weave_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_SLOTS = 300, LARGEST_LOCAL = 65535, LARGEST_SNIPPET = 4096 };

enum opcode {
    OP_ACONST_NULL = 1,
    OP_ICONST_0 = 3,
    OP_LCONST_0 = 9,
    OP_BIPUSH = 16,
    OP_SIPUSH = 17,
    OP_LDC = 18,
    OP_LDC_W = 19,
    OP_ILOAD = 21,
    OP_LLOAD = 22,
    OP_ALOAD = 25,
    OP_ILOAD_0 = 26,
    OP_LLOAD_0 = 30,
    OP_ALOAD_0 = 42,
    OP_POP = 87,
    OP_POP2 = 88,
    OP_DUP = 89,
    OP_DUP_X1 = 90,
    OP_DUP2 = 92,
    OP_DUP2_X1 = 93,
    OP_LADD = 97,
    OP_I2L = 133,
    OP_GETFIELD = 180,
    OP_PUTFIELD = 181,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESTATIC = 184,
    OP_INVOKEINTERFACE = 185,
    OP_CHECKCAST = 192,
    OP_INSTANCEOF = 193,
    OP_WIDE = 196,
};

struct slot {
    char kind;
    uint8_t origin;
};

struct word {
    const char *text;
    size_t length;
};

struct assembly {
    const struct snippet_context *context;
    const struct snippet_names *names;
    struct pool_tail *tail;
    const char *at; // what is still to be read
    struct buffer code;
    struct slot stack[MODEL_SLOTS];
    unsigned depth, peak;
    const char *why; // the first thing that was wrong
};

static bool refuse(struct assembly *assembly, const char *why) {
    if (!assembly->why) assembly->why = why;
    return false;
}

// Words

static void skip_spaces(struct assembly *assembly) {
    while (isspace((unsigned char)*assembly->at)) assembly->at++;
}

static struct word next_word(struct assembly *assembly) {
    skip_spaces(assembly);
    struct word word = {.text = assembly->at};
    while (*assembly->at && *assembly->at != ';' && !isspace((unsigned char)*assembly->at)) assembly->at++;
    word.length = (size_t)(assembly->at - word.text);
    if (word.length == 0) refuse(assembly, "a word is missing");
    return word;
}

static bool word_is(struct word word, const char *text) {
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

// Descriptors hold ';' themselves, so they are read by their own grammar. *result: where a method's return type starts.
static struct word next_descriptor(struct assembly *assembly, size_t *result) {
    skip_spaces(assembly);
    struct word word = {.text = assembly->at};
    size_t left = strlen(word.text);
    word.length = result ? descriptor_method_length(word.text, left, result) : descriptor_field_length(word.text, left);
    if (word.length == 0) refuse(assembly, "a descriptor is missing or wrong");
    assembly->at += word.length;
    return word;
}

static long next_number(struct assembly *assembly, long least, long most) {
    struct word word = next_word(assembly);
    char *end = NULL;
    errno = 0;
    long number = strtol(word.text, &end, 10);
    if (errno || end != word.text + word.length || number < least || number > most) {
        refuse(assembly, "a number is wrong or out of range");
        return least;
    }
    return number;
}

// The model

static void push_slot(struct assembly *assembly, struct slot slot) {
    if (assembly->depth == MODEL_SLOTS) {
        refuse(assembly, "it stacks too much");
        return;
    }
    assembly->stack[assembly->depth++] = slot;
    if (assembly->depth > assembly->peak) assembly->peak = assembly->depth;
}

static void push_kind(struct assembly *assembly, char kind) {
    push_slot(assembly, (struct slot){.kind = kind});
    if (kind == 'J' || kind == 'D') push_slot(assembly, (struct slot){.kind = kind == 'J' ? 'j' : 'd'});
}

static void pop_slot(struct assembly *assembly, char kind) {
    if (assembly->depth == 0) {
        refuse(assembly, "it takes more from the stack than there is");
        return;
    }
    char found = assembly->stack[--assembly->depth].kind;
    if (found != kind && found != '?') refuse(assembly, "it takes a value of another type than is on the stack");
}

static void pop_kind(struct assembly *assembly, char kind) {
    if (kind == 'J' || kind == 'D') pop_slot(assembly, kind == 'J' ? 'j' : 'd');
    pop_slot(assembly, kind);
}

static char kind_of(const char *descriptor) {
    if (strchr("ZBCSI", *descriptor)) return 'I';
    return strchr("L[", *descriptor) ? 'A' : *descriptor;
}

// Whether the stack can be cut `count` slots from the top: they are there, and no long or double is torn.
static bool can_cut(struct assembly *assembly, unsigned count) {
    if (count > assembly->depth) return refuse(assembly, "it takes more from the stack than there is");
    if (count > 0 && islower((unsigned char)assembly->stack[assembly->depth - count].kind)) {
        return refuse(assembly, "it tears a long or double apart");
    }
    return true;
}

static void pop_any(struct assembly *assembly, unsigned count) {
    if (can_cut(assembly, count)) assembly->depth -= count;
}

// Copies the top `count` slots below the `under` slots beneath them: dup, dup2, dup_x1, dup2_x1.
static void duplicate(struct assembly *assembly, unsigned count, unsigned under) {
    if (!can_cut(assembly, count) || !can_cut(assembly, count + under)) return;
    struct slot moved[3];
    memcpy(moved, assembly->stack + assembly->depth - count - under, (count + under) * sizeof *moved);
    assembly->depth -= count + under;
    for (unsigned i = 0; i < count; i++) push_slot(assembly, moved[under + i]);
    for (unsigned i = 0; i < count + under; i++) push_slot(assembly, moved[i]);
}

// Instructions

static void write_indexed(struct assembly *assembly, uint8_t opcode, uint16_t index) {
    if (index == 0) refuse(assembly, assembly->tail->why);
    buffer_u1(&assembly->code, opcode);
    buffer_u2(&assembly->code, index);
}

static void assemble_load(struct assembly *assembly, uint8_t opcode, uint8_t short_opcode, char kind) {
    long local = next_number(assembly, 0, LARGEST_LOCAL);
    if ((unsigned long)local + (kind == 'J') >= assembly->context->max_locals) {
        refuse(assembly, "the method has no such local");
    }
    if (local <= 3) {
        buffer_u1(&assembly->code, (uint8_t)(short_opcode + local));
    } else if (local <= UINT8_MAX) {
        buffer_u1(&assembly->code, opcode);
        buffer_u1(&assembly->code, (uint8_t)local);
    } else {
        buffer_u1(&assembly->code, OP_WIDE);
        buffer_u1(&assembly->code, opcode);
        buffer_u2(&assembly->code, (uint16_t)local);
    }
    push_kind(assembly, kind);
}

static void assemble_constant(struct assembly *assembly) {
    long value = next_number(assembly, INT32_MIN, INT32_MAX);
    push_kind(assembly, 'I');
    if (value >= -1 && value <= 5) {
        buffer_u1(&assembly->code, (uint8_t)(OP_ICONST_0 + value));
    } else if (value >= INT8_MIN && value <= INT8_MAX) {
        buffer_u1(&assembly->code, OP_BIPUSH);
        buffer_u1(&assembly->code, (uint8_t)value);
    } else if (value >= INT16_MIN && value <= INT16_MAX) {
        buffer_u1(&assembly->code, OP_SIPUSH);
        buffer_u2(&assembly->code, (uint16_t)value);
    } else {
        uint16_t index = tail_integer(assembly->tail, (int32_t)value);
        if (index == 0 || index > UINT8_MAX) {
            write_indexed(assembly, OP_LDC_W, index);
        } else {
            buffer_u1(&assembly->code, OP_LDC);
            buffer_u1(&assembly->code, (uint8_t)index);
        }
    }
}

static void assemble_class(struct assembly *assembly) {
    uint16_t index = tail_class(assembly->tail, assembly->names->self.bytes, assembly->names->self.length);
    push_kind(assembly, 'A');
    write_indexed(assembly, OP_LDC_W, index);
}

// Returns how many slots they took.
static unsigned pop_parameters(struct assembly *assembly, struct word descriptor, size_t result) {
    char kinds[UINT8_MAX];
    unsigned count = 0, before = assembly->depth;
    for (size_t at = 1; at + 1 < result;) {
        if (count == sizeof kinds) {
            refuse(assembly, "it calls with too many arguments");
            return 0;
        }
        kinds[count++] = kind_of(descriptor.text + at);
        at += descriptor_field_length(descriptor.text + at, descriptor.length - at);
    }
    while (count > 0 && !assembly->why) pop_kind(assembly, kinds[--count]);
    return before - assembly->depth;
}

static struct word owner_of(const struct assembly *assembly, struct word owner) {
    return word_is(owner, ".") ? (struct word){assembly->names->self.bytes, assembly->names->self.length} : owner;
}

static void assemble_call_of(struct assembly *assembly, uint8_t opcode, struct word named) {
    const bool interface = opcode == OP_INVOKEINTERFACE;
    struct word owner = owner_of(assembly, named), name = next_word(assembly);
    size_t result = 0;
    struct word descriptor = next_descriptor(assembly, &result);
    if (assembly->why) return;
    unsigned slots = pop_parameters(assembly, descriptor, result) + 1; // with the receiver
    if (opcode != OP_INVOKESTATIC) pop_kind(assembly, 'A');
    if (descriptor.text[result] != 'V') push_kind(assembly, kind_of(descriptor.text + result));
    uint16_t class = tail_class(assembly->tail, owner.text, owner.length);
    write_indexed(assembly, opcode,
                  tail_member(assembly->tail, interface ? CONSTANT_INTERFACE_METHODREF : CONSTANT_METHODREF, class,
                              name.text, name.length, descriptor.text, descriptor.length));
    if (interface) buffer_u2(&assembly->code, (uint16_t)(slots << 8));
}

// Of an object: whether it is of a class, or that it is.
static void assemble_type(struct assembly *assembly, uint8_t opcode) {
    struct word owner = next_word(assembly);
    if (assembly->why) return;
    pop_kind(assembly, 'A');
    push_kind(assembly, opcode == OP_INSTANCEOF ? 'I' : 'A');
    write_indexed(assembly, opcode, tail_class(assembly->tail, owner.text, owner.length));
}

static void assemble_field(struct assembly *assembly, uint8_t opcode) {
    struct word owner = next_word(assembly), name = next_word(assembly);
    struct word descriptor = next_descriptor(assembly, NULL);
    if (assembly->why) return;
    owner = owner_of(assembly, owner);
    char kind = kind_of(descriptor.text);
    if (opcode == OP_PUTFIELD) pop_kind(assembly, kind);
    pop_kind(assembly, 'A');
    if (opcode == OP_GETFIELD) push_kind(assembly, kind);
    uint16_t class = tail_class(assembly->tail, owner.text, owner.length);
    write_indexed(assembly, opcode,
                  tail_member(assembly->tail, CONSTANT_FIELDREF, class, name.text, name.length, descriptor.text,
                              descriptor.length));
}

static void assemble_plain(struct assembly *assembly, uint8_t opcode) {
    buffer_u1(&assembly->code, opcode);
    switch (opcode) {
    case OP_DUP:
        duplicate(assembly, 1, 0);
        break;
    case OP_DUP2:
        duplicate(assembly, 2, 0);
        break;
    case OP_DUP_X1:
        duplicate(assembly, 1, 1);
        break;
    case OP_DUP2_X1:
        duplicate(assembly, 2, 1);
        break;
    case OP_POP:
        pop_any(assembly, 1);
        break;
    case OP_POP2:
        pop_any(assembly, 2);
        break;
    case OP_LCONST_0:
        push_kind(assembly, 'J');
        break;
    case OP_ACONST_NULL:
        push_kind(assembly, 'A');
        break;
    case OP_LADD:
        pop_kind(assembly, 'J');
        pop_kind(assembly, 'J');
        push_kind(assembly, 'J');
        break;
    default:
        pop_kind(assembly, 'I');
        push_kind(assembly, 'J');
    }
}

static const struct {
    const char *name;
    uint8_t opcode;
} PLAIN[] = {
    {"dup", OP_DUP},   {"dup2", OP_DUP2}, {"dup_x1", OP_DUP_X1},     {"dup2_x1", OP_DUP2_X1},         {"pop", OP_POP},
    {"pop2", OP_POP2}, {"i2l", OP_I2L},   {"lconst_0", OP_LCONST_0}, {"aconst_null", OP_ACONST_NULL}, {"ladd", OP_LADD},
};

static void assemble_instruction(struct assembly *assembly) {
    struct word name = next_word(assembly);
    if (word_is(name, "call")) {
        const char *helper = assembly->names->helper;
        assemble_call_of(assembly, OP_INVOKESTATIC, (struct word){helper, strlen(helper)});
    } else if (word_is(name, "static")) {
        assemble_call_of(assembly, OP_INVOKESTATIC, next_word(assembly));
    } else if (word_is(name, "virtual")) {
        assemble_call_of(assembly, OP_INVOKEVIRTUAL, next_word(assembly));
    } else if (word_is(name, "interface")) {
        assemble_call_of(assembly, OP_INVOKEINTERFACE, next_word(assembly));
    } else if (word_is(name, "instanceof")) {
        assemble_type(assembly, OP_INSTANCEOF);
    } else if (word_is(name, "checkcast")) {
        assemble_type(assembly, OP_CHECKCAST);
    } else if (word_is(name, "int")) {
        assemble_constant(assembly);
    } else if (word_is(name, "class")) {
        assemble_class(assembly);
    } else if (word_is(name, "aload")) {
        assemble_load(assembly, OP_ALOAD, OP_ALOAD_0, 'A');
    } else if (word_is(name, "iload")) {
        assemble_load(assembly, OP_ILOAD, OP_ILOAD_0, 'I');
    } else if (word_is(name, "lload")) {
        assemble_load(assembly, OP_LLOAD, OP_LLOAD_0, 'J');
    } else if (word_is(name, "getfield")) {
        assemble_field(assembly, OP_GETFIELD);
    } else if (word_is(name, "putfield")) {
        assemble_field(assembly, OP_PUTFIELD);
    } else {
        size_t i = 0;
        while (i < sizeof PLAIN / sizeof *PLAIN && !word_is(name, PLAIN[i].name)) i++;
        if (i == sizeof PLAIN / sizeof *PLAIN) {
            refuse(assembly, "an instruction is unknown");
        } else {
            assemble_plain(assembly, PLAIN[i].opcode);
        }
    }
}

static void assemble_all(struct assembly *assembly) {
    for (;;) {
        assemble_instruction(assembly);
        skip_spaces(assembly);
        if (assembly->why || *assembly->at == '\0') return;
        if (*assembly->at++ != ';') refuse(assembly, "a ';' is missing");
        if (assembly->code.length > LARGEST_SNIPPET) refuse(assembly, "it is too long");
    }
}

static void check_neutral(struct assembly *assembly, unsigned found) {
    bool neutral = assembly->depth == found;
    for (unsigned i = 0; i < found && neutral; i++) neutral = assembly->stack[i].origin == i + 1;
    if (!neutral) refuse(assembly, "it does not leave the stack as it found it");
}

bool snippet_assemble(const char *text, const struct snippet_context *context, const struct snippet_names *names,
                      struct pool_tail *tail, struct snippet *snippet, struct error *error) {
    struct assembly assembly = {
        .context = context, .names = names, .tail = tail, .at = text, .code = {.arena = tail->bytes.arena}};
    unsigned found = (unsigned)strlen(context->stack);
    for (unsigned i = 0; i < found; i++) {
        push_slot(&assembly, (struct slot){.kind = context->stack[i], .origin = (uint8_t)(i + 1)});
    }
    assemble_all(&assembly);
    if (!assembly.why) check_neutral(&assembly, found);
    if (tail->why) return error_set(error, STATUS_FAILED, "%s", tail->why);
    if (assembly.code.failed) return error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
    if (assembly.why) return error_set(error, STATUS_USAGE, "snippet '%s': %s", text, assembly.why);
    *snippet = (struct snippet){.code = assembly.code.bytes,
                                .length = (uint16_t)assembly.code.length,
                                .extra_stack = (uint16_t)(assembly.peak - found)};
    return true;
}
