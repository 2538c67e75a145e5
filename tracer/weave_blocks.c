// SPDX-License-Identifier: Apache-2.0
// Basic blocks, and the count of their instructions. A block is entered at its first instruction only and is run to its
// end: it ends before whatever is jumped to, behind what jumps or returns, and behind what may throw. So what its
// beginning counts is what runs, whether or not an exception leaves the method or goes to a handler of its own.
#include "tracer/weave_internal.h"

#include <stdio.h>

enum opcode {
    OP_ALOAD_0 = 42,
    OP_IALOAD = 46,
    OP_SALOAD = 53,
    OP_ASTORE = 58,
    OP_ASTORE_0 = 75,
    OP_IASTORE = 79,
    OP_SASTORE = 86,
    OP_IDIV = 108,
    OP_LDIV = 109,
    OP_IREM = 112,
    OP_LREM = 113,
    OP_GETFIELD = 180,
    OP_PUTFIELD = 181,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKEDYNAMIC = 186,
    OP_NEWARRAY = 188,
    OP_ARRAYLENGTH = 190,
    OP_CHECKCAST = 192,
    OP_MONITORENTER = 194,
    OP_MONITOREXIT = 195,
    OP_WIDE = 196,
    OP_MULTIANEWARRAY = 197,
};

enum { ACC_STATIC = 0x0008, SNIPPET_BYTES = 128 };

// What throws by what the program did. What the JVM itself may fail at (memory, linking, a class's initialiser) ends no
// block: it would end nearly every one.
static bool may_throw(uint8_t opcode) {
    if (opcode >= OP_IALOAD && opcode <= OP_SALOAD) return true;
    if (opcode >= OP_IASTORE && opcode <= OP_SASTORE) return true;
    if (opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKEDYNAMIC) return true;
    if (opcode >= OP_NEWARRAY && opcode <= OP_ARRAYLENGTH) return true;
    switch (opcode) {
    case OP_IDIV:
    case OP_LDIV:
    case OP_IREM:
    case OP_LREM:
    case OP_GETFIELD:
    case OP_PUTFIELD:
    case OP_CHECKCAST:
    case OP_MONITORENTER:
    case OP_MONITOREXIT:
    case OP_MULTIANEWARRAY:
        return true;
    default:
        return false;
    }
}

static bool stores_local_0(const uint8_t *instruction) {
    if (*instruction == OP_ASTORE_0) return true;
    if (*instruction == OP_WIDE) return instruction[1] == OP_ASTORE && get_u2(instruction + 2) == 0;
    return *instruction == OP_ASTORE && instruction[1] == 0;
}

// Whether local 0 is `this` throughout: then no getfield behind aload_0 can fail.
static bool keeps_this(const struct method_weave *weave, uint16_t access) {
    if (access & ACC_STATIC) return false;
    for (uint32_t bci = 0; bci < weave->code_length; bci++) {
        if (starts_at(weave, bci) && stores_local_0(weave->code + bci)) return false;
    }
    return true;
}

struct blocks {
    const struct method_weave *weave;
    bool *begins; // [code_length]: by bci; may be set inside an instruction where the code is malformed
    bool keeps_this;
};

static void begin_block(void *context, int64_t target) {
    const struct blocks *blocks = context;
    if (target >= 0 && target < blocks->weave->code_length) blocks->begins[target] = true;
}

// Handlers are at offset 4 of each entry of the exception table.
static void begin_handlers(struct blocks *blocks, const uint8_t *table) {
    for (unsigned i = 0; i < get_u2(table); i++) begin_block(blocks, get_u2(table + 2 + 8 * (size_t)i + 4));
}

static void begin_where_jumps_go(struct blocks *blocks) {
    const struct method_weave *weave = blocks->weave;
    blocks->begins[0] = true;
    for (uint32_t bci = 0, length; bci < weave->code_length; bci += length) {
        length = instruction_length(weave->code, weave->code_length, bci);
        bool jumps = code_targets(weave, bci, begin_block, blocks);
        if (jumps || !instruction_falls_through(weave->code[bci])) begin_block(blocks, (int64_t)bci + length);
    }
}

// Called last: behind a jump's target anything may be on the stack.
static void begin_behind_throwing(struct blocks *blocks) {
    const struct method_weave *weave = blocks->weave;
    bool this_on_top = false;
    for (uint32_t bci = 0, length; bci < weave->code_length; bci += length) {
        uint8_t opcode = weave->code[bci];
        length = instruction_length(weave->code, weave->code_length, bci);
        bool own_field = opcode == OP_GETFIELD && this_on_top && !blocks->begins[bci];
        if (may_throw(opcode) && !own_field) begin_block(blocks, (int64_t)bci + length);
        this_on_top = blocks->keeps_this && opcode == OP_ALOAD_0;
    }
}

static unsigned count_block(const struct blocks *blocks, uint32_t bci) {
    const struct method_weave *weave = blocks->weave;
    unsigned count = 0;
    do {
        bci += instruction_length(weave->code, weave->code_length, bci);
        count++;
    } while (bci < weave->code_length && !blocks->begins[bci]);
    return count;
}

bool weaver_count_blocks(struct weaver *weaver, uint16_t method, const char *call, struct error *error) {
    struct method_weave *weave = weave_of(weaver, method, error);
    if (!weave) return false;
    if (weave->why) return true; // weaver_finish lists it
    struct blocks blocks = {.weave = weave, .begins = ARENA_NEW(&weaver->arena, bool, weave->code_length)};
    if (!blocks.begins) return error_set(error, STATUS_FAILED, OUT_OF_MEMORY);
    blocks.keeps_this = keeps_this(weave, weaver->layout.file.methods[method].access);
    begin_handlers(&blocks, weaver->layout.pool.bytes + weaver->layout.places[method].code.exceptions);
    begin_where_jumps_go(&blocks);
    begin_behind_throwing(&blocks);
    char snippet[SNIPPET_BYTES];
    for (uint32_t bci = 0; bci < weave->code_length; bci++) {
        if (!starts_at(weave, bci) || !blocks.begins[bci]) continue;
        snprintf(snippet, sizeof snippet, "int %u; call %s (I)V", count_block(&blocks, bci), call);
        if (!weaver_insert(weaver, method, INSERT_BEFORE_BCI, bci, snippet, error)) return false;
    }
    return true;
}
