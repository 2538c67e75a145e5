// SPDX-License-Identifier: GPL-3.0-or-later
// One number for a run against its base (SPEC section 2).
#include "metrics/figures.h"

// The double nearest to it, by a step of Newton's with what its cube is off by: libraries' roots differ in the last
// bit, and a page's figures (report/page/core.h) must not differ from the commands'.
static double cube_root(double x) {
    const double root = cbrt(x), square = root * root, cube = square * root;
    const double square_rest = fma(root, root, -square), cube_rest = fma(square, root, -cube);
    const double excess = cube - x + (cube_rest + square_rest * root);
    return x > 0 && isfinite(x) ? root - excess / (3 * square) : root;
}

double metrics_wall_ratio(const struct metrics *m, const struct metrics *base) {
    const double then = base->requests.throughput_per_s, now = m->requests.throughput_per_s;
    if (then > 0 && now > 0) return then / now;
    return base->wall_ns > 0 ? (double)m->wall_ns / (double)base->wall_ns : NAN;
}

bool metrics_drags_on(const struct metrics *m, const struct metrics *base) {
    static const double most = 1.1;
    const bool serves = base->requests.throughput_per_s > 0 && m->requests.throughput_per_s > 0;
    return serves && (double)m->wall_ns > most * (double)base->wall_ns;
}

double metrics_composite(const struct metrics *m, const struct metrics *base) {
    const struct usage *now = &m->threads[STATE_OCCUPIED], *then = &base->threads[STATE_OCCUPIED];
    const double before = then->peak * base->thread_time_ns, after = now->peak * m->thread_time_ns;
    return before > 0 ? cube_root(metrics_wall_ratio(m, base) * after / before) : NAN;
}

double metrics_granularity(const struct metrics *m, const struct metrics *base) {
    double now = (1 + m->tasks.overhead_share) / (1 - m->tasks.idle_share);
    double then = (1 + base->tasks.overhead_share) / (1 - base->tasks.idle_share);
    return isfinite(now) && isfinite(then) && then > 0 ? now / then : NAN;
}

double metrics_utilisation(const struct metrics *m, const struct metrics *base) {
    const double ratio = (1 - base->initialisation_share) / (1 - m->initialisation_share);
    return isfinite(ratio) ? ratio : NAN;
}

double metrics_balanced(const struct metrics *m, const struct metrics *base) {
    const double families[] = {metrics_composite(m, base), metrics_granularity(m, base), metrics_utilisation(m, base)};
    double product = 1;
    int present = 0;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (isnan(families[i])) continue;
        product *= families[i];
        present++;
    }
    if (present < 2) return present ? product : NAN;
    return present == 2 ? sqrt(product) : cube_root(product);
}
