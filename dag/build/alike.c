// SPDX-License-Identifier: GPL-3.0-or-later
// Which pools the same code seems to make, one for each subtask, shard or batch: a change of that code changes all of
// them. They are of one kind, with the same rules, their names differ in numbers at most, and their tasks are handed
// over at the same sites.
#include "dag/build/builder.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct survey {
    struct dag *dag;
    struct idmap seen;   // pairs of pool and site
    uint64_t *sites;     // a pool each: of the sites of its tasks, 0: it has none
    uint32_t *last_site; // a pool each: of its latest task; DAG_NONE: one has none
};

static bool see_site(struct survey *survey, uint32_t pool, uint32_t site) {
    const uint64_t pair = ((uint64_t)pool << 32 | site) + 1;
    if (survey->last_site[pool] == site || survey->last_site[pool] == DAG_NONE) return true; // DAG_NONE: for ever
    survey->last_site[pool] = site;
    if (idmap_get(&survey->seen, pair) != DAG_NONE) return true;
    survey->sites[pool] ^= numbers_hash(&site, 1);
    return idmap_add(&survey->seen, pair, pool);
}

// Pools whose tasks have no site are like no other, nor are those of actors.
static bool see_tasks(struct survey *survey) {
    const struct dag *dag = survey->dag;
    bool ok = true;
    for (uint32_t t = 0; ok && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!task->pool || task->pool >= dag->pool_count || task->flags & TASK_NESTED) continue;
        const bool known = task->site != DAG_NONE && !(task->flags & TASK_OF_ACTOR);
        ok = see_site(survey, task->pool, known ? task->site : DAG_NONE);
    }
    return ok;
}

static const char *behind_digits(const char *text) {
    while (isdigit((unsigned char)*text)) text++;
    return text;
}

// But for numbers.
static bool same_name(const char *a, const char *b) {
    if (!a || !b) return a == b;
    for (;; a++, b++) {
        a = behind_digits(a);
        b = behind_digits(b);
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static bool same_rules(const struct dag *dag, uint32_t p, uint32_t q) {
    const struct trace_pool *a = &dag->trace->pools[p], *b = &dag->trace->pools[q];
    return same_text(a->kind, b->kind) && same_text(a->queue, b->queue) && same_name(a->name, b->name) &&
           same_text(a->rejection, b->rejection) && a->core == b->core && a->maximum == b->maximum &&
           a->capacity == b->capacity && a->keep_alive_ns == b->keep_alive_ns && a->flags == b->flags &&
           dag->pools[p].discipline == dag->pools[q].discipline;
}

// Pools are looked for by their sites; where several kinds of pools share these, the first kind is one.
static bool group(struct survey *survey) {
    struct dag *dag = survey->dag;
    struct idmap first = {0};
    bool ok = true;
    for (uint32_t p = 1; ok && p < dag->pool_count; p++) {
        if (!survey->sites[p] || survey->last_site[p] == DAG_NONE) continue;
        const uint32_t found = idmap_get(&first, survey->sites[p]);
        if (found == DAG_NONE) {
            ok = idmap_add(&first, survey->sites[p], p);
        } else if (same_rules(dag, p, found)) {
            dag->pools[p].alike = found;
            dag->pools[found].alike_count++;
        }
    }
    for (uint32_t p = 1; p < dag->pool_count; p++)
        dag->pools[p].alike_count = dag->pools[dag->pools[p].alike].alike_count;
    idmap_destroy(&first);
    return ok;
}

bool find_alike(struct builder *builder) {
    struct dag *dag = builder->dag;
    struct survey survey = {.dag = dag,
                            .sites = calloc(dag->pool_count, sizeof *survey.sites),
                            .last_site = malloc(dag->pool_count * sizeof *survey.last_site)};
    bool ok = survey.sites && survey.last_site;
    for (uint32_t p = 0; ok && p < dag->pool_count; p++) {
        survey.last_site[p] = DAG_NONE - 1;
        dag->pools[p].alike = p;
        dag->pools[p].alike_count = 1;
    }
    ok = ok && (dag->pool_count < 3 || (see_tasks(&survey) && group(&survey)));
    idmap_destroy(&survey.seen);
    free(survey.sites);
    free(survey.last_site);
    return ok || no_memory(builder);
}
