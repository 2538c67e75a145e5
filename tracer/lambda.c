// SPDX-License-Identifier: Apache-2.0
#include "tracer/lambda.h"

#include "tracer/sites.h"
#include "tracer/tracer.h"

#include <classfile_constants.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char LAMBDA[] = "$$Lambda"; // in the names of all their classes

struct pool { // a class's raw constant pool (JVMS 4.4)
    const unsigned char *bytes;
    uint32_t length, count;
    uint32_t *offset; // of each entry's tag; 0 where there is none
};

static uint32_t u2(const struct pool *pool, uint32_t at) {
    return at + 2 <= pool->length ? (uint32_t)pool->bytes[at] << 8 | pool->bytes[at + 1] : 0;
}

static uint32_t entry_bytes(const struct pool *pool, uint32_t at) {
    switch (pool->bytes[at]) {
    case JVM_CONSTANT_Utf8:
        return 3 + u2(pool, at + 1);
    case JVM_CONSTANT_Class:
    case JVM_CONSTANT_String:
    case JVM_CONSTANT_MethodType:
    case 19: // Module
    case 20: // Package
        return 3;
    case JVM_CONSTANT_MethodHandle:
        return 4;
    case JVM_CONSTANT_Long:
    case JVM_CONSTANT_Double:
        return 9;
    default:
        return 5;
    }
}

static bool index_entries(struct pool *pool) {
    uint32_t at = 0;
    for (uint32_t i = 1; i < pool->count && at < pool->length; i++) {
        unsigned tag = pool->bytes[at];
        pool->offset[i] = at + 1; // biased by one, so that 0 is none
        at += entry_bytes(pool, at);
        if (tag == JVM_CONSTANT_Long || tag == JVM_CONSTANT_Double) i++;
    }
    return at <= pool->length;
}

// Offset just past the tag of entry `index` if it has that tag, else 0 (tag bytes never stand at offset -1).
static uint32_t body_of(const struct pool *pool, uint32_t index, unsigned tag) {
    if (index == 0 || index >= pool->count || pool->offset[index] == 0) return 0;
    uint32_t at = pool->offset[index] - 1;
    return pool->bytes[at] == tag ? at + 1 : 0;
}

static struct utf8 utf8_at(const struct pool *pool, uint32_t index) {
    uint32_t at = body_of(pool, index, JVM_CONSTANT_Utf8);
    if (at == 0 || at + 2 + u2(pool, at) > pool->length) return (struct utf8){"", 0};
    return (struct utf8){(const char *)pool->bytes + at + 2, (uint16_t)u2(pool, at)};
}

static bool method_name(const struct pool *pool, uint32_t index, char *name, size_t size) {
    uint32_t at = body_of(pool, index, JVM_CONSTANT_Methodref);
    if (!at) at = body_of(pool, index, JVM_CONSTANT_InterfaceMethodref);
    if (!at) return false;
    uint32_t class = body_of(pool, u2(pool, at), JVM_CONSTANT_Class);
    uint32_t name_and_type = body_of(pool, u2(pool, at + 2), JVM_CONSTANT_NameAndType);
    if (!class || !name_and_type) return false;
    struct utf8 owner = utf8_at(pool, u2(pool, class));
    struct utf8 member = utf8_at(pool, u2(pool, name_and_type));
    static const char OBJECT[] = "java/lang/Object";
    if (owner.length == sizeof OBJECT - 1 && memcmp(owner.bytes, OBJECT, owner.length) == 0) return false;
    // JDK 8 to 14: a lambda with captured values makes itself by its own constructor.
    if (memmem(owner.bytes, owner.length, LAMBDA, sizeof LAMBDA - 1)) return false;
    dotted_name(owner.bytes, owner.length, name, size);
    size_t used = strlen(name);
    snprintf(name + used, size - used, ".%.*s", member.length, member.bytes);
    return true;
}

bool lambda_body_name(jclass class, const char *signature, char *name, size_t size) {
    if (!strstr(signature, LAMBDA)) return false;
    jint count, length;
    unsigned char *bytes;
    if ((*tracer.jvmti)->GetConstantPool(tracer.jvmti, class, &count, &length, &bytes) != JVMTI_ERROR_NONE)
        return false;
    struct pool pool = {bytes, (uint32_t)length, (uint32_t)count, calloc((size_t)count + 1, sizeof *pool.offset)};
    bool found = false;
    if (pool.offset && index_entries(&pool)) {
        for (uint32_t i = 1; i < pool.count && !found; i++) found = method_name(&pool, i, name, size);
    }
    free(pool.offset);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, bytes);
    return found;
}
