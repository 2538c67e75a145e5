// SPDX-License-Identifier: Apache-2.0
#include "tracer/generated.h"

#include <string.h>

#define LAMBDA "$$Lambda"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t package_length(const char *internal, size_t length) {
    const char *slash = memrchr(internal, '/', length);
    return slash ? (size_t)(slash - internal) : 0;
}

// How long a hidden class's name is without its address or number; `length` of any other. No other has a dot, or a last
// part that begins with a digit.
static size_t without_address(const char *internal, size_t length) {
    const char *dot = memchr(internal, '.', length);
    if (dot) return (size_t)(dot - internal);
    size_t package = package_length(internal, length);
    return package > 0 && package + 1 < length && is_digit(internal[package + 1]) ? package : length;
}

static bool begins_with(const char *internal, size_t length, const char *prefix) {
    size_t prefix_length = strlen(prefix);
    return length >= prefix_length && memcmp(internal, prefix, prefix_length) == 0;
}

// com/sun/proxy/$Proxy12, jdk/proxy1/$Proxy12, or in the package of an interface that is not public.
static bool is_proxy(const char *internal, size_t length) {
    static const char PROXY[] = "$Proxy";
    size_t package = package_length(internal, length);
    if (package > 0) package++;
    const char *name = internal + package, *end = internal + length;
    if (!begins_with(name, length - package, PROXY)) return false;
    const char *number = name + sizeof PROXY - 1;
    if (number == end) return false;
    while (number < end && is_digit(*number)) number++;
    return number == end;
}

static bool is_accessor(const char *internal, size_t length) {
    return begins_with(internal, length, "sun/reflect/Generated") ||
           begins_with(internal, length, "jdk/internal/reflect/Generated");
}

// com/acme/Shop$$SpringCGLIB$$0, com/acme/Shop$HibernateProxy$x7Yz.
static bool is_subclass_of_library(const char *internal, size_t length) {
    static const char *const marks[] = {"$$SpringCGLIB$$", "$$EnhancerBy", "$$FastClassBy", "$HibernateProxy$",
                                        "$ByteBuddy$",     "_$$_jvst",     "_$$_javassist", "$Proxy$_$$_Weld"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (memmem(internal, length, marks[i], strlen(marks[i]))) return true;
    }
    return false;
}

bool is_generated(const char *internal, size_t length) {
    return without_address(internal, length) < length || is_proxy(internal, length) || is_accessor(internal, length) ||
           is_subclass_of_library(internal, length);
}

size_t generated_stable_length(const char *internal, size_t length) {
    size_t stable = without_address(internal, length);
    const char *lambda = stable < length ? memmem(internal, stable, LAMBDA, sizeof LAMBDA - 1) : NULL;
    return lambda ? (size_t)(lambda - internal) + sizeof LAMBDA - 1 : stable;
}

size_t generated_host_length(const char *internal, size_t length) {
    size_t stable = generated_stable_length(internal, length), suffix = sizeof LAMBDA - 1;
    bool lambda = stable < length && stable > suffix && memcmp(internal + stable - suffix, LAMBDA, suffix) == 0;
    return lambda ? stable - suffix : stable;
}
