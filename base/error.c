// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(struct error *error, enum status status, uint64_t offset, const char *format, va_list args) {
    error->status = status;
    error->offset = offset;
    error->causes = 1;
    vsnprintf(error->cause[0], ERROR_CAUSE_BYTES, format, args);
}

bool error_set(struct error *error, enum status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set(error, status, ERROR_NO_OFFSET, format, args);
    va_end(args);
    return false;
}

bool error_set_at(struct error *error, uint64_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set(error, STATUS_BAD_INPUT, offset, format, args);
    va_end(args);
    return false;
}

bool error_wrap(struct error *error, const char *format, ...) {
    if (error->causes < ERROR_MAX_CAUSES) error->causes++;
    va_list args;
    va_start(args, format);
    vsnprintf(error->cause[error->causes - 1], ERROR_CAUSE_BYTES, format, args);
    va_end(args);
    return false;
}

char *error_text(const struct error *error, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = error->causes - 1; i >= 0 && used < size; i--) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", error->cause[i], i > 0 ? ": " : "");
    }
    if (error->offset != ERROR_NO_OFFSET && used < size) {
        snprintf(text + used, size - used, " (byte %llu)", (unsigned long long)error->offset);
    }
    return text;
}
