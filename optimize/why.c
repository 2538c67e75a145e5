// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/why.h"

#include "optimize/sentence.h"

struct facts {
    uint32_t bodies, awaited, at_once;
    double mean_ns;
};

// The spawner does nothing but wait for it, as good as: less than a tenth of the body's time lies in between.
static bool is_awaited_at_once(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t next = task->spawn_end + 1;
    if (task->spawn_end == DAG_NONE || task->end == DAG_NONE || next >= dag->vertex_count) return false;
    if (vertices->task[next] != index || vertices->kind[next] != VERTEX_WAIT_BEGIN) return false;
    int64_t between = vertices->time_ns[next] - vertices->time_ns[task->spawn_end];
    return between * 10 < vertices->time_ns[task->end] - vertices->time_ns[task->start];
}

static struct facts facts_of(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    struct facts facts = {0};
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &dag->tasks[improvement->tasks[i]];
        if (task->start != DAG_NONE && task->end != DAG_NONE) {
            facts.bodies++;
            facts.mean_ns += (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
        }
        facts.awaited += task->awaited > 0;
        facts.at_once += is_awaited_at_once(dag, improvement->tasks[i]);
    }
    if (facts.bodies) facts.mean_ns /= facts.bodies;
    return facts;
}

static void say_tasks(struct sentence *sentence, const struct improvement *improvement) {
    const struct facts facts = facts_of(improvement);
    const uint32_t count = improvement->task_count;
    const bool one = count == 1;
    if (count == 0) {
        say(sentence, "no such task");
        return;
    }
    say_count(sentence, count);
    say(sentence, one ? " task" : " tasks");
    if (facts.bodies) {
        say(sentence, " of ");
        say_duration(sentence, facts.mean_ns);
    }
    say(sentence, one ? " is " : " are ");
    if (facts.at_once * 2 > count)
        say(sentence, "awaited at once by %s spawner", one ? "its" : "their");
    else if (facts.awaited * 2 > count)
        say(sentence, "awaited later");
    else
        say(sentence, "awaited by no thread");
}

static void say_threads(struct sentence *sentence, double change, const char *when) {
    if (fabs(change) < 0.05)
        say(sentence, "as many threads %s", when);
    else
        say(sentence, "%.1f threads %s %s", fabs(change), change < 0 ? "fewer" : "more", when);
}

static struct sentence begin(const struct why *why, char *text, size_t size) {
    struct sentence sentence = sentence_begin(text, size);
    if (why->trace) say(&sentence, "in %s: ", why->trace);
    return sentence;
}

void why_write(const struct why *why, char *text, size_t size) {
    struct sentence sentence = begin(why, text, size);
    say_tasks(&sentence, why->improvement);
    if (why->improvement->refusal) {
        say(&sentence, ", and can't be inlined: of one, %s", why->improvement->refusal);
        return;
    }
    const struct metrics *base = why->base;
    const struct usage *now = &why->estimate->threads[STATE_OCCUPIED], *then = &base->threads[STATE_OCCUPIED];
    say(&sentence, ": ");
    say_threads(&sentence, now->peak - then->peak, "at peak");
    say(&sentence, ", ");
    say_threads(&sentence, now->mean - then->mean, "on average");
    double change =
        base->wall_ns ? 100.0 * (double)(why->estimate->wall_ns - base->wall_ns) / (double)base->wall_ns : 0;
    say(&sentence, ", wall %+.1f %%", fabs(change) < 0.05 ? 0.0 : change);
    if (why->failed) say(&sentence, "; does not meet %s", why->failed);
}

void why_write_stuck(const struct why *why, const struct estimator *estimator, char *text, size_t size) {
    struct sentence sentence = begin(why, text, size);
    char cycle[200];
    estimator_stuck_text(estimator, cycle, sizeof cycle);
    say_count(&sentence, why->improvement->task_count);
    say(&sentence,
        why->improvement->task_count == 1 ? " task inlined would deadlock: %s" : " tasks inlined would deadlock: %s",
        cycle);
}
