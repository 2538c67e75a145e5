// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: what of the cores' clock of service (dag/simulate/cores.h) each recorded edge took, and what else kept
// the cores busy meanwhile. Both are read off the recording once, by going through it in order of time as a run goes:
// first for what others can have had at most, then for the clock.
#include "dag/simulate/service.h"

#include "dag/ns.h"
#include "dag/samples.h"
#include "dag/simulate/awake.h"
#include "dag/simulate/pacing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double recorded_cores(const struct simulation *sim) {
    uint32_t cores = sim->dag->trace->header.cores;
    return cores ? cores : INFINITY;
}

// An edge computes evenly while it is awake.
static void add_edge(const struct dag *dag, uint32_t v, uint32_t *sample, double *own_ns) {
    const struct awake awake = awake_part(dag, v, PLAYED_WHOLE);
    samples_share_out(dag, awake.from_ns, awake.to_ns, (double)dag->vertices.compute_ns[v], sample, own_ns);
}

// By sample: what edges computed from the sample before until then.
static void measure_own(const struct dag *dag, const uint8_t *played, double *own_ns) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t sample = 0;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            if (played[v] == PLAYED_WHOLE && dag->vertices.compute_ns[v] > 0) add_edge(dag, v, &sample, own_ns);
        }
    }
}

// By sample: how many cores others had on the mean from the sample before until then.
static void measure_others(struct simulation *sim, const double *own_ns) {
    const struct dag *dag = sim->dag;
    for (uint32_t s = 1; s < dag->sample_count && samples_are_own(dag); s++) {
        const struct dag_sample *from = &dag->samples[s - 1], *to = &dag->samples[s];
        double length_ns = (double)(to->time_ns - from->time_ns);
        double busy_ns = fmax((double)(to->machine_cpu_ns - from->machine_cpu_ns),
                              (double)(to->process_cpu_ns - from->process_cpu_ns));
        sim->recorded.others[s].cores = length_ns > 0 ? fmax(busy_ns - own_ns[s], 0) / length_ns : 0;
    }
}

// ---- who was awake when

// A thread wakes up, or at `vertex` falls asleep.
struct step {
    int64_t time_ns;
    uint32_t thread;
    uint32_t vertex; // DAG_NONE: it wakes up
    float part;      // of a core that it computes with while it is awake
};

// The recording in order of time: found once, and gone through twice.
struct steps {
    struct step *items;
    size_t count, capacity;
};

// While the steps are looked for.
struct waking {
    struct simulation *sim;
    const uint8_t *played;   // a vertex each: enum played
    struct event_list edges; // threads, by when their edge in hand falls asleep, or their next wakes up
    struct awake_edge {
        uint32_t vertex;
        bool begun;
        struct awake awake;
    } * edge; // in hand, a thread each
    struct steps *steps;
};

// The next edge of a thread that is awake for some time.
static void next_edge(struct waking *waking, uint32_t thread) {
    const struct dag *dag = waking->sim->dag;
    struct awake_edge *edge = &waking->edge[thread];
    uint32_t end = dag->threads[thread].first + dag->threads[thread].count;
    while (++edge->vertex < end) {
        if (!awake_is_needed(dag, edge->vertex, waking->played[edge->vertex])) continue;
        edge->awake = awake_part(dag, edge->vertex, waking->played[edge->vertex]);
        if (edge->awake.to_ns <= edge->awake.from_ns) continue;
        edge->begun = false;
        event_put(&waking->edges, NOTICE_TURN, thread, edge->awake.from_ns);
        return;
    }
}

static bool add_step(struct steps *steps, struct step step) {
    if (steps->count == steps->capacity) {
        size_t larger = steps->capacity ? 2 * steps->capacity : 1024;
        struct step *moved = realloc(steps->items, larger * sizeof *moved);
        if (!moved) return false;
        steps->items = moved;
        steps->capacity = larger;
    }
    steps->items[steps->count++] = step;
    return true;
}

// Until the clock has been found, residuals are what was computed, less than 0.
static bool take_edge(struct waking *waking, struct notice notice) {
    struct awake_edge *edge = &waking->edge[notice.subject];
    const struct awake *awake = &edge->awake;
    const double part = (double)awake->compute_ns / (double)(awake->to_ns - awake->from_ns);
    struct step step = {notice.time_ns, notice.subject, edge->begun ? edge->vertex : DAG_NONE, (float)part};
    if (!add_step(waking->steps, step)) return false;
    if (edge->begun) {
        waking->sim->recorded.residuals[edge->vertex].more_ns = -edge->awake.compute_ns;
        next_edge(waking, notice.subject);
    } else {
        edge->begun = true;
        event_put(&waking->edges, NOTICE_TURN, notice.subject, edge->awake.to_ns);
    }
    return true;
}

static bool find_steps(struct simulation *sim, const uint8_t *played, struct steps *steps) {
    const struct dag *dag = sim->dag;
    struct waking waking = {.sim = sim, .played = played, .steps = steps};
    waking.edge = malloc(((size_t)dag->thread_count + 1) * sizeof *waking.edge);
    bool ok = waking.edge && events_reserve(&waking.edges, SUBJECT_PROCESS, dag->thread_count + 1);
    for (uint32_t i = 0; ok && i < dag->thread_count; i++) {
        waking.edge[i].vertex = dag->threads[i].first;
        if (dag->threads[i].count) next_edge(&waking, i);
    }
    for (struct notice notice; ok && (notice = event_take(&waking.edges)).subject != NOTICE_NONE;)
        ok = take_edge(&waking, notice);
    events_destroy(&waking.edges);
    free(waking.edge);
    return ok;
}

// ---- what they had of the cores

// What each that is awake has had so far.
struct had {
    int64_t time_ns;                // but for pauses
    struct cores_clock got, served; // of a core; and times the pace
    double computed_ns;             // by all of them together
    double cold_ns, turns_ns;       // compiled part, and part of a core that each has to do without, times time
};

// Others' threads, as far as the recording tells them: while cores were taken.
struct crowd {
    double threads, weight; // their sum, each as long as threads were awake meanwhile
};

struct sweep {
    struct simulation *sim;
    const struct steps *steps;
    struct had *begun; // a thread each: when its edge in hand woke up
    uint32_t awake;    // so many are
    int64_t now_ns;
    struct had had;
    struct pacing *pacing;      // NULL: nothing tells the pace
    bool looks;                 // for what tells it
    double computing;           // so many cores, those that are awake
    double shared_ns, awake_ns; // since the last sample: what each that was awake had of a core; and while any was
    double work_ns;             // what the run got
    uint32_t sample, pause;     // the next to come, or the pause that goes on
    int64_t paused_ns;          // in pauses that are over
    bool paused;
    // The first time, when what others took is bounded; NULL the second time.
    int64_t *together_ns; // by number, up to `most`: how long so many, or more than `most`, were awake since a sample
    uint32_t most;
    double threads_ns; // since a sample: for how long each of them was awake, in all
    struct crowd crowd;
    const double *own_ns; // by sample: what edges computed until then
};

// When the next sample was taken, or a pause begins or ends.
static int64_t next_change_ns(const struct sweep *sweep) {
    const struct dag *dag = sweep->sim->dag;
    int64_t next_ns = sweep->sample < dag->sample_count ? dag->samples[sweep->sample].time_ns : INT64_MAX;
    if (sweep->pause == dag->pause_count) return next_ns;
    const struct dag_pause *pause = &dag->pauses[sweep->pause];
    return min_ns(next_ns, sweep->paused ? pause->end_ns : pause->begin_ns);
}

// With how many cores for all of them edges could have computed so much while they were awake.
static double cores_needed(const int64_t *together_ns, uint32_t most, double own_ns) {
    double fewer_ns = 0;    // what is computed while fewer than n are awake
    int64_t as_many_ns = 0; // how long n or more are
    uint32_t n = 1;
    for (uint32_t i = 1; i <= most; i++) as_many_ns += together_ns[i];
    for (; n <= most && as_many_ns > 0; n++) {
        double needed = (own_ns - fewer_ns) / (double)as_many_ns;
        if (needed <= n) return needed;
        fewer_ns += (double)n * (double)together_ns[n];
        as_many_ns -= together_ns[n];
    }
    return n - 1; // more would have been of no use
}

// What edges had while they were awake nobody else did, however much others took while they slept; but for a
// hundredth, so that a moment in which many were awake and had what they needed says nothing of all the time between
// two samples.
static void bound_others(struct sweep *sweep) {
    const double nearly_all = 0.99;
    struct cores_others *others = &sweep->sim->recorded.others[sweep->sample];
    double needed = cores_needed(sweep->together_ns, sweep->most, nearly_all * sweep->own_ns[sweep->sample]);
    others->cores = fmax(fmin(others->cores, recorded_cores(sweep->sim) - needed), 0);
    memset(sweep->together_ns, 0, (sweep->most + 1) * sizeof *sweep->together_ns);
}

// Whether the cores were taken from the sample before until the next; else threads that were awake and did not compute
// slept unseen.
static bool were_taken(const struct sweep *sweep) {
    const double nearly_all = 0.95;
    const struct dag *dag = sweep->sim->dag;
    const uint32_t s = sweep->sample;
    if (s == 0) return false;
    const double length_ns = (double)(dag->samples[s].time_ns - dag->samples[s - 1].time_ns);
    const double busy_ns = (double)(dag->samples[s].machine_cpu_ns - dag->samples[s - 1].machine_cpu_ns);
    return busy_ns >= nearly_all * recorded_cores(sweep->sim) * length_ns;
}

// Where each thread that was awake had a good part less than a core since cores were taken, each of others had no more
// than that: so many they were at the least, and hardly more, since they would have taken more.
static void count_others(struct sweep *sweep) {
    const double taken_from = 0.75;
    struct cores_others *others = &sweep->sim->recorded.others[sweep->sample];
    const double each = sweep->threads_ns > 0 ? sweep->own_ns[sweep->sample] / sweep->threads_ns : 1;
    const bool tells = each > 0 && each < taken_from && were_taken(sweep);
    others->threads = tells ? others->cores / each : INFINITY;
    if (others->cores > 0 && tells) {
        sweep->crowd.threads += others->threads * sweep->threads_ns;
        sweep->crowd.weight += sweep->threads_ns;
    }
    sweep->threads_ns = 0;
}

// While there was a core for each they were as many as on the mean of the other times.
static void count_others_elsewhere(const struct sweep *sweep) {
    const struct simulation *sim = sweep->sim;
    if (sweep->crowd.weight <= 0) return;
    const double mean = sweep->crowd.threads / sweep->crowd.weight;
    for (uint32_t s = 0; s < sim->dag->sample_count; s++) {
        struct cores_others *others = &sim->recorded.others[s];
        if (!isfinite(others->threads)) others->threads = fmax(mean, others->cores);
    }
}

static void pass_sample(struct sweep *sweep) {
    if (sweep->together_ns) {
        bound_others(sweep);
        count_others(sweep);
    }
    if (sweep->pacing && !sweep->looks)
        sweep->pacing->rate[sweep->sample] = (float)(sweep->awake_ns > 0 ? sweep->shared_ns / sweep->awake_ns : 1);
    sweep->shared_ns = sweep->awake_ns = 0;
    struct cores_background *stretch = &sweep->sim->recorded.background[sweep->sample++];
    stretch->until_work_ns = (int64_t)sweep->work_ns;
    stretch->until_ns = sweep->now_ns - sweep->paused_ns;
}

static void pass_change(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    const struct dag *dag = sim->dag;
    if (sweep->sample < dag->sample_count && dag->samples[sweep->sample].time_ns <= sweep->now_ns) {
        pass_sample(sweep);
        return;
    }
    const struct dag_pause *pause = &dag->pauses[sweep->pause];
    if (!sweep->paused) {
        sim->recorded.pauses[sweep->pause] =
            (struct cores_pause){(int64_t)sweep->work_ns, pause->end_ns - pause->begin_ns};
    } else {
        sweep->pause++;
        sweep->paused_ns += pause->end_ns - pause->begin_ns;
    }
    sweep->paused = !sweep->paused;
}

static double rate(const struct sweep *sweep) {
    const struct simulation *sim = sweep->sim;
    return cores_rate(recorded_cores(sim), sim->recorded.others[sweep->sample], sweep->awake);
}

// Returns the pace; 1 as long as it is looked for.
static double pass_pace(struct sweep *sweep, double cold, int64_t length_ns) {
    const struct simulation *sim = sweep->sim;
    sweep->had.time_ns += length_ns;
    sweep->had.computed_ns += sweep->computing * (double)length_ns;
    sweep->had.cold_ns += cold * (double)length_ns;
    sweep->had.turns_ns += (1 - rate(sweep)) * (double)length_ns;
    if (sweep->looks) return 1;
    sweep->shared_ns += rate(sweep) * (double)length_ns;
    sweep->awake_ns += (double)length_ns;
    const struct pace_when when = pace_when_shared(cold, rate(sweep), sweep->awake, recorded_cores(sim));
    return pace_at(&sweep->pacing->pace, &when);
}

static void serve_at(struct sweep *sweep, double cold, int64_t length_ns) {
    double each_ns = (double)length_ns * rate(sweep), work_ns = each_ns;
    if (sweep->pacing) work_ns *= pass_pace(sweep, cold, length_ns);
    cores_clock_pass(&sweep->had.got, each_ns);
    cores_clock_pass(&sweep->had.served, work_ns);
    sweep->work_ns += work_ns * sweep->awake;
}

// Until code is of another class, or to the end.
static int64_t piece_ns(const struct sweep *sweep, double cold, double cold_end, int64_t length_ns) {
    const double next = (pace_class(cold) + 1.0) / PACE_CLASSES;
    if (sweep->looks || cold_end <= next) return length_ns;
    const int64_t ns = (int64_t)ceil((next - cold) / (cold_end - cold) * (double)length_ns);
    return ns < 1 ? 1 : min_ns(ns, length_ns);
}

// In pieces in which code is of one class each.
static void serve_paced(struct sweep *sweep, int64_t from_ns, int64_t until_ns) {
    const struct dag *dag = sweep->sim->dag;
    const double cold_end = pacing_cold_part(sweep->pacing, dag, sweep->sample, until_ns);
    double cold = pacing_cold_part(sweep->pacing, dag, sweep->sample, from_ns);
    for (int64_t left_ns = until_ns - from_ns; left_ns > 0;) {
        const int64_t ns = piece_ns(sweep, cold, cold_end, left_ns);
        const double next = cold + (cold_end - cold) * (double)ns / (double)left_ns;
        serve_at(sweep, (cold + next) / 2, ns);
        left_ns -= ns;
        cold = next;
    }
}

static void be_together(struct sweep *sweep, int64_t length_ns) {
    sweep->together_ns[sweep->awake < sweep->most ? sweep->awake : sweep->most] += length_ns;
    sweep->threads_ns += (double)sweep->awake * (double)length_ns;
}

static void serve(struct sweep *sweep, int64_t until_ns) {
    int64_t from_ns = sweep->now_ns;
    sweep->now_ns = until_ns;
    if (sweep->paused || sweep->awake == 0) return; // before the first edge the clock stands at INT64_MIN
    if (sweep->together_ns)
        be_together(sweep, until_ns - from_ns);
    else if (sweep->pacing)
        serve_paced(sweep, from_ns, until_ns);
    else
        serve_at(sweep, 1, until_ns - from_ns);
}

static void pass_to(struct sweep *sweep, int64_t until_ns) {
    for (int64_t change_ns; (change_ns = next_change_ns(sweep)) <= until_ns;) {
        serve(sweep, max_ns(change_ns, sweep->now_ns));
        pass_change(sweep);
    }
    serve(sweep, until_ns);
}

static void pace_edge(const struct sweep *sweep, const struct step *step, double got_ns) {
    struct pacing *pacing = sweep->pacing;
    const struct had *begun = &sweep->begun[step->thread];
    const uint32_t vertex = step->vertex;
    const double part = step->part;
    if (got_ns <= 0) return;
    if (!sweep->looks) {
        pacing->edge_pace[vertex] = (float)(cores_clock_since(sweep->had.served, begun->served) / got_ns);
        return;
    }
    const double length_ns = (double)(sweep->had.time_ns - begun->time_ns);
    if (length_ns <= 0) return;
    const double others = (sweep->had.computed_ns - begun->computed_ns) / length_ns - part;
    struct pace_when *when = &pacing->when[vertex];
    when->part[PACE_COLD] = (sweep->had.cold_ns - begun->cold_ns) / length_ns;
    when->part[PACE_CROWD] = pace_crowd(part, others, recorded_cores(sweep->sim));
    // Not 1 - part: a task that takes longer is likelier to lose its core.
    when->part[PACE_TURNS] = (sweep->had.turns_ns - begun->turns_ns) / length_ns;
}

static void take_step(struct sweep *sweep, const struct step *step) {
    if (step->vertex == DAG_NONE) {
        sweep->begun[step->thread] = sweep->had;
        sweep->awake++;
        sweep->computing += step->part;
        return;
    }
    sweep->awake--;
    sweep->computing = sweep->awake ? sweep->computing - step->part : 0;
    if (sweep->together_ns) return;
    const double got_ns = cores_clock_since(sweep->had.got, sweep->begun[step->thread].got);
    if (sweep->pacing) pace_edge(sweep, step, got_ns);
    if (sweep->looks) return;
    sweep->sim->recorded.residuals[step->vertex].more_ns += (int64_t)round(got_ns);
}

static void go_through(struct sweep *sweep) {
    const struct steps *steps = sweep->steps;
    sweep->now_ns = INT64_MIN;
    if (steps->count) sweep->now_ns = min_ns(steps->items[0].time_ns, next_change_ns(sweep));
    for (size_t i = 0; i < steps->count; i++) {
        pass_to(sweep, steps->items[i].time_ns);
        take_step(sweep, &steps->items[i]);
    }
    pass_to(sweep, INT64_MAX - 1);
}

// What there is beside edges in a run: compilers that are known compute for themselves.
static void find_background(struct simulation *sim, bool compilers_known) {
    const struct dag *dag = sim->dag;
    for (uint32_t s = 0; s < dag->sample_count; s++) {
        const struct dag_sample *from = &dag->samples[s ? s - 1 : 0], *to = &dag->samples[s];
        const double length_ns = (double)(to->time_ns - from->time_ns);
        const struct cores_others others = sim->recorded.others[s];
        const double compiling =
            compilers_known && length_ns > 0 ? (double)(to->compiled_ns - from->compiled_ns) / length_ns : 0;
        const double left = others.cores > 0 ? fmax(1 - compiling / others.cores, 0) : 0;
        sim->recorded.background[s].others =
            left > 0 ? (struct cores_others){left * others.cores, left * others.threads} : (struct cores_others){0};
    }
}

static bool anyone_else(const struct simulation *sim) {
    bool any = false;
    for (uint32_t s = 0; s < sim->dag->sample_count && !any; s++) any = sim->recorded.others[s].cores > 0;
    return any;
}

// Of a replicate as of the recording itself: samples are of that.
static bool measure_background(const struct sweep *over, const uint8_t *played) {
    struct simulation *sim = over->sim;
    const struct dag *dag = sim->dag;
    if (sim->replicated && sim->replicated->calibrated) {
        memcpy(sim->recorded.others, sim->replicated->recorded.others,
               dag->sample_count * sizeof *sim->recorded.others);
        return true;
    }
    uint32_t cores = dag->trace->header.cores;
    double *own_ns = calloc((size_t)dag->sample_count + 1, sizeof *own_ns);
    struct sweep sweep = *over;
    sweep.own_ns = own_ns;
    sweep.most = cores && cores < dag->thread_count ? cores : dag->thread_count;
    sweep.together_ns = calloc((size_t)sweep.most + 1, sizeof *sweep.together_ns);
    bool ok = own_ns && sweep.together_ns;
    if (ok) {
        measure_own(dag, played, own_ns);
        measure_others(sim, own_ns);
        if (anyone_else(sim)) {
            go_through(&sweep);
            count_others_elsewhere(&sweep);
        }
    }
    free(own_ns);
    free(sweep.together_ns);
    return ok;
}

// In a way through the recording of its own, or of a replicate as of the recording itself.
static bool learn_pace(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    struct pacing *pacing = sim->recorded.pacing;
    if (sim->replicated && sim->replicated->recorded.pacing) {
        pacing->pace = sim->replicated->recorded.pacing->pace;
        pacing->cold = sim->replicated->recorded.pacing->cold;
        if (pacing->pace.known) sweep->pacing = pacing;
        return true;
    }
    struct sweep looking = *sweep;
    looking.pacing = pacing;
    looking.looks = true;
    go_through(&looking);
    if (!pacing_learn(pacing, sim->dag)) return false;
    if (pacing->pace.known) sweep->pacing = pacing;
    return true;
}

static void find_mean_pace(struct pacing *pacing, const struct dag *dag) {
    double work_ns = 0, computed_ns = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (pacing->edge_pace[v] <= 0) continue;
        work_ns += pacing->edge_pace[v] * (double)dag->vertices.compute_ns[v];
        computed_ns += (double)dag->vertices.compute_ns[v];
    }
    pacing->mean = computed_ns > 0 ? work_ns / computed_ns : 1;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (pacing->edge_pace[v] <= 0) pacing->edge_pace[v] = (float)pacing->mean;
    }
}

// Where the pace is not known compilers are among others. These don't give way for nothing: what is not compiled takes
// longer.
static void keep_compilers(const struct sweep *sweep) {
    const struct simulation *sim = sweep->sim;
    const uint32_t samples = sim->dag->sample_count;
    if (sweep->pacing || samples == 0 || sim->dag->samples[samples - 1].compiled_ns <= 0) return;
    for (uint32_t s = 0; s < samples; s++) sim->recorded.others[s].threads = INFINITY;
}

static bool pace_run(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    struct pacing *pacing = sim->recorded.pacing;
    if (pacing && !learn_pace(sweep)) return false;
    keep_compilers(sweep);
    go_through(sweep);
    find_background(sim, sweep->pacing);
    if (!sweep->pacing) return true;
    find_mean_pace(pacing, sim->dag);
    pacing_find_compiling(pacing, sim->dag, sim->recorded.background);
    return true;
}

static bool measure(struct simulation *sim) {
    struct steps steps = {0};
    struct sweep sweep = {.sim = sim, .steps = &steps};
    uint8_t *played = awake_played_new(sim->dag);
    sweep.begun = malloc(((size_t)sim->dag->thread_count + 1) * sizeof *sweep.begun);
    bool ok = played && sweep.begun && find_steps(sim, played, &steps) && measure_background(&sweep, played);
    ok = ok && pace_run(&sweep);
    free(steps.items);
    free(sweep.begun);
    free(played);
    return ok;
}

bool service_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    free(sim->recorded.residuals); // of an attempt without enough memory
    free(sim->recorded.pauses);
    free(sim->recorded.background);
    free(sim->recorded.others);
    pacing_free(sim->recorded.pacing);
    bool no_memory = false;
    sim->recorded.pacing = samples_are_own(dag) && corrects(sim, CORRECTION_PACE) ? pacing_new(dag, &no_memory) : NULL;
    sim->recorded.residuals = calloc((size_t)dag->vertex_count + 1, sizeof *sim->recorded.residuals);
    sim->recorded.pauses = calloc((size_t)dag->pause_count + 1, sizeof *sim->recorded.pauses);
    sim->recorded.background = calloc((size_t)dag->sample_count + 1, sizeof *sim->recorded.background);
    sim->recorded.others = calloc((size_t)dag->sample_count + 1, sizeof *sim->recorded.others);
    bool ok = !no_memory && sim->recorded.residuals && sim->recorded.pauses && sim->recorded.background &&
              sim->recorded.others && measure(sim);
    for (uint32_t i = 0; ok && i < dag->thread_count; i++) { // a carrier is kept, and not shared
        const struct dag_thread *thread = &dag->threads[i];
        if (thread->is_virtual)
            memset(&sim->recorded.residuals[thread->first], 0, thread->count * sizeof *sim->recorded.residuals);
    }
    if (ok && !corrects(sim, CORRECTION_SERVICE))
        memset(sim->recorded.residuals, 0, ((size_t)dag->vertex_count + 1) * sizeof *sim->recorded.residuals);
    for (uint32_t i = 0; ok && i < dag->sample_count && !corrects(sim, CORRECTION_OTHER_LOAD); i++)
        sim->recorded.background[i].others = (struct cores_others){0};
    return ok;
}

struct pickup_service service_of_pickup(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[index];
    struct pickup_service pickup = {0};
    if (!sim->shares || task->start == DAG_NONE || (task->spawn_begin == DAG_NONE && !dag_task_stands(task)))
        return pickup;
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t since_ns = dag_pickup_from_ns(dag, task);
    uint32_t first = dag->threads[task->thread].first, from = task->pickup > first ? task->pickup - 1 : first;
    for (uint32_t v = from + 1; v <= task->start; v++) {
        if (time_ns[v] <= since_ns) continue;
        pickup.residual.more_ns += sim->recorded.residuals[v].more_ns;
        pickup.compute_ns += dag->vertices.compute_ns[v];
    }
    if (task->dispatch == DISPATCH_QUEUED || task->dispatch == DISPATCH_NEXT) return pickup;
    // A worker that was kept from a core before the task was spawned was not kept from the task.
    int64_t kept_ns = time_ns[task->start] - since_ns - sim->costs->pickup_ns[index];
    pickup.residual.more_ns = min_ns(max_ns(pickup.residual.more_ns, 0), max_ns(kept_ns, 0));
    return pickup;
}
