// SPDX-License-Identifier: Apache-2.0
// One pass: each object is framed (where does it end?), its checksum compared, its contents read. Events stay packed
// where they are; of each block only its place and its times are kept, and at the end sorted by thread.
#include "tracefile/reader.h"

#include "tracefile/format.h"
#include "tracefile/trace_file.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define SEARCH_BYTES_MAX (256u << 20) // that a search for the next whole block may look at more than once, in all

struct found_block { // an events block, before it is sorted under its thread
    uint64_t offset, first_ticks, last_ticks, lost;
    uint32_t thread, count;
};

struct found_thread {
    uint32_t id;
    uint64_t offset;
    struct trace_thread thread;
};

struct found_resource {
    uint64_t offset;
    struct trace_resource resource;
};

struct clock_pair {
    uint64_t ticks, ns;
};

// What exists only while a trace is being opened.
struct opening {
    struct trace_file *file;
    bool lenient;
    uint64_t offset; // of the object that is being read
    struct list blocks, threads, resources;
    struct clock_pair first_pair, last_pair;
    unsigned pairs;
    uint64_t search_left; // of SEARCH_BYTES_MAX
};

// ---- lists

// Makes room for `more` zeroed items at the end and returns the first; NULL without memory.
static void *list_add(struct list *list, size_t more, size_t item_size) {
    if (list->count + more > list->room) {
        size_t room = list->room == 0 ? 16 : list->room * 2;
        if (room < list->count + more) room = list->count + more;
        void *items = reallocarray(list->items, room, item_size);
        if (items == NULL) return NULL;
        list->items = items;
        list->room = room;
    }
    char *added = (char *)list->items + list->count * item_size;
    memset(added, 0, more * item_size);
    list->count += more;
    return added;
}

#define LIST_ADD(list, type, more) ((type *)list_add((list), (more), sizeof(type)))

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory to read the trace");
}

// `what` is copied.
static bool add_damage(struct trace_file *file, uint64_t offset, const char *what, struct error *error) {
    struct trace_damage *damage = LIST_ADD(&file->damage, struct trace_damage, 1);
    char *text = arena_string(&file->arena, what, strlen(what));
    if (damage == NULL || text == NULL) return no_memory(error);
    *damage = (struct trace_damage){offset, text};
    return true;
}

// Bad input, when it may be left out: then it is noted and true.
static bool forgive(struct opening *opening, struct error *error) {
    if (!opening->lenient || error->status != STATUS_BAD_INPUT) return false;
    struct error cause = *error;
    *error = (struct error)ERROR_INIT;
    return add_damage(opening->file, cause.offset, cause.cause[0], error);
}

// ---- framing

enum frame { FRAME_WHOLE, FRAME_CUT, FRAME_WRONG };

// Where the object at `offset` ends. FRAME_CUT: it goes on beyond the end of the file.
static enum frame frame_object(const struct trace_file *file, uint64_t offset, size_t *size) {
    size_t left = file->trace.bytes - offset;
    struct unpack unpack = unpack_init(file->bytes + offset, left < BLOCK_BYTES_MAX ? left : BLOCK_BYTES_MAX);
    unpack_skip(&unpack);
    *size = (size_t)(unpack.at - (file->bytes + offset));
    if (unpack.state == UNPACK_SHORT && left < BLOCK_BYTES_MAX) return FRAME_CUT;
    return unpack.state == UNPACK_GOOD ? FRAME_WHOLE : FRAME_WRONG;
}

static bool checksum_is_right(const uint8_t *object, size_t size, uint64_t *said, uint64_t *computed) {
    struct unpack unpack = unpack_init(object + size - CHECKSUM_BYTES, CHECKSUM_BYTES);
    *said = unpack_unsigned(&unpack, UINT64_MAX);
    *computed = format_checksum(object, size - CHECKSUM_BYTES);
    return *said == *computed;
}

// An array whose first element is a string and whose last is a checksum of the fixed size.
static bool has_block_shape(const uint8_t *object, size_t size) {
    struct unpack unpack = unpack_init(object, size);
    size_t kind_size;
    uint64_t elements = unpack_count(&unpack, TOKEN_ARRAY);
    unpack_bytes(&unpack, TOKEN_STRING, &kind_size);
    return unpack.state == UNPACK_GOOD && elements >= 2 && unpack.at + CHECKSUM_BYTES <= unpack.end &&
           object[size - CHECKSUM_BYTES] == 0xcf;
}

// *size is how many bytes were looked at.
static bool whole_block_at(const struct trace_file *file, uint64_t offset, size_t *size) {
    uint64_t said, computed;
    const uint8_t *object = file->bytes + offset;
    return frame_object(file, offset, size) == FRAME_WHOLE && has_block_shape(object, *size) &&
           checksum_is_right(object, *size, &said, &computed);
}

// The first whole block from `offset` on, or the file's size. Blocks begin with a short array and a short string. Bytes
// that look like one beginning inside the other would take quadratic time: then the search gives up.
static uint64_t find_whole_block(struct opening *opening, uint64_t offset) {
    const struct trace_file *file = opening->file;
    for (; offset + CHECKSUM_BYTES + 2 <= file->trace.bytes; offset++) {
        const uint8_t *at = file->bytes + offset;
        size_t looked_at;
        if ((at[0] & 0xf0) != 0x90 || (at[1] & 0xe0) != 0xa0 || at[2] < 'a' || at[2] > 'z') continue;
        if (whole_block_at(file, offset, &looked_at)) return offset;
        if (looked_at >= opening->search_left) break;
        opening->search_left -= looked_at;
    }
    return file->trace.bytes;
}

// ---- texts

// NULL for nil. A text that is not UTF-8, or holds a NUL, counts as wrong.
static const char *read_text(struct opening *opening, struct unpack *unpack, struct error *error) {
    const char *text;
    size_t size;
    if (!unpack_text_or_nil(unpack, &text, &size)) return NULL;
    if (size > STRING_BYTES_MAX || format_utf8_prefix(text, size) != size) {
        unpack->state = UNPACK_WRONG;
        return NULL;
    }
    const char *copy = arena_string(&opening->file->arena, text, size);
    if (copy == NULL) no_memory(error);
    return copy;
}

// ---- the header

typedef void read_key(struct opening *opening, struct unpack *unpack, const uint8_t *key, size_t size,
                      struct error *error);

// Calls `read` for each pair of a map; it consumes the value.
static void read_map(struct opening *opening, struct unpack *unpack, read_key *read, struct error *error) {
    uint64_t pairs = unpack_count(unpack, TOKEN_MAP);
    for (uint64_t i = 0; i < pairs && unpack->state == UNPACK_GOOD; i++) {
        size_t size;
        const uint8_t *key = unpack_bytes(unpack, TOKEN_STRING, &size);
        read(opening, unpack, key, size, error);
    }
}

static void read_clock_key(struct opening *opening, struct unpack *unpack, const uint8_t *key, size_t size,
                           struct error *error) {
    struct trace_header *header = &opening->file->trace.header;
    if (text_is(key, size, "name")) {
        header->clock = read_text(opening, unpack, error);
    } else if (text_is(key, size, "ticks_per_s")) {
        header->ticks_per_s = unpack_unsigned(unpack, UINT64_MAX);
    } else if (text_is(key, size, "start_unix_ns")) {
        header->start_unix_ns = unpack_unsigned(unpack, UINT64_MAX);
    } else if (text_is(key, size, "skew_ns")) {
        header->clock_skew_ns = unpack_signed(unpack, INT64_MIN, INT64_MAX);
    } else {
        unpack_skip(unpack);
    }
}

static void read_cycles_key(struct opening *opening, struct unpack *unpack, const uint8_t *key, size_t size,
                            struct error *error) {
    struct trace_header *header = &opening->file->trace.header;
    if (text_is(key, size, "unit")) {
        header->cycle_unit = read_text(opening, unpack, error);
    } else if (text_is(key, size, "source")) {
        header->cycle_source = read_text(opening, unpack, error);
    } else if (text_is(key, size, "besides_ns")) {
        header->besides_ns = unpack_unsigned(unpack, UINT64_MAX);
    } else {
        unpack_skip(unpack);
    }
}

static void read_header_key(struct opening *opening, struct unpack *unpack, const uint8_t *key, size_t size,
                            struct error *error) {
    struct trace *trace = &opening->file->trace;
    struct trace_header *header = &trace->header;
    if (text_is(key, size, "version")) {
        trace->version = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    } else if (text_is(key, size, "jvm")) {
        header->jvm = read_text(opening, unpack, error);
    } else if (text_is(key, size, "command")) {
        header->command = read_text(opening, unpack, error);
    } else if (text_is(key, size, "options")) {
        header->options = read_text(opening, unpack, error);
    } else if (text_is(key, size, "origin")) {
        header->origin = read_text(opening, unpack, error);
    } else if (text_is(key, size, "cores")) {
        header->cores = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    } else if (text_is(key, size, "pid")) {
        header->pid = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    } else if (text_is(key, size, "clock")) {
        read_map(opening, unpack, read_clock_key, error);
    } else if (text_is(key, size, "cycles")) {
        read_map(opening, unpack, read_cycles_key, error);
    } else {
        unpack_skip(unpack);
    }
}

// Whatever its version, a trace begins with a map whose first two keys are "schema" and "version".
static bool read_version(const struct trace_file *file, struct error *error) {
    static const char prefix[] = "rehype.trace/";
    struct unpack unpack = unpack_init(file->bytes, file->trace.bytes);
    size_t key_size, schema_size, version_size;
    unpack_count(&unpack, TOKEN_MAP);
    const uint8_t *key = unpack_bytes(&unpack, TOKEN_STRING, &key_size);
    bool is_trace = text_is(key, key_size, "schema");
    const uint8_t *schema = unpack_bytes(&unpack, TOKEN_STRING, &schema_size);
    const uint8_t *version_key = unpack_bytes(&unpack, TOKEN_STRING, &version_size);
    uint64_t version = unpack_unsigned(&unpack, UINT64_MAX);
    if (is_trace && unpack.state == UNPACK_SHORT) return error_set_at(error, 0, "ends within its header");
    if (!is_trace || unpack.state != UNPACK_GOOD || schema_size < sizeof prefix - 1 ||
        memcmp(schema, prefix, sizeof prefix - 1) != 0 || !text_is(version_key, version_size, "version")) {
        return error_set_at(error, 0, "not a rehype trace: expected a msgpack map with \"schema\"");
    }
    if (version <= TRACE_VERSION) return true;
    return error_set_at(error, 0, "trace format %llu is newer than this program reads (%d): use a newer rehype",
                        (unsigned long long)version, TRACE_VERSION);
}

static bool wrong_checksum(struct error *error, uint64_t offset, uint64_t said, uint64_t computed) {
    return error_set_at(
        error, offset, "block's checksum is %016llx, its bytes give %016llx: the file was changed after it was written",
        (unsigned long long)said, (unsigned long long)computed);
}

// Leaves the opening behind it.
static bool read_header(struct opening *opening, struct error *error) {
    struct trace_file *file = opening->file;
    uint64_t said, computed;
    size_t size;
    if (file->trace.bytes == 0) return error_set_at(error, 0, "is empty");
    if (!read_version(file, error)) return false;
    enum frame frame = frame_object(file, 0, &size);
    if (frame == FRAME_CUT) return error_set_at(error, 0, "ends within its header");
    if (frame == FRAME_WRONG || size < CHECKSUM_BYTES) return error_set_at(error, 0, "its header is damaged");
    if (!checksum_is_right(file->bytes, size, &said, &computed)) return wrong_checksum(error, 0, said, computed);
    struct unpack unpack = unpack_init(file->bytes, size);
    file->trace.header.clock_skew_ns = -1;
    read_map(opening, &unpack, read_header_key, error);
    if (error->status != STATUS_OK) return false;
    if (unpack.state != UNPACK_GOOD) return error_set_at(error, 0, "a value of its header is of another type");
    if (file->trace.version == 0 || file->trace.header.ticks_per_s == 0) {
        return error_set_at(error, 0, "its header lacks the version or the clock");
    }
    opening->offset = size;
    return true;
}

// ---- blocks

// Room for entries first .. first + count - 1. Ids have no gap, except where `sparse` and where a block was left out.
static void *table_add(struct opening *opening, struct list *table, size_t entry_size, uint64_t first, uint64_t count,
                       bool sparse, struct error *error) {
    bool gap_allowed = (sparse || opening->lenient) && first <= SPARSE_ID_MAX;
    if (first < table->count || (first > table->count && !gap_allowed)) {
        error_set_at(error, opening->offset, "a block's ids begin with %llu where %zu was expected",
                     (unsigned long long)first, table->count);
        return NULL;
    }
    size_t gap = first - table->count;
    char *added = list_add(table, gap + count, entry_size);
    if (added == NULL) {
        no_memory(error);
        return NULL;
    }
    return added + gap * entry_size;
}

typedef bool read_block(struct opening *opening, struct unpack *unpack, struct error *error);

// The first id and the number of entries; their room in the table. NULL when something is wrong.
static void *begin_table(struct opening *opening, struct unpack *unpack, struct list *table, size_t entry_size,
                         uint64_t *count, struct error *error) {
    uint64_t first = unpack_unsigned(unpack, UINT32_MAX);
    *count = unpack_count(unpack, TOKEN_ARRAY);
    if (unpack->state != UNPACK_GOOD) return NULL;
    return table_add(opening, table, entry_size, first, *count, false, error);
}

static void expect_elements(struct unpack *unpack, uint64_t elements) {
    if (unpack_count(unpack, TOKEN_ARRAY) != elements) unpack->state = UNPACK_WRONG;
}

static bool read_methods(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count;
    struct trace_method *method = begin_table(opening, unpack, &opening->file->methods, sizeof *method, &count, error);
    if (method == NULL) return false;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, method++) {
        expect_elements(unpack, 5);
        method->class_name = read_text(opening, unpack, error);
        method->name = read_text(opening, unpack, error);
        method->descriptor = read_text(opening, unpack, error);
        method->file = read_text(opening, unpack, error);
        method->line = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    }
    return true;
}

static bool read_way(struct opening *opening, struct unpack *unpack, struct trace_site *site, struct error *error) {
    site->through_class = read_text(opening, unpack, error);
    site->through_method = read_text(opening, unpack, error);
    const struct token of_library = unpack_token(unpack);
    if (of_library.kind != TOKEN_BOOL) unpack->state = UNPACK_WRONG;
    site->of_library = of_library.value;
    return unpack->state == UNPACK_GOOD;
}

static bool read_places(struct opening *opening, struct unpack *unpack, struct list *table, struct error *error) {
    enum { BRIEF = 6, WHOLE = 9 };
    uint64_t count;
    struct trace_site *site = begin_table(opening, unpack, table, sizeof *site, &count, error);
    if (site == NULL) return false;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, site++) {
        const uint64_t elements = unpack_count(unpack, TOKEN_ARRAY);
        if (elements != BRIEF && elements != WHOLE) unpack->state = UNPACK_WRONG;
        site->class_name = read_text(opening, unpack, error);
        site->method = read_text(opening, unpack, error);
        site->descriptor = read_text(opening, unpack, error);
        site->file = read_text(opening, unpack, error);
        site->line = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
        site->bci = (int32_t)unpack_signed(unpack, INT32_MIN, INT32_MAX);
        if (elements == WHOLE && !read_way(opening, unpack, site, error)) return false;
    }
    return true;
}

static bool read_sites(struct opening *opening, struct unpack *unpack, struct error *error) {
    return read_places(opening, unpack, &opening->file->sites, error);
}

static bool read_frames(struct opening *opening, struct unpack *unpack, struct error *error) {
    return read_places(opening, unpack, &opening->file->frames, error);
}

// Callers come before those that they call, so that every walk from callee to caller ends.
static bool read_calling_contexts(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace_file *file = opening->file;
    uint64_t count;
    struct trace_calling_context *context =
        begin_table(opening, unpack, &file->calling_contexts, sizeof *context, &count, error);
    if (context == NULL) return false;
    size_t id = file->calling_contexts.count - count;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, context++, id++) {
        expect_elements(unpack, 2);
        context->caller = (uint32_t)unpack_unsigned(unpack, id - 1);
        context->frame = (uint32_t)unpack_unsigned(unpack, file->frames.count - 1);
    }
    return true;
}

static bool read_calling_samples(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace_file *file = opening->file;
    uint64_t left_out = unpack_unsigned(unpack, UINT64_MAX), count = unpack_count(unpack, TOKEN_ARRAY);
    if (unpack->state != UNPACK_GOOD) return false;
    struct trace_calling_sample *sample = LIST_ADD(&file->calling_samples, struct trace_calling_sample, count);
    if (sample == NULL) return no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, sample++) {
        expect_elements(unpack, 4);
        sample->kind = (uint32_t)unpack_unsigned(unpack, CALLING_KINDS - 1);
        sample->task = unpack_unsigned(unpack, UINT64_MAX);
        sample->context = (uint32_t)unpack_unsigned(unpack, file->calling_contexts.count - 1);
        sample->stands_for = unpack_unsigned(unpack, UINT64_MAX);
        if (sample->context == 0 || sample->stands_for == 0) unpack->state = UNPACK_WRONG;
    }
    if (unpack->state == UNPACK_GOOD)
        file->trace.calling_left_out += left_out;
    else
        file->calling_samples.count -= count;
    return true;
}

// Rising from those before on, as ticks.
static bool read_moments(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct list *moments = &opening->file->moments;
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    if (unpack->state != UNPACK_GOOD) return false;
    uint64_t *moment = LIST_ADD(moments, uint64_t, count), ticks = 0;
    if (moment == NULL) return no_memory(error);
    uint64_t before = moments->count > count ? moment[-1] : 0;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++) {
        ticks += unpack_unsigned(unpack, UINT64_MAX - ticks);
        if (ticks <= before) unpack->state = UNPACK_WRONG;
        before = moment[i] = ticks;
    }
    return true;
}

static bool read_stack_runs(struct opening *opening, struct unpack *unpack, size_t first_moment, struct error *error) {
    struct trace_file *file = opening->file;
    const size_t moments = file->moments.count - first_moment;
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    if (unpack->state != UNPACK_GOOD) return false;
    struct trace_stack_run *run = LIST_ADD(&file->stack_runs, struct trace_stack_run, count);
    if (run == NULL) return no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, run++) {
        expect_elements(unpack, 4);
        run->thread = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
        run->context = (uint32_t)unpack_unsigned(unpack, file->calling_contexts.count - 1);
        run->first = unpack_unsigned(unpack, moments);
        run->count = unpack_unsigned(unpack, moments - run->first);
        run->first += first_moment;
        if (run->context == 0 || run->count == 0) unpack->state = UNPACK_WRONG;
    }
    return true;
}

static bool read_stacks(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace_file *file = opening->file;
    struct trace_stack_costs *costs = &file->trace.stacks.costs, told;
    size_t moments = file->moments.count, runs = file->stack_runs.count;
    told.missed = unpack_unsigned(unpack, UINT64_MAX);
    told.left_out = unpack_unsigned(unpack, UINT64_MAX);
    told.take_ns = unpack_unsigned(unpack, UINT64_MAX);
    told.work_ns = unpack_unsigned(unpack, UINT64_MAX);
    bool good = read_moments(opening, unpack, error) && read_stack_runs(opening, unpack, moments, error) &&
                unpack->state == UNPACK_GOOD;
    if (good) {
        costs->missed += told.missed;
        costs->left_out += told.left_out;
        costs->take_ns += told.take_ns;
        costs->work_ns += told.work_ns;
    } else { // what is damaged is left out as a whole
        file->moments.count = moments;
        file->stack_runs.count = runs;
    }
    return good;
}

static bool read_classes(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count;
    struct trace_class *class = begin_table(opening, unpack, &opening->file->classes, sizeof *class, &count, error);
    if (class == NULL) return false;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, class ++) {
        class->name = read_text(opening, unpack, error);
    }
    return true;
}

static bool read_endpoints(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count;
    struct trace_endpoint *endpoint =
        begin_table(opening, unpack, &opening->file->endpoints, sizeof *endpoint, &count, error);
    if (endpoint == NULL) return false;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, endpoint++) {
        endpoint->name = read_text(opening, unpack, error);
    }
    return true;
}

static bool read_skips(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count;
    struct trace_skip *skip = begin_table(opening, unpack, &opening->file->skips, sizeof *skip, &count, error);
    if (skip == NULL) return false;
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, skip++) {
        expect_elements(unpack, 2);
        skip->method = read_text(opening, unpack, error);
        skip->why = read_text(opening, unpack, error);
    }
    return true;
}

static bool read_pool(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct list *pools = &opening->file->pools;
    uint32_t id = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    struct trace_pool pool;
    pool.kind = read_text(opening, unpack, error);
    pool.queue = read_text(opening, unpack, error);
    pool.name = read_text(opening, unpack, error);
    pool.core = (int32_t)unpack_signed(unpack, INT32_MIN, INT32_MAX);
    pool.maximum = (int32_t)unpack_signed(unpack, INT32_MIN, INT32_MAX);
    pool.capacity = unpack_signed(unpack, INT64_MIN, INT64_MAX);
    pool.keep_alive_ns = -1;
    pool.rejection = NULL;
    pool.flags = 0;
    if (unpack->state != UNPACK_GOOD) return false;
    if (id == 0) return error_set_at(error, opening->offset, "pool 0 means none and has no entry");
    if (id >= pools->count && table_add(opening, pools, sizeof pool, id, 1, true, error) == NULL) return false;
    ((struct trace_pool *)pools->items)[id] = pool;
    return true;
}

static bool read_pool_rules(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct list *pools = &opening->file->pools;
    uint32_t id = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    int64_t keep_alive_ns = unpack_signed(unpack, -1, INT64_MAX);
    const char *rejection = read_text(opening, unpack, error);
    uint32_t flags = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    if (unpack->state != UNPACK_GOOD) return false;
    if (id == 0 || id >= pools->count) {
        return error_set_at(error, opening->offset, "a pool_rules block of pool %u, which has no pool block yet", id);
    }
    struct trace_pool *pool = (struct trace_pool *)pools->items + id;
    pool->keep_alive_ns = keep_alive_ns;
    pool->rejection = rejection;
    pool->flags = flags;
    return true;
}

static bool read_resource(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace_resource resource = {.id = unpack_unsigned(unpack, UINT64_MAX)};
    resource.kind = (uint32_t)unpack_unsigned(unpack, RESOURCE_KINDS - 1);
    resource.class = (uint32_t)unpack_unsigned(unpack, opening->file->classes.count - 1);
    resource.name = read_text(opening, unpack, error);
    resource.capacity = unpack_signed(unpack, -1, INT64_MAX);
    resource.flags = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    if (unpack->state != UNPACK_GOOD || resource.id == 0) return false;
    struct found_resource *found = LIST_ADD(&opening->resources, struct found_resource, 1);
    if (found == NULL) return no_memory(error);
    *found = (struct found_resource){opening->offset, resource};
    return true;
}

static bool read_thread(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct found_thread *found = LIST_ADD(&opening->threads, struct found_thread, 1);
    if (found == NULL) return no_memory(error);
    found->offset = opening->offset;
    found->id = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    found->thread.name = read_text(opening, unpack, error);
    found->thread.flags = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    return true;
}

static bool read_running(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    uint64_t *task = unpack->state == UNPACK_GOOD ? LIST_ADD(&opening->file->running, uint64_t, count) : NULL;
    if (task == NULL) return unpack->state == UNPACK_GOOD && no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++) *task++ = unpack_unsigned(unpack, UINT64_MAX);
    return true;
}

static bool read_stops(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    struct trace_stop *stop =
        unpack->state == UNPACK_GOOD ? LIST_ADD(&opening->file->stops, struct trace_stop, count) : NULL;
    if (stop == NULL) return unpack->state == UNPACK_GOOD && no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++, stop++) {
        expect_elements(unpack, 3);
        stop->kind = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
        stop->time = unpack_unsigned(unpack, UINT64_MAX);
        stop->ns = unpack_unsigned(unpack, INT64_MAX);
    }
    return true;
}

static bool read_queued(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint32_t pool = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    if (unpack->state != UNPACK_GOOD) return false;
    if (pool == 0 || pool >= opening->file->pools.count)
        return error_set_at(error, opening->offset, "a queued block of pool %u, which has no pool block yet", pool);
    struct trace_queued *queued = LIST_ADD(&opening->file->queued, struct trace_queued, count);
    if (queued == NULL) return no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++) {
        expect_elements(unpack, 2);
        queued[i].task = unpack_unsigned(unpack, UINT64_MAX);
        queued[i].class = (uint32_t)unpack_unsigned(unpack, opening->file->classes.count - 1);
        queued[i].pool = pool;
    }
    return true;
}

static bool read_actors(struct opening *opening, struct unpack *unpack, struct error *error) {
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    struct trace_actor *actor =
        unpack->state == UNPACK_GOOD ? LIST_ADD(&opening->file->actors, struct trace_actor, count) : NULL;
    if (actor == NULL) return unpack->state == UNPACK_GOOD && no_memory(error);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++) {
        expect_elements(unpack, 2);
        actor[i].id = unpack_unsigned(unpack, UINT64_MAX);
        actor[i].name = read_text(opening, unpack, error);
    }
    return true;
}

static bool read_clock(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct clock_pair pair;
    pair.ticks = unpack_unsigned(unpack, UINT64_MAX);
    pair.ns = unpack_unsigned(unpack, UINT64_MAX);
    if (opening->pairs++ == 0) opening->first_pair = pair;
    opening->last_pair = pair;
    return true;
}

// Later writers may know more kinds.
static bool read_event_costs(struct opening *opening, struct unpack *unpack, struct error *error) {
    (void)error;
    struct trace *trace = &opening->file->trace;
    memset(trace->costs, 0, sizeof trace->costs);
    uint64_t count = unpack_count(unpack, TOKEN_ARRAY);
    for (uint64_t i = 0; i < count && unpack->state == UNPACK_GOOD; i++) {
        expect_elements(unpack, 4);
        uint64_t kind = unpack_unsigned(unpack, UINT64_MAX);
        struct event_cost cost = {.measured = unpack_unsigned(unpack, UINT64_MAX)};
        cost.before_ps = unpack_unsigned(unpack, EVENT_COST_MOST_PS);
        cost.after_ps = unpack_unsigned(unpack, EVENT_COST_MOST_PS);
        if (kind < EVENT_KINDS && unpack->state == UNPACK_GOOD) trace->costs[kind] = cost;
    }
    trace->tells_costs = unpack->state == UNPACK_GOOD;
    return true;
}

static bool read_part(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace_part *part = &opening->file->trace.part;
    part->number = (uint32_t)unpack_unsigned(unpack, UINT32_MAX);
    part->previous = read_text(opening, unpack, error);
    part->repeated = unpack_unsigned(unpack, UINT64_MAX);
    part->deleted_files = unpack_unsigned(unpack, UINT64_MAX);
    part->deleted_events = unpack_unsigned(unpack, UINT64_MAX);
    return true;
}

static bool read_next(struct opening *opening, struct unpack *unpack, struct error *error) {
    opening->file->trace.next = read_text(opening, unpack, error);
    return true;
}

static bool read_events(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct events_block events;
    if (!events_block_read(unpack, &events)) {
        unpack->state = UNPACK_WRONG;
        return false;
    }
    struct found_block *found = LIST_ADD(&opening->blocks, struct found_block, 1);
    if (found == NULL) return no_memory(error);
    *found = (struct found_block){.offset = opening->offset,
                                  .first_ticks = events.first_ticks,
                                  .last_ticks = events.last_ticks,
                                  .lost = events.lost,
                                  .thread = events.thread,
                                  .count = events.count};
    return true;
}

static bool read_end(struct opening *opening, struct unpack *unpack, struct error *error) {
    struct trace *trace = &opening->file->trace;
    trace->end.stopped_because = read_text(opening, unpack, error);
    trace->end.methods_woven = unpack_unsigned(unpack, UINT64_MAX);
    trace->end.classes_woven = unpack_unsigned(unpack, UINT64_MAX);
    trace->has_end = unpack->state == UNPACK_GOOD;
    return true;
}

static const struct block_kind {
    const char *name;
    uint64_t elements; // between the kind and the checksum
    read_block *read;
} block_kinds[] = {
    {"events", 8, read_events},
    {"methods", 2, read_methods},
    {"sites", 2, read_sites},
    {"frames", 2, read_frames},
    {"calling_contexts", 2, read_calling_contexts},
    {"calling_samples", 2, read_calling_samples},
    {"stacks", 6, read_stacks},
    {"classes", 2, read_classes},
    {"endpoints", 2, read_endpoints},
    {"pool", 7, read_pool},
    {"thread", 3, read_thread},
    {"resource", 6, read_resource},
    {"queued", 2, read_queued},
    {"actors", 1, read_actors},
    {"pool_rules", 4, read_pool_rules},
    {"running", 1, read_running},
    {"stops", 1, read_stops},
    {"clock", 2, read_clock},
    {"event_costs", 1, read_event_costs},
    {"skips", 2, read_skips},
    {"end", 3, read_end},
    {"part", 5, read_part},
    {"next", 1, read_next},
};

// The contents of a block whose checksum is right. A kind that isn't known is passed over: later writers may add some.
static bool read_contents(struct opening *opening, size_t size, struct error *error) {
    struct unpack unpack = unpack_init(opening->file->bytes + opening->offset, size - CHECKSUM_BYTES);
    size_t name_size;
    uint64_t elements = unpack_count(&unpack, TOKEN_ARRAY);
    const uint8_t *name = unpack_bytes(&unpack, TOKEN_STRING, &name_size);
    for (size_t k = 0; k < sizeof block_kinds / sizeof block_kinds[0]; k++) {
        const struct block_kind *kind = &block_kinds[k];
        if (!text_is(name, name_size, kind->name)) continue;
        bool good = elements == kind->elements + 2 && kind->read(opening, &unpack, error);
        if (error->status != STATUS_OK) return false;
        if (good && unpack.state == UNPACK_GOOD && unpack.at == unpack.end) return true;
        return error_set_at(error, opening->offset, "a %s block is not as the format says", kind->name);
    }
    return true;
}

// Whether the object at opening->offset, known to end after `size` bytes, is a block as it was written.
static bool check_whole_block(struct opening *opening, size_t size, struct error *error) {
    const uint8_t *object = opening->file->bytes + opening->offset;
    uint64_t said, computed;
    if (!has_block_shape(object, size)) return error_set_at(error, opening->offset, "not a block of a trace");
    if (!checksum_is_right(object, size, &said, &computed)) {
        return wrong_checksum(error, opening->offset, said, computed);
    }
    return true;
}

// The framing and the checksum of the object at opening->offset; *error says what is wrong with it.
static enum frame check_object(struct opening *opening, size_t *size, struct error *error) {
    enum frame frame = frame_object(opening->file, opening->offset, size);
    if (frame == FRAME_CUT) {
        error_set_at(error, opening->offset, "ends in the middle of a block: its writer was killed");
    } else if (frame == FRAME_WRONG) {
        error_set_at(error, opening->offset, "not msgpack, or longer than a block may be");
    } else if (!check_whole_block(opening, *size, error)) {
        frame = FRAME_WRONG;
    }
    return frame;
}

// Passes what is no whole block. A last object that reaches beyond the end of the file is how a killed writer leaves
// it, unless a whole block follows: then its length was changed.
static bool pass_damage(struct opening *opening, enum frame frame, struct error *error) {
    struct trace_file *file = opening->file;
    if (frame == FRAME_WRONG && !opening->lenient) return false;
    uint64_t offset = opening->offset, next = find_whole_block(opening, offset + 1);
    opening->offset = next;
    if (frame == FRAME_CUT && next == file->trace.bytes) {
        struct error cut = *error;
        *error = (struct error)ERROR_INIT;
        return add_damage(file, offset, cut.cause[0], error);
    }
    if (frame == FRAME_CUT) {
        error_set_at(error, offset,
                     "a block seems to go on beyond the end of the file, but a whole one follows at byte "
                     "%llu: the file was changed after it was written",
                     (unsigned long long)next);
    }
    return forgive(opening, error);
}

static bool read_blocks(struct opening *opening, struct error *error) {
    while (opening->offset < opening->file->trace.bytes) {
        size_t size;
        if (opening->file->trace.has_end) {
            error_set_at(error, opening->offset, "goes on after its end block");
            return forgive(opening, error);
        }
        enum frame frame = check_object(opening, &size, error);
        if (frame == FRAME_WHOLE) {
            if (!read_contents(opening, size, error) && !forgive(opening, error)) return false;
            opening->offset += size;
        } else if (!pass_damage(opening, frame, error)) {
            return false;
        }
    }
    return true;
}

// ---- what is known once all blocks are read

static int compare_blocks(const void *left_, const void *right_) {
    const struct found_block *left = left_, *right = right_;
    if (left->thread != right->thread) return left->thread < right->thread ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int compare_threads(const void *left_, const void *right_) {
    const struct found_thread *left = left_, *right = right_;
    if (left->id != right->id) return left->id < right->id ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int compare_damage(const void *left_, const void *right_) {
    const struct trace_damage *left = left_, *right = right_;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void sort(struct list *list, size_t item_size, int (*compare)(const void *, const void *)) {
    if (list->count > 1) qsort(list->items, list->count, item_size, compare);
}

// Counts the block's events by kind; false when one has no known kind.
static bool count_kinds(struct opening *opening, const struct found_block *found, uint64_t *of_kind) {
    const struct trace_file *file = opening->file;
    struct unpack unpack = unpack_init(file->bytes + found->offset, file->trace.bytes - found->offset);
    struct events_block events;
    size_t size;
    unpack_count(&unpack, TOKEN_ARRAY);
    unpack_bytes(&unpack, TOKEN_STRING, &size);
    if (!events_block_read(&unpack, &events)) return false;
    uint32_t counts[256] = {0};
    for (uint32_t i = 0; i < events.count; i++) counts[events.kinds[i]]++;
    for (unsigned kind = 0; kind < 256; kind++) {
        if (counts[kind] != 0 && event_kind_info(kind) == NULL) return false;
    }
    for (unsigned kind = 0; kind < EVENT_KINDS; kind++) of_kind[kind] += counts[kind];
    return true;
}

// Adds a block to its stream. One that is wrong in itself or not after the stream's last is left out, if forgiven.
static bool stream_add(struct opening *opening, struct trace_stream *stream, struct trace_block *blocks,
                       const struct found_block *found, uint64_t *next_ticks, struct error *error) {
    struct trace *trace = &opening->file->trace;
    if (found->first_ticks < *next_ticks) {
        error_set_at(error, found->offset, "events of thread %u begin before its block before has ended",
                     found->thread);
        return forgive(opening, error);
    }
    if (!count_kinds(opening, found, trace->events_of_kind)) {
        error_set_at(error, found->offset, "events of thread %u: one has no known kind", found->thread);
        return forgive(opening, error);
    }
    blocks[stream->block_count++] = (struct trace_block){found->offset, found->count};
    stream->event_count += found->count;
    stream->lost_events += found->lost;
    *next_ticks = found->last_ticks + 1;
    return true;
}

// Takes all blocks and entries of the lowest thread id that is left. *block and *thread are where to go on.
static bool build_stream(struct opening *opening, size_t *block, size_t *thread, struct trace_block *blocks,
                         struct trace_stream *stream, struct error *error) {
    const struct found_block *found = opening->blocks.items;
    const struct found_thread *entries = opening->threads.items;
    size_t block_count = opening->blocks.count, thread_count = opening->threads.count;
    uint64_t next_ticks = 0;
    bool has_block = *block < block_count, has_entry = *thread < thread_count;
    uint32_t id = !has_block || (has_entry && entries[*thread].id < found[*block].thread) ? entries[*thread].id
                                                                                          : found[*block].thread;
    *stream = (struct trace_stream){.id = id, .blocks = blocks};
    for (; *thread < thread_count && entries[*thread].id == id; ++*thread) stream->thread = entries[*thread].thread;
    for (; *block < block_count && found[*block].thread == id; ++*block) {
        if (!stream_add(opening, stream, blocks, &found[*block], &next_ticks, error)) return false;
    }
    return true;
}

static bool build_streams(struct opening *opening, struct error *error) {
    struct trace_file *file = opening->file;
    size_t blocks_found = opening->blocks.count, most = blocks_found + opening->threads.count + 1;
    struct trace_stream *streams = LIST_ADD(&file->streams, struct trace_stream, most);
    struct trace_block *blocks = ARENA_NEW(&file->arena, struct trace_block, blocks_found + 1);
    if (streams == NULL || blocks == NULL) return no_memory(error);
    sort(&opening->blocks, sizeof(struct found_block), compare_blocks);
    sort(&opening->threads, sizeof(struct found_thread), compare_threads);
    struct trace *trace = &file->trace;
    trace->streams = streams;
    for (size_t block = 0, thread = 0; block < blocks_found || thread < opening->threads.count;) {
        struct trace_stream *stream = &streams[trace->stream_count++];
        if (!build_stream(opening, &block, &thread, blocks, stream, error)) return false;
        blocks += stream->block_count;
        trace->event_count += stream->event_count;
        trace->lost_events += stream->lost_events;
    }
    return true;
}

static int compare_resources(const void *left_, const void *right_) {
    const struct found_resource *left = left_, *right = right_;
    if (left->resource.id != right->resource.id) return left->resource.id < right->resource.id ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

// Of one id the last counts.
static bool build_resources(struct opening *opening, struct error *error) {
    const size_t count = opening->resources.count;
    sort(&opening->resources, sizeof(struct found_resource), compare_resources);
    const struct found_resource *found = opening->resources.items;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && found[i + 1].resource.id == found[i].resource.id) continue;
        struct trace_resource *resource = LIST_ADD(&opening->file->resources, struct trace_resource, 1);
        if (resource == NULL) return no_memory(error);
        *resource = found[i].resource;
    }
    return true;
}

static int compare_tasks(const void *left_, const void *right_) {
    const uint64_t *left = left_, *right = right_;
    return *left < *right ? -1 : *left > *right;
}

bool trace_was_running(const struct trace *trace, uint64_t task) {
    return trace->running_count > 0 &&
           bsearch(&task, trace->running, trace->running_count, sizeof *trace->running, compare_tasks) != NULL;
}

const struct trace_resource *trace_resource(const struct trace *trace, uint64_t id) {
    size_t from = 0, to = trace->resource_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (trace->resources[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < trace->resource_count && trace->resources[from].id == id ? &trace->resources[from] : NULL;
}

const char *trace_actor_name(const struct trace *trace, uint64_t id) {
    size_t from = 0, to = trace->actor_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (trace->actors[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < trace->actor_count && trace->actors[from].id == id ? trace->actors[from].name : NULL;
}

static void set_scale(struct tick_scale *scale, uint64_t numerator, uint64_t denominator) {
    uint128 quotient = ((uint128)numerator << 64) / denominator;
    *scale = (struct tick_scale){numerator, denominator, (uint64_t)(quotient >> 64), (uint64_t)quotient};
}

// The line through the first and the last pair of clocks, else the nominal frequency.
static bool set_clock(struct opening *opening, struct error *error) {
    struct trace_file *file = opening->file;
    const struct found_block *found = opening->blocks.items;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < opening->blocks.count; i++) {
        if (found[i].first_ticks < first) first = found[i].first_ticks;
        if (found[i].last_ticks > last) last = found[i].last_ticks;
    }
    file->origin_ticks = first;
    const struct clock_pair *from = &opening->first_pair, *to = &opening->last_pair;
    if (opening->pairs >= 2 && from->ticks < to->ticks && from->ns < to->ns) {
        set_scale(&file->scale, to->ns - from->ns, to->ticks - from->ticks);
    } else {
        set_scale(&file->scale, 1000000000, file->trace.header.ticks_per_s);
    }
    uint64_t span = opening->blocks.count == 0 ? 0 : last - first;
    if ((uint128)span * file->scale.numerator / file->scale.denominator <= INT64_MAX) return true;
    return error_set_at(error, 0, "its clock makes the run longer than 292 years");
}

static void set_operand_rules(struct trace_file *file) {
    const struct trace *trace = &file->trace;
    memset(file->highest_operand, 0xff, sizeof file->highest_operand);
    for (unsigned kind = EVENT_ENTER; kind < EVENT_KINDS; kind++) {
        file->operands[kind] = event_kind_info(kind)->operands;
    }
    for (unsigned kind = EVENT_ENTER; kind <= EVENT_EXIT_THROW; kind++) {
        file->highest_operand[kind][0] = trace->method_count - 1;
    }
    file->highest_operand[EVENT_TASK_CREATED][1] = trace->class_count - 1;
    file->highest_operand[EVENT_SPAWN_BEGIN][1] = trace->site_count - 1;
    file->highest_operand[EVENT_SPAWN_BEGIN][2] = trace->pool_count - 1;
    file->highest_operand[EVENT_SPAWN_END][1] = SPAWN_REJECTED;
    file->highest_operand[EVENT_TASK_END][2] = TASK_CANCELLED;
    file->highest_operand[EVENT_BLOCK_BEGIN][2] = trace->class_count - 1;
    file->highest_operand[EVENT_GIVEN_UP][2] = GIVEN_UP_OTHER;
    file->highest_operand[EVENT_MESSAGE_SENT][2] = message_operand(trace->class_count, 0, 0, false) - 1;
    file->highest_operand[EVENT_MESSAGE_END][2] = MESSAGE_OUTCOMES - 1;
    file->highest_operand[EVENT_ACTOR_CREATED][2] = trace->class_count - 1;
    file->highest_operand[EVENT_INIT_END][2] = init_operand(trace->class_count - 1, INIT_FAILED);
    file->highest_operand[EVENT_REQUEST_BEGIN][2] = UINT32_MAX;
    file->highest_operand[EVENT_REQUEST_NAMED][1] = trace->endpoint_count - 1;
    file->highest_operand[EVENT_REQUEST_END][2] = REQUEST_FAILED;
    for (unsigned kind = EVENT_WORKER_BEGIN; kind <= EVENT_POOL_SHUTDOWN; kind++) {
        file->highest_operand[kind][0] = trace->pool_count - 1;
    }
}

static int compare_actors(const void *left_, const void *right_) {
    const struct trace_actor *left = left_, *right = right_;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void publish_stacks(struct trace_file *file) {
    struct trace_stacks *stacks = &file->trace.stacks;
    uint64_t *moments = file->moments.items;
    for (size_t i = 0; i < file->moments.count; i++) moments[i] = trace_file_ns(file, moments[i]);
    stacks->moments = moments;
    stacks->moment_count = file->moments.count;
    stacks->runs = file->stack_runs.items;
    stacks->run_count = file->stack_runs.count;
}

static void publish_tables(struct trace_file *file) {
    struct trace *trace = &file->trace;
    trace->methods = file->methods.items;
    trace->method_count = (uint32_t)file->methods.count;
    trace->sites = file->sites.items;
    trace->site_count = (uint32_t)file->sites.count;
    trace->frames = file->frames.items;
    trace->frame_count = (uint32_t)file->frames.count;
    trace->calling_contexts = file->calling_contexts.items;
    trace->calling_context_count = (uint32_t)file->calling_contexts.count;
    trace->calling_samples = file->calling_samples.items;
    trace->calling_sample_count = file->calling_samples.count;
    trace->classes = file->classes.items;
    trace->class_count = (uint32_t)file->classes.count;
    trace->endpoints = file->endpoints.items;
    trace->endpoint_count = (uint32_t)file->endpoints.count;
    trace->pools = file->pools.items;
    trace->pool_count = (uint32_t)file->pools.count;
    trace->queued = file->queued.items;
    trace->queued_count = file->queued.count;
    trace->resources = file->resources.items;
    trace->resource_count = file->resources.count;
    sort(&file->actors, sizeof(struct trace_actor), compare_actors);
    trace->actors = file->actors.items;
    trace->actor_count = file->actors.count;
    sort(&file->running, sizeof(uint64_t), compare_tasks);
    trace->running = file->running.items;
    trace->running_count = file->running.count;
    struct trace_stop *stops = file->stops.items;
    for (size_t i = 0; i < file->stops.count; i++) stops[i].time = trace_file_ns(file, stops[i].time);
    trace->stops = stops;
    trace->stop_count = file->stops.count;
    trace->end.skips = (const struct trace_skip *)file->skips.items + 1;
    trace->end.skip_count = file->skips.count - 1;
    sort(&file->damage, sizeof(struct trace_damage), compare_damage);
    trace->damage = file->damage.items;
    trace->damage_count = file->damage.count;
    trace->whole = trace->has_end && trace->damage_count == 0;
}

static bool begin_tables(struct trace_file *file, struct error *error) {
    bool good =
        LIST_ADD(&file->methods, struct trace_method, 1) != NULL &&
        LIST_ADD(&file->sites, struct trace_site, 1) != NULL && LIST_ADD(&file->frames, struct trace_site, 1) != NULL &&
        LIST_ADD(&file->calling_contexts, struct trace_calling_context, 1) != NULL &&
        LIST_ADD(&file->classes, struct trace_class, 1) != NULL &&
        LIST_ADD(&file->endpoints, struct trace_endpoint, 1) != NULL &&
        LIST_ADD(&file->pools, struct trace_pool, 1) != NULL && LIST_ADD(&file->skips, struct trace_skip, 1) != NULL;
    return good || no_memory(error);
}

// ---- opening and closing

static bool read_all(struct opening *opening, struct error *error) {
    if (!begin_tables(opening->file, error) || !read_header(opening, error)) return false;
    if (!read_blocks(opening, error) || !build_streams(opening, error) || !build_resources(opening, error))
        return false;
    if (!set_clock(opening, error)) return false;
    publish_tables(opening->file);
    publish_stacks(opening->file);
    set_operand_rules(opening->file);
    return true;
}

struct trace *trace_file_open(struct trace_file *file, bool lenient, struct error *error) {
    struct opening opening = {.file = file, .lenient = lenient, .search_left = SEARCH_BYTES_MAX};
    *error = (struct error)ERROR_INIT;
    bool good = read_all(&opening, error);
    free(opening.blocks.items);
    free(opening.threads.items);
    free(opening.resources.items);
    if (good) return &file->trace;
    error_wrap(error, "%s", file->trace.path);
    trace_close(&file->trace);
    return NULL;
}

struct trace_file *trace_file_new(const char *path, struct error *error) {
    struct trace_file *file = calloc(1, sizeof *file);
    if (file != NULL) file->trace.path = arena_string(&file->arena, path, strlen(path));
    if (file != NULL && file->trace.path != NULL) return file;
    free(file);
    no_memory(error);
    return NULL;
}

struct trace *trace_open_memory(const char *name, const void *bytes, size_t size, bool lenient, struct error *error) {
    struct trace_file *file = trace_file_new(name, error);
    if (file == NULL) return NULL;
    file->bytes = bytes;
    file->trace.bytes = size;
    return trace_file_open(file, lenient, error);
}

void trace_close(struct trace *trace) {
    if (trace == NULL) return;
    struct trace_file *file = (struct trace_file *)trace;
    if (file->unmap != NULL) file->unmap(file);
    struct list *lists[] = {
        &file->damage,          &file->methods,   &file->sites,   &file->classes, &file->pools,
        &file->skips,           &file->running,   &file->streams, &file->frames,  &file->calling_contexts,
        &file->calling_samples, &file->resources, &file->queued,  &file->actors,  &file->moments,
        &file->stack_runs,      &file->endpoints, &file->stops};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) free(lists[i]->items);
    arena_destroy(&file->arena);
    free(file);
}
