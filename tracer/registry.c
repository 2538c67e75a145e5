// SPDX-License-Identifier: Apache-2.0
#include "tracer/registry.h"

#include "tracer/known_pools.h"
#include "tracer/names.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// An append-only table. Entries [0, written) are in the file, entries [0, gone) are no longer here, and entries [0,
// due) are to be written now.
struct table {
    void *entries;
    uint32_t count, capacity, written, due, gone;
    uint32_t most; // entries beyond which there is no room; 0: memory alone bounds them
    bool lets_go;  // of entries once they are written: a program may have more threads than memory has room for
    // Of tables without two entries of the same content: a program that loads classes again and again (plug-ins,
    // scripts) names the same things again and again. Ids by the hash of what they name; open addressing, a power of
    // two of slots.
    size_t content; // how many bytes of an entry are that; 0: any two may be there
    uint32_t *ids, id_slots;
    size_t entry_size;
    size_t string[6]; // offsets of an entry's strings, which are copied
    size_t string_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct names strings; // of entries that stay; for the life of the process, each once

#define AT(type, member)    offsetof(struct type, member)
#define AFTER(type, member) (AT(type, member) + sizeof((struct type){0}.member))

static struct table methods = {.content = AFTER(trace_method, line),
                               .entry_size = sizeof(struct trace_method),
                               .string = {AT(trace_method, class_name), AT(trace_method, name),
                                          AT(trace_method, descriptor), AT(trace_method, file)},
                               .string_count = 4};
static struct table sites = {.content = AFTER(trace_site, of_library),
                             .entry_size = sizeof(struct trace_site),
                             .string = {AT(trace_site, class_name), AT(trace_site, method), AT(trace_site, descriptor),
                                        AT(trace_site, file), AT(trace_site, through_class),
                                        AT(trace_site, through_method)},
                             .string_count = 6};
enum { CALLING_MOST = 1 << 16 }; // frames, and contexts: some 10 MiB; sampling has room for more contexts
static struct table frames = {
    .most = CALLING_MOST,
    .content = AFTER(trace_site, bci),
    .entry_size = sizeof(struct trace_site),
    .string = {AT(trace_site, class_name), AT(trace_site, method), AT(trace_site, descriptor), AT(trace_site, file)},
    .string_count = 4};
static struct table calling_contexts = {.most = CALLING_MOST,
                                        .content = sizeof(struct trace_calling_context),
                                        .entry_size = sizeof(struct trace_calling_context)};
static struct table calling_samples = {.lets_go = true, .entry_size = sizeof(struct trace_calling_sample)};
static uint64_t calling_left_out; // not told yet
static struct table classes = {.content = AFTER(trace_class, name),
                               .entry_size = sizeof(struct trace_class),
                               .string = {AT(trace_class, name)},
                               .string_count = 1};
static struct table endpoints = {.most = ENDPOINTS_MOST,
                                 .content = AFTER(trace_endpoint, name),
                                 .entry_size = sizeof(struct trace_endpoint),
                                 .string = {AT(trace_endpoint, name)},
                                 .string_count = 1};
static struct known_pools pools;
static struct table threads = {
    .lets_go = true, .entry_size = sizeof(struct trace_thread), .string = {AT(trace_thread, name)}, .string_count = 1};
static struct table running = {.lets_go = true, .entry_size = sizeof(uint64_t)};
static struct table stops = {.lets_go = true, .entry_size = sizeof(struct trace_stop)};
static struct table actors = {
    .lets_go = true, .entry_size = sizeof(struct trace_actor), .string = {AT(trace_actor, name)}, .string_count = 1};
static struct table queued = {.lets_go = true, .entry_size = sizeof(struct trace_queued)};
static struct table skips = {.content = sizeof(struct trace_skip),
                             .entry_size = sizeof(struct trace_skip),
                             .string = {AT(trace_skip, method), AT(trace_skip, why)},
                             .string_count = 2};
static uint64_t methods_woven, classes_woven;

// By slot. Those that have changed are to be written; `due` are copies of them, made with the tables' due.
static struct resources {
    struct trace_resource *entries, *due;
    bool *changed;
    uint32_t count, capacity;
    size_t due_count, changed_count;
} resources;

static bool has_room(struct table *table) {
    if (table->count - table->gone < table->capacity) return true;
    uint32_t capacity = table->capacity ? table->capacity * 2 : 64;
    void *grown = realloc(table->entries, capacity * table->entry_size);
    if (!grown) return false;
    table->entries = grown;
    table->capacity = capacity;
    return true;
}

static const char *keep_string(const char *text, size_t length) {
    return names_keep(&strings, text, length);
}

static const char *keep_text(const char *text) {
    return text ? keep_string(text, strlen(text)) : NULL;
}

static void copy_strings(const struct table *table, char *entry) {
    for (size_t i = 0; i < table->string_count; i++) {
        const char **string = (const char **)(entry + table->string[i]);
        if (*string && !**string)
            *string = "";
        else if (*string)
            *string = table->lets_go ? strdup(*string) : keep_string(*string, strlen(*string));
    }
}

// The strings of an entry of a table that lets go.
static void let_go(const struct table *table, char *entry) {
    for (size_t i = 0; i < table->string_count; i++) {
        char *string = *(char **)(entry + table->string[i]);
        if (string && *string) free(string);
    }
}

// Strings are kept once each, so that the same content is the same bytes.
static uint32_t *id_slot(const struct table *table, uint32_t *ids, uint32_t slots, const void *entry) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (size_t i = 0; i < table->content; i++) hash = (hash ^ ((const uint8_t *)entry)[i]) * 0x100000001b3u;
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (slots - 1);
    for (; ids[at]; at = (at + 1) & (slots - 1)) {
        if (memcmp((char *)table->entries + (ids[at] - 1) * table->entry_size, entry, table->content) == 0) break;
    }
    return &ids[at];
}

static bool ids_grow(struct table *table) {
    uint32_t slots = table->id_slots ? table->id_slots * 2 : 256;
    uint32_t *ids = calloc(slots, sizeof *ids);
    if (!ids) return false;
    for (uint32_t id = 1; id <= table->count; id++)
        *id_slot(table, ids, slots, (char *)table->entries + (id - 1) * table->entry_size) = id;
    free(table->ids);
    table->ids = ids;
    table->id_slots = slots;
    return true;
}

// With the lock held. NULL without memory.
static uint32_t *place_of_id(struct table *table, const void *entry) {
    if (table->count * 2 >= table->id_slots && !ids_grow(table)) return NULL;
    return id_slot(table, table->ids, table->id_slots, entry);
}

// With the lock held.
static uint32_t append_locked(struct table *table, const void *entry) {
    uint32_t id = 0, *known = NULL;
    if (has_room(table)) {
        char *place = (char *)table->entries + (table->count - table->gone) * table->entry_size;
        memcpy(place, entry, table->entry_size);
        copy_strings(table, place);
        if (table->content) known = place_of_id(table, place);
        bool is_new = !known || !*known, full = table->most && table->count >= table->most;
        id = !is_new ? *known : full ? 0 : ++table->count;
        if (known) *known = id;
    }
    return id;
}

static uint32_t append(struct table *table, const void *entry) {
    pthread_mutex_lock(&lock);
    uint32_t id = append_locked(table, entry);
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_method(const struct trace_method *method) {
    return append(&methods, method);
}

uint32_t registry_site(const struct trace_site *site) {
    return append(&sites, site);
}

uint32_t registry_class(const struct trace_class *class) {
    return append(&classes, class);
}

uint32_t registry_endpoint(const struct trace_endpoint *endpoint) {
    return append(&endpoints, endpoint);
}

uint32_t registry_frame(const struct trace_site *frame) {
    return append(&frames, frame);
}

uint32_t registry_calling_context(const uint32_t *stack, size_t depth) {
    uint32_t id = 0;
    bool good = depth > 0;
    pthread_mutex_lock(&lock);
    for (size_t i = depth; good && i > 0; i--) {
        id = append_locked(&calling_contexts, &(struct trace_calling_context){id, stack[i - 1]});
        good = id != 0;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t registry_pool(const struct trace_pool *pool) {
    pthread_mutex_lock(&lock);
    struct trace_pool kept = *pool;
    kept.kind = keep_text(pool->kind);
    kept.queue = keep_text(pool->queue);
    kept.rejection = keep_text(pool->rejection);
    kept.name = pool->name ? strdup(pool->name) : NULL;
    uint32_t id = known_pools_add(&pools, &kept);
    if (!id) free((char *)kept.name);
    pthread_mutex_unlock(&lock);
    return id;
}

void registry_pool_collected(uint32_t pool) {
    pthread_mutex_lock(&lock);
    known_pools_collected(&pools, pool);
    pthread_mutex_unlock(&lock);
}

void registry_forget_pools(void) {
    pthread_mutex_lock(&lock);
    known_pools_forget(&pools);
    pthread_mutex_unlock(&lock);
}

uint32_t registry_thread(const struct trace_thread *thread) {
    return append(&threads, thread);
}

// With the lock held.
static bool has_room_for_resource(uint32_t slot) {
    if (slot < resources.capacity) return true;
    uint32_t capacity = resources.capacity ? resources.capacity : 64;
    while (capacity <= slot) capacity *= 2;
    struct trace_resource *entries = realloc(resources.entries, capacity * sizeof *entries);
    if (entries) resources.entries = entries;
    bool *changed = entries ? realloc(resources.changed, capacity * sizeof *changed) : NULL;
    if (!changed) return false;
    resources.changed = changed;
    memset(entries + resources.capacity, 0, (capacity - resources.capacity) * sizeof *entries);
    memset(changed + resources.capacity, 0, (capacity - resources.capacity) * sizeof *changed);
    resources.capacity = capacity;
    return true;
}

void registry_resource(uint32_t slot, const struct trace_resource *resource) {
    pthread_mutex_lock(&lock);
    if (has_room_for_resource(slot)) {
        struct trace_resource *entry = &resources.entries[slot];
        *entry = *resource;
        entry->name = keep_text(resource->name);
        if (slot >= resources.count) resources.count = slot + 1;
        if (!resources.changed[slot]) resources.changed_count++;
        resources.changed[slot] = true;
    }
    pthread_mutex_unlock(&lock);
}

// With the lock held.
static void write_resources_again(void) {
    resources.changed_count = 0;
    for (uint32_t slot = 0; slot < resources.count; slot++) {
        resources.changed[slot] = resources.entries[slot].id != 0;
        resources.changed_count += resources.changed[slot];
    }
}

// With the lock held. Without memory they wait for the next time.
static void make_resources_due(void) {
    resources.due_count = 0;
    resources.due = resources.changed_count ? malloc(resources.changed_count * sizeof *resources.due) : NULL;
    if (!resources.due) return;
    for (uint32_t slot = 0; slot < resources.count; slot++) {
        if (resources.changed[slot]) resources.due[resources.due_count++] = resources.entries[slot];
        resources.changed[slot] = false;
    }
    resources.changed_count = 0;
}

void registry_running(uint64_t task) {
    append(&running, &task);
}

void registry_stop(const struct trace_stop *stop) {
    append(&stops, stop);
}

void registry_actor(const struct trace_actor *actor) {
    enum { WAITING_MOST = 1 << 16 };
    pthread_mutex_lock(&lock);
    bool room = actors.count - actors.gone < WAITING_MOST;
    pthread_mutex_unlock(&lock);
    if (room) append(&actors, actor);
}

void registry_queued(const struct trace_queued *task) {
    append(&queued, task);
}

void registry_calling_left_out(void) {
    pthread_mutex_lock(&lock);
    calling_left_out++;
    pthread_mutex_unlock(&lock);
}

void registry_calling_sample(const struct trace_calling_sample *sample) {
    enum { WAITING_MOST = 1 << 16 };
    pthread_mutex_lock(&lock);
    bool room = calling_samples.count - calling_samples.gone < WAITING_MOST;
    pthread_mutex_unlock(&lock);
    if (!room || !append(&calling_samples, sample)) registry_calling_left_out();
}

// Slices of sampled stacks, those that came first in front.
static struct waiting_stacks {
    struct stack_slice *first, **end;
    size_t count;
    struct trace_stack_costs untold; // of those that there was no room for
} stacks = {.end = &stacks.first};

void registry_calling_room(uint32_t most) {
    pthread_mutex_lock(&lock);
    calling_contexts.most = most;
    pthread_mutex_unlock(&lock);
}

static void add_costs(struct trace_stack_costs *sum, const struct trace_stack_costs *costs) {
    sum->missed += costs->missed;
    sum->left_out += costs->left_out;
    sum->take_ns += costs->take_ns;
    sum->work_ns += costs->work_ns;
}

static void leave_out(struct trace_stack_costs *untold, const struct stack_slice *slice) {
    add_costs(untold, &slice->costs);
    for (size_t i = 0; i < slice->run_count; i++) untold->left_out += slice->runs[i].count;
}

void registry_stacks(struct stack_slice *slice) {
    enum { WAITING_MOST = 64 };
    pthread_mutex_lock(&lock);
    bool room = stacks.count < WAITING_MOST;
    if (room) {
        add_costs(&slice->costs, &stacks.untold);
        stacks.untold = (struct trace_stack_costs){0};
        *stacks.end = slice;
        stacks.end = &slice->next;
        stacks.count++;
    } else {
        leave_out(&stacks.untold, slice);
    }
    pthread_mutex_unlock(&lock);
    if (!room) stack_slice_free(slice);
}

// All that wait.
static struct stack_slice *take_stacks(void) {
    pthread_mutex_lock(&lock);
    struct stack_slice *taken = stacks.first;
    stacks.first = NULL;
    stacks.end = &stacks.first;
    stacks.count = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void free_stacks(struct stack_slice *slice) {
    for (struct stack_slice *next; slice; slice = next) {
        next = slice->next;
        stack_slice_free(slice);
    }
}

// What was not written won't be.
static void pass_over(struct table *table) {
    for (uint32_t i = table->gone; i < table->count; i++)
        let_go(table, (char *)table->entries + (i - table->gone) * table->entry_size);
    table->written = table->gone = table->count;
}

// With the lock held.
static void write_again(void) {
    struct table *const again[] = {&methods, &sites, &classes, &endpoints, &frames, &calling_contexts};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) again[i]->written = 0;
    known_pools_write_again(&pools);
    write_resources_again();
}

void registry_repeat(void) {
    pthread_mutex_lock(&lock);
    write_again();
    pthread_mutex_unlock(&lock);
}

void registry_restart(void) {
    pthread_mutex_lock(&lock);
    write_again();
    pass_over(&threads);
    pass_over(&running);
    pass_over(&stops);
    pass_over(&queued);
    pass_over(&actors);
    pass_over(&calling_samples);
    calling_left_out = 0;
    stacks.untold = (struct trace_stack_costs){0};
    skips.count = 0;
    if (skips.ids) memset(skips.ids, 0, skips.id_slots * sizeof *skips.ids);
    methods_woven = classes_woven = 0;
    pthread_mutex_unlock(&lock);
    free_stacks(take_stacks());
}

void registry_skip(const char *method, const char *why) {
    append(&skips, &(struct trace_skip){method, why});
}

// Jetty's own default has an object's number in it, which changes from run to run: "qtp1234567-21" -> "qtp"
static size_t without_number(const char *name, size_t length) {
    return length > 3 && strncmp(name, "qtp", 3) == 0 && 3 + strspn(name + 3, "0123456789") >= length ? 3 : length;
}

// "pool-1-thread-3" -> "pool-1", "ForkJoinPool-1-worker-2" -> "ForkJoinPool-1", "http-nio-8080-exec-7" ->
// "http-nio-8080", "worker" -> "worker"
static size_t pool_name_length(const char *thread_name) {
    size_t length = strlen(thread_name);
    size_t end = length;
    while (end > 0 && thread_name[end - 1] >= '0' && thread_name[end - 1] <= '9') end--;
    if (end == length || end == 0) return length;
    while (end > 0 && strchr("-_# .", thread_name[end - 1])) end--;
    static const char *const suffixes[] = {"-thread", "-worker", "-exec"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (end > suffix && strncmp(thread_name + end - suffix, suffixes[i], suffix) == 0) end -= suffix;
    }
    return end ? without_number(thread_name, end) : length;
}

static void name_pool(uint32_t pool, const char *name, size_t length) {
    pthread_mutex_lock(&lock);
    const struct trace_pool *known = known_pools_find(&pools, pool);
    if (known && !known->name) known_pools_change(&pools, pool)->name = strndup(name, length);
    pthread_mutex_unlock(&lock);
}

void registry_call_pool(uint32_t pool, const char *name) {
    name_pool(pool, name, strlen(name));
}

void registry_name_pool(uint32_t pool, const char *thread_name) {
    if (thread_name) name_pool(pool, thread_name, pool_name_length(thread_name));
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

void registry_change_pool(uint32_t pool, const struct trace_pool *rules) {
    pthread_mutex_lock(&lock);
    struct trace_pool *entry = known_pools_change(&pools, pool);
    if (entry) {
        entry->core = rules->core;
        entry->maximum = rules->maximum;
        entry->keep_alive_ns = rules->keep_alive_ns;
        entry->flags = rules->flags | (entry->flags & (POOL_GROWS_FIRST | POOL_WAKES_FIRST));
        if (!is_same(entry->rejection, rules->rejection)) entry->rejection = keep_text(rules->rejection);
    }
    pthread_mutex_unlock(&lock);
}

void registry_woven(unsigned count) {
    pthread_mutex_lock(&lock);
    methods_woven += count;
    classes_woven++;
    pthread_mutex_unlock(&lock);
}

// With the lock held.
static void forget_written(struct table *table) {
    uint32_t left = table->count - table->written;
    const char *from = (char *)table->entries + (table->written - table->gone) * table->entry_size;
    if (left) memmove(table->entries, from, left * table->entry_size);
    table->gone = table->written;
}

// The entries that are due and not yet written, copied out under the lock; *first is the id of the first. NULL when
// there are none (*count 0) or no memory.
static void *take_new(struct table *table, uint32_t *first, size_t *count) {
    void *taken = NULL;
    pthread_mutex_lock(&lock);
    *count = table->due > table->written ? table->due - table->written : 0;
    if (*count && (taken = malloc(*count * table->entry_size))) {
        size_t at = (table->written - table->gone) * table->entry_size;
        memcpy(taken, (char *)table->entries + at, *count * table->entry_size);
        *first = table->written + 1;
        table->written = table->due;
        if (table->lets_go) forget_written(table);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

typedef bool write_entries(struct trace_writer *writer, uint32_t first, const void *entries, size_t count);

static registry_named *told_of_threads; // while the drainer flushes

static bool write_methods(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_methods(writer, first, entries, count);
}

static bool write_sites(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_sites(writer, first, entries, count);
}

static bool write_classes(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_classes(writer, first, entries, count);
}

static bool write_endpoints(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_endpoints(writer, first, entries, count);
}

static bool write_frames(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_frames(writer, first, entries, count);
}

static bool write_calling_contexts(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    return trace_write_calling_contexts(writer, first, entries, count);
}

static bool write_calling_samples(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    (void)first;
    return trace_write_calling_samples(writer, entries, count, 0);
}

static bool write_left_out(struct trace_writer *writer) {
    pthread_mutex_lock(&lock);
    uint64_t left_out = calling_left_out;
    calling_left_out = 0;
    pthread_mutex_unlock(&lock);
    return left_out == 0 || trace_write_calling_samples(writer, NULL, 0, left_out);
}

static bool write_pools(struct trace_writer *writer) {
    size_t count;
    bool good = true;
    pthread_mutex_lock(&lock);
    struct known_pool *taken = known_pools_take(&pools, &count);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; taken && good && i < count; i++) good = trace_write_pool(writer, taken[i].id, &taken[i].rules);
    free(taken);
    return good;
}

static bool write_threads(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    const struct trace_thread *thread = entries;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = good && trace_write_thread(writer, first + (uint32_t)i, &thread[i]) &&
               (!told_of_threads || told_of_threads(first + (uint32_t)i, &thread[i]));
        let_go(&threads, (char *)entries + i * sizeof *thread);
    }
    return good;
}

static bool write_running(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    (void)first;
    return trace_write_running(writer, entries, count);
}

static bool write_stops(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    (void)first;
    return trace_write_stops(writer, entries, count);
}

// In one block what follows one another of the same pool.
static bool write_queued(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    const struct trace_queued *task = entries;
    bool good = true;
    for (size_t i = 0, end; good && i < count; i = end) {
        for (end = i + 1; end < count && task[end].pool == task[i].pool; end++) {
        }
        good = trace_write_queued(writer, task + i, end - i);
    }
    return good;
}

static bool write_actors(struct trace_writer *writer, uint32_t first, const void *entries, size_t count) {
    (void)first;
    bool good = trace_write_actors(writer, entries, count);
    for (size_t i = 0; i < count; i++) let_go(&actors, (char *)entries + i * sizeof(struct trace_actor));
    return good;
}

static const struct {
    struct table *table;
    write_entries *write;
} all[] = {{&methods, write_methods},
           {&sites, write_sites},
           {&endpoints, write_endpoints},
           {&classes, write_classes},
           {&threads, write_threads},
           {&running, write_running},
           {&stops, write_stops},
           {&queued, write_queued},
           {&actors, write_actors},
           {&frames, write_frames},
           {&calling_contexts, write_calling_contexts},
           {&calling_samples, write_calling_samples}};

// At one moment: what an entry names in another table is due as well.
static void make_due(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i].table->due = all[i].table->count;
    make_resources_due();
    pthread_mutex_unlock(&lock);
}

// After the classes that they name; where those had to wait (not `named`), they wait as well.
static bool write_resources(struct trace_writer *writer, bool named) {
    bool good = true;
    for (size_t i = 0; named && good && i < resources.due_count; i++)
        good = trace_write_resource(writer, &resources.due[i]);
    pthread_mutex_lock(&lock);
    if (!named && resources.due_count) write_resources_again();
    pthread_mutex_unlock(&lock);
    free(resources.due);
    resources.due = NULL;
    return good;
}

enum flushed {
    FLUSHED,
    FAILED,
    NO_MEMORY
}; // in the last case what comes later may name what is not written, and waits

static enum flushed write_tables(struct trace_writer *writer) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint32_t first;
        size_t count;
        void *entries = take_new(all[i].table, &first, &count);
        if (count && !entries) return NO_MEMORY;
        if (!entries) continue;
        bool written = all[i].write(writer, first, entries, count);
        free(entries);
        if (!written) return FAILED;
    }
    return FLUSHED;
}

static bool write_stacks(struct trace_writer *writer, const struct stack_slice *slice) {
    bool good = true;
    for (; good && slice; slice = slice->next) {
        good = trace_write_stacks(writer, &(struct trace_stacks){.moments = slice->moments,
                                                                 .moment_count = slice->moment_count,
                                                                 .runs = slice->runs,
                                                                 .run_count = slice->run_count,
                                                                 .costs = slice->costs});
    }
    return good;
}

static bool flush_tables(struct trace_writer *writer, const struct stack_slice *slices) {
    bool pools_written = write_pools(writer);
    enum flushed flushed = pools_written ? write_tables(writer) : FAILED;
    bool resources_written = write_resources(writer, flushed == FLUSHED);
    if (flushed != FLUSHED) return flushed == NO_MEMORY; // then slices, which name what is not written, are lost
    return resources_written && write_left_out(writer) && write_stacks(writer, slices);
}

bool registry_flush(struct trace_writer *writer, registry_named *named) {
    struct stack_slice *slices = take_stacks(); // before the tables: what they name is due
    make_due();
    told_of_threads = named;
    bool good = flush_tables(writer, slices);
    free_stacks(slices);
    return good;
}

void registry_end(struct trace_end *end) {
    pthread_mutex_lock(&lock);
    end->methods_woven = methods_woven;
    end->classes_woven = classes_woven;
    end->skips = skips.entries;
    end->skip_count = skips.count;
    pthread_mutex_unlock(&lock);
}
