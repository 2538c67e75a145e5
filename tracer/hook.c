// SPDX-License-Identifier: Apache-2.0
#include "tracer/hook.h"

#include "tracer/registry.h"

#include <stdio.h>

static bool insert_at_calls(struct weaver *weaver, uint16_t method, const struct hook *hook, struct error *error) {
    const struct call_site *sites;
    size_t count = weaver_call_sites(weaver, method, &sites);
    enum insert_where where = hook->where == BEFORE_CALL ? INSERT_BEFORE_BCI : INSERT_AFTER_BCI;
    for (size_t i = 0; i < count; i++) {
        if (!utf8_is(sites[i].name, hook->call)) continue;
        if (!weaver_insert(weaver, method, where, sites[i].bci, hook->snippet, error)) return false;
    }
    return true;
}

static bool insert(struct weaver *weaver, uint16_t method, const struct hook *hook, struct error *error) {
    switch (hook->where) {
    case AT_ENTRY:
        return weaver_insert(weaver, method, INSERT_ENTRY, 0, hook->snippet, error);
    case AT_RETURN:
        return weaver_insert(weaver, method, INSERT_BEFORE_RETURN, 0, hook->snippet, error);
    case AT_THROW:
        return weaver_catch_all(weaver, method, hook->snippet, error);
    default:
        return insert_at_calls(weaver, method, hook, error);
    }
}

static void report_failure(const struct hook *hook, const struct error *error) {
    char method[256], why[ERROR_CAUSE_BYTES];
    snprintf(method, sizeof method, "%s.%s", hook->class_name, hook->method);
    registry_skip(method, error_text(error, why, sizeof why));
}

static bool is_named(struct utf8 name, const char *pattern) {
    size_t length = strcspn(pattern, "*");
    return pattern[length] ? name.length >= length && memcmp(name.bytes, pattern, length) == 0 : utf8_is(name, pattern);
}

void hook_weave(struct weaver *weaver, const struct hook *hook) {
    const struct class_file *class = weaver_class(weaver);
    for (uint16_t m = 0; m < class->method_count; m++) {
        const struct class_method *method = &class->methods[m];
        if (!is_named(method->name, hook->method) || method->code_length == 0) continue;
        if (hook->descriptor && !utf8_is(method->descriptor, hook->descriptor)) continue;
        struct error error = ERROR_INIT;
        if (!insert(weaver, m, hook, &error)) report_failure(hook, &error);
    }
}
