// SPDX-License-Identifier: Apache-2.0
// Instructions: their lengths, where they move when snippets come between them, and the tables that point at them.
// Branches are never widened, so one pass from top to bottom settles where everything goes: only the padding of
// switches depends on the place. A 16-bit branch that no longer reaches is a reason to leave the method alone.
#include "tracer/weave_internal.h"

#include <string.h>

enum opcode {
    OP_IINC = 132,
    OP_IFEQ = 153,
    OP_GOTO = 167,
    OP_JSR = 168,
    OP_RET = 169,
    OP_TABLESWITCH = 170,
    OP_LOOKUPSWITCH = 171,
    OP_IRETURN = 172,
    OP_RETURN = 177,
    OP_INVOKESPECIAL = 183,
    OP_NEW = 187,
    OP_ATHROW = 191,
    OP_WIDE = 196,
    OP_IFNULL = 198,
    OP_IFNONNULL = 199,
    OP_GOTO_W = 200,
    OP_JSR_W = 201,
};

struct insertion INSIDE;

// Lengths by opcode; 0: not an instruction, 9: depends on what follows.
static const uint8_t LENGTHS[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, // 0 nop
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, // 32 lload_2
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 64 lstore_1
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 96 iadd
    1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, // 128 ior
    3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 9, 9, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1, // 160 if_icmpne
    3, 3, 1, 1, 9, 4, 3, 3, 5, 5,                                                                   // 192 checkcast
};

static uint32_t padded(uint32_t bci) {
    return (bci + 4) & ~3u; // where the operands of a switch at bci start
}

static uint32_t switch_length(const uint8_t *code, uint32_t code_length, uint32_t bci) {
    uint32_t operands = padded(bci);
    bool table = code[bci] == OP_TABLESWITCH;
    if (operands + (table ? 12u : 8u) > code_length) return 0;
    int64_t entries, size;
    if (table) {
        entries = (int64_t)(int32_t)get_u4(code + operands + 8) - (int32_t)get_u4(code + operands + 4) + 1;
        size = 12 + 4 * entries;
    } else {
        entries = (int32_t)get_u4(code + operands + 4);
        size = 8 + 8 * entries;
    }
    bool fits = entries >= (table ? 1 : 0) && size <= code_length - operands;
    return fits ? operands + (uint32_t)size - bci : 0;
}

static uint32_t wide_length(uint8_t opcode) {
    bool local = (opcode >= 21 && opcode <= 25) || (opcode >= 54 && opcode <= 58) || opcode == OP_RET;
    return opcode == OP_IINC ? 6 : local ? 4 : 0;
}

uint32_t instruction_length(const uint8_t *code, uint32_t code_length, uint32_t bci) {
    uint32_t length = LENGTHS[code[bci]];
    if (code[bci] == OP_WIDE) {
        length = bci + 1 < code_length ? wide_length(code[bci + 1]) : 0;
    } else if (length == 9) {
        length = switch_length(code, code_length, bci);
    }
    return length <= code_length - bci ? length : 0;
}

bool instruction_falls_through(uint8_t opcode) {
    bool leaves = (opcode >= OP_GOTO && opcode <= OP_RETURN) || opcode == OP_ATHROW || opcode == OP_GOTO_W;
    return !leaves && opcode != OP_JSR_W;
}

static bool is_short_branch(uint8_t opcode) {
    return (opcode >= OP_IFEQ && opcode <= OP_JSR) || opcode == OP_IFNULL || opcode == OP_IFNONNULL;
}

static bool is_subroutine(const uint8_t *instruction) {
    return *instruction == OP_JSR || *instruction == OP_JSR_W || *instruction == OP_RET ||
           (*instruction == OP_WIDE && instruction[1] == OP_RET);
}

bool code_targets(const struct method_weave *weave, uint32_t bci, target_visitor *visit, void *context) {
    const uint8_t *code = weave->code;
    if (is_short_branch(code[bci])) {
        visit(context, (int64_t)bci + (int16_t)get_u2(code + bci + 1));
        return true;
    }
    if (code[bci] == OP_GOTO_W) {
        visit(context, (int64_t)bci + (int32_t)get_u4(code + bci + 1));
        return true;
    }
    bool table = code[bci] == OP_TABLESWITCH;
    if (!table && code[bci] != OP_LOOKUPSWITCH) return false;
    uint32_t operands = padded(bci), end = bci + instruction_length(code, weave->code_length, bci);
    visit(context, (int64_t)bci + (int32_t)get_u4(code + operands));
    for (uint32_t at = operands + 12; at < end; at += table ? 4 : 8)
        visit(context, (int64_t)bci + (int32_t)get_u4(code + at));
    return true;
}

// Study

// Finds this() or super(): the constructor call that has no `new` of its own before it. Code from other compilers may
// hide it (a `new` whose constructor call comes never or twice), hence the owner must fit as well and a second find
// spoils it.
struct init_search {
    const struct class_layout *layout;
    unsigned open; // `new` without their constructor call so far
    bool several;
};

static void search_init(struct init_search *search, struct method_weave *weave, uint32_t bci) {
    const uint8_t *instruction = weave->code + bci;
    if (*instruction == OP_NEW) search->open++;
    struct member_ref callee;
    if (*instruction != OP_INVOKESPECIAL || !pool_method(&search->layout->pool, get_u2(instruction + 1), &callee) ||
        !utf8_is(callee.name, "<init>")) {
        return;
    }
    if (search->open > 0) {
        search->open--;
        return;
    }
    const struct class_file *file = &search->layout->file;
    bool own = callee.owner.length == file->name.length &&
               memcmp(callee.owner.bytes, file->name.bytes, file->name.length) == 0;
    bool super = callee.owner.length == file->super_name.length &&
                 memcmp(callee.owner.bytes, file->super_name.bytes, file->super_name.length) == 0;
    if (!own && !super) return;
    search->several |= weave->begin > 0;
    weave->init = bci;
    weave->begin = bci + 3;
}

static void study_instruction(struct method_weave *weave, uint32_t bci, uint32_t length) {
    const uint8_t *instruction = weave->code + bci;
    if (is_subroutine(instruction)) weave->why = "it uses jsr or ret";
    if (is_short_branch(*instruction)) weave->straight = false;
    if (!instruction_falls_through(*instruction) && bci + length < weave->code_length) weave->straight = false;
    for (uint32_t i = 1; i < length; i++) weave->at[bci + i] = &INSIDE;
}

// What a frame counts as locals on entry of a constructor: `this` and one for each parameter.
static unsigned entry_locals(struct utf8 descriptor) {
    size_t at = 1;
    unsigned count = 1;
    while (at < descriptor.length && descriptor.bytes[at] != ')') {
        size_t parameter = descriptor_field_length(descriptor.bytes + at, descriptor.length - at);
        if (parameter == 0) break;
        at += parameter;
        count++;
    }
    return count;
}

// With any code in it HotSpot would register every object of the class, and with Object's that is every object there
// is.
static bool is_empty_finalizer(const struct class_method *method) {
    return utf8_is(method->name, "finalize") && utf8_is(method->descriptor, "()V") && method->code_length == 1;
}

bool code_study(struct method_weave *weave, const struct class_layout *layout, uint16_t method, struct arena *arena) {
    const struct code_place *place = &layout->places[method].code;
    weave->code = layout->pool.bytes + place->code;
    weave->code_length = layout->file.methods[method].code_length;
    weave->at = ARENA_NEW(arena, struct insertion *, weave->code_length);
    if (!weave->at) return false;
    weave->straight = get_u2(layout->pool.bytes + place->exceptions) == 0;
    bool constructor = utf8_is(layout->file.methods[method].name, "<init>");
    weave->entry_locals = constructor ? entry_locals(layout->file.methods[method].descriptor) : 0;
    struct init_search search = {.layout = layout};
    for (uint32_t bci = 0, length; bci < weave->code_length; bci += length) {
        length = instruction_length(weave->code, weave->code_length, bci);
        if (length == 0) {
            weave->why = "its code is malformed";
            return true;
        }
        study_instruction(weave, bci, length);
        if (constructor) search_init(&search, weave, bci);
    }
    if (is_empty_finalizer(&layout->file.methods[method])) {
        weave->why = "it is an empty finalize(), by which the JVM knows that its objects need no finalizer";
    }
    if (!constructor || weave->why) return true;
    if (search.several) weave->why = "it seems to call this() or super() twice";
    if (!starts_at(weave, weave->begin) || weave->begin == 0) weave->why = "its call of this() or super() isn't found";
    return true;
}

// Where everything goes

static uint64_t lengths_of(const struct insertion *insertion, bool after) {
    uint64_t length = 0;
    for (; insertion; insertion = insertion->next) {
        if (insertion->after == after) length += insertion->snippet.length;
    }
    return length;
}

static uint32_t moved_length(uint8_t opcode, uint32_t length, uint32_t bci, uint32_t to) {
    if (opcode != OP_TABLESWITCH && opcode != OP_LOOKUPSWITCH) return length;
    return length - (padded(bci) - bci) + (padded(to) - to);
}

const char *code_map_make(const struct method_weave *weave, struct code_map *map) {
    static const char *const TOO_LONG = "its code would be longer than 65,535 bytes";
    uint64_t to = lengths_of(weave->entry, false);
    for (uint32_t bci = 0, length; bci < weave->code_length; bci += length) {
        uint64_t jump = to;
        to += lengths_of(weave->at[bci], false);
        if (to > LARGEST_CODE_BYTES) return TOO_LONG;
        map->jump[bci] = (uint16_t)jump;
        map->moved[bci] = (uint16_t)to;
        length = instruction_length(weave->code, weave->code_length, bci);
        to += moved_length(weave->code[bci], length, bci, (uint32_t)to);
        to += lengths_of(weave->at[bci], true);
    }
    uint64_t handler = weave->thrown ? lengths_of(weave->thrown, false) + 1 : 0;
    if (to + handler > LARGEST_CODE_BYTES) return TOO_LONG;
    map->end = (uint32_t)to;
    map->handler_length = (uint32_t)handler;
    map->jump[weave->code_length] = map->moved[weave->code_length] = (uint16_t)to;
    return NULL;
}

// Writing

static void write_snippets(const struct insertion *insertion, bool after, struct buffer *out) {
    for (; insertion; insertion = insertion->next) {
        if (insertion->after == after) buffer_put(out, insertion->snippet.code, insertion->snippet.length);
    }
}

struct branch {
    const struct method_weave *weave;
    const struct code_map *map;
    uint32_t bci;
    const char *why;
};

// The distance from where the branch went to where its target's jumps land.
static int32_t moved_distance(struct branch *branch, int32_t distance) {
    int64_t target = (int64_t)branch->bci + distance;
    if (target < 0 || target >= branch->weave->code_length || !starts_at(branch->weave, (uint32_t)target)) {
        branch->why = "its code is malformed";
        return 0;
    }
    return branch->map->jump[target] - branch->map->moved[branch->bci];
}

static void write_switch(struct branch *branch, struct buffer *out) {
    const uint8_t *code = branch->weave->code;
    uint32_t bci = branch->bci, from = padded(bci), to = branch->map->moved[bci];
    uint32_t end = bci + instruction_length(code, branch->weave->code_length, bci);
    buffer_u1(out, code[bci]);
    buffer_put(out, (const uint8_t[3]){0}, padded(to) - to - 1);
    buffer_u4(out, (uint32_t)moved_distance(branch, (int32_t)get_u4(code + from)));
    bool table = code[bci] == OP_TABLESWITCH;
    buffer_put(out, code + from + 4, table ? 8 : 4);
    for (uint32_t at = from + (table ? 12 : 8); at < end; at += 4) {
        if (!table) {
            buffer_put(out, code + at, 4);
            at += 4;
        }
        buffer_u4(out, (uint32_t)moved_distance(branch, (int32_t)get_u4(code + at)));
    }
}

static void write_instruction(struct branch *branch, uint32_t length, struct buffer *out) {
    const uint8_t *instruction = branch->weave->code + branch->bci;
    uint8_t opcode = *instruction;
    if (opcode == OP_TABLESWITCH || opcode == OP_LOOKUPSWITCH) {
        write_switch(branch, out);
    } else if (is_short_branch(opcode)) {
        int32_t distance = moved_distance(branch, (int16_t)get_u2(instruction + 1));
        if (distance != (int16_t)distance) branch->why = "a branch would reach too far for 16 bits";
        buffer_u1(out, opcode);
        buffer_u2(out, (uint16_t)distance);
    } else if (opcode == OP_GOTO_W) {
        buffer_u1(out, opcode);
        buffer_u4(out, (uint32_t)moved_distance(branch, (int32_t)get_u4(instruction + 1)));
    } else {
        buffer_put(out, instruction, length);
    }
}

const char *code_write(const struct method_weave *weave, const struct code_map *map, struct buffer *out) {
    struct branch branch = {.weave = weave, .map = map};
    write_snippets(weave->entry, false, out);
    for (uint32_t length; branch.bci < weave->code_length; branch.bci += length) {
        length = instruction_length(weave->code, weave->code_length, branch.bci);
        write_snippets(weave->at[branch.bci], false, out);
        write_instruction(&branch, length, out);
        write_snippets(weave->at[branch.bci], true, out);
    }
    write_snippets(weave->thrown, false, out);
    if (weave->thrown) buffer_u1(out, OP_ATHROW);
    return branch.why;
}

// Shifts

struct shift_list {
    struct bci_shift *shifts; // NULL: only count
    size_t count;
    uint32_t subtract; // of the last pair
};

static void add_shift(struct shift_list *list, uint32_t from, uint32_t original) {
    if (from - original == list->subtract) return;
    list->subtract = from - original;
    if (list->shifts) list->shifts[list->count] = (struct bci_shift){(uint16_t)from, (uint16_t)list->subtract};
    list->count++;
}

// Makes every inserted instruction count as `original`. Returns where the next byte stands.
static uint32_t add_inserted(struct shift_list *list, const struct insertion *insertion, bool after, uint32_t from,
                             uint32_t original) {
    for (; insertion; insertion = insertion->next) {
        if (insertion->after != after) continue;
        const struct snippet *snippet = &insertion->snippet;
        for (uint32_t at = 0; at < snippet->length; at += instruction_length(snippet->code, snippet->length, at)) {
            add_shift(list, from + at, original);
        }
        from += snippet->length;
    }
    return from;
}

size_t code_shifts(const struct method_weave *weave, struct bci_shift *shifts) {
    struct shift_list list = {.shifts = shifts};
    uint32_t to = add_inserted(&list, weave->entry, false, 0, 0);
    for (uint32_t bci = 0, length; bci < weave->code_length; bci += length) {
        to = add_inserted(&list, weave->at[bci], false, to, bci);
        add_shift(&list, to, bci);
        length = instruction_length(weave->code, weave->code_length, bci);
        to += moved_length(weave->code[bci], length, bci, to);
        to = add_inserted(&list, weave->at[bci], true, to, bci);
    }
    to = add_inserted(&list, weave->thrown, false, to, weave->code_length);
    if (weave->thrown) add_shift(&list, to, weave->code_length);
    return list.count;
}
