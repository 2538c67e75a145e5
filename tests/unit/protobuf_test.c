// SPDX-License-Identifier: GPL-3.0-or-later
// The wire format, byte by byte: the examples of protobuf.dev/programming-guides/encoding, and its edges.
#include "report/escape.h"
#include "report/interned.h"
#include "report/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct protobuf *message, const char *bytes, size_t size) {
    assert_false(message->failed);
    assert_int_equal(message->size, size);
    assert_memory_equal(message->bytes, bytes, size);
    message->size = 0;
}

#define EXPECT(message, bytes) expect(message, bytes, sizeof(bytes) - 1)

static void test_numbers(void **state) {
    (void)state;
    struct protobuf message = {0};
    protobuf_number(&message, 1, 150);
    EXPECT(&message, "\x08\x96\x01");
    protobuf_number(&message, 1, 0);
    EXPECT(&message, "\x08\x00");
    protobuf_number(&message, 16, 127);
    EXPECT(&message, "\x80\x01\x7f");
    protobuf_number(&message, 1, (uint64_t)INT64_C(-2));
    EXPECT(&message, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    protobuf_fixed64(&message, 47, UINT64_C(0x0102030405060708));
    EXPECT(&message, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
    protobuf_double(&message, 1, 1.0);
    EXPECT(&message, "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f");
    protobuf_destroy(&message);
}

static void test_texts(void **state) {
    (void)state;
    struct protobuf message = {0};
    protobuf_text(&message, 2, "testing");
    EXPECT(&message, "\x12\x07testing");
    protobuf_text(&message, 2, NULL);
    EXPECT(&message, "\x12\x00");
    protobuf_text(&message, 2, "\xc3\xa9\xff\xc3"); // a character, a byte that begins none, and half of one
    EXPECT(&message, "\x12\x08\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
    protobuf_destroy(&message);
}

// A length of more than 127 takes two bytes, and what it is of moves by one.
static void test_messages(void **state) {
    (void)state;
    struct protobuf message = {0};
    size_t open = protobuf_open(&message, 3);
    protobuf_number(&message, 1, 150);
    protobuf_close(&message, open);
    EXPECT(&message, "\x1a\x03\x08\x96\x01");
    char text[201];
    memset(text, 'x', 200);
    text[200] = '\0';
    open = protobuf_open(&message, 1);
    protobuf_text(&message, 1, text);
    protobuf_close(&message, open);
    assert_int_equal(message.size, 206);
    assert_memory_equal(message.bytes, "\x0a\xcb\x01\x0a\xc8\x01xx", 8);
    assert_memory_equal(message.bytes + 198, "xxxxxxxx", 8);
    protobuf_destroy(&message);
}

static void test_flush(void **state) {
    (void)state;
    struct protobuf message = {0};
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    assert_non_null(file);
    protobuf_number(&message, 1, 1);
    protobuf_flush(&message, 1, file);
    protobuf_number(&message, 1, 2);
    protobuf_flush(&message, 1, file);
    fclose(file);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "\x0a\x02\x08\x01\x0a\x02\x08\x02", 8);
    free(bytes);
    protobuf_destroy(&message);
}

static void test_interned(void **state) {
    (void)state;
    struct interned interned = {0};
    char text[16];
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 1000; i++) {
            snprintf(text, sizeof text, "name %u", i);
            assert_int_equal(interned_number(&interned, text), i);
        }
    }
    assert_int_equal(interned.count, 1000);
    assert_string_equal(interned.texts[41], "name 42");
    interned_destroy(&interned);
}

static void expect_escaped(void (*escape)(FILE *file, const char *text), const char *text, const char *escaped) {
    char *written = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&written, &size);
    assert_non_null(file);
    escape(file, text);
    fclose(file);
    assert_string_equal(written, escaped);
    free(written);
}

// Names are untrusted: quotes, what markup reserves, control characters, halves of characters.
static void test_escapes(void **state) {
    (void)state;
    expect_escaped(escape_json, "a\"b\\c\nd\x7f", "\"a\\\"b\\u005cc\\u000ad\\u007f\"");
    expect_escaped(escape_json, "\xe2\x82\xac\xe2\x82", "\"\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_escaped(escape_json, NULL, "\"\"");
    expect_escaped(escape_xml, "<a b=\"c\">&\x01\xef\xbf\xbe</a>", "&lt;a b=&quot;c&quot;&gt;&amp;??&lt;/a&gt;");
    expect_escaped(escape_dot, "a\"\\\n\xff", "\"a\\\"\\\\?\xef\xbf\xbd\"");
    expect_escaped(escape_frame, "a;b c\n", "a:b c?");
    expect_escaped(escape_uri, "com/a b/\xc3\x84$1.java", "com/a%20b/%C3%84$1.java");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),  cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_messages), cmocka_unit_test(test_flush),
                                       cmocka_unit_test(test_interned), cmocka_unit_test(test_escapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
