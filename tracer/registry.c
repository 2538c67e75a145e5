// SPDX-License-Identifier: Apache-2.0
#include "tracer/registry.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// An append-only table. Entries [0, written) are in the file.
struct table {
    void *entries;
    uint32_t count, capacity, written;
    size_t entry_size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena strings = ARENA_INIT; // for the life of the process
static struct table methods = {.entry_size = sizeof(struct trace_method)};
static struct table sites = {.entry_size = sizeof(struct trace_site)};
static struct table classes = {.entry_size = sizeof(struct trace_class)};
static struct table pools = {.entry_size = sizeof(struct trace_pool)};
static struct table threads = {.entry_size = sizeof(struct trace_thread)};
static struct table skips = {.entry_size = sizeof(struct trace_skip)};
static uint64_t methods_woven, classes_woven;

static const char *copy(const char *text) {
    return text ? arena_string(&strings, text, strlen(text)) : NULL;
}

static void *append(struct table *table) {
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity ? table->capacity * 2 : 64;
        void *grown = realloc(table->entries, capacity * table->entry_size);
        if (!grown) return NULL;
        table->entries = grown;
        table->capacity = capacity;
    }
    return (char *)table->entries + table->count++ * table->entry_size;
}

uint32_t registry_method(const struct trace_method *method) {
    pthread_mutex_lock(&lock);
    struct trace_method *entry = append(&methods);
    if (entry) {
        *entry = (struct trace_method){copy(method->class_name), copy(method->name), copy(method->descriptor),
                                       copy(method->file), method->line};
    }
    uint32_t id = entry ? methods.count : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_site(const struct trace_site *site) {
    pthread_mutex_lock(&lock);
    struct trace_site *entry = append(&sites);
    if (entry) {
        *entry = (struct trace_site){copy(site->class_name), copy(site->method), copy(site->descriptor),
                                     copy(site->file),       site->line,         site->bci};
    }
    uint32_t id = entry ? sites.count : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_class(const struct trace_class *class) {
    pthread_mutex_lock(&lock);
    struct trace_class *entry = append(&classes);
    if (entry) *entry = (struct trace_class){copy(class->name)};
    uint32_t id = entry ? classes.count : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_pool(const struct trace_pool *pool) {
    pthread_mutex_lock(&lock);
    struct trace_pool *entry = append(&pools);
    if (entry) {
        *entry = *pool;
        entry->kind = copy(pool->kind);
        entry->queue = copy(pool->queue);
        entry->name = copy(pool->name);
    }
    uint32_t id = entry ? pools.count : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_thread(const struct trace_thread *thread) {
    pthread_mutex_lock(&lock);
    struct trace_thread *entry = append(&threads);
    if (entry) *entry = (struct trace_thread){copy(thread->name), thread->flags};
    uint32_t id = entry ? threads.count : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

// "pool-1-thread-3" -> "pool-1", "http-nio-8080-exec-7" -> "http-nio-8080-exec", "worker" -> "worker"
static size_t pool_name_length(const char *thread_name) {
    size_t length = strlen(thread_name);
    size_t end = length;
    while (end > 0 && thread_name[end - 1] >= '0' && thread_name[end - 1] <= '9') end--;
    if (end == length || end == 0) return length;
    while (end > 0 && strchr("-_# .", thread_name[end - 1])) end--;
    static const char SUFFIX[] = "-thread";
    const size_t suffix = sizeof SUFFIX - 1;
    if (end > suffix && strncmp(thread_name + end - suffix, SUFFIX, suffix) == 0) end -= suffix;
    return end ? end : length;
}

void registry_name_pool(uint32_t pool, const char *thread_name) {
    if (pool == 0 || !thread_name) return;
    pthread_mutex_lock(&lock);
    struct trace_pool *entry = pool <= pools.count ? (struct trace_pool *)pools.entries + pool - 1 : NULL;
    if (entry && !entry->name) {
        entry->name = arena_string(&strings, thread_name, pool_name_length(thread_name));
        if (pools.written >= pool) pools.written = pool - 1; // a later entry replaces the earlier one
    }
    pthread_mutex_unlock(&lock);
}

void registry_skip(const char *method, const char *why) {
    pthread_mutex_lock(&lock);
    struct trace_skip *entry = append(&skips);
    if (entry) *entry = (struct trace_skip){copy(method), copy(why)};
    pthread_mutex_unlock(&lock);
}

void registry_woven(unsigned count) {
    pthread_mutex_lock(&lock);
    methods_woven += count;
    classes_woven++;
    pthread_mutex_unlock(&lock);
}

// The entries not yet written, copied out under the lock; *first is the id of the first. NULL when there are none.
static void *take_new(struct table *table, uint32_t *first, size_t *count) {
    void *taken = NULL;
    pthread_mutex_lock(&lock);
    *count = table->count - table->written;
    if (*count && (taken = malloc(*count * table->entry_size))) {
        memcpy(taken, (char *)table->entries + table->written * table->entry_size, *count * table->entry_size);
        *first = table->written + 1;
        table->written = table->count;
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

typedef bool write_entries(struct trace_writer *writer, uint32_t first, const void *entries, size_t count);

static bool write_methods(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_methods(writer, first, entries, count);
}

static bool write_sites(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_sites(writer, first, entries, count);
}

static bool write_classes(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_classes(writer, first, entries, count);
}

static bool write_pools(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    const struct trace_pool *pool = entries;
    for (size_t i = 0; i < count; i++) {
        if (!trace_write_pool(writer, first + (uint32_t)i, &pool[i])) return false;
    }
    return true;
}

static bool write_threads(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    const struct trace_thread *thread = entries;
    for (size_t i = 0; i < count; i++) {
        if (!trace_write_thread(writer, first + (uint32_t)i, &thread[i])) return false;
    }
    return true;
}

bool registry_flush(struct trace_writer *writer) {
    static const struct {
        struct table *table;
        write_entries *write;
    } all[] = {{&methods, write_methods},
               {&sites, write_sites},
               {&classes, write_classes},
               {&pools, write_pools},
               {&threads, write_threads}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint32_t first;
        size_t count;
        void *entries = take_new(all[i].table, &first, &count);
        if (!entries) continue;
        bool written = all[i].write(writer, first, entries, count);
        free(entries);
        if (!written) return false;
    }
    return true;
}

void registry_end(struct trace_end *end) {
    pthread_mutex_lock(&lock);
    end->methods_woven = methods_woven;
    end->classes_woven = classes_woven;
    end->skips = skips.entries;
    end->skip_count = skips.count;
    pthread_mutex_unlock(&lock);
}
