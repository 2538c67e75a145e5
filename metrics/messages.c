// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/messages.h"

#include "dag/ns.h"

#include <stdlib.h>

// Sums and samples of all messages, or those of one type.
struct flow {
    struct message_flow *figures;
    struct slice_series counts, processing, waiting;
};

struct measuring {
    const struct actor_log *log;
    const struct window *window;
    struct arena *arena;
    struct slices slices;
    struct message_figures *figures;
    double *values, *spare; // room for a value a message, and a slice
};

// ---- balances

static void count_origin(struct balances *of, const struct logged_message *message) {
    if (message->sent_ns == LOG_NEVER) {
        of->unseen++;
        return;
    }
    uint64_t *const by_origin[MESSAGE_ORIGINS] = {&of->sent, &of->scheduled, &of->copies, &of->library_made};
    ++*by_origin[message->origin];
    of->asks += message->asks;
}

static bool is_dead(const struct logged_message *message) {
    const bool handled = message->begin_ns != LOG_NEVER && message->outcome != MESSAGE_PUT_ASIDE;
    return !handled && (message->dead || message->way == MESSAGE_TO_NOBODY);
}

static void count_fate(struct balances *of, const struct logged_message *message) {
    if (message_is_received(message)) {
        of->received++;
        of->unhandled += message->outcome == MESSAGE_UNHANDLED;
    } else if (message->way == MESSAGE_TO_FUTURE) {
        of->to_futures++;
    } else if (is_dead(message)) {
        of->dead_letters++;
    } else {
        of->queued++;
    }
}

static void count_life(struct balances *of, const struct logged_actor *actor) {
    if (!actor->of_program || actor->router) return;
    of->restarts += actor->restarts;
    of->failed_starts += actor_failed_to_start(actor);
    if (actor->created_ns == LOG_NEVER || actor_failed_to_start(actor)) return;
    of->created++;
    of->stopped += actor->stopped_ns != LOG_NEVER;
}

// What came back from a stash is the message that it was.
struct balances messages_balances(const struct actor_log *log) {
    struct balances of = {0};
    for (uint32_t m = 0; m < log->message_count; m++) {
        const struct logged_message *message = &log->messages[m];
        if (!message->of_program || message->next != LOG_NONE) continue;
        count_origin(&of, message);
        count_fate(&of, message);
    }
    for (uint32_t a = 0; a < log->actor_count; a++) count_life(&of, &log->actors[a]);
    of.living = of.created - of.stopped;
    return of;
}

// ---- flows

static bool flow_init(struct flow *flow, struct message_flow *figures, struct measuring *measuring) {
    *flow = (struct flow){.figures = figures};
    return slice_series_init(&flow->counts, &measuring->slices, measuring->arena) &&
           slice_series_init(&flow->processing, &measuring->slices, measuring->arena) &&
           slice_series_init(&flow->waiting, &measuring->slices, measuring->arena);
}

static int64_t end_of(const struct measuring *measuring, const struct logged_message *message) {
    return message->end_ns == LOG_NEVER ? measuring->slices.to_ns : message->end_ns;
}

static bool is_begun(const struct measuring *measuring, const struct logged_message *message) {
    return message->begin_ns != LOG_NEVER && message->begin_ns >= measuring->slices.from_ns &&
           message->begin_ns <= measuring->slices.to_ns;
}

static bool knows_wait(const struct logged_message *message) {
    return message_is_received(message) && message->sent_ns != LOG_NEVER;
}

static void flow_add(struct flow *flow, const struct measuring *measuring, const struct logged_message *message) {
    const struct slices *slices = &measuring->slices;
    struct message_flow *figures = flow->figures;
    if (message->begin_ns == LOG_NEVER) return;
    const int64_t end_ns = end_of(measuring, message);
    figures->processing_total += (double)slices_within_ns(slices, message->begin_ns, end_ns);
    slice_last(&flow->processing, slices, message->begin_ns, end_ns);
    if (knows_wait(message)) {
        figures->waiting_total += (double)slices_within_ns(slices, message->sent_ns, message->begin_ns);
        slice_last(&flow->waiting, slices, message->sent_ns, message->begin_ns);
    }
    if (!is_begun(measuring, message) || !message_is_received(message)) return;
    figures->received++;
    slice_count(&flow->counts, slices, message->begin_ns);
}

// Processing and waiting of the messages begun in the window.
static void flow_spread(struct message_flow *figures, const struct measuring *measuring, const uint32_t *messages,
                        size_t count) {
    const struct actor_log *log = measuring->log;
    size_t handled = 0, waited = 0;
    for (size_t i = 0; i < count; i++) {
        const struct logged_message *message = &log->messages[messages[i]];
        if (is_begun(measuring, message) && message_is_handled(message))
            measuring->values[handled++] = (double)(message->end_ns - message->begin_ns);
    }
    figures->processing_ns = spread_of(measuring->values, handled);
    for (size_t i = 0; i < count; i++) {
        const struct logged_message *message = &log->messages[messages[i]];
        if (is_begun(measuring, message) && knows_wait(message))
            measuring->values[waited++] = (double)(message->begin_ns - message->sent_ns);
    }
    figures->queue_wait_ns = spread_of(measuring->values, waited);
}

struct sliced sliced_of(const struct slice_series *series, const struct slices *slices, double *spare) {
    size_t known = 0;
    for (size_t i = 0; i < slices->count; i++) {
        if (!isnan(series->values[i])) spare[known++] = series->values[i];
    }
    const struct sliced sliced = {.values = series->values, .of = summary_of(spare, known, spare + slices->count)};
    return sliced;
}

// A figure of each slice by two others.
static struct sliced quotient(const struct measuring *measuring, const double *of, const double *by, double factor) {
    const struct slices *slices = &measuring->slices;
    struct slice_series series;
    if (slices->count == 0 || !slice_series_init(&series, slices, measuring->arena))
        return (struct sliced){NULL, summary_of(NULL, 0, NULL)};
    for (size_t i = 0; i < slices->count; i++) {
        const double divisor = by ? by[i] : (double)slice_length_ns(slices, i);
        series.values[i] = divisor > 0 ? of[i] / divisor * factor : NAN;
    }
    return sliced_of(&series, slices, measuring->spare);
}

static void flow_end(struct flow *flow, const struct measuring *measuring, const uint32_t *messages, size_t count) {
    struct message_flow *figures = flow->figures;
    const struct slices *slices = &measuring->slices;
    const double length_ns = (double)(slices->to_ns - slices->from_ns);
    figures->per_s = length_ns > 0 ? (double)figures->received / length_ns * 1e9 : NAN;
    flow_spread(figures, measuring, messages, count);
    slice_series_settle(&flow->processing, slices);
    slice_series_settle(&flow->waiting, slices);
    figures->by_count = sliced_of(&flow->counts, slices, measuring->spare);
    figures->by_processing = sliced_of(&flow->processing, slices, measuring->spare);
    figures->by_waiting = sliced_of(&flow->waiting, slices, measuring->spare);
    figures->by_rate = quotient(measuring, flow->counts.values, NULL, 1e9);
    figures->by_mean_processing = quotient(measuring, flow->processing.values, flow->counts.values, 1);
}

// ---- parallelism

static int compare_times(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The most that are handled at one time. What ends at an instant makes room for what begins then.
static double most_at_once(const int64_t *begins, const int64_t *ends, size_t count) {
    size_t ended = 0, most = 0;
    for (size_t begun = 0; begun < count; begun++) {
        while (ended < count && ends[ended] <= begins[begun]) ended++;
        if (begun + 1 - ended > most) most = begun + 1 - ended;
    }
    return (double)most;
}

static bool find_parallelism(struct measuring *measuring, const uint32_t *messages, size_t count) {
    const struct slices *slices = &measuring->slices;
    struct message_figures *figures = measuring->figures;
    int64_t *begins = malloc((count + 1) * sizeof *begins), *ends = malloc((count + 1) * sizeof *ends);
    size_t known = 0;
    for (size_t i = 0; begins && ends && i < count; i++) {
        const struct logged_message *message = &measuring->log->messages[messages[i]];
        if (message->begin_ns == LOG_NEVER) continue;
        const int64_t end_ns = end_of(measuring, message);
        if (slices_within_ns(slices, message->begin_ns, end_ns) == 0) continue;
        begins[known] = message->begin_ns > slices->from_ns ? message->begin_ns : slices->from_ns;
        ends[known++] = end_ns < slices->to_ns ? end_ns : slices->to_ns;
    }
    if (known) {
        qsort(begins, known, sizeof *begins, compare_times);
        qsort(ends, known, sizeof *ends, compare_times);
    }
    const bool ok = begins && ends;
    if (ok) figures->parallelism_max = most_at_once(begins, ends, known);
    free(begins);
    free(ends);
    const double length_ns = (double)(slices->to_ns - slices->from_ns);
    figures->parallelism_mean = length_ns > 0 ? figures->flow.processing_total / length_ns : NAN;
    figures->by_parallelism = quotient(measuring, figures->flow.by_processing.values, NULL, 1);
    return ok;
}

// ---- all of it

static void count_in_window(struct measuring *measuring, const struct logged_message *message) {
    struct message_figures *figures = measuring->figures;
    const int64_t to_ns = measuring->slices.to_ns;
    if (message->next != LOG_NONE) return;
    const bool there = message->sent_ns == LOG_NEVER || message->sent_ns <= to_ns;
    const bool begun = message_is_received(message) && message->begin_ns <= to_ns;
    figures->queued += there && !begun && !is_dead(message) && message->way != MESSAGE_TO_FUTURE;
    if (is_begun(measuring, message) && message_is_received(message))
        figures->unhandled += message->outcome == MESSAGE_UNHANDLED;
    if (!is_in_window(measuring->window, message->sent_ns)) return;
    figures->sent += message->origin == MESSAGE_OF_PROGRAM;
    figures->asks += message->asks;
    figures->dead_letters += is_dead(message);
}

static void count_of_type(struct message_type_figures *type, const struct measuring *measuring,
                          const struct logged_message *message) {
    if (!isnan(message->cost) && is_begun(measuring, message)) type->computation += message->cost;
    if (message->next != LOG_NONE) return;
    if (is_begun(measuring, message) && message_is_received(message))
        type->unhandled += message->outcome == MESSAGE_UNHANDLED;
    if (!is_in_window(measuring->window, message->sent_ns)) return;
    type->sent++;
    type->asks += message->asks;
    type->dead_letters += is_dead(message);
}

static bool describe_type(struct measuring *measuring, const uint32_t *messages, size_t count,
                          struct message_type_figures *type) {
    const struct actor_log *log = measuring->log;
    struct flow flow;
    *type = (struct message_type_figures){.class = log->messages[messages[0]].class};
    if (!flow_init(&flow, &type->flow, measuring)) return false;
    for (size_t i = 0; i < count; i++) {
        count_of_type(type, measuring, &log->messages[messages[i]]);
        flow_add(&flow, measuring, &log->messages[messages[i]]);
    }
    flow_end(&flow, measuring, messages, count);
    return true;
}

static int by_class(const void *a, const void *b, void *log_) {
    const struct actor_log *log = log_;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (log->messages[x].class != log->messages[y].class)
        return log->messages[x].class < log->messages[y].class ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_processing(const void *a, const void *b) {
    const struct message_type_figures *x = a, *y = b;
    const double x_ns = x->flow.processing_total, y_ns = y->flow.processing_total;
    if (x_ns != y_ns) return x_ns < y_ns ? 1 : -1;
    if (x->sent != y->sent) return x->sent < y->sent ? 1 : -1;
    return (x->class > y->class) - (x->class < y->class);
}

static uint32_t class_at(const struct actor_log *log, const uint32_t *messages, size_t i) {
    return log->messages[messages[i]].class;
}

static bool describe_types(struct measuring *measuring, uint32_t *messages, size_t count) {
    const struct actor_log *log = measuring->log;
    struct message_figures *figures = measuring->figures;
    qsort_r(messages, count, sizeof *messages, by_class, (void *)log);
    size_t types = 0;
    for (size_t i = 0; i < count; i++) types += i == 0 || class_at(log, messages, i) != class_at(log, messages, i - 1);
    figures->types = ARENA_NEW(measuring->arena, struct message_type_figures, types + 1);
    bool ok = figures->types != NULL;
    for (size_t first = 0, end; ok && first < count; first = end) {
        for (end = first; end < count && class_at(log, messages, end) == class_at(log, messages, first); end++) {
        }
        ok = describe_type(measuring, messages + first, end - first, &figures->types[figures->type_count++]);
    }
    if (ok && types) qsort(figures->types, types, sizeof *figures->types, by_processing);
    return ok;
}

static bool describe(struct measuring *measuring, uint32_t *messages) {
    const struct actor_log *log = measuring->log;
    struct message_figures *figures = measuring->figures;
    struct flow all;
    size_t count = 0;
    if (!flow_init(&all, &figures->flow, measuring)) return false;
    for (uint32_t m = 0; m < log->message_count; m++) {
        if (!log->messages[m].of_program) continue;
        messages[count++] = m;
        count_in_window(measuring, &log->messages[m]);
        flow_add(&all, measuring, &log->messages[m]);
    }
    flow_end(&all, measuring, messages, count);
    figures->balances = messages_balances(log);
    return find_parallelism(measuring, messages, count) && describe_types(measuring, messages, count);
}

struct window messages_window(const struct actor_log *log, const struct window *window) {
    const struct dag *dag = log->dag;
    const struct window all = {dag->first_ns, dag->last_ns + dag->still_ns};
    if (!window) return all;
    return (struct window){max_ns(window->from_ns, all.from_ns), min_ns(window->to_ns, all.to_ns)};
}

bool messages_find(const struct actor_log *log, const struct window *window, double slice_ms, struct arena *arena,
                   struct message_figures *figures, struct error *error) {
    const struct window within = messages_window(log, window);
    struct measuring measuring = {.log = log, .window = window, .arena = arena, .figures = figures};
    *figures = (struct message_figures){0};
    if (!slices_of(within.from_ns, within.to_ns, slice_ms, &measuring.slices, error)) return false;
    figures->slices = measuring.slices;
    uint32_t *messages = malloc(((size_t)log->message_count + 1) * sizeof *messages);
    measuring.values = malloc(((size_t)log->message_count + 1) * sizeof *measuring.values);
    measuring.spare = malloc((2 * measuring.slices.count + 1) * sizeof *measuring.spare);
    const bool ok = messages && measuring.values && measuring.spare && describe(&measuring, messages);
    free(messages);
    free(measuring.values);
    free(measuring.spare);
    return ok || error_set(error, STATUS_FAILED, "no memory for the figures of %u messages", log->message_count);
}
