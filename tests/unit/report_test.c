// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/chart.h"
#include "report/comparison.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/table.h"
#include "report/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_numbers(void **state) {
    (void)state;
    assert_string_equal(text_count(0).s, "0");
    assert_string_equal(text_count(999).s, "999");
    assert_string_equal(text_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    assert_string_equal(text_bytes(999).s, "999 bytes");
    assert_string_equal(text_bytes(1234567).s, "1.23 MB");
    assert_string_equal(text_duration(999).s, "999 ns");
    assert_string_equal(text_duration(12345).s, "12.3 us");
    assert_string_equal(text_duration(999.6e6).s, "1.00 s");
    assert_string_equal(text_duration(NAN).s, "-");
    assert_string_equal(text_number(3).s, "3");
    assert_string_equal(text_number(3.256).s, "3.26");
    assert_string_equal(text_percent(0.0123).s, "1.23 %");
    assert_string_equal(text_rate(1.234).s, "1.23 /s");
    assert_string_equal(text_rate(1234.4).s, "1,234 /s");
    assert_string_equal(text_rate(NAN).s, "-");
    assert_string_equal(text_change(2, 1).s, "-50.0 %");
    assert_string_equal(text_change(2, 2).s, "=");
    assert_string_equal(text_change(0, 2).s, "-");
    assert_string_equal(text_change(0.01, 2).s, "over 100 x");
}

static void test_places(void **state) {
    (void)state;
    const struct trace_site known = {"a.B", "run", "()V", "B.java", 12, 3, NULL, NULL, false}, unknown = {0};
    assert_string_equal(text_method(known.class_name, known.method).s, "a.B.run");
    assert_string_equal(text_file_line(&known).s, "B.java:12");
    assert_string_equal(text_method(unknown.class_name, unknown.method).s, "-");
    assert_string_equal(text_file_line(&unknown).s, "-");
}

// An error's definition at its edges (SPEC section 6).
static void test_comparison_error(void **state) {
    (void)state;
    assert_true(comparison_error(0, 0) == 0);
    assert_true(isnan(comparison_error(1, 0)));
    assert_true(comparison_error(0, 4) == 1);
    assert_true(comparison_error(5, 4) == 0.25 && comparison_error(3, 4) == 0.25);
}

// What `write` writes, as text; freed by the caller.
struct sheet {
    char *text;
    size_t size;
    FILE *file;
};

static struct sheet *sheet_open(void) {
    static struct sheet sheet;
    sheet.file = open_memstream(&sheet.text, &sheet.size);
    assert_non_null(sheet.file);
    return &sheet;
}

static void sheet_is(struct sheet *sheet, const char *expected) {
    fclose(sheet->file);
    assert_string_equal(sheet->text, expected);
    free(sheet->text);
}

static void test_table(void **state) {
    (void)state;
    static const struct table_column columns[] = {{"name", TABLE_LEFT}, {"n", TABLE_RIGHT}, {"why", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    struct error error = ERROR_INIT;
    const char *cells[] = {"\xc3\xa9t\xc3\xa9", "1", "", "a\x1b[2Jb", "1,000", "so"}; // an escape sequence is defused
    for (size_t i = 0; i < 6; i++) table_add(&table, cells[i]);
    struct sheet *sheet = sheet_open();
    assert_true(table_write(&table, sheet->file, LOOK_UTF8, &error));
    sheet_is(sheet, "  name        n  why\n  ------  -----  ---\n  \xc3\xa9t\xc3\xa9         1\n  a?[2Jb  1,000  so\n");
    sheet = sheet_open();
    assert_true(table_write(&table, sheet->file, 0, &error));
    sheet_is(sheet, "  name        n  why\n  ------  -----  ---\n  ??t??       1\n  a?[2Jb  1,000  so\n");
    table_destroy(&table);
}

static void shortens(const char *text, size_t width, unsigned look, const char *expected) {
    char out[256];
    assert_string_equal(look_shorten(text, width, look, out, sizeof out), expected);
    assert_true(look_width(out, look) <= width);
}

static void test_shorten(void **state) {
    (void)state;
    const char *name = "com.acme.shop.orders.Querier.query:12";
    shortens(name, 37, 0, name);
    shortens(name, 28, 0, "com.acme...Querier.query:12");
    shortens(name, 28, LOOK_UTF8, "com.acme\xe2\x80\xa6Querier.query:12");
    shortens("java.util.concurrent.LinkedBlockingQueue", 30, 0, "java...LinkedBlockingQueue");
    shortens("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, LOOK_UTF8, "\xc3\xa9\xe2\x80\xa6\xc3\xa9\xc3\xa9");
    shortens("inline com.acme.shop.orders.Querier.query:12 on path 1", 44, 0,
             "inline com.acme...Querier.query:12 on path 1");
    shortens("resize-pool org.eclipse.jetty.util.thread.QueuedThreadPool to 11 threads", 42, 0,
             "resize-pool org...hreadPool to 11 threads");
    shortens("resize-pool org.eclipse.jetty.util.thread.QueuedThreadPool to 11 threads", 32, 0,
             "resize-pool o...ol to 11 threads");
    shortens("combinator A.b:1, first stage on the spawner", 30, 0, "combinator A.b:1, first sta...");
    shortens("inline a.very.long.name.Indeed.run:1; unlock B; and 2 more", 47, 0,
             "inline a.v...Indeed.run:1; unlock B; and 2 more");
    shortens("anything", 2, 0, "an");
    shortens("", 5, 0, "");
    shortens("x", 0, 0, "");
}

static void test_paragraph(void **state) {
    (void)state;
    struct sheet *sheet = sheet_open();
    char word[41];
    memset(word, 'w', 40);
    word[40] = '\0';
    look_printf(sheet->file, 0, 4, "  1: %s %s %s 5 %%", word, word, word);
    look_printf(sheet->file, LOOK_WIDE, 4, "%s%s %s", word, word, word);
    look_lead(sheet->file, LOOK_COLOUR, TONE_WARNING, "warning:", 2, " a\033b");
    look_lead(sheet->file, 0, TONE_WARNING, "warning:", 2, "");
    char expected[1024];
    snprintf(expected, sizeof expected, "  1: %s %s\n    %s 5 %%\n%s%s %s\n\033[33mwarning:\033[0m a?b\nwarning:\n",
             word, word, word, word, word, word);
    sheet_is(sheet, expected);
}

// What does not fit has its texts shortened; what then does not fit either becomes two tables.
static void test_wide_table(void **state) {
    (void)state;
    enum { COLUMNS = 14 };
    static struct table_column columns[COLUMNS] = {{"method", TABLE_LEFT}};
    struct error error = ERROR_INIT;
    for (size_t c = 1; c < COLUMNS; c++) columns[c] = (struct table_column){"figure", TABLE_RIGHT};
    for (size_t count = 11; count <= COLUMNS; count += 3) {
        struct table table = {.columns = columns, .column_count = count};
        table_add(&table, "com.acme.shop.orders.internal.aggregation.Querier.query:12");
        for (size_t c = 1; c < count; c++) table_add(&table, "123456");
        struct sheet *sheet = sheet_open();
        assert_true(table_write(&table, sheet->file, 0, &error));
        fclose(sheet->file);
        size_t lines = 0;
        for (char *line = strtok(sheet->text, "\n"); line; line = strtok(NULL, "\n"), lines++)
            assert_true(strlen(line) <= LOOK_COLUMNS);
        assert_int_equal(lines, count == 11 ? 3 : 6);
        free(sheet->text);
        sheet = sheet_open();
        assert_true(table_write(&table, sheet->file, LOOK_WIDE, &error));
        fclose(sheet->file);
        assert_non_null(strstr(sheet->text, "\n  com.acme.shop.orders.internal.aggregation.Querier.query:12  123456"));
        free(sheet->text);
        table_destroy(&table);
    }
}

static void test_colours(void **state) {
    (void)state;
    static const struct table_column columns[] = {{"wall", TABLE_RIGHT}, {"fails", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    struct error error = ERROR_INIT;
    table_add_toned(&table, "9 s", look_less_is_better(10, 9, 0.005));
    table_add_toned(&table, "no", look_less_is_better(10, 10.01, 0.005));
    table_add_toned(&table, "11 s", look_less_is_better(10, 11, 0.005));
    table_add_toned(&table, "", TONE_WARNING);
    struct sheet *sheet = sheet_open();
    assert_true(table_write(&table, sheet->file, LOOK_COLOUR, &error));
    sheet_is(sheet, "  wall  fails\n  ----  -----\n   \033[32m9 s\033[0m  no\n  \033[31m11 s\033[0m\n");
    table_destroy(&table);
    assert_int_equal(look_less_is_better(NAN, 1, 0), TONE_PLAIN);
}

static void test_csv(void **state) {
    (void)state;
    struct sheet *sheet = sheet_open();
    csv_text(sheet->file, "plain");
    csv_text(sheet->file, "a \"b\",c");
    sheet_is(sheet, "plain\"a \"\"b\"\",c\"");
    cJSON *object = cJSON_Parse("{\"a\": 1.5, \"b\": {\"c\": null, \"d\": \"x,y\"}, \"e\": [1], \"f\": true}");
    sheet = sheet_open();
    csv_names(sheet->file, object, "", true);
    putc('\n', sheet->file);
    csv_values(sheet->file, object, true);
    putc('\n', sheet->file);
    csv_blanks(sheet->file, object);
    sheet_is(sheet, "a,b.c,b.d,f\n1.5,,\"x,y\",true\n,,,,");
    cJSON_Delete(object);
}

// Beyond 2^53 and where cJSON would write an exponent.
static void test_json_numbers(void **state) {
    (void)state;
    struct error error = ERROR_INIT;
    cJSON *array = cJSON_CreateArray();
    cJSON_AddItemToArray(array, json_integer(INT64_MAX));
    cJSON_AddItemToArray(array, json_integer(1000000000000000000));
    cJSON_AddItemToArray(array, json_number(NAN));
    cJSON_AddItemToArray(array, json_number(0.5));
    cJSON_AddItemToArray(array, json_text(NULL));
    struct sheet *sheet = sheet_open();
    assert_true(json_write(array, sheet->file, &error));
    sheet_is(sheet, "[9223372036854775807, 1000000000000000000, null, 0.5, null]\n");
}

static void test_intervals(void **state) {
    (void)state;
    struct error error = ERROR_INIT;
    struct intervals intervals = {.replicates = 30, .asked = 40};
    for (int f = 0; f < INTERVAL_FIGURES; f++) intervals.of[f].low = intervals.of[f].high = NAN;
    intervals.of[INTERVAL_WALL].low = 1e9;
    intervals.of[INTERVAL_WALL].high = 1.5e9;
    intervals.of[INTERVAL_COMPOSITE].low = 0.25;
    intervals.of[INTERVAL_COMPOSITE].high = 0.5;
    cJSON *object = json_intervals(&intervals);
    char *text = cJSON_PrintUnformatted(object);
    assert_string_equal(text, "{\"wall_ns\":[1000000000,1500000000],\"thread_time_ns\":null,\"occupied_peak\":null,"
                              "\"occupied_mean\":null,\"waiting_peak\":null,\"waiting_mean\":null,"
                              "\"composite\":[0.25,0.5],\"replicates\":30,\"covers\":\"what tasks of this one run vary "
                              "by, not what runs differ by\"}");
    cJSON_free(text);
    cJSON_Delete(object);
    struct sheet *sheet = sheet_open();
    assert_true(metrics_text_write_intervals(&intervals, sheet->file, 0, &error));
    sheet_is(sheet, "  by the tasks' own variation     5 %    95 %\n"
                    "  ---------------------------  ------  ------\n"
                    "  wall                         1.00 s  1.50 s\n"
                    "  composite                      0.25    0.50\n"
                    "  (30 of 40 variations of the run came to an end)\n");
    intervals.of[INTERVAL_WALL].low = intervals.of[INTERVAL_COMPOSITE].low = NAN;
    sheet = sheet_open();
    assert_true(metrics_text_write_intervals(&intervals, sheet->file, 0, &error));
    sheet_is(sheet, "  (30 of 40 variations of the run came to an end: too few to tell limits)\n");
}

static void test_chart_top(void **state) {
    (void)state;
    struct chart chart = {.title = "t"};
    const double tops[][2] = {{0, 1}, {1, 1}, {1.2, 2}, {7, 8}, {9.5, 10}, {17, 20}, {41, 50}, {999, 1000}};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        chart.values[7] = tops[i][0];
        assert_true(chart_top(&chart, 1) == tops[i][1]);
    }
}

static void test_chart(void **state) {
    (void)state;
    struct chart chart = {.title = "run", .wall_ns = 2e9};
    chart.values[0] = 8;
    chart.values[1] = 4.5;
    chart.values[2] = 0.001; // a sliver, not nothing
    struct sheet *sheet = sheet_open();
    chart_write(&chart, 8, sheet->file, 0);
    fclose(sheet->file);
    assert_non_null(strstr(sheet->text, "run: occupied threads\n       8 |#\n"));
    assert_non_null(strstr(sheet->text, "         |#=\n       4 |##\n"));
    assert_non_null(strstr(sheet->text, "         |##_\n       0 +---"));
    assert_non_null(strstr(sheet->text, "100 % of 2.00 s\n"));
    free(sheet->text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_places),    cmocka_unit_test(test_comparison_error),
        cmocka_unit_test(test_table),   cmocka_unit_test(test_csv),       cmocka_unit_test(test_json_numbers),
        cmocka_unit_test(test_chart),   cmocka_unit_test(test_intervals), cmocka_unit_test(test_chart_top),
        cmocka_unit_test(test_shorten), cmocka_unit_test(test_paragraph), cmocka_unit_test(test_wide_table),
        cmocka_unit_test(test_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
