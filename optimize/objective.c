// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions over metrics: recursive descent into postfix, evaluated on a small stack.
#include "optimize/objective.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, MOST_STEPS = 256 };

// What can be named. Ratios against base are computed, all else is read from struct metrics.

enum quantity_type { TYPE_DOUBLE, TYPE_INT64, TYPE_UINT64, TYPE_COMPOSITE, TYPE_BALANCED };

struct quantity {
    const char *name;
    size_t offset;
    enum quantity_type type;
    bool needs_all; // metrics_usage doesn't give it
};

#define USAGE_OF(name, state)                                                                                          \
    {name ".peak", offsetof(struct metrics, threads[state].peak), TYPE_DOUBLE, false},                                 \
        {name ".max", offsetof(struct metrics, threads[state].max), TYPE_DOUBLE, false}, {                             \
        name ".mean", offsetof(struct metrics, threads[state].mean), TYPE_DOUBLE, false                                \
    }
#define QUANTILES_OF(name, member)                                                                                     \
    {name ".mean", offsetof(struct metrics, member.mean), TYPE_DOUBLE, true},                                          \
        {name ".p20", offsetof(struct metrics, member.p20), TYPE_DOUBLE, true},                                        \
        {name ".p50", offsetof(struct metrics, member.p50), TYPE_DOUBLE, true},                                        \
        {name ".p80", offsetof(struct metrics, member.p80), TYPE_DOUBLE, true},                                        \
        {name ".p95", offsetof(struct metrics, member.p95), TYPE_DOUBLE, true},                                        \
        {name ".p99", offsetof(struct metrics, member.p99), TYPE_DOUBLE, true}, {                                      \
        name ".max", offsetof(struct metrics, member.max), TYPE_DOUBLE, true                                           \
    }

static const struct quantity quantities[] = {
    {"wall", offsetof(struct metrics, wall_ns), TYPE_INT64, false},
    {"thread_time", offsetof(struct metrics, thread_time_ns), TYPE_DOUBLE, false},
    USAGE_OF("occupied", STATE_OCCUPIED),
    USAGE_OF("active", STATE_ACTIVE),
    USAGE_OF("waiting", STATE_WAITING),
    USAGE_OF("blocked", STATE_BLOCKED),
    USAGE_OF("unoccupied", STATE_UNOCCUPIED),
    {"composite", 0, TYPE_COMPOSITE, false},
    {"balanced", 0, TYPE_BALANCED, false},
    {"tasks.count", offsetof(struct metrics, tasks.count), TYPE_UINT64, true},
    {"tasks.overhead_share", offsetof(struct metrics, tasks.overhead_share), TYPE_DOUBLE, false},
    {"tasks.idle_share", offsetof(struct metrics, tasks.idle_share), TYPE_DOUBLE, false},
    {"tasks.work", offsetof(struct metrics, tasks.work_ns), TYPE_DOUBLE, true},
    {"tasks.span", offsetof(struct metrics, tasks.span_ns), TYPE_DOUBLE, true},
    QUANTILES_OF("tasks.granularity", tasks.granularity),
    QUANTILES_OF("tasks.queue_wait", tasks.queue_wait_ns),
    {"requests.count", offsetof(struct metrics, requests.count), TYPE_DOUBLE, true},
    QUANTILES_OF("requests.latency", requests.latency_ns),
    {"requests.peak_threads", offsetof(struct metrics, requests.peak_threads), TYPE_DOUBLE, true},
    {"requests.concurrent", offsetof(struct metrics, requests.concurrent), TYPE_DOUBLE, true},
    {"requests.throughput", offsetof(struct metrics, requests.throughput_per_s), TYPE_DOUBLE, true},
    {"requests.sustainable", offsetof(struct metrics, requests.sustainable_per_s), TYPE_DOUBLE, true},
    {"actors.initialisation_share", offsetof(struct metrics, initialisation_share), TYPE_DOUBLE, false},
    {"cpu.utilisation", offsetof(struct metrics, cpu.utilisation), TYPE_DOUBLE, true},
};

enum { QUANTITY_COUNT = sizeof quantities / sizeof quantities[0] };

static double quantity_value(const struct quantity *quantity, const struct metrics *m, const struct metrics *base) {
    const char *field = (const char *)m + quantity->offset;
    switch (quantity->type) {
    case TYPE_DOUBLE:
        return *(const double *)(const void *)field;
    case TYPE_INT64:
        return (double)*(const int64_t *)(const void *)field;
    case TYPE_UINT64:
        return (double)*(const uint64_t *)(const void *)field;
    case TYPE_COMPOSITE:
        return metrics_composite(m, base);
    case TYPE_BALANCED:
        return metrics_balanced(m, base);
    }
    return NAN;
}

size_t quantity_count(void) {
    return QUANTITY_COUNT;
}

const char *quantity_name(size_t quantity) {
    return quantities[quantity].name;
}

double quantity_of(size_t quantity, const struct metrics *m, const struct metrics *base) {
    return quantity_value(&quantities[quantity], m, base);
}

// The named objectives: ratios against base.

static double ratio(double now, double then) {
    return then > 0 ? now / then : NAN;
}

static double peak_ratio(const struct metrics *m, const struct metrics *base) {
    return ratio(m->threads[STATE_OCCUPIED].peak, base->threads[STATE_OCCUPIED].peak);
}

static double threads_ratio(const struct metrics *m, const struct metrics *base) {
    return sqrt(peak_ratio(m, base) * ratio(m->threads[STATE_OCCUPIED].mean, base->threads[STATE_OCCUPIED].mean));
}

static const struct named {
    const char *name;
    double (*value)(const struct metrics *m, const struct metrics *base); // NULL: edits
} named_objectives[] = {
    {"balanced", metrics_balanced},       {"composite", metrics_composite},
    {"wall", metrics_wall_ratio},         {"threads", threads_ratio},
    {"granularity", metrics_granularity}, {"utilisation", metrics_utilisation},
    {"throughput", peak_ratio},           {"edits", NULL},
};

enum { NAMED_COUNT = sizeof named_objectives / sizeof named_objectives[0] };

// Expressions

enum operation {
    OP_NUMBER,
    OP_QUANTITY,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_SQRT,
    OP_LOG,
    OP_MIN,
    OP_MAX
};

struct expression_step {
    enum operation operation;
    double number;
    const struct quantity *quantity;
};

struct objective {
    const struct named *named; // or an expression
    const struct expression_step *steps;
    size_t step_count;
};

struct parser {
    const char *text, *at;
    struct expression_step *steps; // room for MOST_STEPS, or for one a character
    size_t step_count;
    int depth;
    struct error *error;
};

static bool fail(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parser *parser, const char *format, ...) {
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(parser->error, STATUS_USAGE, "%.100s: at character %zu: %s", parser->text,
                     (size_t)(parser->at - parser->text) + 1, what);
}

static void skip_spaces(struct parser *parser) {
    while (isspace((unsigned char)*parser->at)) parser->at++;
}

static bool take(struct parser *parser, char wanted) {
    skip_spaces(parser);
    if (*parser->at != wanted) return false;
    parser->at++;
    return true;
}

static bool emit(struct parser *parser, struct expression_step step) {
    if (parser->step_count == MOST_STEPS) return fail(parser, "the expression is too long");
    parser->steps[parser->step_count++] = step;
    return true;
}

static bool emit_operation(struct parser *parser, enum operation operation) {
    return emit(parser, (struct expression_step){.operation = operation});
}

static bool parse_sum(struct parser *parser);

static size_t name_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.') length++;
    return length;
}

static bool is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

static const struct quantity *find_quantity(const char *text, size_t length) {
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        if (is_name(text, length, quantities[i].name)) return &quantities[i];
    }
    return NULL;
}

// Names share stems; "tasks.granularity.{mean,p20,...}" says seven of them.
static bool fail_names(struct parser *parser, size_t length) {
    error_set(parser->error, STATUS_USAGE,
              "metrics: wall, thread_time, {occupied,active,waiting,blocked,unoccupied}.{peak,max,mean}, composite, "
              "balanced, "
              "tasks.{count,overhead_share,idle_share,work,span}, "
              "{tasks.granularity,tasks.queue_wait,requests.latency}.{mean,p20,p50,p80,p95,p99,max}, "
              "requests.{count,peak_threads,concurrent,throughput,sustainable}, actors.initialisation_share, "
              "cpu.utilisation");
    return error_wrap(parser->error, "%.100s: at character %zu: unknown name \"%.*s\"", parser->text,
                      (size_t)(parser->at - parser->text) + 1, (int)length, parser->at);
}

static const struct function {
    const char *name;
    enum operation operation;
    int arguments;
} functions[] = {{"sqrt", OP_SQRT, 1}, {"log", OP_LOG, 1}, {"min", OP_MIN, 2}, {"max", OP_MAX, 2}};

static const struct function *find_function(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (is_name(text, length, functions[i].name)) return &functions[i];
    }
    return NULL;
}

static bool parse_call(struct parser *parser, const struct function *function) {
    parser->at += strlen(function->name);
    if (!take(parser, '(')) return fail(parser, "( is missing");
    for (int i = 0; i < function->arguments; i++) {
        if (i > 0 && !take(parser, ',')) return fail(parser, ", is missing");
        if (!parse_sum(parser)) return false;
    }
    return take(parser, ')') ? emit_operation(parser, function->operation) : fail(parser, ") is missing");
}

static bool parse_number(struct parser *parser, double *number) {
    skip_spaces(parser);
    const char *digits = parser->at + (*parser->at == '-' || *parser->at == '+');
    char *end = NULL;
    if (isdigit((unsigned char)*digits) || (*digits == '.' && isdigit((unsigned char)digits[1]))) {
        *number = strtod(parser->at, &end);
        parser->at = end;
    }
    return end || fail(parser, "a number is missing");
}

static bool parse_name(struct parser *parser) {
    size_t length = name_length(parser->at);
    const struct function *function = find_function(parser->at, length);
    if (function) return parse_call(parser, function);
    const struct quantity *quantity = find_quantity(parser->at, length);
    if (!quantity) return fail_names(parser, length);
    parser->at += length;
    return emit(parser, (struct expression_step){.operation = OP_QUANTITY, .quantity = quantity});
}

static bool parse_atom(struct parser *parser) {
    if (take(parser, '(')) return parse_sum(parser) && (take(parser, ')') || fail(parser, ") is missing"));
    if (isalpha((unsigned char)*parser->at)) return parse_name(parser);
    struct expression_step number = {.operation = OP_NUMBER};
    if (!isdigit((unsigned char)*parser->at) && *parser->at != '.')
        return fail(parser, "a metric or number is missing");
    return parse_number(parser, &number.number) && emit(parser, number);
}

// -a^b is -(a^b), and a^b^c is a^(b^c).
static bool parse_power(struct parser *parser) {
    if (++parser->depth > DEEPEST) return fail(parser, "the expression is nested too deeply");
    bool negated = take(parser, '-');
    bool parsed = negated ? parse_power(parser) && emit_operation(parser, OP_NEGATE) : parse_atom(parser);
    if (parsed && !negated && take(parser, '^')) parsed = parse_power(parser) && emit_operation(parser, OP_POWER);
    parser->depth--;
    return parsed;
}

// Operands with either of two signs between them, from left to right.
static bool parse_chain(struct parser *parser, bool (*parse_operand)(struct parser *parser), const char signs[2],
                        const enum operation operations[2]) {
    if (!parse_operand(parser)) return false;
    for (;;) {
        const bool second = !take(parser, signs[0]);
        if (second && !take(parser, signs[1])) return true;
        if (!parse_operand(parser) || !emit_operation(parser, operations[second])) return false;
    }
}

static bool parse_product(struct parser *parser) {
    return parse_chain(parser, parse_power, "*/", (enum operation[]){OP_MULTIPLY, OP_DIVIDE});
}

static bool parse_sum(struct parser *parser) {
    return parse_chain(parser, parse_product, "+-", (enum operation[]){OP_ADD, OP_SUBTRACT});
}

static double apply(enum operation operation, double left, double right) {
    switch (operation) {
    case OP_ADD:
        return left + right;
    case OP_SUBTRACT:
        return left - right;
    case OP_MULTIPLY:
        return left * right;
    case OP_DIVIDE:
        return left / right;
    case OP_POWER:
        return pow(left, right);
    case OP_MIN:
        return left < right ? left : right;
    case OP_MAX:
        return left > right ? left : right;
    default:
        return NAN;
    }
}

static double evaluate(const struct objective *objective, const struct metrics *m, const struct metrics *base) {
    double stack[MOST_STEPS];
    size_t depth = 0;
    for (size_t i = 0; i < objective->step_count; i++) {
        const struct expression_step *step = &objective->steps[i];
        switch (step->operation) {
        case OP_NUMBER:
            stack[depth++] = step->number;
            break;
        case OP_QUANTITY:
            stack[depth++] = quantity_value(step->quantity, m, base);
            break;
        case OP_NEGATE:
            stack[depth - 1] = -stack[depth - 1];
            break;
        case OP_SQRT:
            stack[depth - 1] = sqrt(stack[depth - 1]);
            break;
        case OP_LOG:
            stack[depth - 1] = log(stack[depth - 1]);
            break;
        default:
            depth--;
            stack[depth - 1] = apply(step->operation, stack[depth - 1], stack[depth]);
        }
    }
    return stack[0];
}

static bool parse_expression(const char *text, struct arena *arena, struct objective *objective, struct error *error) {
    const size_t length = strlen(text), room = length < MOST_STEPS ? length : MOST_STEPS;
    struct expression_step *steps = ARENA_NEW(arena, struct expression_step, room + 1);
    struct parser parser = {.text = text, .at = text, .steps = steps, .error = error};
    if (!steps) return error_set(error, STATUS_FAILED, "no memory for an objective");
    if (!parse_sum(&parser)) {
        if (parser.at != text) return false;
        return error_wrap(error,
                          "an objective is balanced, composite, wall, threads, granularity, utilisation, throughput, "
                          "edits, or an expression over metrics");
    }
    skip_spaces(&parser);
    if (*parser.at) return fail(&parser, "an operator is missing");
    objective->steps = steps;
    objective->step_count = parser.step_count;
    return true;
}

bool objective_parse(const char *text, struct arena *arena, const struct objective **objective, struct error *error) {
    struct objective *parsed = ARENA_NEW(arena, struct objective, 1);
    if (!parsed) return error_set(error, STATUS_FAILED, "no memory for an objective");
    *objective = parsed;
    for (int i = 0; i < NAMED_COUNT; i++) {
        if (strcmp(text, named_objectives[i].name) == 0) parsed->named = &named_objectives[i];
    }
    return parsed->named || parse_expression(text, arena, parsed, error);
}

static double value_in(const struct objective *objective, const struct metrics *m, const struct metrics *base,
                       unsigned edits) {
    if (!objective->named) return evaluate(objective, m, base);
    return objective->named->value ? objective->named->value(m, base) : edits;
}

// Relative to the first value, so that the mean of equal values is that value to the last bit.
double objective_value(const struct objective *objective, const struct metrics *m, const struct metrics *base,
                       size_t traces, unsigned edits) {
    const bool ratio = objective->named && objective->named->value;
    const double first = value_in(objective, m, base, edits);
    double sum = 0;
    for (size_t i = 1; i < traces; i++) {
        double value = value_in(objective, &m[i], &base[i], edits);
        sum += ratio ? log(value / first) : value - first;
    }
    return ratio ? first * exp(sum / (double)traces) : first + sum / (double)traces;
}

bool objective_needs_all(const struct objective *objective) {
    for (size_t i = 0; i < objective->step_count; i++) {
        if (objective->steps[i].operation == OP_QUANTITY && objective->steps[i].quantity->needs_all) return true;
    }
    return false;
}

double objective_gain(const struct objective *objective, const struct metrics *m, const struct metrics *base,
                      size_t traces) {
    static const struct objective balanced = {.named = &named_objectives[0]};
    const struct objective *by = objective->named && !objective->named->value ? &balanced : objective;
    return objective_value(by, base, base, traces, 0) - objective_value(by, m, base, traces, 0);
}

bool objective_gains_by_balanced(const struct objective *objective) {
    const struct named *named = objective->named;
    return named && (!named->value || named->value == metrics_balanced);
}

bool objective_check(const struct objective *objective, const struct metrics *base, struct error *error) {
    if (!isnan(value_in(objective, base, base, 0))) return true;
    if (objective->named && objective->named->value == metrics_utilisation) {
        return error_set(error, STATUS_USAGE, "the trace has no actors, which objective utilisation asks for");
    }
    return error_set(error, STATUS_USAGE, "the trace lacks what the objective asks for");
}

// Requirements

enum comparison { AT_MOST, AT_LEAST, BELOW, ABOVE, EQUAL };

static const struct {
    const char *sign;
    enum comparison comparison;
} comparisons[] = {{"<=", AT_MOST}, {">=", AT_LEAST}, {"==", EQUAL}, {"<", BELOW}, {">", ABOVE}};

struct requirement {
    const char *text;
    const struct quantity *quantity;
    enum comparison comparison;
    double number;
    bool per_cent; // change against base
};

static bool parse_comparison(struct parser *parser, enum comparison *comparison) {
    skip_spaces(parser);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        size_t length = strlen(comparisons[i].sign);
        if (strncmp(parser->at, comparisons[i].sign, length) != 0) continue;
        parser->at += length;
        *comparison = comparisons[i].comparison;
        return true;
    }
    return fail(parser, "one of <= >= < > == is missing");
}

bool requirement_parse(const char *text, struct arena *arena, const struct requirement **requirement,
                       struct error *error) {
    struct parser parser = {.text = text, .at = text, .error = error};
    struct requirement *parsed = ARENA_NEW(arena, struct requirement, 1);
    char *copy = arena_string(arena, text, strlen(text));
    if (!parsed || !copy) return error_set(error, STATUS_FAILED, "no memory for a requirement");
    parsed->text = copy;
    skip_spaces(&parser);
    size_t length = name_length(parser.at);
    parsed->quantity = find_quantity(parser.at, length);
    if (!parsed->quantity) return fail_names(&parser, length);
    parser.at += length;
    if (!parse_comparison(&parser, &parsed->comparison) || !parse_number(&parser, &parsed->number)) return false;
    parsed->per_cent = take(&parser, '%');
    skip_spaces(&parser);
    if (*parser.at) return fail(&parser, "there is more than NAME OP NUMBER[%%]");
    *requirement = parsed;
    return true;
}

static double change_per_cent(double now, double then) {
    if (now == then) return 0;
    return then != 0 ? (now - then) / fabs(then) * 100 : copysign(INFINITY, now);
}

static bool holds(enum comparison comparison, double value, double number) {
    switch (comparison) {
    case AT_MOST:
        return value <= number;
    case AT_LEAST:
        return value >= number;
    case BELOW:
        return value < number;
    case ABOVE:
        return value > number;
    case EQUAL:
        return value == number;
    }
    return false;
}

const char *requirement_failed(const struct requirement *requirement, const struct metrics *m,
                               const struct metrics *base, const struct metrics *replayed) {
    double value = quantity_value(requirement->quantity, m, base);
    if (requirement->per_cent) value = change_per_cent(value, quantity_value(requirement->quantity, replayed, base));
    return holds(requirement->comparison, value, requirement->number) ? NULL : requirement->text;
}

bool requirement_needs_all(const struct requirement *requirement) {
    return requirement->quantity->needs_all;
}

// The most threads at once are those of an instant, and of a service's load by chance: more requests a second may take
// one more thread for that.
static double noise_of_peak(const struct metrics *base, double noise) {
    static const double of_service = 0.02;
    return base->requests.throughput_per_s > 0 ? fmax(noise, of_service) : noise;
}

const char *filter_failed(const struct metrics *m, const struct metrics *base, double noise) {
    const struct usage *now = &m->threads[STATE_OCCUPIED], *then = &base->threads[STATE_OCCUPIED];
    if (metrics_wall_ratio(m, base) > 1 + noise)
        return base->requests.throughput_per_s > 0 ? "throughput>=0%" : "wall<=0%";
    if (metrics_drags_on(m, base)) return "wall<=10%";
    if (now->peak > then->peak * (1 + noise_of_peak(base, noise))) return "occupied.peak<=0%";
    if (now->mean > then->mean * (1 + noise)) return "occupied.mean<=0%";
    return NULL;
}
