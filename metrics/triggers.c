// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/triggers.h"

#include "dag/idmap.h"

#include <stdlib.h>

struct group {
    uint32_t receiver;
    uint32_t first, last; // messages, by when they were sent
    bool unfinished;
};

struct work {
    const struct actor_log *log;
    const struct message_pattern *trigger, *update;
    struct slices slices;
    struct arena *arena;
    struct trigger_figures *figures;
    struct triggered *actors; // all of the log
    uint32_t *order;          // messages, or actors
    double *spare;
    struct group *groups;
    uint32_t group_count, group_capacity;
    struct idmap group_of;
};

struct series {
    struct slice_series triggers, trigger_ns, all_ns;
};

static int64_t end_of(const struct work *work, const struct logged_message *message) {
    return message->end_ns == LOG_NEVER ? work->slices.to_ns : message->end_ns;
}

static bool counts(const struct work *work, const struct logged_message *message) {
    return message_is_received(message) && message->begin_ns >= work->slices.from_ns &&
           message->begin_ns <= work->slices.to_ns;
}

// ---- how often, and overhead

static void add_message(const struct work *work, struct triggered *of, struct series *series,
                        const struct logged_message *message) {
    const bool triggers = message_pattern_means(work->trigger, message);
    const int64_t end_ns = end_of(work, message);
    const double ns = (double)slices_within_ns(&work->slices, message->begin_ns, end_ns);
    of->all_ns += ns;
    if (triggers) of->trigger_ns += ns;
    if (counts(work, message)) {
        of->messages++;
        of->triggers += triggers;
    }
    if (!series) return;
    slice_last(&series->all_ns, &work->slices, message->begin_ns, end_ns);
    if (triggers) slice_last(&series->trigger_ns, &work->slices, message->begin_ns, end_ns);
    if (triggers && counts(work, message)) slice_count(&series->triggers, &work->slices, message->begin_ns);
}

static bool series_init(const struct work *work, struct series *series) {
    return slice_series_init(&series->triggers, &work->slices, work->arena) &&
           slice_series_init(&series->trigger_ns, &work->slices, work->arena) &&
           slice_series_init(&series->all_ns, &work->slices, work->arena);
}

static void settle(const struct work *work, struct triggered *of, struct series *series) {
    const struct slices *slices = &work->slices;
    slice_series_settle(&series->trigger_ns, slices);
    slice_series_settle(&series->all_ns, slices);
    for (size_t i = 0; i < slices->count; i++) {
        const double length_ns = (double)slice_length_ns(slices, i), all_ns = series->all_ns.values[i];
        series->triggers.values[i] = length_ns > 0 ? series->triggers.values[i] / length_ns * 1e9 : NAN;
        series->all_ns.values[i] = all_ns > 0 ? 1 - series->trigger_ns.values[i] / all_ns : NAN;
    }
    of->by_rate = sliced_of(&series->triggers, slices, work->spare);
    of->by_overhead = sliced_of(&series->all_ns, slices, work->spare);
}

static void conclude(const struct work *work, struct triggered *of) {
    const double length_ns = (double)(work->slices.to_ns - work->slices.from_ns);
    of->per_s = length_ns > 0 ? (double)of->triggers / length_ns * 1e9 : NAN;
    of->overhead_share = of->all_ns > 0 ? 1 - of->trigger_ns / of->all_ns : NAN;
}

static void count_all(struct work *work) {
    const struct actor_log *log = work->log;
    for (uint32_t a = 0; a < log->actor_count; a++) work->actors[a].actor = a;
    for (uint32_t m = 0; m < log->message_count; m++) {
        const struct logged_message *message = &log->messages[m];
        if (message->begin_ns == LOG_NEVER || message->receiver == LOG_NONE) continue;
        add_message(work, &work->actors[message->receiver], NULL, message);
    }
}

static int by_triggers(const void *a, const void *b, void *actors_) {
    const struct triggered *actors = actors_, *x = &actors[*(const uint32_t *)a], *y = &actors[*(const uint32_t *)b];
    if (x->triggers != y->triggers) return x->triggers < y->triggers ? 1 : -1;
    return (x->actor > y->actor) - (x->actor < y->actor);
}

// Of one actor, or of all that were triggered. Those told with slices are few, so that each looks at all messages.
static bool slice_actor(struct work *work, struct triggered *of) {
    struct series series;
    if (work->slices.count == 0) return true;
    if (!series_init(work, &series)) return false;
    struct triggered again = {0};
    for (uint32_t m = 0; m < work->log->message_count; m++) {
        const struct logged_message *message = &work->log->messages[m];
        const uint32_t receiver = message->begin_ns == LOG_NEVER ? LOG_NONE : message->receiver;
        if (receiver == LOG_NONE || (of->actor != LOG_NONE && receiver != of->actor)) continue;
        if (work->actors[receiver].triggers) add_message(work, &again, &series, message);
    }
    settle(work, of, &series);
    return true;
}

static bool describe_each(struct work *work) {
    enum { SLICED_MOST = 20 };
    struct trigger_figures *figures = work->figures;
    size_t count = 0;
    for (uint32_t a = 0; a < work->log->actor_count; a++) {
        if (work->actors[a].triggers) work->order[count++] = a;
    }
    qsort_r(work->order, count, sizeof *work->order, by_triggers, work->actors);
    figures->each_count = count < TRIGGERED_TOLD_MOST ? count : TRIGGERED_TOLD_MOST;
    figures->each = ARENA_NEW(work->arena, struct triggered, figures->each_count + 1);
    bool ok = figures->each != NULL;
    figures->all.actor = LOG_NONE;
    for (size_t i = 0; ok && i < count; i++) {
        struct triggered *of = &work->actors[work->order[i]];
        figures->all.triggers += of->triggers;
        figures->all.messages += of->messages;
        figures->all.trigger_ns += of->trigger_ns;
        figures->all.all_ns += of->all_ns;
        conclude(work, of);
        if (i < SLICED_MOST) ok = slice_actor(work, of);
        if (i < figures->each_count) figures->each[i] = *of;
    }
    conclude(work, &figures->all);
    return ok && slice_actor(work, &figures->all);
}

// ---- consistency

static struct group *group_of(struct work *work, const struct logged_message *message, uint32_t index) {
    const uint64_t key = (uint64_t)message->cause << 32 | message->receiver;
    const uint32_t known = idmap_get(&work->group_of, key);
    if (known != IDMAP_NONE) return &work->groups[known];
    if (work->group_count == work->group_capacity) {
        const uint32_t larger = work->group_capacity ? 2 * work->group_capacity : 64;
        struct group *moved = realloc(work->groups, larger * sizeof *moved);
        if (!moved) return NULL;
        work->groups = moved;
        work->group_capacity = larger;
    }
    if (!idmap_add(&work->group_of, key, work->group_count)) return NULL;
    work->groups[work->group_count] = (struct group){message->receiver, index, index, false};
    return &work->groups[work->group_count++];
}

static bool gather_groups(struct work *work) {
    const struct actor_log *log = work->log;
    for (uint32_t m = 0; m < log->message_count; m++) {
        const struct logged_message *message = &log->messages[m];
        if (message->cause == LOG_NONE || message->next != LOG_NONE || message->way != MESSAGE_TO_ACTOR) continue;
        if (message->receiver == LOG_NONE || !message_pattern_means(work->update, message)) continue;
        struct group *group = group_of(work, message, m);
        if (!group) return false;
        if (message->sent_ns < log->messages[group->first].sent_ns) group->first = m;
        if (message->sent_ns > log->messages[group->last].sent_ns) group->last = m;
        group->unfinished |= !message_is_received(message);
    }
    return true;
}

static int by_receiver(const void *a, const void *b, void *log_) {
    const struct actor_log *log = log_;
    const struct logged_message *x = &log->messages[*(const uint32_t *)a], *y = &log->messages[*(const uint32_t *)b];
    if (x->receiver != y->receiver) return x->receiver < y->receiver ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

// Triggers that were handled, by receiver and time. Returns how many.
static size_t sort_triggers(struct work *work, uint32_t *order) {
    size_t count = 0;
    for (uint32_t m = 0; m < work->log->message_count; m++) {
        const struct logged_message *message = &work->log->messages[m];
        if (message_is_received(message) && message_pattern_means(work->trigger, message)) order[count++] = m;
    }
    qsort_r(order, count, sizeof *order, by_receiver, (void *)work->log);
    return count;
}

// Whether a trigger of the receiver began in between.
static bool is_cut(const struct work *work, const struct group *group, const uint32_t *triggers, size_t count) {
    const struct logged_message *messages = work->log->messages;
    const int64_t from_ns = messages[group->first].begin_ns, to_ns = messages[group->last].begin_ns;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct logged_message *at = &messages[triggers[middle]];
        const bool before = at->receiver != group->receiver ? at->receiver < group->receiver : at->begin_ns <= from_ns;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && messages[triggers[low]].receiver == group->receiver &&
           messages[triggers[low]].begin_ns < to_ns;
}

static bool judge_groups(struct work *work, const uint32_t *triggers, size_t count) {
    struct trigger_figures *figures = work->figures;
    const struct slices *slices = &work->slices;
    struct slice_series groups, consistent;
    if (!slice_series_init(&groups, slices, work->arena) || !slice_series_init(&consistent, slices, work->arena))
        return false;
    for (uint32_t g = 0; g < work->group_count; g++) {
        const struct group *group = &work->groups[g];
        const int64_t begin_ns = work->log->messages[group->first].begin_ns;
        if (!group->unfinished && (begin_ns < slices->from_ns || begin_ns > slices->to_ns)) continue;
        figures->unfinished += group->unfinished;
        if (group->unfinished) continue;
        const bool whole = !is_cut(work, group, triggers, count);
        figures->groups++;
        figures->consistent += whole;
        slice_count(&groups, slices, begin_ns);
        if (whole) slice_count(&consistent, slices, begin_ns);
    }
    figures->consistency = figures->groups ? (double)figures->consistent / (double)figures->groups : NAN;
    for (size_t i = 0; i < slices->count; i++)
        consistent.values[i] = groups.values[i] > 0 ? consistent.values[i] / groups.values[i] : NAN;
    figures->by_consistency = sliced_of(&consistent, slices, work->spare);
    return true;
}

static bool find_consistency(struct work *work) {
    work->figures->consistency = NAN;
    if (!work->update) return true;
    if (!gather_groups(work)) return false;
    const size_t count = sort_triggers(work, work->order);
    return judge_groups(work, work->order, count);
}

bool triggers_find(const struct actor_log *log, const struct message_pattern *trigger,
                   const struct message_pattern *update, const struct window *window, double slice_ms,
                   struct arena *arena, struct trigger_figures *figures, struct error *error) {
    const struct window within = messages_window(log, window);
    struct work work = {.log = log, .trigger = trigger, .update = update, .arena = arena, .figures = figures};
    *figures = (struct trigger_figures){0};
    if (!slices_of(within.from_ns, within.to_ns, slice_ms, &work.slices, error)) return false;
    const size_t most = log->actor_count > log->message_count ? log->actor_count : log->message_count;
    work.actors = calloc((size_t)log->actor_count + 1, sizeof *work.actors);
    work.order = malloc((most + 1) * sizeof *work.order);
    work.spare = malloc((2 * work.slices.count + 1) * sizeof *work.spare);
    bool ok = work.actors && work.order && work.spare;
    if (ok) {
        count_all(&work);
        ok = describe_each(&work) && find_consistency(&work);
    }
    free(work.actors);
    free(work.order);
    free(work.spare);
    free(work.groups);
    idmap_destroy(&work.group_of);
    return ok || error_set(error, STATUS_FAILED, "no memory for what is triggered");
}
