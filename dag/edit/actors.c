// SPDX-License-Identifier: GPL-3.0-or-later
// Actors (A 7.1). No vertex of a handler changes, and no edge from a message's sending to its handling. What changes is
// which mailbox a message lies in, and which pool's workers empty that (dag/simulate/mailbox.h):
//   join    messages of the one go to the other's mailbox. Its initialisation goes, and what the library did and sent
//           to make and to stop it (dag/build/upkeep.c); unless it sent or made something as it began, which others
//           may need: then all that stays, as something that the other does
//   copy    messages go to so many mailboxes by turns, in the order in which they are sent; each copy is initialised as
//           the original was, when that is made
//   follow  a message is handled by the worker of the handler that sent it, right behind that, without a hand-over
//   move    what an actor does is a job of another dispatcher
// Sound where the actor's state can be shared, or divided, or the order between messages does not matter, which no
// trace can tell: a proposal has to say so.
#include "dag/edit/edit.h"

static const char *dispatcher_refusal(const struct dag *dag, uint32_t pool) {
    if (pool == 0 || pool >= dag->pool_count) return "no dispatcher that is known runs it";
    return dag->pools[pool].discipline == DISCIPLINE_UNKNOWN ? "the rules of its dispatcher are unknown" : NULL;
}

const char *dag_actor_refusal(const struct dag *dag, uint32_t actor) {
    return dispatcher_refusal(dag, dag->actors[actor].pool);
}

const char *dag_follow_refusal(const struct dag *dag, uint32_t message) {
    const struct dag_task *task = &dag->tasks[message];
    if (task->spawner == DAG_NONE || !(dag->tasks[task->spawner].flags & TASK_OF_ACTOR)) return "no handler sent it";
    const char *refusal = dispatcher_refusal(dag, task->pool);
    return refusal ? refusal : dispatcher_refusal(dag, dag->tasks[task->spawner].pool);
}

// Whether a body hands over, makes or brings about something.
static bool shows(const struct dag *dag, const struct dag_task *task) {
    const unsigned seen = 1u << VERTEX_SPAWN_BEGIN | 1u << VERTEX_START | 1u << VERTEX_RESULT | 1u << VERTEX_SHUTDOWN;
    for (uint32_t v = task->start + 1; v < task->end; v++) {
        if (1u << dag->vertices.kind[v] & seen) return true;
    }
    return false;
}

void dag_edit_join_actor(struct dag_edit *edit, const struct dag *dag, uint32_t actor, uint32_t into) {
    const uint32_t init = dag->actors[actor].init;
    if (actor == into) return;
    edit->actors_count += !edit->actors[actor].joins;
    edit->actors[actor].joins = into;
    edit->actors[actor].gone = init != DAG_NONE && dag->tasks[init].end != DAG_NONE && !shows(dag, &dag->tasks[init]);
}

void dag_edit_copy_actor(struct dag_edit *edit, uint32_t actor, uint32_t copies) {
    edit->actors_count += !edit->actors[actor].copies;
    edit->actors[actor].copies = copies;
}

void dag_edit_follow(struct dag_edit *edit, uint32_t message) {
    edit->actors_count += !edit->follows[message];
    edit->follows[message] = 1;
}

uint32_t dag_edit_own_pool(struct dag_edit *edit, uint32_t like, int32_t threads) {
    if (edit->own_pool_count == OWN_POOLS_MOST) return 0;
    edit->own_pools[edit->own_pool_count] = (struct own_pool){like, threads};
    return ++edit->own_pool_count;
}

void dag_edit_move_actor(struct dag_edit *edit, uint32_t actor, uint32_t own_pool) {
    edit->actors_count += !edit->actors[actor].own_pool;
    edit->actors[actor].own_pool = own_pool;
}
