// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and places as people read them. Each returns its text by value, so that it can stand in an argument list:
// fprintf(file, "%s", text_duration(ns).s). Unknown (NAN) is "-". Thread-safe, no allocation.
#ifndef REHYPE_REPORT_TEXT_H
#define REHYPE_REPORT_TEXT_H

#include "tracefile/tables.h"

#include <stdint.h>

struct text {
    char s[32];
};

struct text_place {
    char s[512];
};

struct text text_count(uint64_t count);               // 12,345
struct text text_bytes(uint64_t bytes);               // 1.2 MB (powers of 1000)
struct text text_duration(double ns);                 // 12.3 ms
struct text text_number(double number);               // 3.25
struct text text_fixed(double number, int decimals);  // 3.0, so that a column's points stand under each other
struct text text_percent(double ratio);               // 0.123 -> 12.3 %
struct text text_rate(double per_s);                  // 12.3 /s
struct text text_change(double before, double after); // -35.0 %, "=" when the same, "over 100 x"

struct text_place text_method(const char *class_name, const char *method); // com.acme.Main.run, "-" if unknown
struct text_place text_file_line(const struct trace_site *site);           // Main.java:12, "-" if unknown

#endif
