// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/improvement.h"

#include "optimize/plan_names.h"
#include "optimize/sentence.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512 };

const char *const improvement_kind_names[KIND_COUNT] = {
    "inline",          "hoist-branch", "combinator", "merge",        "split",       "resize-pool",
    "resize-resource", "unlock",       "own-pool",   "merge-actors", "split-actor", "inline-message",
};

// Name

static void say_context(struct sentence *sentence, const struct improvement *improvement) {
    if (improvement->context == DAG_NONE) return;
    const struct dag_context *context = &improvement->dag->contexts[improvement->context];
    if (context->length == 0) say(sentence, " outside traced functions");
    for (uint32_t i = 0; i < context->length; i++)
        say(sentence, "%s%s", i ? " > " : " in ", phrase_method(improvement->dag, context->methods[i]).text);
}

static void say_change(struct sentence *sentence, const struct improvement *improvement) {
    char name[NAME_BYTES];
    site_plan_text(improvement->dag, improvement->site, improvement->shares_line, name, sizeof name);
    say(sentence, " %s", name);
    if (improvement->kind == KIND_HOIST_BRANCH && improvement->path != DAG_NONE)
        say(sentence, " on path %s", path_plan_text(improvement->dag, improvement->path, name, sizeof name));
    if (improvement->factor)
        say(sentence, improvement->kind == KIND_MERGE ? " by %u" : " into %u", improvement->factor);
    say_context(sentence, improvement);
    if (improvement->first)
        say(sentence, ", first stage on %s", improvement->first == FIRST_STAGE_ON_POOL ? "its pool" : "the spawner");
}

static void actor_change_text(const struct improvement *improvement, char *text, size_t size) {
    const struct actor_change *change = &improvement->change;
    size_t used = (size_t)snprintf(text, size, "%s", change->of ? change->of : "");
    for (uint32_t i = 0; i < change->type_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", change->types[i]);
    if (used >= size) return;
    if (improvement->kind == KIND_OWN_POOL)
        snprintf(text + used, size - used, " of %d thread%s", improvement->threads,
                 improvement->threads == 1 ? "" : "s");
    else if (improvement->factor)
        snprintf(text + used, size - used, improvement->kind == KIND_MERGE_ACTORS ? " by %u" : " into %u",
                 improvement->factor);
}

char *improvement_text(const struct improvement *improvement, char *text, size_t size) {
    const struct dag *dag = improvement->dag;
    struct sentence sentence = {0};
    char name[NAME_BYTES];
    say(&sentence, "%s", improvement_kind_names[improvement->kind]);
    if (improvement_is_of_actors(improvement)) {
        actor_change_text(improvement, name, sizeof name);
        say(&sentence, " %s", name);
    } else if (improvement->kind == KIND_RESIZE_POOL) {
        say(&sentence, " %s", pool_plan_text(dag, improvement->pool, name, sizeof name));
        if (improvement->alike) say(&sentence, " and %u alike", dag->pools[improvement->pool].alike_count - 1);
        say(&sentence, " to %d thread%s", improvement->threads, improvement->threads == 1 ? "" : "s");
    } else if (improvement_is_of_resource(improvement))
        say(&sentence, " %s", resource_plan_text(dag, improvement->resource, name, sizeof name));
    else
        say_change(&sentence, improvement);
    if (improvement->kind == KIND_RESIZE_RESOURCE) say(&sentence, " to %d", improvement->capacity);
    snprintf(text, size, "%s", sentence.text);
    return text;
}

// Use

uint32_t improvement_pool_size(const struct dag *dag, uint32_t pool) {
    const int32_t most = dag_pool_most(&dag->pools[pool]);
    return most == INT32_MAX || most < 0 ? 0 : most == 0 ? 1 : (uint32_t)most;
}

bool improvement_is_of_messages(const struct improvement *improvement) {
    uint32_t i = 0;
    while (i < improvement->task_count && improvement->dag->tasks[improvement->tasks[i]].flags & TASK_OF_ACTOR) i++;
    return improvement->task_count > 0 && i == improvement->task_count;
}

const char *improvement_noun(const struct improvement *improvement) {
    return improvement_is_of_messages(improvement) ? "message" : "task";
}

uint32_t improvement_left_out(const struct improvement *improvement) {
    uint32_t count = 0;
    for (unsigned kind = LEFT_OUT_NOT + 1; kind < LEFT_OUT_KINDS; kind++) count += improvement->left_out[kind];
    return count;
}

bool improvement_is_open(const struct improvement *improvement) {
    switch (improvement->kind) {
    case KIND_HOIST_BRANCH:
        return improvement->path == DAG_NONE;
    case KIND_COMBINATOR:
        return improvement->first == FIRST_STAGE_NONE;
    case KIND_MERGE:
    case KIND_SPLIT:
    case KIND_MERGE_ACTORS:
    case KIND_SPLIT_ACTOR:
        return improvement->factor == 0;
    default:
        return false;
    }
}

// Of n actors every factor-th remains, rounded up; the i-th created joins number i mod that.
static void join(const struct improvement *improvement, struct dag_edit *edit) {
    const struct actor_change *change = &improvement->change;
    const uint32_t remain = change->actor_count / improvement->factor + (change->actor_count % improvement->factor > 0);
    for (uint32_t i = remain; i < change->actor_count; i++)
        dag_edit_join_actor(edit, improvement->dag, change->actors[i], change->actors[i % remain]);
}

static const char *move(const struct improvement *improvement, struct dag_edit *edit) {
    const struct actor_change *change = &improvement->change;
    const uint32_t like = improvement->dag->actors[change->actors[0]].pool;
    const uint32_t own = dag_edit_own_pool(edit, like, improvement->threads);
    if (!own) return "a plan can have 16 dispatchers of their own at most";
    for (uint32_t i = 0; i < change->actor_count; i++) dag_edit_move_actor(edit, change->actors[i], own);
    return NULL;
}

static const char *apply_to_actors(const struct improvement *improvement, struct dag_edit *edit) {
    switch (improvement->kind) {
    case KIND_MERGE_ACTORS:
        join(improvement, edit);
        return NULL;
    case KIND_SPLIT_ACTOR:
        for (uint32_t i = 0; i < improvement->change.actor_count; i++)
            dag_edit_copy_actor(edit, improvement->change.actors[i], improvement->factor);
        return NULL;
    case KIND_OWN_POOL:
        return move(improvement, edit);
    default: // KIND_INLINE_MESSAGE
        for (uint32_t i = 0; i < improvement->task_count; i++) dag_edit_follow(edit, improvement->tasks[i]);
        return NULL;
    }
}

const char *improvement_apply(const struct improvement *improvement, struct dag_edit *edit) {
    if (improvement->refusal) return improvement->refusal;
    if (improvement_is_of_actors(improvement)) {
        return improvement->task_count ? apply_to_actors(improvement, edit) : NULL;
    }
    if (improvement->kind == KIND_RESIZE_POOL) {
        for (uint32_t p = 1; p < improvement->dag->pool_count; p++) {
            const bool meant = improvement_is_of_pool(improvement, p) && !dag_resize_refusal(improvement->dag, p);
            if (meant) dag_edit_resize(edit, p, improvement->threads);
        }
        return NULL;
    }
    if (improvement_is_of_resource(improvement)) {
        if (improvement->resource == DAG_NONE) return NULL;
        if (improvement->kind == KIND_UNLOCK)
            dag_edit_unlock(edit, improvement->resource);
        else
            dag_edit_resize_resource(edit, improvement->resource, improvement->capacity);
        return NULL;
    }
    if (improvement->kind == KIND_MERGE) {
        uint32_t merged =
            dag_edit_merge(edit, improvement->dag, improvement->tasks, improvement->task_count, improvement->factor);
        return merged ? NULL : "no two of its tasks can be gathered: each is awaited before the next is spawned";
    }
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        if (improvement->kind == KIND_SPLIT)
            dag_edit_split(edit, improvement->tasks[i], improvement->factor);
        else if (improvement->kind == KIND_COMBINATOR)
            dag_edit_combine(edit, improvement->tasks[i], improvement->first);
        else
            dag_edit_inline(edit, improvement->tasks[i]);
    }
    return NULL;
}

static bool shares_task(const struct improvement *a, const struct improvement *b) {
    for (uint32_t i = 0, j = 0; i < a->task_count && j < b->task_count;) {
        if (a->tasks[i] == b->tasks[j]) return true;
        if (a->tasks[i] < b->tasks[j])
            i++;
        else
            j++;
    }
    return false;
}

// Also where a trace has no task of it.
static bool is_same_twice(const struct improvement *a, const struct improvement *b) {
    return a->kind == b->kind && a->site != DAG_NONE && a->site == b->site && a->context == b->context &&
           a->path == b->path;
}

static bool share_actor(const struct actor_change *a, const struct actor_change *b) {
    for (uint32_t i = 0; i < a->actor_count; i++) {
        for (uint32_t j = 0; j < b->actor_count; j++) {
            if (a->actors[i] == b->actors[j]) return true;
        }
    }
    return false;
}

static bool share_type(const struct actor_change *a, const struct actor_change *b) {
    for (uint32_t i = 0; i < a->type_count; i++) {
        for (uint32_t j = 0; j < b->type_count; j++) {
            if (strcmp(a->types[i], b->types[j]) == 0) return true;
        }
    }
    return false;
}

static bool is_of_mailboxes(const struct improvement *improvement) {
    return improvement->kind == KIND_MERGE_ACTORS || improvement->kind == KIND_SPLIT_ACTOR;
}

// A mailbox is joined or copied once, an actor moved once, a message follows once; the three go together.
static bool actor_changes_conflict(const struct improvement *a, const struct improvement *b) {
    if (a->kind == KIND_INLINE_MESSAGE || b->kind == KIND_INLINE_MESSAGE)
        return a->kind == b->kind && share_type(&a->change, &b->change);
    if (is_of_mailboxes(a) != is_of_mailboxes(b)) return false;
    if (a->kind == b->kind && a->change.of && b->change.of && strcmp(a->change.of, b->change.of) == 0) return true;
    // Actors of two types are different ones; an actor may be of the other's type.
    return (a->kind != b->kind || a->kind == KIND_SPLIT_ACTOR) && share_actor(&a->change, &b->change);
}

bool improvements_of_like_actors(const struct improvement *a, const struct improvement *b) {
    const struct actor_change *x = &a->change, *y = &b->change;
    if (a->kind != b->kind || x->type_count != y->type_count || !x->of != !y->of) return false;
    if (x->of && strcmp(x->of, y->of) != 0) return false;
    for (uint32_t i = 0; i < x->type_count; i++) {
        if (strcmp(x->types[i], y->types[i]) != 0) return false;
    }
    return true;
}

bool improvement_is_of_pool(const struct improvement *improvement, uint32_t pool) {
    const struct dag *dag = improvement->dag;
    if (!improvement->pool || improvement->pool >= dag->pool_count || pool >= dag->pool_count) return false;
    if (!improvement->alike) return pool == improvement->pool;
    return dag->pools[pool].alike == dag->pools[improvement->pool].alike;
}

bool improvements_conflict(const struct improvement *a, const struct improvement *b) {
    if (improvement_is_of_actors(a) || improvement_is_of_actors(b))
        return improvement_is_of_actors(a) && improvement_is_of_actors(b) && actor_changes_conflict(a, b);
    if (improvement_is_of_resource(a) || improvement_is_of_resource(b))
        return improvement_is_of_resource(a) && improvement_is_of_resource(b) && a->resource != DAG_NONE &&
               a->resource == b->resource;
    bool resizes_a = a->kind == KIND_RESIZE_POOL, resizes_b = b->kind == KIND_RESIZE_POOL;
    if (resizes_a || resizes_b)
        return resizes_a && resizes_b && a->pool &&
               (improvement_is_of_pool(a, b->pool) || improvement_is_of_pool(b, a->pool));
    return is_same_twice(a, b) || (a->site == b->site && shares_task(a, b)); // a task has one site
}

static uint64_t mix(uint64_t x) { // splitmix64, of Steele, Lea and Flood
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t improvement_key(const struct improvement *improvement, uint64_t salt) {
    enum improvement_kind effect = improvement->kind == KIND_HOIST_BRANCH ? KIND_INLINE : improvement->kind;
    uint64_t change = mix(salt << 32 | (uint64_t)effect << 28) ^ improvement->factor ^ improvement->first, key = 0;
    if (effect == KIND_OWN_POOL) change ^= (uint64_t)improvement->threads << 32;
    if (effect == KIND_RESIZE_POOL) {
        if (!improvement->pool) return 0;
        return mix(mix(change) ^ (uint64_t)improvement->pool << 32 ^ (uint32_t)improvement->threads) ^
               improvement->alike;
    }
    if (improvement_is_of_resource(improvement)) {
        if (improvement->resource == DAG_NONE) return 0;
        return mix(mix(change) ^ (uint64_t)improvement->resource << 32 ^ (uint32_t)improvement->capacity);
    }
    for (uint32_t i = 0; i < improvement->task_count; i++) key ^= mix(mix(change) ^ improvement->tasks[i]);
    return key;
}

// Models

unsigned model_kinds(enum model_kind model) {
    const unsigned dispatched = KIND_BIT(KIND_SPLIT) | KIND_BIT(KIND_RESIZE_POOL) | KIND_BIT(KIND_RESIZE_RESOURCE) |
                                KIND_BIT(KIND_UNLOCK) | KINDS_OF_ACTORS | KINDS_ON_POOL;
    return model == MODEL_DAG ? KINDS_ALL & ~dispatched : KINDS_ALL;
}

static bool is_of_carriers(const struct improvement *improvement) {
    return improvement_is_of_resource(improvement) && improvement->resource != DAG_NONE &&
           improvement->resource + 1 == improvement->dag->carriers;
}

const char *model_refusal(enum model_kind model, const struct improvement *improvement) {
    const unsigned needed =
        KIND_BIT(improvement->kind) | (improvement->first == FIRST_STAGE_ON_POOL ? KINDS_ON_POOL : 0);
    if (model != MODEL_CPU && is_of_carriers(improvement))
        return "which thread has a carrier follows from when it computes, which only the model cpu settles: use "
               "--model cpu";
    if ((model_kinds(model) & needed) == needed) return NULL;
    return "the model dag keeps threads as recorded and dispatches no task anew: use --model pool or --model cpu";
}
