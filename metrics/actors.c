// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/actors.h"

#include "dag/idmap.h"

#include <stdlib.h>
#include <string.h>

// Uses by an actor or a type, and by message class.
struct use_table {
    struct idmap index;
    struct keyed_use {
        uint32_t who;
        struct message_use use;
    } * uses;
    uint32_t count, capacity;
};

struct gathering {
    const struct actor_log *log;
    const struct window *window;
    struct arena *arena;
    struct actor_use *actors; // all of the log
    bool *counted;            // an actor each: the program's, no router, there in the window
    struct use_table by_actor, by_type;
    double *values; // room for a figure of each actor
    bool no_memory;
};

// ---- which actors are counted

static bool is_there(const struct logged_actor *actor, const struct window *window) {
    if (!window) return true;
    const bool begun = actor->created_ns == LOG_NEVER || actor->created_ns <= window->to_ns;
    return begun && (actor->stopped_ns == LOG_NEVER || actor->stopped_ns >= window->from_ns);
}

static bool is_counted(const struct logged_actor *actor, const struct window *window) {
    return actor->of_program && !actor->router && !actor_failed_to_start(actor) && is_there(actor, window);
}

// ---- messages by actor and type

static struct message_use *use_at(struct use_table *table, uint32_t who, uint32_t class) {
    const uint64_t key = (uint64_t)who << 32 | class;
    uint32_t index = idmap_get(&table->index, key);
    if (index != IDMAP_NONE) return &table->uses[index].use;
    if (table->count == table->capacity) {
        uint32_t larger = table->capacity ? table->capacity * 2 : 64;
        struct keyed_use *moved = realloc(table->uses, larger * sizeof *moved);
        if (!moved) return NULL;
        table->uses = moved;
        table->capacity = larger;
    }
    if (!idmap_add(&table->index, key, table->count)) return NULL;
    table->uses[table->count] = (struct keyed_use){who, {.class = class}};
    return &table->uses[table->count++].use;
}

static void add_use(struct gathering *gathering, uint32_t actor, uint32_t class, struct message_use more) {
    struct message_use *of[] = {use_at(&gathering->by_actor, actor, class),
                                use_at(&gathering->by_type, gathering->log->actors[actor].type, class)};
    for (int i = 0; i < 2; i++) {
        if (!of[i]) {
            gathering->no_memory = true;
            return;
        }
        of[i]->sent += more.sent;
        of[i]->received += more.received;
        of[i]->computation += more.computation;
    }
    gathering->actors[actor].sent += more.sent;
    gathering->actors[actor].received += more.received;
    gathering->actors[actor].computation += more.computation;
}

static void add_message(struct gathering *gathering, const struct logged_message *message) {
    const bool sent = message->before == LOG_NONE && message->origin == MESSAGE_OF_PROGRAM && !message->withdrawn &&
                      message->sender != LOG_NONE && gathering->counted[message->sender];
    if (sent && is_in_window(gathering->window, message->sent_ns))
        add_use(gathering, message->sender, message->class, (struct message_use){.sent = 1});
    const bool handled = message->of_program && message->receiver != LOG_NONE && gathering->counted[message->receiver];
    if (!handled || !is_in_window(gathering->window, message->begin_ns)) return;
    struct message_use use = {.received = message_is_received(message)};
    if (!isnan(message->cost)) use.computation = message->cost;
    add_use(gathering, message->receiver, message->class, use);
}

static int by_who(const void *a, const void *b) {
    const struct keyed_use *x = a, *y = b;
    if (x->who != y->who) return x->who < y->who ? -1 : 1;
    if (x->use.computation != y->use.computation) return x->use.computation < y->use.computation ? 1 : -1;
    return (x->use.class > y->use.class) - (x->use.class < y->use.class);
}

static void sort_uses(struct use_table *table) {
    if (table->count) qsort(table->uses, table->count, sizeof *table->uses, by_who);
}

// The first of a sorted table's uses that are not before `who`.
static uint32_t first_of(const struct use_table *table, uint32_t who) {
    uint32_t from = 0, to = table->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (table->uses[middle].who < who)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void copy_uses(struct gathering *gathering, const struct use_table *table, uint32_t who, struct actor_use *of) {
    const uint32_t first = first_of(table, who);
    uint32_t end = first;
    while (end < table->count && table->uses[end].who == who) end++;
    of->message_count = end - first;
    of->messages = ARENA_NEW(gathering->arena, struct message_use, (size_t)(end - first) + 1);
    gathering->no_memory |= !of->messages;
    for (uint32_t i = first; of->messages && i < end; i++) of->messages[i - first] = table->uses[i].use;
}

// ---- actors

static bool was_initialised(const struct gathering *gathering, const struct logged_actor *actor) {
    return actor->initialisations > 0 && is_in_window(gathering->window, actor->init_ns);
}

static void take_costs(struct gathering *gathering) {
    const struct actor_log *log = gathering->log;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        const struct logged_actor *actor = &log->actors[a];
        struct actor_use *use = &gathering->actors[a];
        use->actor = a;
        use->initialisation = was_initialised(gathering, actor) ? actor->initialisation : NAN;
        use->creation = actor->creation;
        use->utilisation = use->initialisation > 0 ? use->computation / use->initialisation : NAN;
    }
}

enum figure { FIGURE_INITIALISATION, FIGURE_COMPUTATION, FIGURE_UTILISATION };

static double figure_of(const struct actor_use *use, enum figure figure) {
    if (figure == FIGURE_INITIALISATION) return use->initialisation;
    return figure == FIGURE_COMPUTATION ? use->computation : use->utilisation;
}

// Of the counted actors among these, known values only.
static struct spread spread_over(struct gathering *gathering, const uint32_t *actors, size_t count,
                                 enum figure figure) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = figure_of(&gathering->actors[actors[i]], figure);
        if (!isnan(value)) gathering->values[known++] = value;
    }
    return spread_of(gathering->values, known);
}

static void add_totals(struct actor_use *sum, const struct actor_use *use) {
    sum->sent += use->sent;
    sum->received += use->received;
    sum->computation += use->computation;
    sum->creation += use->creation;
    if (!isnan(use->initialisation)) sum->initialisation += use->initialisation;
}

static bool stopped_in(const struct gathering *gathering, const struct logged_actor *actor) {
    return is_in_window(gathering->window, actor->stopped_ns);
}

static void describe_type(struct gathering *gathering, const uint32_t *actors, size_t count,
                          struct actor_type_use *type) {
    const struct actor_log *log = gathering->log;
    *type = (struct actor_type_use){.type = log->actors[actors[0]].type, .count = count, .all.actor = LOG_NONE};
    for (size_t i = 0; i < count; i++) {
        const struct logged_actor *actor = &log->actors[actors[i]];
        type->stopped += stopped_in(gathering, actor);
        type->restarts += actor->restarts;
        add_totals(&type->all, &gathering->actors[actors[i]]);
    }
    type->all.utilisation = type->all.initialisation > 0 ? type->all.computation / type->all.initialisation : NAN;
    type->initialisation = spread_over(gathering, actors, count, FIGURE_INITIALISATION);
    type->computation = spread_over(gathering, actors, count, FIGURE_COMPUTATION);
    type->utilisation = spread_over(gathering, actors, count, FIGURE_UTILISATION);
    copy_uses(gathering, &gathering->by_type, type->type, &type->all);
}

static int by_type(const void *a, const void *b, void *log_) {
    const struct actor_log *log = log_;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (log->actors[x].type != log->actors[y].type) return log->actors[x].type < log->actors[y].type ? -1 : 1;
    return (log->actors[x].id > log->actors[y].id) - (log->actors[x].id < log->actors[y].id);
}

static int by_computation(const void *a, const void *b, void *actors_) {
    const struct gathering *gathering = actors_;
    const struct actor_use *x = &gathering->actors[*(const uint32_t *)a], *y = &gathering->actors[*(const uint32_t *)b];
    if (x->computation != y->computation) return x->computation < y->computation ? 1 : -1;
    const uint64_t x_id = gathering->log->actors[x->actor].id, y_id = gathering->log->actors[y->actor].id;
    return (x_id > y_id) - (x_id < y_id);
}

static int types_by_computation(const void *a, const void *b) {
    const struct actor_type_use *x = a, *y = b;
    if (x->all.computation != y->all.computation) return x->all.computation < y->all.computation ? 1 : -1;
    return (x->type > y->type) - (x->type < y->type);
}

static bool describe_types(struct gathering *gathering, uint32_t *order, size_t count, struct actor_figures *figures) {
    const struct actor_log *log = gathering->log;
    qsort_r(order, count, sizeof *order, by_type, (void *)log);
    for (size_t i = 0; i < count; i++)
        figures->type_count += i == 0 || log->actors[order[i]].type != log->actors[order[i - 1]].type;
    figures->types = ARENA_NEW(gathering->arena, struct actor_type_use, figures->type_count + 1);
    if (!figures->types) return false;
    size_t type = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && log->actors[order[end]].type == log->actors[order[first]].type; end++) {
        }
        describe_type(gathering, order + first, end - first, &figures->types[type++]);
    }
    if (type) qsort(figures->types, type, sizeof *figures->types, types_by_computation);
    return true;
}

static bool describe_each(struct gathering *gathering, uint32_t *order, size_t count, struct actor_figures *figures) {
    qsort_r(order, count, sizeof *order, by_computation, gathering);
    figures->each_count = count < ACTORS_TOLD_MOST ? count : ACTORS_TOLD_MOST;
    figures->each = ARENA_NEW(gathering->arena, struct actor_use, figures->each_count + 1);
    if (!figures->each) return false;
    for (size_t i = 0; i < figures->each_count; i++) {
        figures->each[i] = gathering->actors[order[i]];
        copy_uses(gathering, &gathering->by_actor, order[i], &figures->each[i]);
    }
    return true;
}

static void count_actors(const struct gathering *gathering, struct actor_figures *figures) {
    const struct actor_log *log = gathering->log;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        const struct logged_actor *actor = &log->actors[a];
        const bool there = actor->of_program && is_there(actor, gathering->window);
        figures->routers += actor->router && there;
        figures->failed_starts += actor_failed_to_start(actor) && there;
        if (!gathering->counted[a]) continue;
        figures->count++;
        figures->created += is_in_window(gathering->window, actor->created_ns);
        figures->stopped += stopped_in(gathering, actor);
        figures->restarts += actor->restarts;
    }
}

// Of the whole recording, whatever the window: what is made is used later. A start that failed cost what it did.
static double share_of(const struct actor_log *log) {
    double making = 0, computing = 0;
    bool any = false;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        const struct logged_actor *actor = &log->actors[a];
        if (!actor->of_program || actor->router) continue;
        any = true;
        making += actor->initialisation + actor->creation;
        computing += actor->computed_once;
    }
    return any && making + computing > 0 ? making / (making + computing) : NAN;
}

static void sum_up(struct gathering *gathering, const uint32_t *order, size_t count, struct actor_figures *figures) {
    struct actor_use sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct actor_use *use = &gathering->actors[order[i]];
        add_totals(&sum, use);
        figures->little_used += use->utilisation < UTILISATION_LITTLE;
        figures->much_used += use->utilisation >= UTILISATION_MUCH;
    }
    figures->initialisation_total = sum.initialisation;
    figures->creation_total = sum.creation;
    figures->computation_total = sum.computation;
    figures->initialisation = spread_over(gathering, order, count, FIGURE_INITIALISATION);
    figures->computation = spread_over(gathering, order, count, FIGURE_COMPUTATION);
    figures->utilisation = spread_over(gathering, order, count, FIGURE_UTILISATION);
}

static bool describe(struct gathering *gathering, uint32_t *order, struct actor_figures *figures) {
    const struct actor_log *log = gathering->log;
    size_t count = 0;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        gathering->counted[a] = is_counted(&log->actors[a], gathering->window);
        if (gathering->counted[a]) order[count++] = a;
    }
    for (uint32_t m = 0; m < log->message_count && !gathering->no_memory; m++)
        add_message(gathering, &log->messages[m]);
    sort_uses(&gathering->by_actor);
    sort_uses(&gathering->by_type);
    take_costs(gathering);
    count_actors(gathering, figures);
    figures->initialisation_share = share_of(log);
    sum_up(gathering, order, count, figures);
    return describe_types(gathering, order, count, figures) && describe_each(gathering, order, count, figures);
}

bool actors_find(const struct actor_log *log, const struct window *window, struct arena *arena,
                 struct actor_figures *figures, struct error *error) {
    const size_t actors = (size_t)log->actor_count + 1;
    struct gathering gathering = {.log = log, .window = window, .arena = arena};
    *figures = (struct actor_figures){.unit = log->unit};
    gathering.actors = calloc(actors, sizeof *gathering.actors);
    gathering.counted = calloc(actors, sizeof *gathering.counted);
    gathering.values = malloc(actors * sizeof *gathering.values);
    uint32_t *order = malloc(actors * sizeof *order);
    bool ok = gathering.actors && gathering.counted && gathering.values && order &&
              describe(&gathering, order, figures) && !gathering.no_memory;
    free(gathering.actors);
    free(gathering.counted);
    free(gathering.values);
    free(order);
    free(gathering.by_actor.uses);
    free(gathering.by_type.uses);
    idmap_destroy(&gathering.by_actor.index);
    idmap_destroy(&gathering.by_type.index);
    return ok || error_set(error, STATUS_FAILED, "no memory for the figures of %u actors", log->actor_count);
}
