// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/rewrite_actors.h"

// Whether an initialisation was recorded, and is none in the run.
static bool is_dropped(const struct dag *run, const struct dag *recorded, uint32_t task) {
    return recorded->tasks[task].flags & TASK_INIT && run->tasks[task].flags & TASK_NESTED;
}

static bool note_task(struct rewritten_actors *actors, uint32_t task) {
    const struct dag *run = actors->run, *recorded = actors->recorded;
    const uint32_t then = recorded->actor_of[task], now = run->actor_of[task];
    if (is_dropped(run, recorded, task)) return idmap_add(&actors->gone, recorded->actors[then].id, then);
    if (now == then || now > recorded->actor_count) return true;
    const uint64_t id = recorded->actors[then].id;
    return idmap_get(&actors->joined, id) != IDMAP_NONE || idmap_add(&actors->joined, id, now);
}

bool rewritten_actors_init(struct rewritten_actors *actors, const struct dag *run, const uint64_t *part_ids) {
    actors->run = run;
    actors->recorded = run->origin ? run->origin : run;
    actors->part_ids = part_ids;
    bool ok = true;
    if (!run->origin || !run->actors) return true;
    for (uint32_t t = 0; ok && t < actors->recorded->task_count; t++)
        ok = actors->recorded->actor_of[t] == 0 || note_task(actors, t);
    return ok;
}

void rewritten_actors_destroy(struct rewritten_actors *actors) {
    idmap_destroy(&actors->gone);
    idmap_destroy(&actors->joined);
}

uint64_t rewritten_actor_id(const struct rewritten_actors *actors, uint32_t actor) {
    const struct dag_actor *of = &actors->run->actors[actor];
    if (of->id || of->init == DAG_NONE) return of->id;
    return actors->part_ids[of->init - actors->recorded->task_count];
}

// The actor that a message is for: the task's, or where that is unknown, the one that the recorded one has joined.
static void put_receiver(const struct rewritten_actors *actors, uint64_t *receiver, uint32_t task) {
    const struct dag *run = actors->run;
    uint32_t now = task == DAG_NONE ? 0 : run->actor_of[task];
    if (task == DAG_NONE && idmap_get(&actors->joined, *receiver) != IDMAP_NONE)
        now = idmap_get(&actors->joined, *receiver);
    const uint64_t id = now ? rewritten_actor_id(actors, now) : 0;
    if (id) *receiver = id;
}

static bool is_gone(const struct rewritten_actors *actors, uint64_t actor) {
    return idmap_get(&actors->gone, actor) != IDMAP_NONE;
}

// Of one that was not made, its upkeep is that of nothing.
bool rewritten_actors_event(const struct rewritten_actors *actors, struct event *event, uint32_t task) {
    if (!actors->run->origin || !actors->run->actors) return true;
    const bool gone = task != DAG_NONE && actors->run->tasks[task].flags & TASK_NESTED;
    switch (event->kind) {
    case EVENT_MESSAGE_SENT:
    case EVENT_MESSAGE_QUEUED:
        if (gone) return false;
        put_receiver(actors, &event->operand[1], task);
        return true;
    case EVENT_MESSAGE_BEGIN:
        put_receiver(actors, &event->operand[2], task);
        return true;
    case EVENT_UPKEEP_BEGIN:
    case EVENT_UPKEEP_END:
        if (is_gone(actors, event->operand[0])) event->operand[0] = 0;
        return true;
    case EVENT_ACTOR_CREATED:
    case EVENT_ACTOR_STOPPED:
    case EVENT_ACTOR_RESTARTED:
        return !is_gone(actors, event->operand[0]);
    default:
        return true;
    }
}
