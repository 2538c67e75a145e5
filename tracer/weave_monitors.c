// SPDX-License-Identifier: Apache-2.0
// Where a method locks and unlocks monitors, and what field it loaded the object from that it locks or calls.
#include "tracer/weave_internal.h"

#include <string.h>

enum opcode {
    OP_ACONST_NULL = 1,
    OP_LDC = 18,
    OP_LDC_W = 19,
    OP_LDC2_W = 20,
    OP_ILOAD = 21,
    OP_ALOAD = 25,
    OP_ILOAD_0 = 26,
    OP_ALOAD_0 = 42,
    OP_ALOAD_3 = 45,
    OP_IALOAD = 46,
    OP_AALOAD = 50,
    OP_SALOAD = 53,
    OP_ISTORE = 54,
    OP_ASTORE = 58,
    OP_ISTORE_0 = 59,
    OP_ASTORE_0 = 75,
    OP_ASTORE_3 = 78,
    OP_DUP = 89,
    OP_IADD = 96,
    OP_LXOR = 131,
    OP_INEG = 116,
    OP_DNEG = 119,
    OP_IINC = 132,
    OP_I2L = 133,
    OP_I2S = 147,
    OP_LCMP = 148,
    OP_DCMPG = 152,
    OP_GETSTATIC = 178,
    OP_GETFIELD = 180,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESTATIC = 184,
    OP_INVOKEINTERFACE = 185,
    OP_INVOKEDYNAMIC = 186,
    OP_ARRAYLENGTH = 190,
    OP_CHECKCAST = 192,
    OP_INSTANCEOF = 193,
    OP_MONITORENTER = 194,
    OP_MONITOREXIT = 195,
    OP_WIDE = 196,
};

enum { NO_LOCAL = -1, NO_BCI = -1, ACC_STATIC = 0x0008 };

// The code of a method that is known to have some.
struct code {
    struct weaver *weaver;
    const struct method_weave *weave;
    const uint8_t *bytes;
    uint32_t length;
    uint16_t method;
    bool is_static;
};

static bool open_code(struct weaver *weaver, uint16_t method, struct code *code) {
    struct error error = ERROR_INIT;
    const struct method_weave *weave = weave_of(weaver, method, &error);
    if (!weave || weave->why) return false;
    *code = (struct code){.weaver = weaver,
                          .weave = weave,
                          .bytes = weave->code,
                          .length = weave->code_length,
                          .method = method,
                          .is_static = weaver->layout.file.methods[method].access & ACC_STATIC};
    return true;
}

static int64_t before(const struct code *code, int64_t bci) {
    do bci--;
    while (bci >= 0 && !starts_at(code->weave, (uint32_t)bci));
    return bci;
}

// The local that the instruction loads a reference from, or stores any value in.
static int loaded_reference(const uint8_t *at) {
    if (*at == OP_ALOAD) return at[1];
    return *at >= OP_ALOAD_0 && *at <= OP_ALOAD_3 ? *at - OP_ALOAD_0 : NO_LOCAL;
}

static int stored(const uint8_t *at) {
    if (*at >= OP_ISTORE && *at <= OP_ASTORE) return at[1];
    if (*at >= OP_ISTORE_0 && *at <= OP_ASTORE_3) return (*at - OP_ISTORE_0) % 4;
    if (*at == OP_IINC) return at[1];
    if (*at != OP_WIDE) return NO_LOCAL;
    return (at[1] >= OP_ISTORE && at[1] <= OP_ASTORE) || at[1] == OP_IINC ? get_u2(at + 2) : NO_LOCAL;
}

bool weaver_keeps_receiver(struct weaver *weaver, uint16_t method) {
    struct code code;
    if (!open_code(weaver, method, &code)) return false;
    for (uint32_t bci = 0; bci < code.length; bci++) {
        if (starts_at(code.weave, bci) && stored(code.bytes + bci) == 0) return false;
    }
    return true;
}

// Jumps --------------------------------------------------------------------------------------------------------------

struct target_search {
    int64_t from, to; // bcis
    bool found;
};

static void look_for_target(void *context, int64_t target) {
    struct target_search *search = context;
    search->found |= target > search->from && target <= search->to;
}

// Whether some jump, or an exception handler, lands behind `from`, at `to` at the latest.
static bool is_jumped_to(const struct code *code, uint16_t method, int64_t from, int64_t to) {
    struct target_search search = {from, to, false};
    const uint16_t *handlers;
    for (uint32_t bci = 0; bci < code->length; bci++) {
        if (starts_at(code->weave, bci)) code_targets(code->weave, bci, look_for_target, &search);
    }
    size_t count = weaver_handlers(code->weaver, method, &handlers);
    for (size_t i = 0; i < count; i++) look_for_target(&search, handlers[i]);
    return search.found;
}

// Monitors -----------------------------------------------------------------------------------------------------------

// A local that holds the object which the instruction locks: it was loaded from there, or stored there as well, just
// before.
static int local_of_monitor(const struct code *code, uint16_t method, uint32_t bci) {
    int64_t last = before(code, bci), second = last > 0 ? before(code, last) : NO_BCI;
    if (last < 0) return NO_LOCAL;
    int local = loaded_reference(code->bytes + last);
    bool stores =
        code->bytes[last] == OP_ASTORE || (code->bytes[last] >= OP_ASTORE_0 && code->bytes[last] <= OP_ASTORE_3);
    int64_t from = last;
    if (local == NO_LOCAL && stores && second >= 0 && code->bytes[second] == OP_DUP) {
        local = stored(code->bytes + last);
        from = second;
    }
    return local == NO_LOCAL || is_jumped_to(code, method, from, bci) ? NO_LOCAL : local;
}

// Whether some handler's range begins at `bci`, or covers it. What is inserted where a monitor is locked may throw, if
// only for want of stack: outside such a range it would leave the monitor locked, and such a method HotSpot does not
// compile.
static bool begins_range(const struct code *code, uint16_t method, uint32_t bci) {
    const struct class_layout *layout = &code->weaver->layout;
    const uint8_t *table = layout->pool.bytes + layout->places[method].code.exceptions;
    for (unsigned i = 0; i < get_u2(table); i++) {
        if (get_u2(table + 2 + 8 * i) == bci) return true;
    }
    return false;
}

static bool is_in_range(const struct code *code, uint16_t method, uint32_t bci) {
    const struct class_layout *layout = &code->weaver->layout;
    const uint8_t *table = layout->pool.bytes + layout->places[method].code.exceptions;
    for (unsigned i = 0; i < get_u2(table); i++) {
        if (get_u2(table + 2 + 8 * i) <= bci && bci < get_u2(table + 2 + 8 * i + 2)) return true;
    }
    return false;
}

size_t weaver_monitors(struct weaver *weaver, uint16_t method, const struct monitor_site **sites) {
    struct code code;
    *sites = NULL;
    const struct class_layout *layout = &weaver->layout;
    const uint8_t *bytes = layout->pool.bytes + layout->places[method].code.code;
    if (!memchr(bytes, OP_MONITORENTER, layout->file.methods[method].code_length)) return 0;
    if (!open_code(weaver, method, &code)) return 0;
    size_t count = 0;
    uint16_t *lines = weaver_lines(weaver, method);
    struct monitor_site *list = ARENA_NEW(&weaver->arena, struct monitor_site, code.length);
    for (uint32_t bci = 0; lines && list && bci < code.length; bci++) {
        bool enters = code.bytes[bci] == OP_MONITORENTER;
        if (!starts_at(code.weave, bci) || (!enters && code.bytes[bci] != OP_MONITOREXIT)) continue;
        bool caught = enters ? begins_range(&code, method, bci + 1) : is_in_range(&code, method, bci);
        list[count++] = (struct monitor_site){.bci = bci,
                                              .line = lines[bci],
                                              .exits = !enters,
                                              .caught = caught,
                                              .local = enters ? local_of_monitor(&code, method, bci) : NO_LOCAL};
    }
    *sites = list;
    return count;
}

// Receivers ----------------------------------------------------------------------------------------------------------

static struct receiver unknown(void) {
    return (struct receiver){.kind = RECEIVER_UNKNOWN};
}

// How many values an instruction that only computes takes from the stack, having left one there; -1: it does something
// else.
static int taken(const uint8_t *at) {
    if ((*at >= OP_ACONST_NULL && *at <= OP_ALOAD_3) || *at == OP_GETSTATIC) return 0;
    if (*at >= OP_IALOAD && *at <= OP_SALOAD) return 2;
    if (*at == OP_GETFIELD || *at == OP_CHECKCAST || (*at >= OP_I2L && *at <= OP_I2S)) return 1;
    if ((*at >= OP_INEG && *at <= OP_DNEG) || *at == OP_ARRAYLENGTH || *at == OP_INSTANCEOF) return 1;
    if (*at >= OP_LCMP && *at <= OP_DCMPG) return 2;
    return *at >= OP_IADD && *at <= OP_LXOR ? 2 : -1;
}

static unsigned parameters(struct utf8 descriptor) {
    unsigned count = 0;
    for (size_t at = 1; at < descriptor.length && descriptor.bytes[at] != ')'; count++) {
        size_t length = descriptor_field_length(descriptor.bytes + at, descriptor.length - at);
        if (length == 0) break;
        at += length;
    }
    return count;
}

static bool is_call(uint8_t opcode) {
    return opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKEDYNAMIC;
}

// The same of a call that gives a value.
static int taken_by_call(const struct code *code, const uint8_t *at) {
    struct member_ref callee;
    bool dynamic = *at == OP_INVOKEDYNAMIC;
    if (!(dynamic ? dynamic_callee : pool_method)(&code->weaver->layout.pool, get_u2(at + 1), &callee)) return -1;
    bool gives_none = callee.descriptor.length == 0 || callee.descriptor.bytes[callee.descriptor.length - 1] == 'V';
    return gives_none ? -1 : (int)parameters(callee.descriptor) + (*at != OP_INVOKESTATIC && !dynamic);
}

// Goes back over what computed `values` of the topmost values; the bci of the instruction before that, or NO_BCI.
static int64_t pass_values(const struct code *code, int64_t bci, unsigned values) {
    while (values > 0 && bci >= 0) {
        const uint8_t *at = code->bytes + bci;
        int takes = is_call(*at) ? taken_by_call(code, at) : taken(at);
        if (takes < 0) return NO_BCI;
        values = values - 1 + (unsigned)takes;
        bci = before(code, bci);
    }
    return bci;
}

static struct receiver receiver_before(const struct code *code, int64_t bci, unsigned depth);

// Where the local got the value that it has at `use`: the only place that stores in it, or the last one before from
// which the code runs straight on. NO_BCI: it can't be told, or `*parameter` is nowhere stored.
static int64_t store_of_local(const struct code *code, int local, int64_t use, bool *parameter) {
    int64_t last = NO_BCI;
    uint32_t stores = 0;
    for (uint32_t bci = 0; bci < code->length; bci++) {
        if (!starts_at(code->weave, bci) || stored(code->bytes + bci) != local) continue;
        stores++;
        if (bci < use) last = bci;
    }
    *parameter = stores == 0;
    if (last == NO_BCI || stores == 1) return last;
    for (uint32_t bci = (uint32_t)last; bci < use; bci++) {
        if (starts_at(code->weave, bci) && !instruction_falls_through(code->bytes[bci])) return NO_BCI;
    }
    return is_jumped_to(code, code->method, last, use) ? NO_BCI : last;
}

static struct receiver receiver_of_local(const struct code *code, int local, int64_t use, unsigned depth) {
    bool parameter;
    int64_t store = store_of_local(code, local, use, &parameter);
    if (parameter && local == 0 && !code->is_static) return (struct receiver){.kind = RECEIVER_THIS};
    return store == NO_BCI ? unknown() : receiver_before(code, store, depth);
}

static struct receiver receiver_of_field(const struct code *code, int64_t bci, unsigned depth) {
    struct receiver receiver = receiver_before(code, bci, depth);
    return receiver.kind == RECEIVER_FIELD ? receiver : unknown();
}

// Calls whose value has no name of its own, but that of the field which holds what they are called on: the halves of a
// lock for readers and writers, and what a collection of java.util has.
static bool gives_a_part(const struct member_ref *callee) {
    static const struct {
        const char *name;
        unsigned parameters;
        bool of_collection;
    } parts[] = {
        {"readLock", 0, false},        {"writeLock", 0, false}, {"asReadLock", 0, false},  {"asWriteLock", 0, false},
        {"asReadWriteLock", 0, false}, {"get", 1, true},        {"getOrDefault", 2, true}, {"computeIfAbsent", 2, true},
        {"iterator", 0, true},         {"next", 0, true},       {"values", 0, true}};
    static const char collections[] = "java/util/", functions[] = "java/util/function/";
    struct utf8 owner = callee->owner;
    bool in_util = owner.length >= strlen(collections) && memcmp(owner.bytes, collections, strlen(collections)) == 0;
    bool function = owner.length >= strlen(functions) && memcmp(owner.bytes, functions, strlen(functions)) == 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (utf8_is(callee->name, parts[i].name) && parameters(callee->descriptor) == parts[i].parameters)
            return !parts[i].of_collection || (in_util && !function);
    }
    return false;
}

static struct receiver receiver_of_call(const struct code *code, int64_t bci, unsigned depth) {
    uint8_t opcode = code->bytes[bci];
    struct member_ref callee;
    if (opcode == OP_INVOKESTATIC || opcode == OP_INVOKEDYNAMIC) return unknown();
    if (!pool_method(&code->weaver->layout.pool, get_u2(code->bytes + bci + 1), &callee)) return unknown();
    if (!gives_a_part(&callee)) return unknown();
    int64_t last = pass_values(code, before(code, bci), parameters(callee.descriptor));
    return last < 0 ? unknown() : receiver_of_field(code, last + 1, depth);
}

// An element of an array is called by the field that holds the array.
static struct receiver receiver_of_element(const struct code *code, int64_t bci, unsigned depth) {
    int64_t last = pass_values(code, before(code, bci), 1);
    return last < 0 ? unknown() : receiver_of_field(code, last + 1, depth);
}

// What the last instruction before `bci` left on the stack.
static struct receiver receiver_before(const struct code *code, int64_t bci, unsigned depth) {
    enum { DEEPEST = 8 };
    const struct constant_pool *pool = &code->weaver->layout.pool;
    int64_t at = before(code, bci);
    while (at >= 0 && (code->bytes[at] == OP_CHECKCAST || code->bytes[at] == OP_DUP)) at = before(code, at);
    if (at < 0 || depth == DEEPEST) return unknown();
    const uint8_t *instruction = code->bytes + at;
    struct receiver receiver = {.kind = RECEIVER_FIELD};
    struct utf8 class;
    if ((*instruction == OP_GETFIELD || *instruction == OP_GETSTATIC) &&
        pool_field(pool, get_u2(instruction + 1), &receiver.member))
        return receiver;
    if (*instruction == OP_LDC && pool_class_name(pool, instruction[1], &class))
        return (struct receiver){.kind = RECEIVER_CLASS, .member.owner = class};
    if (*instruction == OP_LDC_W && pool_class_name(pool, get_u2(instruction + 1), &class))
        return (struct receiver){.kind = RECEIVER_CLASS, .member.owner = class};
    if (loaded_reference(instruction) != NO_LOCAL)
        return receiver_of_local(code, loaded_reference(instruction), at, depth + 1);
    if (*instruction == OP_AALOAD) return receiver_of_element(code, at, depth + 1);
    if (is_call(*instruction)) return receiver_of_call(code, at, depth + 1);
    return unknown();
}

struct receiver weaver_receiver(struct weaver *weaver, uint16_t method, uint32_t bci, struct utf8 descriptor) {
    struct code code;
    if (!open_code(weaver, method, &code) || !starts_at(code.weave, bci)) return unknown();
    if (descriptor.length == 0) { // a monitor: javac stores it as well
        int64_t last = before(&code, bci);
        bool stores = last >= 0 && stored(code.bytes + last) != NO_LOCAL;
        return receiver_before(&code, stores ? last : (int64_t)bci, 0);
    }
    int64_t last = pass_values(&code, before(&code, bci), parameters(descriptor));
    return last < 0 ? unknown() : receiver_before(&code, last + 1, 0);
}

uint32_t weaver_line(struct weaver *weaver, uint16_t method, uint32_t bci) {
    const uint16_t *lines = weaver_lines(weaver, method);
    return lines ? lines[bci] : 0;
}
