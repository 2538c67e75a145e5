// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct text text_count(uint64_t count) {
    char digits[24];
    struct text text;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *out = text.s;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

// Three significant digits, as many decimals as they need.
static void write_scaled(struct text *text, double number, const char *unit) {
    double size = fabs(number);
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(text->s, sizeof text->s, "%.*f%s%s", decimals, number, *unit ? " " : "", unit);
}

struct text text_bytes(uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    struct text text;
    double number = (double)bytes;
    unsigned unit = 0;
    for (; number >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) number /= 1000;
    if (unit == 0)
        snprintf(text.s, sizeof text.s, "%" PRIu64 " bytes", bytes);
    else
        write_scaled(&text, number, units[unit]);
    return text;
}

struct text text_duration(double ns) {
    struct text text = {"-"};
    double size = fabs(ns);
    if (isnan(ns)) return text;
    if (size < 1e3)
        snprintf(text.s, sizeof text.s, "%.0f ns", ns);
    else if (size < 999.5e3)
        write_scaled(&text, ns / 1e3, "us");
    else if (size < 999.5e6)
        write_scaled(&text, ns / 1e6, "ms");
    else
        write_scaled(&text, ns / 1e9, "s");
    return text;
}

struct text text_number(double number) {
    struct text text = {"-"};
    if (isnan(number)) return text;
    if (number == floor(number) && fabs(number) < 1e15)
        snprintf(text.s, sizeof text.s, "%.0f", number);
    else
        snprintf(text.s, sizeof text.s, "%.*f", fabs(number) >= 100 ? 1 : fabs(number) >= 1 ? 2 : 3, number);
    return text;
}

struct text text_fixed(double number, int decimals) {
    struct text text = {"-"};
    if (!isnan(number)) snprintf(text.s, sizeof text.s, "%.*f", decimals, number);
    return text;
}

struct text text_percent(double ratio) {
    struct text text = {"-"};
    if (!isnan(ratio)) snprintf(text.s, sizeof text.s, "%.*f %%", fabs(ratio) < 0.0995 ? 2 : 1, ratio * 100);
    return text;
}

struct text text_rate(double per_s) {
    struct text text = {"-"};
    if (isnan(per_s)) return text;
    if (per_s >= 999.5 && per_s < 1e18)
        snprintf(text.s, sizeof text.s, "%.27s /s", text_count((uint64_t)llround(per_s)).s);
    else
        write_scaled(&text, per_s, "/s");
    return text;
}

enum { MANY_TIMES = 100 };

struct text text_change(double before, double after) {
    struct text text = {"-"};
    if (isnan(before) || isnan(after)) return text;
    if (before == after) return (struct text){"="};
    if (before == 0) return text;
    if (after / before >= MANY_TIMES) return (struct text){"over 100 x"}; // of next to nothing: per cent tell nothing
    snprintf(text.s, sizeof text.s, "%+.1f %%", (after / before - 1) * 100);
    return text;
}

struct text_place text_method(const char *class_name, const char *method) {
    struct text_place text = {"-"};
    if (class_name && method)
        snprintf(text.s, sizeof text.s, "%s.%s", class_name, method);
    else if (class_name)
        snprintf(text.s, sizeof text.s, "%s", class_name);
    return text;
}

struct text_place text_file_line(const struct trace_site *site) {
    struct text_place text = {"-"};
    if (!site->file) return text;
    if (site->line)
        snprintf(text.s, sizeof text.s, "%s:%" PRIu32, site->file, site->line);
    else
        snprintf(text.s, sizeof text.s, "%s", site->file);
    return text;
}
