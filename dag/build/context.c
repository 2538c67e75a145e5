// SPDX-License-Identifier: GPL-3.0-or-later
// Contexts (the functions active at a spawn since its task began, R 1) and sites, each kept once.
#include "dag/build/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool function_push(struct function_stack *stack, uint32_t method) {
    if (!GROW(stack->methods, stack->depth, stack->capacity)) return false;
    stack->methods[stack->depth++] = method;
    return true;
}

// An exit whose entry was lost changes nothing; one that skips entries closes those too: their exits were lost.
void function_pop(struct function_stack *stack, uint32_t method, uint32_t floor) {
    uint32_t depth = stack->depth;
    while (depth > floor && stack->methods[depth - 1] != method) depth--;
    if (depth > floor) stack->depth = depth - 1;
}

static uint64_t mix(uint64_t hash, uint64_t value) { // FNV-1a over whole words, with the high bits folded down
    hash = (hash ^ value) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

static const uint64_t hash_seed = 0xCBF29CE484222325u;

// Folds recursion: a method that is on the stack already isn't added again.
static uint32_t fold(struct builder *builder, uint32_t floor, uint64_t *hash) {
    const struct function_stack *functions = &builder->functions;
    uint32_t length = 0;
    builder->seen_stamp++;
    *hash = hash_seed;
    for (uint32_t i = floor; i < functions->depth; i++) {
        uint32_t method = functions->methods[i];
        if (builder->seen_method[method] == builder->seen_stamp) continue;
        builder->seen_method[method] = builder->seen_stamp;
        builder->folded[length++] = method;
        *hash = mix(*hash, method);
    }
    return length;
}

static bool add_context(struct builder *builder, uint64_t hash, uint32_t length) {
    struct dag *dag = builder->dag;
    if (!GROW(dag->contexts, dag->context_count, builder->context_capacity)) return false;
    uint32_t *methods = ARENA_NEW(&dag->arena, uint32_t, length);
    if (!methods) return false;
    if (length) memcpy(methods, builder->folded, length * sizeof *methods);
    dag->contexts[dag->context_count++] = (struct dag_context){methods, length, hash};
    return true;
}

bool context_intern(struct builder *builder, uint32_t floor, uint32_t *context) {
    struct dag *dag = builder->dag;
    uint64_t hash;
    uint32_t length = fold(builder, floor, &hash);
    uint64_t key = hash;
    for (;; key++) { // the next key where two contexts share a hash
        *context = idmap_get(&builder->contexts, key);
        if (*context == IDMAP_NONE) break;
        const struct dag_context *known = &dag->contexts[*context];
        size_t bytes = length * sizeof *builder->folded;
        if (known->length == length && memcmp(known->methods, builder->folded, bytes) == 0) return true;
    }
    *context = dag->context_count;
    if (!add_context(builder, hash, length) || !idmap_add(&builder->contexts, key, *context)) return no_memory(builder);
    return true;
}

static uint64_t mix_string(uint64_t hash, const char *text) {
    for (; text && *text; text++) hash = mix(hash, (unsigned char)*text);
    return mix(hash, 256); // no byte: keeps "ab","c" from "a","bc"
}

// By what the functions are called, so that one set has one hash in all recordings of a program.
static uint64_t method_hash(const struct trace_method *method) {
    return mix_string(mix_string(mix_string(hash_seed, method->class_name), method->name), method->descriptor);
}

uint64_t methods_hash(const struct trace *trace, const uint32_t *methods, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += method_hash(&trace->methods[methods[i]]);
    return mix(hash_seed, sum);
}

uint64_t numbers_hash(const uint32_t *numbers, uint32_t count) {
    uint64_t hash = hash_seed;
    for (uint32_t i = 0; i < count; i++) hash = mix(hash, numbers[i]);
    return hash;
}

static uint64_t site_hash(const struct trace_site *site) {
    uint64_t hash = mix_string(mix_string(hash_seed, site->class_name), site->method);
    hash = mix_string(mix_string(hash, site->descriptor), site->file);
    return mix(mix(hash, site->line), (uint32_t)site->bci);
}

static bool same_site(const struct trace_site *a, const struct trace_site *b) {
    return a->line == b->line && a->bci == b->bci && same_text(a->method, b->method) &&
           same_text(a->class_name, b->class_name) && same_text(a->descriptor, b->descriptor) &&
           same_text(a->file, b->file);
}

static bool find_site(struct builder *builder, const struct trace_site *site, uint32_t *index) {
    struct dag *dag = builder->dag;
    uint64_t key = site_hash(site);
    for (;; key++) {
        *index = idmap_get(&builder->sites, key);
        if (*index == IDMAP_NONE) break;
        if (same_site(&dag->sites[*index].site, site)) return true;
    }
    *index = dag->site_count++;
    dag->sites[*index].site = *site;
    return idmap_add(&builder->sites, key, *index) || no_memory(builder);
}

bool site_intern(struct builder *builder, uint32_t trace_site, uint32_t *site) {
    *site = DAG_NONE;
    if (trace_site == 0 || trace_site >= builder->trace->site_count) return true;
    uint32_t *known = &builder->site_of[trace_site];
    if (*known == DAG_NONE && !find_site(builder, &builder->trace->sites[trace_site], known)) return false;
    *site = *known;
    return true;
}

// task_count, and the class of most tasks by Boyer and Moore's vote: exact where one class has more than half.
bool sites_take_classes(struct builder *builder) {
    struct dag *dag = builder->dag;
    uint32_t *votes = calloc((size_t)dag->site_count + 1, sizeof *votes);
    if (!votes) return no_memory(builder);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].site == DAG_NONE) continue;
        struct dag_site *site = &dag->sites[dag->tasks[t].site];
        uint32_t task_class = dag->tasks[t].task_class;
        site->task_count++;
        uint32_t *lead = &votes[dag->tasks[t].site];
        if (*lead == 0) site->task_class = task_class;
        *lead += site->task_class == task_class ? 1 : UINT32_MAX;
    }
    free(votes);
    return true;
}

const char *dag_site_text(const struct dag *dag, uint32_t index, char *text, size_t size) {
    if (index == DAG_NONE) {
        snprintf(text, size, "unknown site");
        return text;
    }
    const struct trace_site *site = &dag->sites[index].site;
    int used =
        snprintf(text, size, "%s.%s", site->class_name ? site->class_name : "?", site->method ? site->method : "?");
    if (site->line && used >= 0 && (size_t)used < size) snprintf(text + used, size - (size_t)used, ":%u", site->line);
    return text;
}
