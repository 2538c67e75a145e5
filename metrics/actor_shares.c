// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/actor_shares.h"

#include "dag/idmap.h"
#include "metrics/actor_log.h"

#include <math.h>
#include <stdlib.h>

static bool index_actors(const struct dag *dag, struct idmap *of_id) {
    bool ok = true;
    for (uint32_t a = 1; ok && a <= dag->actor_count; a++) ok = idmap_add(of_id, dag->actors[a].id, a);
    return ok;
}

// A start that failed cost what it did.
static void take_costs(const struct actor_log *log, const struct idmap *of_id, struct actor_shares *shares) {
    for (uint32_t a = 0; a < log->actor_count; a++) {
        const struct logged_actor *actor = &log->actors[a];
        if (!actor->of_program || actor->router) continue;
        const double making = actor->initialisation + actor->creation;
        const uint32_t known = idmap_get(of_id, actor->id);
        if (known != IDMAP_NONE) shares->making[known] += making;
        shares->making_in_all += making;
        shares->computing += actor->computed_once;
    }
}

bool actor_shares_read(const struct dag *dag, struct actor_shares *shares, struct error *error) {
    struct actor_log log = {0};
    struct idmap of_id = {0};
    if (actor_log_is_empty(dag->trace)) return true;
    shares->making = calloc((size_t)dag->actor_count + 1, sizeof *shares->making);
    const bool room = shares->making && index_actors(dag, &of_id);
    const bool ok =
        room ? actor_log_read(dag, &log, error) : error_set(error, STATUS_FAILED, "no memory for costs of actors");
    if (ok) take_costs(&log, &of_id, shares);
    actor_log_destroy(&log);
    idmap_destroy(&of_id);
    return ok;
}

void actor_shares_destroy(struct actor_shares *shares) {
    free(shares->making);
    *shares = (struct actor_shares){0};
}

// What an edit adds to what it cost to make actors.
static double added(const struct actor_shares *shares, const struct dag *dag, const struct dag_edit *edit) {
    double sum = 0;
    for (uint32_t a = 1; edit->actors_count && a <= dag->actor_count; a++) {
        const struct actor_edit *its = &edit->actors[a];
        if (its->joins && its->gone) sum -= shares->making[a];
        if (its->copies) sum += (its->copies - 1) * shares->making[a];
    }
    return sum;
}

double actor_shares_under(const struct actor_shares *shares, const struct dag *dag, const struct dag_edit *edit) {
    if (!shares->making) return NAN;
    const double making = shares->making_in_all + added(shares, dag, edit), all = making + shares->computing;
    return all > 0 ? making / all : NAN;
}
