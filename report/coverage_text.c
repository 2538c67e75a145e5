// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/coverage_text.h"

#include "report/coverage_chart.h"
#include "report/table.h"
#include "report/text.h"

#include <math.h>

const char *const coverage_whole_names[] = {"woven", "chao2", "chao1"};

enum { ROWS_MOST = 10, UNSEEN_MOST = 10 };

// Repetitions, rounded up.
static struct text show(double repetitions) {
    struct text text = {"-"};
    if (isnan(repetitions)) return text;
    if (isinf(repetitions)) return (struct text){"never"};
    if (repetitions > 1e12) return (struct text){"over 10^12"};
    return text_count((uint64_t)ceil(repetitions - 1e-9));
}

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

const char *coverage_seen_text(const struct coverage_found *found, char *text, size_t size) {
    const double all = found->whole.all;
    const bool woven = found->whole_from == COVERAGE_WOVEN;
    snprintf(text, size, "%s of %s%s methods (%s)", text_count(found->seen).s, woven ? "" : "an estimated ",
             woven ? text_count((uint64_t)all).s : text_fixed(all, 1).s, text_percent(coverage_share(found)).s);
    return text;
}

// ---- warnings

static bool warn_of_curves(struct warnings *warnings, const struct coverage_found *found,
                           const struct coverage_forecast *wanted, struct error *error) {
    if (found->repetitions < COVERAGE_LEAST_REPETITIONS)
        return warnings_say(warnings, error, "%s repetition%s: a curve needs %d (more traces, or --unit METHOD)",
                            text_count(found->repetitions).s, plural((double)found->repetitions),
                            COVERAGE_LEAST_REPETITIONS);
    if (!found->has_log &&
        !warnings_say(warnings, error, "too few repetitions are below %s for a logarithm, which holds there alone",
                      text_percent(FIT_LOG_MOST).s))
        return false;
    if (wanted->share <= FIT_LOG_MOST || !isnan(wanted->measured)) return true;
    return warnings_say(warnings, error,
                        "%s is above %s, where shares level off: the logarithm does not hold there, and how they level "
                        "off is a guess",
                        text_percent(wanted->share).s, text_percent(FIT_LOG_MOST).s);
}

static bool warn_of_whole(struct warnings *warnings, const struct coverage_found *found, struct error *error) {
    if (found->besides > 0 &&
        !warnings_say(warnings, error, "%s method%s seen that the whole does not have, and left out",
                      text_count(found->besides).s, found->besides == 1 ? " was" : "s were"))
        return false;
    if (found->whole_from == COVERAGE_WOVEN) return true;
    return warnings_say(warnings, error,
                        "that there are %s methods (95 %%: %s to %s) is an estimate, and a lower bound: --whole TRACE "
                        "of a recording with --include counts them",
                        text_fixed(found->whole.all, 1).s, text_fixed(found->whole.low, 1).s,
                        text_fixed(found->whole.high, 1).s);
}

static bool warn_of_losses(struct warnings *warnings, const struct coverage_stacks *stacks, struct error *error) {
    if (stacks->virtual_threads > 0 &&
        !warnings_say(warnings, error, "%s virtual thread%s no stacks: what they alone run is not seen",
                      text_count(stacks->virtual_threads).s, stacks->virtual_threads == 1 ? " has" : "s have"))
        return false;
    if (stacks->costs.left_out > 0 &&
        !warnings_say(warnings, error, "%s stack%s left out: the tracer had no room for them",
                      text_count(stacks->costs.left_out).s, stacks->costs.left_out == 1 ? " was" : "s were"))
        return false;
    return stacks->costs.missed == 0 ||
           warnings_say(warnings, error, "%s moment%s missed: the one before took too long",
                        text_count(stacks->costs.missed).s, stacks->costs.missed == 1 ? " was" : "s were");
}

bool coverage_warn(struct warnings *warnings, const struct coverage_found *found,
                   const struct coverage_forecast *wanted, struct error *error) {
    return warn_of_curves(warnings, found, wanted, error) && warn_of_whole(warnings, found, error) &&
           warn_of_losses(warnings, &found->stacks, error);
}

// ---- the answer

static void write_forecast(const struct coverage_found *found, const struct coverage_forecast *wanted, FILE *file,
                           unsigned look) {
    const struct text share = text_percent(wanted->share);
    if (wanted->share <= FIT_LOG_MOST && found->has_log) {
        char interval[80] = "";
        if (!isnan(wanted->low))
            snprintf(interval, sizeof interval, " (95 %%: %s to %s)", show(wanted->low).s, show(wanted->high).s);
        look_printf(file, look, 2, "%s of the methods need about %s repetitions%s.", share.s, show(wanted->by_log).s,
                    interval);
    } else if (found->has_saturating && isfinite(wanted->by_saturation)) {
        look_printf(file, look, 2, "%s of the methods need about %s repetitions, if shares level off as they began to.",
                    share.s, show(wanted->by_saturation).s);
    } else if (found->has_saturating) {
        look_printf(file, look, 2, "%s of the methods are out of reach: what is seen levels off at %s.", share.s,
                    text_percent(found->saturating.limit).s);
    } else {
        look_printf(file, look, 2, "How many repetitions %s of the methods need is not known.", share.s);
    }
}

static void write_answer(const struct coverage_found *found, const struct coverage_forecast *wanted, FILE *file,
                         unsigned look) {
    char seen[128], alone[80] = "";
    if (!isnan(wanted->measured))
        look_printf(file, look, 2, "%s of the methods need %s repetition%s, as measured.",
                    text_percent(wanted->share).s, show(wanted->measured).s, plural(wanted->measured));
    else
        write_forecast(found, wanted, file, look);
    if (found->repetitions > 1)
        snprintf(alone, sizeof alone, "; one alone sees %s on average", text_percent(found->points[0].share).s);
    look_printf(file, look, 2, "%s repetition%s saw %s%s.", text_count(found->repetitions).s,
                plural((double)found->repetitions), coverage_seen_text(found, seen, sizeof seen), alone);
}

// ---- tables

static bool finish(struct table *table, FILE *file, unsigned look, struct error *error) {
    putc('\n', file);
    bool ok = table_write(table, file, look, error);
    table_destroy(table);
    return ok;
}

static bool write_points(const struct coverage_found *found, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"repetitions", TABLE_RIGHT},
                                                  {"methods seen", TABLE_RIGHT},
                                                  {"share", TABLE_RIGHT},
                                                  {"logarithm", TABLE_RIGHT},
                                                  {"saturation", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    const size_t count = found->point_count, rows = count < ROWS_MOST ? count : ROWS_MOST;
    for (size_t row = 0; row < rows; row++) {
        const struct coverage_point *point = &found->points[rows > 1 ? row * (count - 1) / (rows - 1) : 0];
        const double at = point->repetitions;
        table_add(&table, show(at).s);
        table_add(&table, text_fixed(point->methods, 1).s);
        table_add(&table, text_percent(point->share).s);
        table_add(&table, text_percent(found->has_log ? log_curve_at(&found->log, at) : NAN).s);
        table_add(&table, text_percent(found->has_saturating ? saturating_curve_at(&found->saturating, at) : NAN).s);
    }
    return finish(&table, file, look, error);
}

static void add_forecast(struct table *table, const struct coverage_forecast *forecast) {
    char interval[80];
    snprintf(interval, sizeof interval, "%s to %s", show(forecast->low).s, show(forecast->high).s);
    table_add(table, text_percent(forecast->share).s);
    table_add(table, show(forecast->measured).s);
    bool holds = forecast->share <= FIT_LOG_MOST;
    table_add(table, holds ? show(forecast->by_log).s : "-");
    table_add(table, holds && !isnan(forecast->low) ? interval : "-");
    table_add(table, show(forecast->by_saturation).s);
}

static bool write_forecasts(const struct coverage_found *found, double wanted, FILE *file, unsigned look,
                            struct error *error) {
    static const struct table_column columns[] = {{"to see", TABLE_RIGHT},
                                                  {"measured", TABLE_RIGHT},
                                                  {"logarithm", TABLE_RIGHT},
                                                  {"95 % interval", TABLE_RIGHT},
                                                  {"saturation", TABLE_RIGHT}};
    static const double shares[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
    struct table table = TABLE_INIT(columns);
    bool told = false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct coverage_forecast forecast = coverage_forecast(found, wanted);
        if (!told && wanted < shares[i]) add_forecast(&table, &forecast);
        told |= wanted <= shares[i];
        forecast = coverage_forecast(found, shares[i]);
        add_forecast(&table, &forecast);
    }
    struct coverage_forecast forecast = coverage_forecast(found, wanted);
    if (!told) add_forecast(&table, &forecast);
    return finish(&table, file, look, error);
}

// ---- what it rests on

static void write_curves(const struct coverage_found *found, FILE *file) {
    if (found->has_log)
        fprintf(file, "\n  logarithm   share = %s ln(repetitions) %s %s, R2 = %s (below %s)\n",
                text_fixed(found->log.a, 4).s, found->log.b < 0 ? "-" : "+", text_fixed(fabs(found->log.b), 4).s,
                text_fixed(found->log.r2, 4).s, text_percent(FIT_LOG_MOST).s);
    if (found->has_saturating)
        fprintf(file, "  saturation  share = %s / (1 + (%s / repetitions)^%s), R2 = %s\n",
                text_fixed(found->saturating.limit, 4).s, text_fixed(found->saturating.half, 2).s,
                text_fixed(found->saturating.slope, 4).s, text_fixed(found->saturating.r2, 4).s);
}

static void write_stacks(const struct coverage_stacks *stacks, FILE *file, unsigned look) {
    char outside[80] = "";
    if (stacks->outside > 0)
        snprintf(outside, sizeof outside, ", %s of them outside of the unit's calls", text_count(stacks->outside).s);
    putc('\n', file);
    look_printf(file, look, 2, "  %s stacks at %s moments%s; shares are means over all orders of the repetitions",
                text_count(stacks->stacks).s, text_count(stacks->moments).s, outside);
}

static void write_unseen(const struct coverage_found *found, FILE *file) {
    if (found->unseen_count == 0) return;
    fputs("\n  never seen\n", file);
    for (size_t i = 0; i < found->unseen_count && i < UNSEEN_MOST; i++)
        fprintf(file, "    %s\n", text_method(found->unseen[i].class_name, found->unseen[i].name).s);
    if (found->unseen_count > UNSEEN_MOST)
        fprintf(file, "    and %s more: --json lists them\n", text_count(found->unseen_count - UNSEEN_MOST).s);
}

bool coverage_text_write(const struct coverage_found *found, const struct coverage_forecast *wanted, FILE *file,
                         unsigned look, struct error *error) {
    write_answer(found, wanted, file, look);
    if (!write_points(found, file, look, error)) return false;
    if (found->has_log || found->has_saturating) {
        if (!write_forecasts(found, wanted->share, file, look, error)) return false;
        putc('\n', file);
        coverage_chart_write(found, coverage_chart_end(found, wanted), file, look & LOOK_UTF8);
        write_curves(found, file);
    }
    write_stacks(&found->stacks, file, look);
    write_unseen(found, file);
    return true;
}
