// SPDX-License-Identifier: GPL-3.0-or-later
// The weaver on classes made here byte by byte, and on real ones that are cut and corrupted. That a JVM accepts what it
// writes is tests/jvm/verify_all's business.
#include "tests/fuzz/weave_everything.h"
#include "tracer/classfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A class T extends Object with one method, whose parts are given as bytes.

enum { CLASS_BYTES = 400 << 10, CALL = 18, SUPER_INIT = 15, OWN_INIT = 20 };

enum {
    NAME_CODE = 5,
    NAME_FRAMES = 8,
    NAME_LINES = 9,
    NAME_ANNOTATIONS = 10,
    NAME_VARIABLES = 11,
    POOL_COUNT = 21,
};

struct part {
    const uint8_t *bytes;
    size_t length;
};

#define PART(...) ((struct part){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

struct spec {
    const char *name, *descriptor;
    uint16_t major;
    struct part code, exceptions, frames, lines, annotations, variables;
    unsigned max_locals, extra_constants;
    const char *marked; // descriptor of an annotation of the method
    bool stackless;
};

struct made {
    uint8_t bytes[CLASS_BYTES];
    size_t length;
};

static void put(struct made *made, const void *bytes, size_t count) {
    assert_true(made->length + count <= CLASS_BYTES);
    if (count) memcpy(made->bytes + made->length, bytes, count);
    made->length += count;
}

static void put_u1(struct made *made, uint8_t value) {
    put(made, &value, 1);
}

static void put_u2(struct made *made, unsigned value) {
    uint8_t bytes[2];
    set_u2(bytes, (uint16_t)value);
    put(made, bytes, 2);
}

static void put_u4(struct made *made, size_t value) {
    uint8_t bytes[4];
    set_u4(bytes, (uint32_t)value);
    put(made, bytes, 4);
}

static void put_text(struct made *made, const char *text) {
    put_u1(made, CONSTANT_UTF8);
    put_u2(made, (unsigned)strlen(text));
    put(made, text, strlen(text));
}

static void put_class(struct made *made, unsigned name) {
    put_u1(made, CONSTANT_CLASS);
    put_u2(made, name);
}

static void put_pair(struct made *made, enum constant_tag tag, unsigned first, unsigned second) {
    put_u1(made, (uint8_t)tag);
    put_u2(made, first);
    put_u2(made, second);
}

static void put_pool(struct made *made, const struct spec *spec) {
    put_u2(made, POOL_COUNT + spec->extra_constants + (spec->marked ? 2 : 0));
    put_text(made, "T");
    put_class(made, 1);
    put_text(made, "java/lang/Object");
    put_class(made, 3);
    put_text(made, "Code");
    put_text(made, spec->name ? spec->name : "m");
    put_text(made, spec->descriptor ? spec->descriptor : "()V");
    put_text(made, "StackMapTable");
    put_text(made, "LineNumberTable");
    put_text(made, "RuntimeVisibleTypeAnnotations");
    put_text(made, "LocalVariableTable");
    put_text(made, "<init>");
    put_text(made, "()V");
    put_pair(made, CONSTANT_NAME_AND_TYPE, 12, 13);
    put_pair(made, CONSTANT_METHODREF, 4, 14);
    put_text(made, "callee");
    put_pair(made, CONSTANT_NAME_AND_TYPE, 16, 13);
    put_pair(made, CONSTANT_METHODREF, 2, 17);
    put_text(made, "java/lang/Other");
    put_pair(made, CONSTANT_METHODREF, 2, 14);
    for (unsigned i = 0; i < spec->extra_constants; i++) put_pair(made, CONSTANT_INTEGER, i >> 16, i & 0xFFFF);
    if (spec->marked) {
        put_text(made, "RuntimeVisibleAnnotations");
        put_text(made, spec->marked);
    }
}

static void put_attribute(struct made *made, unsigned name, struct part body) {
    if (body.length == 0) return;
    put_u2(made, name);
    put_u4(made, body.length);
    put(made, body.bytes, body.length);
}

static void put_code(struct made *made, const struct spec *spec) {
    put_u2(made, spec->stackless ? 0 : 2);
    put_u2(made, spec->max_locals ? spec->max_locals : 2);
    put_u4(made, spec->code.length);
    put(made, spec->code.bytes, spec->code.length);
    put_u2(made, (unsigned)spec->exceptions.length / 8);
    put(made, spec->exceptions.bytes, spec->exceptions.length);
    put_u2(made, (spec->frames.length > 0) + (spec->lines.length > 0) + (spec->annotations.length > 0) +
                     (spec->variables.length > 0));
    put_attribute(made, NAME_FRAMES, spec->frames);
    put_attribute(made, NAME_LINES, spec->lines);
    put_attribute(made, NAME_ANNOTATIONS, spec->annotations);
    put_attribute(made, NAME_VARIABLES, spec->variables);
}

// One annotation before it, with a value, and then the mark.
static void put_mark(struct made *made, const struct spec *spec) {
    unsigned name = POOL_COUNT + spec->extra_constants;
    put_u2(made, name);
    const struct part before = PART(0, 2, 0, 3, 0, 1, 0, 6, 's', 0, 6);
    put_u4(made, before.length + 4);
    put(made, before.bytes, before.length);
    put_u2(made, name + 1);
    put_u2(made, 0);
}

// The class is static: it lives until the next one is made.
static const struct made *make_class(const struct spec *spec) {
    static struct made made;
    made.length = 0;
    put_u4(&made, 0xCAFEBABE);
    put_u2(&made, 0);
    put_u2(&made, spec->major ? spec->major : 52);
    put_pool(&made, spec);
    put_u2(&made, 0x21);
    put_u2(&made, 2);
    put_u2(&made, 4);
    put_u2(&made, 0); // interfaces
    put_u2(&made, 0); // fields
    put_u2(&made, 1); // methods
    put_u2(&made, 1);
    put_u2(&made, 6);
    put_u2(&made, 7);
    put_u2(&made, (spec->code.length > 0) + (spec->marked != NULL));
    size_t start = made.length;
    if (spec->code.length) {
        put_u2(&made, NAME_CODE);
        put_u4(&made, 0);
        put_code(&made, spec);
        set_u4(made.bytes + start + 2, (uint32_t)(made.length - start - 6));
    }
    if (spec->marked) put_mark(&made, spec);
    put_u2(&made, 0);
    return &made;
}

static struct weaver *open_class(const struct spec *spec) {
    struct error error = ERROR_INIT;
    const struct made *made = make_class(spec);
    struct weaver *weaver = weaver_open(made->bytes, made->length, &error);
    if (!weaver) fail_msg("%s", error.cause[0]);
    return weaver;
}

static void insert(struct weaver *weaver, enum insert_where where, uint32_t bci, const char *snippet) {
    struct error error = ERROR_INIT;
    if (!weaver_insert(weaver, 0, where, bci, snippet, &error)) fail_msg("%s", error.cause[0]);
}

static void catch_all(struct weaver *weaver, const char *snippet) {
    struct error error = ERROR_INIT;
    if (!weaver_catch_all(weaver, 0, snippet, &error)) fail_msg("%s", error.cause[0]);
}

static void count_blocks(struct weaver *weaver) {
    struct error error = ERROR_INIT;
    if (!weaver_count_blocks(weaver, 0, "count", &error)) fail_msg("%s", error.cause[0]);
}

// The parts of method 0 of the woven class.
struct woven {
    struct part code, exceptions, frames, lines, annotations, variables;
    uint16_t max_stack, constants;
    const char *why; // it was skipped
};

static void keep(struct part *part, const char *name, const uint8_t *bytes, const struct attribute *attribute) {
    if (utf8_is(attribute->name, name)) {
        *part = (struct part){bytes + attribute->body, attribute->end - attribute->body};
    }
}

static void locate(struct woven *woven, const uint8_t *bytes, size_t length) {
    struct arena arena = ARENA_INIT;
    struct class_layout layout = {0};
    struct reader reader = {.bytes = bytes, .end = length};
    if (!classfile_parse(&reader, &arena, &layout)) fail_msg("%s at %zu", reader.why, reader.bad_at);
    const struct code_place *place = &layout.places[0].code;
    woven->constants = layout.pool.count;
    woven->max_stack = place->max_stack;
    woven->code = (struct part){bytes + place->code, layout.file.methods[0].code_length};
    woven->exceptions = (struct part){bytes + place->exceptions + 2, place->attributes - place->exceptions - 2};
    reader = (struct reader){.bytes = bytes, .at = place->attributes, .end = place->end};
    struct attribute attribute;
    for (unsigned left = read_u2(&reader); left > 0 && read_attribute(&reader, &layout.pool, &attribute); left--) {
        keep(&woven->frames, "StackMapTable", bytes, &attribute);
        keep(&woven->lines, "LineNumberTable", bytes, &attribute);
        keep(&woven->annotations, "RuntimeVisibleTypeAnnotations", bytes, &attribute);
        keep(&woven->variables, "LocalVariableTable", bytes, &attribute);
    }
    arena_destroy(&arena);
}

static struct woven finish(struct weaver *weaver) {
    struct error error = ERROR_INIT;
    struct woven woven = {0};
    const uint8_t *bytes;
    size_t length, skip_count;
    unsigned count;
    const struct weave_skip *skips;
    if (!weaver_finish(weaver, &bytes, &length, &count, &skips, &skip_count, &error)) fail_msg("%s", error.cause[0]);
    if (skip_count) woven.why = skips[0].why;
    assert_int_equal(skip_count, woven.why != NULL);
    assert_int_equal(count, bytes != NULL);
    if (bytes) locate(&woven, bytes, length);
    return woven;
}

static void assert_part(struct part found, struct part expected) {
    assert_int_equal(found.length, expected.length);
    assert_memory_equal(found.bytes, expected.bytes, expected.length);
}

// Snippets append their constants in the order Utf8 helper, Class, Utf8 name, Utf8 descriptor, NameAndType, Methodref.
enum { FIRST_REF = POOL_COUNT + 5 };
#define CALLED 0xB8, 0, FIRST_REF

enum {
    NOP = 0,
    ICONST_0 = 3,
    ICONST_1 = 4,
    ICONST_2 = 5,
    ICONST_3 = 6,
    ICONST_4 = 7,
    ILOAD_0 = 26,
    ALOAD_0 = 42,
    ALOAD_1 = 43,
    ALOAD_2 = 44,
    ASTORE_0 = 75,
    ASTORE_1 = 76,
    ASTORE_2 = 77,
    DUP = 89,
    ASTORE = 58,
    IFEQ = 153,
    GOTO = 167,
    TABLESWITCH = 170,
    LOOKUPSWITCH = 171,
    IRETURN = 172,
    RETURN = 177,
    GETFIELD = 180,
    INVOKESPECIAL = 183,
    INVOKESTATIC = 184,
    NEW = 187,
    ATHROW = 191,
    MONITORENTER = 194,
    MONITOREXIT = 195,
    WIDE = 196,
};

// Counting

static void test_blocks_end_where_jumps_come_and_go(void **state) {
    struct weaver *weaver = open_class(&(struct spec){
        .code = PART(ILOAD_0, IFEQ, 0, 5, NOP, NOP, RETURN), .frames = PART(0, 1, 6), .descriptor = "(I)V"});
    count_blocks(weaver);
    struct woven woven = finish(weaver);
    assert_part(woven.code,
                PART(ICONST_2, CALLED, ILOAD_0, IFEQ, 0, 9, ICONST_2, CALLED, NOP, NOP, ICONST_1, CALLED, RETURN));
    assert_part(woven.frames, PART(0, 1, 14)); // whoever jumps to a block counts it
    assert_int_equal(woven.max_stack, 3);
    weaver_close(weaver);

    const struct spec table = {
        .code = PART(ICONST_0, TABLESWITCH, 0, 0, 0, 0, 0, 19, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 20, NOP, RETURN),
        .frames = PART(0, 2, 20, 0)};
    weaver = open_class(&table);
    count_blocks(weaver);
    assert_part(finish(weaver).code, PART(ICONST_2, CALLED, ICONST_0, TABLESWITCH, 0, 0, 0, 0, 0, 19, 0, 0, 0, 5, 0, 0,
                                          0, 5, 0, 0, 0, 24, ICONST_1, CALLED, NOP, ICONST_1, CALLED, RETURN));
    weaver_close(weaver);

    weaver = open_class(&(struct spec){.code = PART(NOP, NOP, ICONST_0, IFEQ, 0xFF, 0xFE, RETURN),
                                       .frames = PART(0, 1, 1)}); // back, into what would be one block
    count_blocks(weaver);
    assert_part(finish(weaver).code, PART(ICONST_1, CALLED, NOP, ICONST_3, CALLED, NOP, ICONST_0, IFEQ, 0xFF, 0xFA,
                                          ICONST_1, CALLED, RETURN));
    weaver_close(weaver);
}

static void test_blocks_end_behind_what_throws(void **state) {
    struct weaver *weaver =
        open_class(&(struct spec){.code = PART(NOP, INVOKESTATIC, 0, CALL, NOP, NOP, RETURN),
                                  .exceptions = PART(0, 0, 0, 4, 0, 5, 0, 0)}); // the handler begins one, too
    count_blocks(weaver);
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ICONST_2, CALLED, NOP, INVOKESTATIC, 0, CALL, ICONST_1, CALLED, NOP, ICONST_2, CALLED,
                                 NOP, RETURN));
    assert_part(woven.exceptions, PART(0, 0, 0, 8, 0, 13, 0, 0));
    weaver_close(weaver);
}

static void test_own_fields_end_no_block(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(ALOAD_0, GETFIELD, 0, 1, NOP, RETURN)});
    count_blocks(weaver);
    assert_part(finish(weaver).code, PART(ICONST_4, CALLED, ALOAD_0, GETFIELD, 0, 1, NOP, RETURN));
    weaver_close(weaver);

    static const uint8_t stores[][4] = {{ASTORE_0, NOP, NOP, NOP}, {ASTORE, 0, NOP, NOP}, {WIDE, ASTORE, 0, 0}};
    static const uint8_t counts[] = {7, 6, 4}; // instructions up to the getfield, and with it
    for (size_t i = 0; i < 3; i++) {           // `this` may be another then
        const uint8_t *store = stores[i];
        weaver = open_class(&(struct spec){
            .code = PART(ALOAD_0, store[0], store[1], store[2], store[3], ALOAD_0, GETFIELD, 0, 1, RETURN)});
        count_blocks(weaver);
        struct woven woven = finish(weaver);
        assert_int_equal(woven.code.bytes[0] == 16 ? woven.code.bytes[1] : woven.code.bytes[0] - ICONST_0, counts[i]);
        assert_memory_equal(woven.code.bytes + woven.code.length - 5, ((const uint8_t[]){ICONST_1, CALLED, RETURN}), 5);
        weaver_close(weaver);
    }
}

static void test_constructors_count_from_the_start(void **state) {
    struct weaver *weaver =
        open_class(&(struct spec){.name = "<init>", .code = PART(ALOAD_0, INVOKESPECIAL, 0, SUPER_INIT, NOP, RETURN)});
    count_blocks(weaver);
    insert(weaver, INSERT_BEFORE_RETURN, 0, "call count ()V"); // sees all counted
    assert_part(finish(weaver).code, PART(ICONST_2, CALLED, ALOAD_0, INVOKESPECIAL, 0, SUPER_INIT, ICONST_2, CALLED,
                                          NOP, 0xB8, 0, FIRST_REF + 3, RETURN));
    weaver_close(weaver);
}

static void test_intrinsics_are_told(void **state) {
    static const struct {
        const char *annotation;
        bool is;
    } cases[] = {{"Ljdk/internal/vm/annotation/IntrinsicCandidate;", true},
                 {"Ljdk/internal/HotSpotIntrinsicCandidate;", true},
                 {"Ljdk/internal/vm/annotation/ForceInline;", false},
                 {NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN), .marked = cases[i].annotation});
        assert_int_equal(weaver_is_intrinsic(weaver, 0), cases[i].is);
        assert_false(weaver_is_intrinsic(weaver, 1));
        weaver_close(weaver);
    }
}

// Placing

static void test_entry_runs_once(void **state) {
    struct weaver *weaver = open_class(&(struct spec){
        .code = PART(ICONST_0, IFEQ, 0xFF, 0xFF, RETURN), .frames = PART(0, 1, 0), .lines = PART(0, 1, 0, 0, 0, 9)});
    insert(weaver, INSERT_ENTRY, 0, "int 1; call enter (I)V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ICONST_1, CALLED, ICONST_0, IFEQ, 0xFF, 0xFF, RETURN));
    assert_part(woven.frames, PART(0, 1, 4)); // the back edge lands behind what was inserted
    assert_part(woven.lines, PART(0, 1, 0, 0, 0, 9));
    assert_int_equal(woven.max_stack, 3);
    weaver_close(weaver);
}

static void test_before_is_run_by_jumps(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(ILOAD_0, IFEQ, 0, 4, NOP, NOP, RETURN),
                                                      .frames = PART(0, 1, 5),
                                                      .lines = PART(0, 2, 0, 0, 0, 9, 0, 5, 0, 10),
                                                      .descriptor = "(I)V"});
    insert(weaver, INSERT_BEFORE_BCI, 5, "call a ()V");
    insert(weaver, INSERT_AFTER_BCI, 4, "call a ()V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ILOAD_0, IFEQ, 0, 7, NOP, CALLED, CALLED, NOP, RETURN));
    assert_part(woven.frames, PART(0, 1, 8));
    assert_part(woven.lines, PART(0, 2, 0, 0, 0, 9, 0, 8, 0, 10));
    weaver_close(weaver);
}

static void test_insertions_run_in_order_of_calls(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN)});
    insert(weaver, INSERT_BEFORE_RETURN, 0, "int 1; call a (I)V");
    insert(weaver, INSERT_BEFORE_BCI, 0, "int 2; call a (I)V");
    insert(weaver, INSERT_ENTRY, 0, "int 3; call a (I)V");
    insert(weaver, INSERT_ENTRY, 0, "int 4; call a (I)V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(6, CALLED, 7, CALLED, 4, CALLED, 5, CALLED, RETURN));
    assert_int_equal(woven.constants, FIRST_REF + 1); // one Methodref for all four
    weaver_close(weaver);
}

static void test_switches_are_padded_anew(void **state) {
    const struct spec table = {
        .code = PART(ICONST_0, TABLESWITCH, 0, 0, 0, 0, 0, 19, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 19, RETURN),
        .frames = PART(0, 1, 20)};
    struct weaver *weaver = open_class(&table);
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    struct woven woven = finish(weaver);
    assert_part(woven.code,
                PART(CALLED, ICONST_0, TABLESWITCH, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 20, RETURN));
    assert_part(woven.frames, PART(0, 1, 24));
    weaver_close(weaver);

    const struct spec lookup = {.code = PART(ICONST_0, LOOKUPSWITCH, 0, 0, 0, 0, 0, 19, 0, 0, 0, 1, 0, 0, 1, 0, 0xFF,
                                             0xFF, 0xFF, 0xFF, RETURN)};
    weaver = open_class(&lookup);
    insert(weaver, INSERT_AFTER_BCI, 0, "call a ()V; call a ()V");
    woven = finish(weaver);
    assert_part(woven.code, PART(ICONST_0, CALLED, CALLED, LOOKUPSWITCH, 0, 0, 0, 17, 0, 0, 0, 1, 0, 0, 1, 0, 0xFF,
                                 0xFF, 0xFF, 0xF9, RETURN));
    weaver_close(weaver);
}

static void test_frames_grow_and_follow_new(void **state) {
    struct weaver *weaver = open_class(
        &(struct spec){.code = PART(NEW, 0, 2, 89, ILOAD_0, IFEQ, 0, 4, NOP, INVOKESPECIAL, 0, OWN_INIT, RETURN),
                       .frames = PART(0, 1, 255, 0, 9, 0, 1, 1, 0, 2, 8, 0, 0, 8, 0, 0),
                       .descriptor = "(I)V"});
    insert(weaver, INSERT_BEFORE_BCI, 0, "call a ()V");
    assert_part(finish(weaver).frames, PART(0, 1, 255, 0, 12, 0, 1, 1, 0, 2, 8, 0, 3, 8, 0, 3));
    weaver_close(weaver);

    uint8_t code[130] = {[129] = RETURN};
    weaver = open_class(&(struct spec){.code = {code, sizeof code}, .frames = PART(0, 3, 60, 64 + 60, 1, 250, 0, 0)});
    insert(weaver, INSERT_ENTRY, 0, "call a ()V; call a ()V");
    insert(weaver, INSERT_BEFORE_BCI, 100, "call a ()V; call a ()V");
    assert_part(finish(weaver).frames, PART(0, 3, 251, 0, 66, 247, 0, 66, 1, 250, 0, 0));
    weaver_close(weaver);
}

static void test_catch_all_is_the_last_resort(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(NOP, RETURN, ATHROW),
                                                      .exceptions = PART(0, 0, 0, 1, 0, 2, 0, 0),
                                                      .frames = PART(0, 1, 66, 7, 0, 2)});
    insert(weaver, INSERT_BEFORE_BCI, 1, "call a ()V");
    catch_all(weaver, "int 1; call a (I)V");
    catch_all(weaver, "dup; call b (Ljava/lang/Object;)V");
    struct woven woven = finish(weaver);
    uint8_t throwable = FIRST_REF + 5, b = FIRST_REF + 9;
    assert_part(woven.code,
                PART(NOP, CALLED, RETURN, ATHROW, ICONST_1, 0xB8, 0, FIRST_REF + 3, 89, 0xB8, 0, b, ATHROW));
    assert_part(woven.exceptions, PART(0, 0, 0, 1, 0, 5, 0, 0, 0, 0, 0, 6, 0, 6, 0, 0));
    assert_part(woven.frames, PART(0, 2, 69, 7, 0, 2, 255, 0, 0, 0, 0, 0, 1, 7, 0, throwable));
    weaver_close(weaver);
}

static size_t frames_after_catch_all(uint16_t major, struct part code) {
    struct weaver *weaver = open_class(&(struct spec){.major = major, .code = code, .stackless = true});
    catch_all(weaver, "call a ()V");
    struct woven woven = finish(weaver);
    assert_int_equal(woven.exceptions.length, 8);
    assert_int_equal(woven.max_stack, 1);
    weaver_close(weaver);
    return woven.frames.length;
}

static void test_frames_by_version(void **state) {
    assert_int_equal(frames_after_catch_all(49, PART(RETURN)), 0);
    assert_int_equal(frames_after_catch_all(50, PART(RETURN)), 12);
    assert_int_equal(frames_after_catch_all(50, PART(GOTO, 0, 3, RETURN)), 0);
    assert_int_equal(frames_after_catch_all(51, PART(RETURN)), 12);
}

static void test_constructors_start_behind_super(void **state) {
    struct weaver *weaver = open_class(&(struct spec){
        .name = "<init>",
        .code = PART(ALOAD_0, NEW, 0, 2, 89, INVOKESPECIAL, 0, OWN_INIT, 87, INVOKESPECIAL, 0, SUPER_INIT, RETURN)});
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    catch_all(weaver, "call a ()V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ALOAD_0, NEW, 0, 2, 89, INVOKESPECIAL, 0, OWN_INIT, 87, INVOKESPECIAL, 0, SUPER_INIT,
                                 CALLED, RETURN, CALLED, ATHROW));
    assert_part(woven.exceptions, PART(0, 15, 0, 16, 0, 16, 0, 0));
    weaver_close(weaver);
}

static void test_variables_and_annotations_move(void **state) {
    struct weaver *weaver = open_class(&(struct spec){
        .code = PART(NOP, NOP, RETURN),
        .variables = PART(0, 2, 0, 0, 0, 3, 0, 1, 0, 1, 0, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0, 1),
        // a local variable, and an offset with an argument: @1(1 = {@1(1 = 'c'), enum}), both with a path
        .annotations = PART(0, 2, 0x40, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0x47, 0, 1, 3, 1, 0, 0, 0, 1, 0, 1, 0, 1,
                            '[', 0, 2, '@', 0, 1, 0, 1, 0, 1, 's', 0, 1, 'e', 0, 1, 0, 1)});
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    insert(weaver, INSERT_BEFORE_BCI, 1, "call a ()V");
    struct woven woven = finish(weaver);
    assert_null(woven.why);
    assert_part(woven.variables, PART(0, 2, 0, 0, 0, 9, 0, 1, 0, 1, 0, 0, 0, 4, 0, 5, 0, 1, 0, 1, 0, 1));
    assert_part(woven.annotations, PART(0, 2, 0x40, 0, 1, 0, 4, 0, 4, 0, 1, 0, 0, 1, 0, 0, 0x47, 0, 7, 3, 1, 0, 0, 0, 1,
                                        0, 1, 0, 1, '[', 0, 2, '@', 0, 1, 0, 1, 0, 1, 's', 0, 1, 'e', 0, 1, 0, 1));
    weaver_close(weaver);
}

static void test_shifts_lead_back(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(NOP, INVOKESTATIC, 0, CALL, RETURN)});
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    insert(weaver, INSERT_AFTER_BCI, 1, "call a ()V");
    insert(weaver, INSERT_BEFORE_RETURN, 0, "int 1; call b (I)V");
    catch_all(weaver, "call a ()V");
    assert_part(finish(weaver).code, PART(CALLED, NOP, INVOKESTATIC, 0, CALL, CALLED, ICONST_1, 0xB8, 0, FIRST_REF + 4,
                                          RETURN, CALLED, ATHROW));
    static const struct bci_shift expected[] = {{3, 3}, {7, 6}, {10, 6}, {11, 7}, {14, 10}, {15, 10}, {18, 13}};
    const struct bci_shift *shifts;
    size_t count = weaver_shifts(weaver, 0, &shifts);
    unsigned previous = 0;
    for (unsigned bci = 0; bci < 19; bci++) {
        unsigned subtract = 0;
        for (size_t i = 0; i < count && shifts[i].from <= bci; i++) subtract = shifts[i].subtract;
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            if (expected[i].from == bci) assert_int_equal(subtract, expected[i].subtract);
        }
        assert_true(bci - subtract >= previous || subtract > 0);
        previous = bci - subtract;
    }
    weaver_close(weaver);
}

// Leaving alone

static void assert_skipped(const struct spec *spec, const char *why) {
    struct weaver *weaver = open_class(spec);
    struct error error = ERROR_INIT;
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    insert(weaver, INSERT_BEFORE_RETURN, 0, "call a ()V");
    catch_all(weaver, "call a ()V");
    assert_true(weaver_add_field(weaver, "f", "J", 0x1080, &error)); // so that the class is written
    struct error unused = ERROR_INIT;
    const uint8_t *bytes;
    size_t length, skip_count;
    unsigned count;
    const struct weave_skip *skips;
    assert_true(weaver_finish(weaver, &bytes, &length, &count, &skips, &skip_count, &unused));
    assert_int_equal(skip_count, 1);
    assert_string_equal(skips[0].why, why);
    assert_int_equal(count, 0);
    const struct made *made = make_class(spec);
    enum { METHODS_FROM = 22 }; // what follows fields_count in a class without code, and the code itself
    size_t kept = spec->code.length + METHODS_FROM;
    assert_memory_equal(bytes + length - kept, made->bytes + made->length - kept, kept);
    const struct bci_shift *shifts;
    assert_int_equal(weaver_shifts(weaver, 0, &shifts), 0);
    weaver_close(weaver);
}

static void test_methods_are_left_alone(void **state) {
    static uint8_t longest[65535], far[32800] = {GOTO, 0x7F, 0xFF};
    longest[sizeof longest - 1] = far[sizeof far - 1] = RETURN;
    assert_skipped(&(struct spec){.code = {longest, sizeof longest}}, "its code would be longer than 65,535 bytes");
    struct weaver *weaver = open_class(&(struct spec){.code = {far, sizeof far}});
    insert(weaver, INSERT_BEFORE_BCI, 10, "call a ()V");
    assert_string_equal(finish(weaver).why, "a branch would reach too far for 16 bits");
    weaver_close(weaver);
    assert_skipped(&(struct spec){.code = PART(168, 0, 3, RETURN), .major = 49}, "it uses jsr or ret");
    assert_skipped(&(struct spec){.code = PART(196, 169, 0, 0)}, "it uses jsr or ret");
    assert_skipped(&(struct spec){.code = PART(RETURN), .name = "finalize"},
                   "it is an empty finalize(), by which the JVM knows that its objects need no finalizer");
    assert_skipped(&(struct spec){.code = PART(RETURN), .name = "<init>"}, "its call of this() or super() isn't found");
    assert_skipped(
        &(struct spec){.code = PART(ALOAD_0, INVOKESPECIAL, 0, SUPER_INIT, ALOAD_0, INVOKESPECIAL, 0, OWN_INIT, RETURN),
                       .name = "<init>"},
        "it seems to call this() or super() twice");
    assert_skipped(&(struct spec){.code = PART(ALOAD_0, INVOKESPECIAL, 0, SUPER_INIT, NOP, RETURN),
                                  .name = "<init>",
                                  .frames = PART(0, 1, 255, 0, 5, 0, 1, 6, 0, 0)},
                   "it has code from before this() or super() behind that call");
}

static void test_malformed_code_is_left_alone(void **state) {
    const char *code = "its code is malformed", *table = "a table of its code is malformed",
               *frames = "its StackMapTable is malformed";
    assert_skipped(&(struct spec){.code = PART(0xFE, RETURN)}, code);
    assert_skipped(&(struct spec){.code = PART(RETURN, GOTO, 0)}, code);
    assert_skipped(&(struct spec){.code = PART(GOTO, 0, 1, RETURN)}, code);
    assert_skipped(&(struct spec){.code = PART(GOTO, 0x80, 1, RETURN)}, code);
    assert_skipped(&(struct spec){.code = PART(196)}, code);
    assert_skipped(
        &(struct spec){.code = PART(TABLESWITCH, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF)}, code);
    assert_skipped(&(struct spec){.code = PART(LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF)}, code);
    struct spec spec = {.code = PART(NOP, GOTO, 0, 3, RETURN), .exceptions = PART(0, 0, 0, 2, 0, 4, 0, 0)};
    assert_skipped(&spec, table);
    spec = (struct spec){.code = spec.code, .lines = PART(0, 1, 0, 2, 0, 1)};
    assert_skipped(&spec, table);
    spec = (struct spec){.code = spec.code, .variables = PART(0, 1, 0, 0, 0, 9, 0, 1, 0, 1, 0, 0)};
    assert_skipped(&spec, table);
    spec = (struct spec){.code = spec.code, .annotations = PART(0, 1, 0x44, 0, 2, 0, 0, 1, 0, 0)};
    assert_skipped(&spec, table);
    spec = (struct spec){.code = spec.code, .frames = PART(0, 1, 3)};
    assert_skipped(&spec, frames);
    spec = (struct spec){.code = spec.code, .frames = PART(0, 1, 200)};
    assert_skipped(&spec, frames);
    spec = (struct spec){.code = spec.code, .frames = PART(0, 1, 255, 0, 4, 0xFF, 0xFF)};
    assert_skipped(&spec, frames);
}

// Snippets

static void test_snippets_are_assembled(void **state) {
    const struct {
        const char *snippet;
        struct part code;
    } cases[] = {
        {"int -1; pop", PART(2, 87)},
        {"int 5;pop", PART(8, 87)},
        {"int 100; pop", PART(16, 100, 87)},
        {"int -300; pop", PART(17, 0xFE, 0xD4, 87)},
        {"int 70000; pop", PART(18, POOL_COUNT, 87)},
        {"aload 3; iload 4; pop2", PART(45, 21, 4, 88)},
        {"lload 2; pop2; iload 300; pop", PART(32, 88, 196, 21, 1, 44, 87)},
        {"aload 0; int 1; dup_x1; pop2; pop", PART(42, 4, 90, 88, 87)},
        {"aload 0; lconst_0; dup2_x1; pop2; pop; pop2", PART(42, 9, 93, 88, 87, 88)},
        {"int 1; i2l; dup2; pop2; pop2", PART(4, 133, 92, 88, 88)},
        {"aconst_null; dup; pop2", PART(1, 89, 88)},
        {"class; pop", PART(19, 0, POOL_COUNT + 1, 87)},
        {"aload 0; getfield . f Ljava/lang/Object; ; pop", PART(42, 180, 0, POOL_COUNT + 5, 87)},
        {"aload 0; call id ()J; putfield p/O f J", PART(42, 184, 0, FIRST_REF, 181, 0, FIRST_REF + 6)},
        {"aload 0; aload 1; call both (Ljava/lang/Object;[[J)V", PART(42, 43, CALLED)},
        {"static p/O f ()J; lconst_0; ladd; pop2", PART(184, 0, FIRST_REF, 9, 97, 88)},
        {"aload 0; virtual p/O f ()J; pop2", PART(42, 182, 0, FIRST_REF, 88)},
        {"aload 0; lconst_0; interface p/I f (J)V", PART(42, 9, 185, 0, FIRST_REF, 3, 0)},
        {"aload 0; checkcast p/O; instanceof p/I; pop", PART(42, 192, 0, POOL_COUNT + 1, 193, 0, POOL_COUNT + 3, 87)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN), .max_locals = 400});
        insert(weaver, INSERT_ENTRY, 0, cases[i].snippet);
        struct part code = finish(weaver).code;
        code.length--; // the return
        assert_part(code, cases[i].code);
        weaver_close(weaver);
    }
}

static void test_stack_below_can_be_copied(void **state) {
    struct weaver *weaver = open_class(&(struct spec){.code = PART(ICONST_0, IRETURN), .descriptor = "()I"});
    insert(weaver, INSERT_BEFORE_RETURN, 0, "dup; call a (I)V");
    insert(weaver, INSERT_BEFORE_BCI, 1, "dup2; call a (Ljava/lang/Object;I)V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ICONST_0, 89, CALLED, 92, 0xB8, 0, FIRST_REF + 3, IRETURN));
    assert_int_equal(woven.max_stack, 4);
    weaver_close(weaver);
}

static void test_snippets_are_refused(void **state) {
    static const struct {
        const char *snippet, *why;
    } cases[] = {
        {"", "a word is missing"},
        {"int 1; pop;", "a word is missing"},
        {"int 1", "it does not leave the stack as it found it"},
        {"pop", "it takes more from the stack than there is"},
        {"dup_x1", "it takes more from the stack than there is"},
        {"swap", "an instruction is unknown"},
        {"int 1; virtual p/O f ()V", "it takes a value of another type than is on the stack"},
        {"interface p/I f ()V", "it takes more from the stack than there is"},
        {"int 1; instanceof p/O; pop", "it takes a value of another type than is on the stack"},
        {"aload 0; checkcast", "a word is missing"},
        {"int 1; lconst_0; ladd; pop2", "it takes a value of another type than is on the stack"},
        {"int 1 pop", "a ';' is missing"},
        {"int x; pop", "a number is wrong or out of range"},
        {"int 3000000000; pop", "a number is wrong or out of range"},
        {"aload 2; pop", "the method has no such local"},
        {"lload 1; pop2", "the method has no such local"},
        {"int 1; call a (J)V", "it takes a value of another type than is on the stack"},
        {"int 1; call a (I", "a descriptor is missing or wrong"},
        {"int 1; call a (Ljava/lang/Object)V", "a descriptor is missing or wrong"},
        {"aload 0; getfield . f V; pop", "a descriptor is missing or wrong"},
        {"lconst_0; pop", "it tears a long or double apart"},
        {"lconst_0; int 1; pop2; pop", "it tears a long or double apart"},
        {"call a ()D; pop2; call b ()F; i2l; pop2", "it takes a value of another type than is on the stack"},
    };
    struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN)});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error refused = ERROR_INIT;
        assert_false(weaver_insert(weaver, 0, INSERT_ENTRY, 0, cases[i].snippet, &refused));
        assert_int_equal(refused.status, STATUS_USAGE);
        assert_non_null(strstr(refused.cause[0], cases[i].why));
    }
    struct error error = ERROR_INIT;
    assert_false(weaver_catch_all(weaver, 0, "aload 0; call a (Ljava/lang/Object;)V", &error));
    assert_int_equal(error.status, STATUS_USAGE);
    assert_null(finish(weaver).code.bytes); // nothing was inserted
    weaver_close(weaver);
}

static void test_places_are_refused(void **state) {
    struct error error = ERROR_INIT;
    struct weaver *weaver = open_class(&(struct spec){.code = PART(GOTO, 0, 3, RETURN)});
    assert_false(weaver_insert(weaver, 0, INSERT_BEFORE_BCI, 1, "call a ()V", &error));
    assert_int_equal(error.status, STATUS_USAGE);
    assert_false(weaver_insert(weaver, 0, INSERT_BEFORE_BCI, 4, "call a ()V", &error));
    assert_false(weaver_insert(weaver, 0, INSERT_AFTER_BCI, 0, "call a ()V", &error));
    assert_false(weaver_insert(weaver, 1, INSERT_ENTRY, 0, "call a ()V", &error));
    assert_null(finish(weaver).code.bytes);
    weaver_close(weaver);
    weaver = open_class(&(struct spec){.name = "abstract"});
    assert_false(weaver_insert(weaver, 0, INSERT_ENTRY, 0, "call a ()V", &error));
    assert_int_equal(error.status, STATUS_USAGE);
    weaver_close(weaver);
}

// Constants and fields

static void test_pool_can_be_full(void **state) {
    struct error error = ERROR_INIT;
    enum { LARGEST_COUNT = 65535, CALL_CONSTANTS = 6 };
    struct spec spec = {.code = PART(RETURN), .extra_constants = LARGEST_COUNT - POOL_COUNT - CALL_CONSTANTS};
    struct weaver *weaver = open_class(&spec);
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    insert(weaver, INSERT_BEFORE_RETURN, 0, "call a ()V");
    assert_int_equal(finish(weaver).constants, LARGEST_COUNT);
    weaver_close(weaver);

    spec.extra_constants++;
    weaver = open_class(&spec);
    assert_false(weaver_insert(weaver, 0, INSERT_ENTRY, 0, "call a ()V", &error));
    assert_int_equal(error.status, STATUS_FAILED);
    const uint8_t *bytes;
    size_t length, skip_count;
    unsigned count;
    const struct weave_skip *skips;
    assert_false(weaver_finish(weaver, &bytes, &length, &count, &skips, &skip_count, &error));
    assert_string_equal(error.cause[0], "the constant pool is full");
    weaver_close(weaver);
}

static void test_field_is_added_once(void **state) {
    struct error error = ERROR_INIT;
    struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN)});
    assert_false(weaver_add_field(weaver, "f", "Q", 0, &error));
    assert_int_equal(error.status, STATUS_USAGE);
    assert_true(weaver_add_field(weaver, "f", "J", 0x1080, &error));
    const uint8_t *bytes;
    size_t length, skip_count;
    unsigned count;
    const struct weave_skip *skips;
    assert_true(weaver_finish(weaver, &bytes, &length, &count, &skips, &skip_count, &error));
    struct weaver *again = weaver_open(bytes, length, &error);
    assert_non_null(again);
    assert_false(weaver_add_field(again, "f", "J", 0x1080, &error));
    assert_true(weaver_add_field(again, "f", "I", 0x1080, &error));
    weaver_close(again);
    weaver_close(weaver);
}

static void test_helper_can_be_named(void **state) {
    struct error error = ERROR_INIT;
    struct weaver *weaver = open_class(&(struct spec){.code = PART(RETURN)});
    weaver_helper(weaver, "p/Other");
    insert(weaver, INSERT_ENTRY, 0, "call a ()V");
    const uint8_t *bytes;
    size_t length, skip_count;
    unsigned count;
    const struct weave_skip *skips;
    assert_true(weaver_finish(weaver, &bytes, &length, &count, &skips, &skip_count, &error));
    struct weaver *again = weaver_open(bytes, length, &error);
    const struct call_site *sites;
    assert_int_equal(weaver_call_sites(again, 0, &sites), 1);
    assert_true(utf8_is(sites[0].owner, "p/Other"));
    assert_true(utf8_is(sites[0].descriptor, "()V"));
    weaver_close(again);
    weaver_close(weaver);
}

// Reading

static struct part read_corpus(const char *name) {
    static uint8_t bytes[64 << 10];
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/fuzz/weave_corpus/%s", REHYPE_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return (struct part){bytes, length};
}

static uint16_t method_named(const struct class_file *class, const char *name) {
    uint16_t i = 0;
    while (i < class->method_count && !utf8_is(class->methods[i].name, name)) i++;
    return i;
}

static void test_handlers_are_told_once(void **state) {
    const uint16_t *handlers;
    struct weaver *weaver = open_class(
        &(struct spec){.code = PART(NOP, RETURN, ATHROW, ATHROW),
                       .exceptions = PART(0, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0),
                       .frames = PART(0, 2, 66, 7, 0, 2, 64, 7, 0, 2)});
    assert_int_equal(weaver_handlers(weaver, 0, &handlers), 2);
    assert_int_equal(handlers[0], 3);
    assert_int_equal(handlers[1], 2);
    assert_int_equal(weaver_handlers(weaver, 1, &handlers), 0);
    weaver_close(weaver);
    weaver = open_class(&(struct spec){.name = "m"});
    assert_int_equal(weaver_handlers(weaver, 0, &handlers), 0); // abstract
    weaver_close(weaver);
}

// synchronized (this) {} as javac has it, and its handler.
#define LOCKED_BLOCK                                                                                                   \
    PART(ALOAD_0, DUP, ASTORE_1, MONITORENTER, NOP, ALOAD_1, MONITOREXIT, RETURN, ASTORE_2, ALOAD_1, MONITOREXIT,      \
         ALOAD_2, ATHROW)
#define LOCKED_RANGES PART(0, 4, 0, 7, 0, 8, 0, 0, 0, 8, 0, 11, 0, 8, 0, 0)

static void test_monitors_are_told(void **state) {
    const struct monitor_site *monitors;
    struct spec spec = {.code = LOCKED_BLOCK, .exceptions = LOCKED_RANGES, .max_locals = 3};
    struct weaver *weaver = open_class(&spec);
    assert_int_equal(weaver_monitors(weaver, 0, &monitors), 3);
    assert_int_equal(monitors[0].bci, 3);
    assert_int_equal(monitors[0].local, 1);
    assert_true(monitors[0].caught && !monitors[0].exits);
    assert_int_equal(monitors[1].bci, 6);
    assert_true(monitors[1].caught && monitors[1].exits);
    assert_int_equal(monitors[2].bci, 10);
    assert_int_equal(weaver_receiver(weaver, 0, 3, (struct utf8){"", 0}).kind, RECEIVER_THIS);
    assert_true(weaver_keeps_receiver(weaver, 0));
    weaver_close(weaver);
    spec.exceptions = PART(0, 5, 0, 7, 0, 8, 0, 0); // what is called behind the locking could throw past the handler
    weaver = open_class(&spec);
    assert_int_equal(weaver_monitors(weaver, 0, &monitors), 3);
    assert_false(monitors[0].caught);
    assert_true(monitors[1].caught);
    assert_false(monitors[2].caught);
    weaver_close(weaver);
    weaver = open_class(&(struct spec){.code = PART(ALOAD_0, ASTORE_0, RETURN)});
    assert_false(weaver_keeps_receiver(weaver, 0));
    assert_int_equal(weaver_monitors(weaver, 0, &monitors), 0);
    weaver_close(weaver);
}

// Where a jump leads to the locking, its local may hold anything.
static void test_monitors_that_are_jumped_to_have_no_local(void **state) {
    const struct monitor_site *monitors;
    struct spec spec = {.code = PART(ALOAD_0, ICONST_0, IFEQ, 0, 4, NOP, MONITORENTER, ALOAD_0, MONITOREXIT, RETURN)};
    struct weaver *weaver = open_class(&spec);
    assert_int_equal(weaver_monitors(weaver, 0, &monitors), 2);
    assert_int_equal(monitors[0].local, -1);
    weaver_close(weaver);
    spec.code = PART(ALOAD_0, MONITORENTER, ICONST_0, IFEQ, 0xFF, 0xFE, ALOAD_0, MONITOREXIT, RETURN);
    weaver = open_class(&spec);
    assert_int_equal(weaver_monitors(weaver, 0, &monitors), 2);
    assert_int_equal(monitors[0].local, -1);
    weaver_close(weaver);
}

// The handler unlocks also where what is inserted behind the locking throws.
static void test_ranges_cover_what_is_inserted_behind_a_lock(void **state) {
    struct weaver *weaver =
        open_class(&(struct spec){.code = LOCKED_BLOCK, .exceptions = LOCKED_RANGES, .max_locals = 3});
    insert(weaver, INSERT_AFTER_BCI, 3, "aload 1; call a (Ljava/lang/Object;)V");
    struct woven woven = finish(weaver);
    assert_part(woven.code, PART(ALOAD_0, DUP, ASTORE_1, MONITORENTER, ALOAD_1, CALLED, NOP, ALOAD_1, MONITOREXIT,
                                 RETURN, ASTORE_2, ALOAD_1, MONITOREXIT, ALOAD_2, ATHROW));
    assert_part(woven.exceptions, PART(0, 4, 0, 11, 0, 12, 0, 0, 0, 12, 0, 15, 0, 12, 0, 0));
    weaver_close(weaver);
}

// What the class of tests/jvm/programs/Resources.java calls, and where that came from.
static bool is_called_on(struct weaver *weaver, const char *call, const char *field) {
    const struct class_file *class = weaver_class(weaver);
    for (uint16_t m = 0; m < class->method_count; m++) {
        const struct call_site *calls;
        size_t count = class->methods[m].code_length ? weaver_call_sites(weaver, m, &calls) : 0;
        for (size_t i = 0; i < count; i++) {
            if (!utf8_is(calls[i].name, call)) continue;
            struct receiver receiver = weaver_receiver(weaver, m, calls[i].bci, calls[i].descriptor);
            if (receiver.kind == RECEIVER_FIELD && utf8_is(receiver.member.name, field)) return true;
        }
    }
    return false;
}

static void test_receivers_are_the_fields(void **state) {
    struct error error = ERROR_INIT;
    struct part bytes = read_corpus("8-resources.bin");
    struct weaver *weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_non_null(weaver);
    assert_true(is_called_on(weaver, "take", "connections"));
    assert_true(is_called_on(weaver, "poll", "connections"));
    assert_true(is_called_on(weaver, "pollLast", "buffers"));
    assert_true(is_called_on(weaver, "put", "messages")); // Integer.valueOf(i) between
    assert_true(is_called_on(weaver, "tryAcquire", "permits"));
    assert_true(is_called_on(weaver, "tryLock", "fairLock"));
    assert_true(is_called_on(weaver, "lock", "readWrite")); // readWrite.readLock().lock()
    assert_false(is_called_on(weaver, "get", "messages"));
    weaver_close(weaver);
}

// Of tests/jvm/programs/Striped.java: what lies in arrays and collections, or in a local variable.
static void test_elements_are_called_by_their_field(void **state) {
    struct error error = ERROR_INIT;
    struct part bytes = read_corpus("8-striped.bin");
    struct weaver *weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_non_null(weaver);
    static const char *const fields[] = {"inArray", "copied", "walked", "element", "inList", "inMap", "made", "passed"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) assert_true(is_called_on(weaver, "lock", fields[i]));
    assert_true(is_called_on(weaver, "acquireUninterruptibly", "inRows"));
    const struct call_site *calls;
    uint16_t method = method_named(weaver_class(weaver), "lockEither");
    size_t count = weaver_call_sites(weaver, method, &calls);
    assert_true(utf8_is(calls[count - 1].name, "lock"));
    assert_int_equal(weaver_receiver(weaver, method, calls[count - 1].bci, calls[count - 1].descriptor).kind,
                     RECEIVER_UNKNOWN);
    const struct monitor_site *monitors;
    method = method_named(weaver_class(weaver), "inMonitors");
    assert_true(weaver_monitors(weaver, method, &monitors) > 0);
    struct receiver receiver = weaver_receiver(weaver, method, monitors[0].bci, (struct utf8){"", 0});
    assert_int_equal(receiver.kind, RECEIVER_FIELD);
    assert_true(utf8_is(receiver.member.name, "monitors"));
    weaver_close(weaver);
}

static void test_dynamic_calls_have_their_own_list(void **state) {
    const struct call_site *sites;
    struct error error = ERROR_INIT;
    struct part bytes = read_corpus("lambdas.bin");
    struct weaver *weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_non_null(weaver);
    uint16_t method = method_named(weaver_class(weaver), "make");
    assert_int_equal(weaver_dynamic_sites(weaver, method, &sites), 2);
    assert_int_equal(sites[0].owner.length, 0);
    assert_true(utf8_is(sites[0].name, "run"));
    assert_true(utf8_is(sites[0].descriptor, "()Ljava/lang/Runnable;"));
    assert_true(utf8_is(sites[1].name, "call"));
    assert_true(utf8_is(sites[1].descriptor, "(I)Ljava/util/concurrent/Callable;"));
    assert_int_equal(weaver_call_sites(weaver, method, &sites), 2); // of what takes them
    assert_int_equal(weaver_dynamic_sites(weaver, method_named(weaver_class(weaver), "<init>"), &sites), 0);
    weaver_close(weaver);
    bytes = read_corpus("shapes.bin"); // a class without
    weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_int_equal(weaver_dynamic_sites(weaver, 0, &sites), 0);
    weaver_close(weaver);
}

enum { THROWER = 1, CONSTRUCTOR = 2, DYNAMIC = 4, OF_LONG = 8 };

static uint32_t kind_of(struct utf8 name, struct utf8 descriptor, bool dynamic) {
    bool thrower = utf8_is(name, "thrower");
    return (thrower && utf8_is(descriptor, "(I)F") ? THROWER : 0) |
           (thrower && utf8_is(descriptor, "(J)F") ? OF_LONG : 0) | (utf8_is(name, "<init>") ? CONSTRUCTOR : 0) |
           (dynamic ? DYNAMIC : 0);
}

static void test_class_is_read(void **state) {
    struct error error = ERROR_INIT;
    struct part bytes = read_corpus("shapes.bin");
    struct weaver *weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_non_null(weaver);
    const struct class_file *class = weaver_class(weaver);
    assert_int_equal(class->major_version, 61);
    assert_true(utf8_is(class->name, "Shapes"));
    assert_true(utf8_is(class->super_name, "java/lang/Object"));
    assert_true(utf8_is(class->source_file, "Shapes.java"));
    assert_int_equal(class->interface_count, 0);
    uint16_t thrower = method_named(class, "thrower");
    assert_true(utf8_is(class->methods[thrower].descriptor, "(I)F"));
    assert_int_equal(class->methods[thrower].max_locals, 1);
    assert_true(class->methods[thrower].first_line > 0);
    const struct call_site *sites;
    assert_int_equal(weaver_call_sites(weaver, thrower, &sites), 1);
    assert_true(utf8_is(sites[0].owner, "java/lang/IllegalStateException"));
    assert_true(utf8_is(sites[0].name, "<init>"));
    assert_int_equal(sites[0].opcode, INVOKESPECIAL);
    assert_int_equal(sites[0].line, class->methods[thrower].first_line);
    assert_int_equal(weaver_refers_to(weaver, kind_of), THROWER | CONSTRUCTOR | DYNAMIC);
    weaver_close(weaver);
    bytes = read_corpus("lambdas.bin");
    weaver = weaver_open(bytes.bytes, bytes.length, &error);
    assert_int_equal(weaver_refers_to(weaver, kind_of), CONSTRUCTOR | DYNAMIC);
    weaver_close(weaver);
}

static void assert_bad(const uint8_t *bytes, size_t length, uint64_t offset, const char *why) {
    struct error error = ERROR_INIT;
    assert_null(weaver_open(bytes, length, &error));
    assert_int_equal(error.status, STATUS_BAD_INPUT);
    assert_int_equal(error.offset, offset);
    assert_non_null(strstr(error.cause[0], why));
}

static void test_errors_tell_the_place(void **state) {
    struct made made = *make_class(&(struct spec){.code = PART(RETURN), .lines = PART(0, 1, 0, 0, 0, 1)});
    size_t end = made.length;
    enum { FIRST_CONSTANT = 10, CODE_LENGTH_FROM_END = 23 };
    static const struct {
        size_t at;
        uint8_t byte;
        const char *why;
        uint64_t offset;
    } cases[] = {
        {0, 0, "does not start with CAFEBABE", 0},
        {7, 44, "is of a version before 45.3", 4},
        {FIRST_CONSTANT, 2, "has a constant of an unknown kind", FIRST_CONSTANT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t was = made.bytes[cases[i].at];
        made.bytes[cases[i].at] = cases[i].byte;
        assert_bad(made.bytes, made.length, cases[i].offset, cases[i].why);
        made.bytes[cases[i].at] = was;
    }
    made.bytes[end - CODE_LENGTH_FROM_END] = 1; // its high byte
    assert_bad(made.bytes, end, end - CODE_LENGTH_FROM_END, "has a code length that is not allowed");
    made.bytes[end - CODE_LENGTH_FROM_END] = 0;
    made.bytes[end] = 0;
    assert_bad(made.bytes, end + 1, end, "goes on after its end");
    set_u2(made.bytes + 8, 0);
    assert_bad(made.bytes, end, 8, "has no constant pool");
    set_u2(made.bytes + 8, 2);
    made.bytes[FIRST_CONSTANT] = CONSTANT_LONG;
    assert_bad(made.bytes, end, FIRST_CONSTANT, "ends its pool within a constant");
}

static void test_every_cut_is_an_error(void **state) {
    struct part whole = read_corpus("shapes.bin");
    for (size_t length = 0; length < whole.length; length++) {
        uint8_t *cut = malloc(length + 1); // so that a sanitizer sees a read past the end
        memcpy(cut + 1, whole.bytes, length);
        struct error error = ERROR_INIT;
        assert_null(weaver_open(cut + 1, length, &error));
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        assert_true(error.offset <= length);
        free(cut);
    }
}

static void weave_corrupt(const char *name, uint8_t flip) {
    struct part whole = read_corpus(name);
    uint8_t *corrupt = malloc(whole.length);
    memcpy(corrupt, whole.bytes, whole.length);
    for (size_t at = 0; at < whole.length; at++) {
        corrupt[at] ^= flip;
        const uint8_t *woven;
        size_t length;
        struct weaver *weaver = weave_everything(corrupt, whole.length, &woven, &length);
        if (woven) {
            struct error error = ERROR_INIT;
            struct weaver *again = weaver_open(woven, length, &error);
            if (!again) fail_msg("byte %zu flipped: %s at %lu", at, error.cause[0], (unsigned long)error.offset);
            weaver_close(again);
        }
        weaver_close(weaver);
        corrupt[at] ^= flip;
    }
    free(corrupt);
}

static void test_corrupt_classes_do_no_harm(void **state) {
    for (unsigned flip = 1; flip <= 0xFF; flip = 2 * flip + 1) weave_corrupt("constructors.bin", (uint8_t)flip);
    weave_corrupt("shapes.bin", 0xFF);
    weave_corrupt("early.bin", 0x01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_end_where_jumps_come_and_go),
        cmocka_unit_test(test_blocks_end_behind_what_throws),
        cmocka_unit_test(test_own_fields_end_no_block),
        cmocka_unit_test(test_constructors_count_from_the_start),
        cmocka_unit_test(test_intrinsics_are_told),
        cmocka_unit_test(test_entry_runs_once),
        cmocka_unit_test(test_before_is_run_by_jumps),
        cmocka_unit_test(test_insertions_run_in_order_of_calls),
        cmocka_unit_test(test_switches_are_padded_anew),
        cmocka_unit_test(test_frames_grow_and_follow_new),
        cmocka_unit_test(test_catch_all_is_the_last_resort),
        cmocka_unit_test(test_frames_by_version),
        cmocka_unit_test(test_constructors_start_behind_super),
        cmocka_unit_test(test_variables_and_annotations_move),
        cmocka_unit_test(test_shifts_lead_back),
        cmocka_unit_test(test_methods_are_left_alone),
        cmocka_unit_test(test_malformed_code_is_left_alone),
        cmocka_unit_test(test_snippets_are_assembled),
        cmocka_unit_test(test_stack_below_can_be_copied),
        cmocka_unit_test(test_snippets_are_refused),
        cmocka_unit_test(test_places_are_refused),
        cmocka_unit_test(test_pool_can_be_full),
        cmocka_unit_test(test_field_is_added_once),
        cmocka_unit_test(test_helper_can_be_named),
        cmocka_unit_test(test_handlers_are_told_once),
        cmocka_unit_test(test_monitors_are_told),
        cmocka_unit_test(test_monitors_that_are_jumped_to_have_no_local),
        cmocka_unit_test(test_ranges_cover_what_is_inserted_behind_a_lock),
        cmocka_unit_test(test_receivers_are_the_fields),
        cmocka_unit_test(test_elements_are_called_by_their_field),
        cmocka_unit_test(test_dynamic_calls_have_their_own_list),
        cmocka_unit_test(test_class_is_read),
        cmocka_unit_test(test_errors_tell_the_place),
        cmocka_unit_test(test_every_cut_is_an_error),
        cmocka_unit_test(test_corrupt_classes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
