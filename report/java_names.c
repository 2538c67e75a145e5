// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/java_names.h"

#include "report/escape.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Whole characters only; false: there is no room left.
static bool add(char *to, size_t size, const char *bytes) {
    const size_t used = strlen(to), more = strlen(bytes);
    if (used + more >= size) return false;
    memcpy(to + used, bytes, more + 1);
    return true;
}

static bool is_unwanted(char byte) {
    return (unsigned char)byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\';
}

struct java_name java_text(const char *text) {
    struct java_name name = {""};
    struct utf8 character;
    while (text && (text = utf8_next(text, &character))) {
        if (!add(name.s, sizeof name.s, is_unwanted(character.bytes[0]) ? "?" : character.bytes)) break;
    }
    return name;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_of_library(const char *class_name) {
    return begins(class_name, "java.") || begins(class_name, "javax.") || begins(class_name, "jdk.") ||
           begins(class_name, "sun.") || begins(class_name, "scala.");
}

static const char *last_part(const char *name) {
    const char *last = name;
    for (const char *c = name; *c; c++) {
        if ((*c == '.' || *c == '$') && c[1]) last = c + 1;
    }
    return last;
}

static bool is_lambda(const char *class_name) {
    return strstr(class_name, ".lambda$") || strstr(class_name, "$anonfun$");
}

struct java_name java_class(const char *class_name) {
    const struct java_name none = {""};
    if (!class_name || is_of_library(class_name) || is_lambda(class_name)) return none;
    if (strstr(class_name, "$$") || strchr(class_name, '/') || class_name[0] == '[') return none;
    const char *last = last_part(class_name);
    return isdigit((unsigned char)*last) ? none : java_text(last);
}

// "submit" of "lambda$submit$0", what stands between `from` and its last '$'.
static struct java_name between(const char *from) {
    struct java_name name = java_text(from);
    char *end = strrchr(name.s, '$');
    if (end) *end = '\0';
    return name;
}

struct java_name java_method(const char *method) {
    static const char lambda[] = "lambda$", scala[] = "$anonfun$";
    if (!method) return (struct java_name){""};
    if (strcmp(method, "<init>") == 0) return (struct java_name){"constructor"};
    if (strcmp(method, "<clinit>") == 0) return (struct java_name){"initialiser"};
    if (begins(method, lambda)) return between(method + strlen(lambda));
    const char *found = strstr(method, scala);
    return found ? between(found + strlen(scala)) : java_text(method);
}

struct java_name java_lambda_home(const char *class_name) {
    if (!class_name || !is_lambda(class_name)) return (struct java_name){""};
    return java_method(strrchr(class_name, '.') ? strrchr(class_name, '.') + 1 : class_name);
}

// Beyond ASCII as good as: no block of signs (U+0080 to BF, U+2000 to 2FFF), and nothing from U+F000 on.
static bool is_letter(const struct utf8 *character) {
    const unsigned char first = (unsigned char)character->bytes[0];
    if (first >= 0x80) return first != 0xc2 && first != 0xe2 && first < 0xef;
    return isalnum(first) || first == '_';
}

static bool is_reserved(const char *word) {
    static const char words[] =
        " abstract assert boolean break byte case catch char class const continue default do double else enum extends "
        "false final finally float for goto if implements import instanceof int interface long native new null package "
        "private protected public return short static strictfp super switch synchronized this throw throws transient "
        "true try void volatile while ";
    char between[64];
    snprintf(between, sizeof between, " %.60s ", word);
    return strstr(words, between);
}

// Words are joined, each but the first with a capital.
static struct java_name camel(const char *text) {
    struct java_name name = {""};
    struct utf8 character;
    bool capital = false;
    while (text && (text = utf8_next(text, &character))) {
        if (!is_letter(&character)) {
            capital = *name.s;
            continue;
        }
        if (capital) character.bytes[0] = (char)toupper((unsigned char)character.bytes[0]);
        if (!*name.s && isdigit((unsigned char)character.bytes[0])) add(name.s, sizeof name.s, "_");
        if (!add(name.s, sizeof name.s, character.bytes)) break;
        capital = false;
    }
    return name;
}

struct java_name java_variable(const char *text, const char *otherwise) {
    struct java_name name = camel(text);
    if (!*name.s) return java_text(otherwise);
    name.s[0] = (char)tolower((unsigned char)name.s[0]);
    if (is_reserved(name.s)) add(name.s, sizeof name.s, "_");
    return name;
}

struct java_name java_capital(const char *text) {
    struct java_name name = camel(text);
    name.s[0] = (char)toupper((unsigned char)name.s[0]);
    return name;
}

struct java_place java_place(const struct trace_site *site) {
    struct java_place place = {"a place that is not known"};
    if (!site || !site->class_name || !site->method) return place;
    const struct java_name class_name = java_text(site->class_name), method = java_method(site->method);
    char where[200] = "";
    if (site->file && site->line)
        snprintf(where, sizeof where, "(%s:%u)", java_text(site->file).s, site->line);
    else if (site->line)
        snprintf(where, sizeof where, "(line %u)", site->line);
    snprintf(place.s, sizeof place.s, "%s.%s%s%s", class_name.s, method.s, where,
             strstr(site->method, "lambda$") || strstr(site->method, "$anonfun$") ? ", in a lambda" : "");
    return place;
}
