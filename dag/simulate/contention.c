// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that are fought for (RULE_LOCK): who has one next is settled in order of time. The acquisitions that were
// recorded of a lock, each after the one before that it had to await, are looked through from the latest to the
// earliest: the first whose thread has got the lock, or asks for it too, is the one to wait for.
#include "dag/propagate/rules.h"
#include "dag/simulate/strand.h"

int64_t contention_look_ns(const struct strand *strand) {
    return max_ns(strand->looks_ns, strand->now_ns + strand->lead_ns);
}

// Whether the thread of an acquisition had come to ask for the lock by then. Vertex before: its BLOCK_BEGIN.
static bool has_come(const struct simulation *sim, uint32_t acquisition, int64_t by_ns) {
    int64_t asked_ns = sim->time_ns[acquisition - 1];
    return asked_ns != DAG_PENDING && asked_ns != DAG_ABSENT && asked_ns <= by_ns &&
           sim->time_ns[acquisition] != DAG_ABSENT;
}

// When the strand can look again for one who overtook it and isn't there yet: when whoever it is that had the lock
// before that one, and is not known, gives it up.
static int64_t unknown_release(const struct simulation *sim, const struct strand *strand, uint32_t overtaker) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t waited_ns = time_ns[overtaker] - time_ns[strand->vertex - 1];
    return strand->now_ns + strand->lead_ns + waited_ns;
}

// The lock is given up then. Whoever `next` is had it after that: another than the strand itself may have come for it.
static bool settle(struct strand *strand, uint32_t next, int64_t look_ns, int64_t free_ns, int64_t *time_ns) {
    *time_ns = max_ns(free_ns, look_ns);
    if (next == strand->vertex || free_ns <= look_ns) return true;
    strand->looks_ns = free_ns;
    return false;
}

bool contention_find_time(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    struct strand *strand = &sim->strands[index];
    int64_t look_ns = contention_look_ns(strand);
    uint32_t v = strand->vertex;
    strand->awaits = DAG_NONE;
    for (uint32_t next = v, holder;; next = holder) {
        holder = vertices->cause[next];
        if (has_come(sim, holder, look_ns)) {
            int64_t holds_ns = vertices->time_ns[next] - vertices->time_ns[holder], since_ns = sim->time_ns[holder];
            if (since_ns == DAG_PENDING) {
                strand->awaits = holder;
                return false;
            }
            strand->looks_ns = max_ns(look_ns, since_ns);
            return settle(strand, next, look_ns, since_ns + holds_ns, time_ns);
        }
        bool overtook = vertices->time_ns[holder] > vertices->time_ns[v - 1];
        if (!overtook) return settle(strand, v, look_ns, look_ns, time_ns); // the lock is free
        if (vertices->rule[holder] == RULE_LOCK) continue;
        return settle(strand, holder, look_ns, unknown_release(sim, strand, holder), time_ns);
    }
}
