// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/column_events.h"

#include "tracefile/format.h"

enum {
    COLUMN_NUMBERS,
    COLUMN_KINDS,
    COLUMN_LEFT_OUT,
    COLUMN_EVENTS = COLUMN_LEFT_OUT + FUNCTION_KINDS,
    OF_EVENT = 1 + EVENT_OPERANDS
};

static uint32_t column_of(unsigned kind, unsigned field) {
    return COLUMN_EVENTS + kind * OF_EVENT + field;
}

bool event_coder_init(struct event_coder *coder, bool writes) {
    return column_store_init(&coder->store, column_of(EVENT_KINDS, 0), writes);
}

void event_coder_destroy(struct event_coder *coder) {
    column_store_destroy(&coder->store);
    column_model_destroy(&coder->model);
}

void event_coder_begin_thread(struct event_coder *coder) {
    coder->quanta = coder->next_ns = coder->cost_ps = coder->cpu_lead = coder->cpu = 0;
    column_model_begin_thread(&coder->model);
}

// An event lies in its quantum; of several there each as far behind the one before as recording them took, as far as
// there is room. Else what recording took could not be taken out of the thread's time again: it is no more than what
// passed between two events.
static void code_time(struct event_coder *coder, struct event *event) {
    const uint64_t quanta = event->time / coder->quantum_ns - coder->quanta;
    coder->quanta += column_value(&coder->store, column_of(event->kind, 0), quanta);
    const uint64_t from = coder->quanta * coder->quantum_ns, last = from + coder->quantum_ns - 1;
    if (coder->next_ns > 0) coder->cost_ps += coder->costs[event->kind].before_ps;
    event->time = coder->next_ns + (coder->cost_ps > 1000 ? coder->cost_ps / 1000 - 1 : 0);
    if (event->time > last) event->time = last;
    if (event->time < coder->next_ns) event->time = coder->next_ns;
    if (event->time < from) event->time = from;
    coder->next_ns = event->time + 1;
    coder->cost_ps = coder->costs[event->kind].after_ps;
}

// ---- computing: 0 keeps its distance to the time, 1 is not measured, and 2 and more are another distance

enum { CPU_KEEPS, CPU_UNKNOWN, CPU_MOVES };

static uint64_t cpu_code(const struct event_coder *coder, uint64_t base, uint64_t cpu) {
    const int64_t quantum = (int64_t)coder->quantum_ns, moved = (int64_t)(base - cpu - coder->cpu_lead);
    int64_t quanta = moved / quantum;
    if (cpu == 0) return CPU_UNKNOWN;
    if (quanta == 0) return CPU_KEEPS;
    if (moved % quantum > quantum / 2) quanta++;
    if (moved % quantum < -(quantum / 2)) quanta--;
    const uint64_t code = zigzag((uint64_t)quanta);
    return CPU_MOVES + (code < UINT64_MAX - CPU_MOVES ? code : UINT64_MAX - CPU_MOVES);
}

// Where it seems to fall by less than rounding does to it, it stays.
static uint64_t cpu_of(const struct event_coder *coder, uint64_t cpu) {
    const uint64_t fallen = coder->cpu - cpu;
    return fallen > 0 && coder->quantum_ns > 1 && fallen <= 2 * coder->quantum_ns ? coder->cpu : cpu;
}

static void code_cpu(struct event_coder *coder, struct event *event) {
    const uint64_t base = coder->cpu_is_ns ? event->time : 0;
    uint64_t code = coder->store.writes ? cpu_code(coder, base, event->operand[1]) : 0;
    code = column_value(&coder->store, column_of(event->kind, 2), code);
    event->operand[1] = 0;
    if (code == CPU_UNKNOWN) return;
    if (code >= CPU_MOVES) coder->cpu_lead += unzigzag(code - CPU_MOVES) * coder->quantum_ns;
    event->operand[1] = coder->cpu = cpu_of(coder, base - coder->cpu_lead);
}

// ---- operands: which of the guesses it was; or their number, and the operand as it is; or more: by how much

static uint64_t code_of(const struct event_coder *coder, const struct guesses *guesses, uint64_t value) {
    for (unsigned i = 0; i < guesses->count; i++)
        if (guesses->value[i] == value) return i;
    if (guesses->of_actor) return guesses->count + column_model_number(&coder->model, value);
    const uint64_t difference = zigzag(value - guesses->value[0]);
    return difference <= UINT64_MAX - GUESSES ? guesses->count + difference : guesses->count;
}

static uint64_t value_of(struct event_coder *coder, const struct guesses *guesses, uint64_t code) {
    const uint64_t more = code - guesses->count;
    if (code < guesses->count) return guesses->value[code];
    if (!guesses->of_actor) return guesses->value[0] + unzigzag(more);
    if (more <= coder->model.actor_count) return coder->model.actors[more - 1];
    coder->store.failed = true;
    return 0;
}

static void code_operand(struct event_coder *coder, struct event *event, unsigned operand) {
    const uint32_t column = column_of(event->kind, 1 + operand);
    uint64_t *value = &event->operand[operand];
    struct guesses guesses;
    column_model_guess(&coder->model, event, operand, &guesses);
    const uint64_t code = coder->store.writes ? code_of(coder, &guesses, *value) : 0;
    const uint64_t told = column_value(&coder->store, column, code);
    *value = told == guesses.count ? column_value(&coder->store, column, *value) : value_of(coder, &guesses, told);
}

void event_code(struct event_coder *coder, struct event *event) {
    const uint64_t kind = column_value(&coder->store, COLUMN_KINDS, event->kind);
    event->kind = kind < EVENT_KINDS ? (uint8_t)kind : EVENT_NONE;
    if (event->kind == EVENT_NONE) coder->store.failed = true;
    code_time(coder, event);
    for (unsigned at = 0; at < event_kinds[event->kind].operands; at++) {
        const unsigned operand = column_model_operand(event->kind, at);
        if (operand == 1 && event_has_cpu(event->kind))
            code_cpu(coder, event);
        else
            code_operand(coder, event, operand);
    }
    column_model_note(&coder->model, event);
    coder->store.failed |= coder->model.no_memory;
}

void event_code_left_out(struct event_coder *coder, uint64_t left_out[FUNCTION_KINDS]) {
    for (unsigned kind = 0; kind < FUNCTION_KINDS; kind++) {
        const struct event_cost *cost = &coder->costs[EVENT_ENTER + kind];
        left_out[kind] = column_value(&coder->store, COLUMN_LEFT_OUT + kind, left_out[kind]);
        coder->next_ns += left_out[kind];
        coder->cost_ps += left_out[kind] * (cost->before_ps + cost->after_ps);
    }
}

uint64_t event_code_number(struct event_coder *coder, uint64_t number) {
    return column_value(&coder->store, COLUMN_NUMBERS, number);
}
