// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/latency.h"

#include "dag/idmap.h"

#include <stdlib.h>
#include <string.h>

enum { CASCADE_STEPS = 8 };

struct path {
    struct message_pattern steps[LATENCY_STEPS_MOST];
    bool sent[LATENCY_STEPS_MOST]; // whether the step's messages are sent in the step before; else waited for
    uint32_t count;
};

// Messages by what sent them, to whom and when, and by who handles them when.
struct links {
    uint32_t *by_cause, *by_receiver; // received messages
    uint32_t count;
};

struct chain {
    uint32_t messages[LATENCY_STEPS_MOST];
};

struct finding {
    const struct actor_log *log;
    const struct path *path;
    const struct links *links;
    struct slices slices;
    struct chain *chains;
    size_t count, capacity;
    uint64_t incomplete;
    bool no_memory;
};

// ---- links

static int by_cause(const void *a, const void *b, void *log_) {
    const struct actor_log *log = log_;
    const struct logged_message *x = &log->messages[*(const uint32_t *)a], *y = &log->messages[*(const uint32_t *)b];
    if (x->cause != y->cause) return x->cause < y->cause ? -1 : 1;
    if (x->receiver != y->receiver) return x->receiver < y->receiver ? -1 : 1;
    if (x->sent_ns != y->sent_ns) return x->sent_ns < y->sent_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_receiver(const void *a, const void *b, void *log_) {
    const struct actor_log *log = log_;
    const struct logged_message *x = &log->messages[*(const uint32_t *)a], *y = &log->messages[*(const uint32_t *)b];
    if (x->receiver != y->receiver) return x->receiver < y->receiver ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool links_make(const struct actor_log *log, struct links *links) {
    *links = (struct links){malloc(((size_t)log->message_count + 1) * sizeof(uint32_t)),
                            malloc(((size_t)log->message_count + 1) * sizeof(uint32_t)), 0};
    if (!links->by_cause || !links->by_receiver) return false;
    for (uint32_t m = 0; m < log->message_count; m++) {
        if (!message_is_received(&log->messages[m]) || log->messages[m].receiver == LOG_NONE) continue;
        links->by_receiver[links->count] = m;
        links->by_cause[links->count++] = m;
    }
    qsort_r(links->by_cause, links->count, sizeof *links->by_cause, by_cause, (void *)log);
    qsort_r(links->by_receiver, links->count, sizeof *links->by_receiver, by_receiver, (void *)log);
    return true;
}

static void links_free(struct links *links) {
    free(links->by_cause);
    free(links->by_receiver);
}

static uint32_t first_sent_by(const struct finding *finding, uint32_t cause) {
    uint32_t from = 0, to = finding->links->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (finding->log->messages[finding->links->by_cause[middle]].cause < cause)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// The first place whose message its receiver begins behind another message of it.
static uint32_t first_behind(const struct finding *finding, const struct logged_message *message) {
    uint32_t from = 0, to = finding->links->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const struct logged_message *at = &finding->log->messages[finding->links->by_receiver[middle]];
        const bool before =
            at->receiver != message->receiver ? at->receiver < message->receiver : at->begin_ns <= message->begin_ns;
        if (before)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// ---- chains

static bool means(const struct finding *finding, uint32_t step, uint32_t message) {
    return message_pattern_means(&finding->path->steps[step], &finding->log->messages[message]);
}

static void keep(struct finding *finding, const struct chain *chain) {
    if (!message_is_handled(&finding->log->messages[chain->messages[finding->path->count - 1]])) return;
    if (finding->count == finding->capacity) {
        const size_t larger = finding->capacity ? 2 * finding->capacity : 256;
        struct chain *moved = realloc(finding->chains, larger * sizeof *moved);
        if (!moved) {
            finding->no_memory = true;
            return;
        }
        finding->chains = moved;
        finding->capacity = larger;
    }
    finding->chains[finding->count++] = *chain;
}

static void follow(struct finding *finding, struct chain *chain, uint32_t step);

// Of several messages to one actor, which stand side by side, the first.
static void follow_sent(struct finding *finding, struct chain *chain, uint32_t step) {
    const uint32_t cause = chain->messages[step - 1];
    uint32_t taken = LOG_NONE;
    for (uint32_t i = first_sent_by(finding, cause); i < finding->links->count; i++) {
        const uint32_t message = finding->links->by_cause[i];
        const struct logged_message *of = &finding->log->messages[message];
        if (of->cause != cause) break;
        if (of->receiver == taken || !means(finding, step, message)) continue;
        taken = of->receiver;
        chain->messages[step] = message;
        follow(finding, chain, step + 1);
    }
}

static void follow_waiting(struct finding *finding, struct chain *chain, uint32_t step) {
    const struct logged_message *before = &finding->log->messages[chain->messages[step - 1]];
    for (uint32_t i = first_behind(finding, before); i < finding->links->count; i++) {
        const uint32_t message = finding->links->by_receiver[i];
        if (finding->log->messages[message].receiver != before->receiver) break;
        if (!means(finding, step, message)) continue;
        chain->messages[step] = message;
        follow(finding, chain, step + 1);
        break;
    }
}

static void follow(struct finding *finding, struct chain *chain, uint32_t step) {
    if (finding->no_memory) return;
    if (step == finding->path->count)
        keep(finding, chain);
    else if (finding->path->sent[step])
        follow_sent(finding, chain, step);
    else
        follow_waiting(finding, chain, step);
}

static void find_chains(struct finding *finding) {
    const struct actor_log *log = finding->log;
    for (uint32_t i = 0; i < finding->links->count && !finding->no_memory; i++) {
        const uint32_t message = finding->links->by_receiver[i];
        const int64_t begin_ns = log->messages[message].begin_ns;
        if (begin_ns < finding->slices.from_ns || begin_ns > finding->slices.to_ns || !means(finding, 0, message))
            continue;
        struct chain chain = {.messages = {message}};
        const size_t before = finding->count;
        follow(finding, &chain, 1);
        finding->incomplete += finding->count == before;
    }
}

// ---- segments

struct span {
    uint8_t id;
    uint32_t step;
    int64_t ns;
};

// Table 1 of a chain. Returns how many.
static uint32_t spans_of(const struct finding *finding, const struct chain *chain,
                         struct span spans[2 * LATENCY_STEPS_MOST]) {
    const struct logged_message *messages = finding->log->messages;
    const struct path *path = finding->path;
    uint32_t count = 0;
    bool sent = false; // the message in hand, by the one before
    for (uint32_t step = 0; step < path->count; step++) {
        const struct logged_message *now = &messages[chain->messages[step]];
        if (step + 1 == path->count) {
            spans[count++] = (struct span){sent ? 4 : 6, step, now->end_ns - now->begin_ns};
            break;
        }
        const struct logged_message *next = &messages[chain->messages[step + 1]];
        if (path->sent[step + 1]) {
            spans[count++] = (struct span){sent ? 3 : 1, step, next->sent_ns - now->begin_ns};
            spans[count++] = (struct span){2, step + 1, next->begin_ns - next->sent_ns};
        } else {
            spans[count++] = (struct span){5, step, next->begin_ns - now->begin_ns};
        }
        sent = path->sent[step + 1];
    }
    return count;
}

static void describe_segment(const struct finding *finding, uint32_t index, double *values,
                             struct latency_segment *segment) {
    struct span spans[2 * LATENCY_STEPS_MOST];
    for (size_t i = 0; i < finding->count; i++) {
        spans_of(finding, &finding->chains[i], spans);
        values[i] = (double)spans[index].ns;
        segment->total_ns += spans[index].ns;
    }
    segment->id = spans[index].id;
    segment->step = spans[index].step;
    segment->ns = spread_of(values, finding->count);
}

static int64_t latency_of(const struct finding *finding, const struct chain *chain) {
    const struct logged_message *messages = finding->log->messages;
    return messages[chain->messages[finding->path->count - 1]].end_ns - messages[chain->messages[0]].begin_ns;
}

static void describe_latency(const struct finding *finding, double *values, struct latency_figures *figures) {
    size_t known = 0;
    for (size_t i = 0; i < finding->count; i++) {
        const int64_t ns = latency_of(finding, &finding->chains[i]);
        values[i] = (double)ns;
        figures->total_ns += ns;
    }
    figures->latency_ns = spread_of(values, finding->count);
    figures->variance_ns2 = figures->latency_ns.std * figures->latency_ns.std;
    for (size_t i = 0; i < finding->count; i++) {
        const struct logged_message *first = &finding->log->messages[finding->chains[i].messages[0]];
        if (first->sent_ns == LOG_NEVER) continue;
        values[known++] = (double)(latency_of(finding, &finding->chains[i]) + first->begin_ns - first->sent_ns);
    }
    figures->from_sent_ns = spread_of(values, known);
}

static bool slice_latency(const struct finding *finding, struct arena *arena, struct latency_figures *figures) {
    const struct slices *slices = &finding->slices;
    struct slice_series sums, counts;
    double *spare = malloc((2 * slices->count + 1) * sizeof *spare);
    bool ok = spare && slice_series_init(&sums, slices, arena) && slice_series_init(&counts, slices, arena);
    for (size_t i = 0; ok && slices->count && i < finding->count; i++) {
        const int64_t begin_ns = finding->log->messages[finding->chains[i].messages[0]].begin_ns;
        const size_t slice = (size_t)((begin_ns - slices->from_ns) / slices->length_ns);
        slice_count(&counts, slices, begin_ns);
        sums.values[slice < slices->count ? slice : slices->count - 1] +=
            (double)latency_of(finding, &finding->chains[i]);
    }
    for (size_t i = 0; ok && i < slices->count; i++)
        sums.values[i] = counts.values[i] > 0 ? sums.values[i] / counts.values[i] : NAN;
    if (ok) figures->by_begin = sliced_of(&sums, slices, spare);
    free(spare);
    return ok;
}

static bool describe(const struct finding *finding, struct arena *arena, struct latency_figures *figures) {
    struct span spans[2 * LATENCY_STEPS_MOST];
    double *values = malloc((finding->count + 1) * sizeof *values);
    if (!values || finding->no_memory) {
        free(values);
        return false;
    }
    figures->chains = finding->count;
    figures->incomplete = finding->incomplete;
    describe_latency(finding, values, figures);
    figures->segment_count = finding->count ? spans_of(finding, &finding->chains[0], spans) : 0;
    for (uint32_t i = 0; i < figures->segment_count; i++) describe_segment(finding, i, values, &figures->segments[i]);
    free(values);
    return slice_latency(finding, arena, figures);
}

// Whether any message that a step means was sent in one that the step before means.
static bool is_sent_in(const struct actor_log *log, const struct links *links, const struct path *path, uint32_t step) {
    for (uint32_t i = 0; i < links->count; i++) {
        const struct logged_message *message = &log->messages[links->by_cause[i]];
        if (message->cause == LOG_NONE || !message_pattern_means(&path->steps[step], message)) continue;
        if (message_pattern_means(&path->steps[step - 1], &log->messages[message->cause])) return true;
    }
    return false;
}

static bool measure(const struct actor_log *log, const struct links *links, struct path *path,
                    const struct slices *slices, struct arena *arena, struct latency_figures *figures) {
    struct finding finding = {.log = log, .path = path, .links = links, .slices = *slices};
    for (uint32_t step = 1; step < path->count; step++) path->sent[step] = is_sent_in(log, links, path, step);
    find_chains(&finding);
    const bool ok = describe(&finding, arena, figures);
    free(finding.chains);
    return ok;
}

// ---- paths that are given

static bool parse(const char *text, const struct actor_log *log, struct arena *arena, struct path *path,
                  struct error *error) {
    for (const char *end; text; text = end ? end + 1 : NULL) {
        end = strchr(text, '>');
        const size_t length = end ? (size_t)(end - text) : strlen(text);
        if (path->count == LATENCY_STEPS_MOST)
            return error_set(error, STATUS_USAGE, "a path has at most %d messages", LATENCY_STEPS_MOST);
        if (!message_pattern_parse(text, length, log, arena, &path->steps[path->count++], error)) return false;
    }
    return true;
}

static bool no_memory_for_chains(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for chains of messages");
}

static bool slices_in(const struct actor_log *log, const struct window *window, double slice_ms, struct slices *slices,
                      struct error *error) {
    const struct window within = messages_window(log, window);
    return slices_of(within.from_ns, within.to_ns, slice_ms, slices, error);
}

bool latency_of_path(const struct actor_log *log, const char *text, const struct window *window, double slice_ms,
                     struct arena *arena, struct latency_figures *figures, struct error *error) {
    struct path path = {.count = 0};
    struct slices slices;
    struct links links = {0};
    *figures = (struct latency_figures){.path = text};
    if (!slices_in(log, window, slice_ms, &slices, error) || !parse(text, log, arena, &path, error)) return false;
    const bool ok = links_make(log, &links) && measure(log, &links, &path, &slices, arena, figures);
    links_free(&links);
    return ok || no_memory_for_chains(error);
}

// ---- cascades

struct cascade {
    uint32_t types[CASCADE_STEPS], classes[CASCADE_STEPS]; // from the first message to the last
    uint32_t count;
    int64_t total_ns;
};

struct cascades {
    struct cascade *items;
    size_t count, capacity;
    struct idmap at; // by hash
};

static bool is_same_kind(const struct actor_log *log, uint32_t a, uint32_t b) {
    const struct logged_message *x = &log->messages[a], *y = &log->messages[b];
    return x->class == y->class && log->actors[x->receiver].type == log->actors[y->receiver].type;
}

static bool is_link(const struct actor_log *log, uint32_t message) {
    const struct logged_message *of = &log->messages[message];
    return message_is_received(of) && message_is_handled(of) && of->of_program && of->receiver != LOG_NONE;
}

// From a message back through what had it sent, up to a kind that was there already. Returns how many; the last is the
// first sent.
static uint32_t walk_back(const struct actor_log *log, uint32_t message, uint32_t line[CASCADE_STEPS]) {
    uint32_t count = 0;
    for (; message != LOG_NONE && count < CASCADE_STEPS && is_link(log, message);
         message = log->messages[message].cause) {
        for (uint32_t i = 0; i < count; i++) {
            if (is_same_kind(log, line[i], message)) return count;
        }
        line[count++] = message;
    }
    return count;
}

// Whether a cascade goes on from the message that had this one sent: its kind is new there.
static bool goes_on(const struct actor_log *log, uint32_t message) {
    uint32_t line[CASCADE_STEPS];
    const uint32_t count = walk_back(log, log->messages[message].cause, line);
    for (uint32_t i = 0; i < count; i++) {
        if (is_same_kind(log, line[i], message)) return false;
    }
    return true;
}

static uint64_t hash_of(const struct cascade *cascade) {
    uint64_t hash = cascade->count;
    for (uint32_t i = 0; i < cascade->count; i++)
        hash = (hash ^ ((uint64_t)cascade->types[i] << 32 | cascade->classes[i])) * UINT64_C(0x9E3779B97F4A7C15) ^
               hash >> 29;
    return hash;
}

static bool add_cascade(struct cascades *all, const struct cascade *more) {
    const uint64_t hash = hash_of(more);
    const uint32_t known = idmap_get(&all->at, hash);
    if (known != IDMAP_NONE) {
        all->items[known].total_ns += more->total_ns;
        return true;
    }
    if (all->count == all->capacity) {
        const size_t larger = all->capacity ? 2 * all->capacity : 64;
        struct cascade *moved = realloc(all->items, larger * sizeof *moved);
        if (!moved) return false;
        all->items = moved;
        all->capacity = larger;
    }
    if (!idmap_add(&all->at, hash, (uint32_t)all->count)) return false;
    all->items[all->count++] = *more;
    return true;
}

static bool gather_cascade(const struct actor_log *log, const struct slices *slices, uint32_t message,
                           struct cascades *all) {
    uint32_t line[CASCADE_STEPS];
    struct cascade cascade = {.count = walk_back(log, message, line)};
    if (cascade.count < 2) return true;
    const struct logged_message *first = &log->messages[line[cascade.count - 1]];
    if (first->begin_ns < slices->from_ns || first->begin_ns > slices->to_ns) return true;
    cascade.total_ns = log->messages[message].end_ns - first->begin_ns;
    for (uint32_t i = 0; i < cascade.count; i++) {
        const struct logged_message *at = &log->messages[line[cascade.count - 1 - i]];
        cascade.types[i] = log->actors[at->receiver].type;
        cascade.classes[i] = at->class;
    }
    return add_cascade(all, &cascade);
}

static bool gather_cascades(const struct actor_log *log, const struct slices *slices, struct cascades *all) {
    bool *continued = calloc((size_t)log->message_count + 1, sizeof *continued);
    bool ok = continued != NULL;
    for (uint32_t m = 0; ok && m < log->message_count; m++) {
        const uint32_t cause = log->messages[m].cause;
        if (cause != LOG_NONE && is_link(log, m) && is_link(log, cause) && goes_on(log, m)) continued[cause] = true;
    }
    for (uint32_t m = 0; ok && m < log->message_count; m++) {
        if (is_link(log, m) && !continued[m]) ok = gather_cascade(log, slices, m, all);
    }
    free(continued);
    return ok;
}

static int by_weight(const void *a, const void *b) {
    const struct cascade *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns < y->total_ns ? 1 : -1;
    return memcmp(x, y, offsetof(struct cascade, total_ns));
}

static bool name_path(const struct path *path, struct arena *arena, const char **name) {
    size_t length = 1;
    for (uint32_t i = 0; i < path->count; i++) length += strlen(path->steps[i].text) + 3;
    char *text = arena_alloc(arena, length, 1);
    for (uint32_t i = 0; text && i < path->count; i++) {
        if (i) strcat(text, " > ");
        strcat(text, path->steps[i].text);
    }
    *name = text;
    return text != NULL;
}

static bool measure_cascade(const struct actor_log *log, const struct links *links, const struct cascade *cascade,
                            const struct slices *slices, struct arena *arena, struct latency_figures *figures) {
    struct path path = {.count = cascade->count};
    *figures = (struct latency_figures){0};
    for (uint32_t i = 0; i < path.count; i++) {
        if (!message_pattern_of(log, cascade->types[i], cascade->classes[i], arena, &path.steps[i])) return false;
    }
    return name_path(&path, arena, &figures->path) && measure(log, links, &path, slices, arena, figures);
}

bool latency_of_cascades(const struct actor_log *log, const struct window *window, double slice_ms, struct arena *arena,
                         struct latency_figures **figures, size_t *count, struct error *error) {
    struct slices slices;
    struct cascades all = {0};
    struct links links = {0};
    *count = 0;
    *figures = ARENA_NEW(arena, struct latency_figures, CASCADES_MOST);
    if (!slices_in(log, window, slice_ms, &slices, error)) return false;
    bool ok = *figures && links_make(log, &links) && gather_cascades(log, &slices, &all);
    if (ok && all.count) qsort(all.items, all.count, sizeof *all.items, by_weight);
    for (size_t i = 0; ok && i < all.count && i < CASCADES_MOST; i++)
        ok = measure_cascade(log, &links, &all.items[i], &slices, arena, &(*figures)[(*count)++]);
    free(all.items);
    idmap_destroy(&all.at);
    links_free(&links);
    return ok || no_memory_for_chains(error);
}
