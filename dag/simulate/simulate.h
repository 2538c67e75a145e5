// SPDX-License-Identifier: GPL-3.0-or-later
// A run under an edit, re-enacted in order of time: tasks are dispatched again under each pool's rules, and what they
// compute shares the cores. The result is a DAG of its own, which metrics read as they read a recording, and
// dag_write_run writes.
//
// Models (SPEC section 5):
//   MODEL_DAG   threads as recorded: each worker takes up the tasks that it took up, when their spawns and its own past
//               allow. Times are those of dag_propagate to the nanosecond, where that knows the edit. Where that
//               finds a deadlock, helped bodies sink (dag/edit/edit.h).
//   MODEL_POOL  tasks of a pool with a known discipline are dispatched again; every edge takes as long as recorded.
//   MODEL_CPU   like POOL, but an edge computes for its compute_ns, sharing the cores fairly with all that compute at
//               that time, and with what the JVM's own threads and other processes were seen to compute; then it sleeps
//               for the rest of it. Its queued_ns are left out, since they arise anew. Pauses of the JVM come when as
//               much has been computed in all as had been when they came (behind what ended then; while nothing
//               computes, at once), and last as long, less what was for garbage that is not made in
//               this run (garbage.h).
//
// What happens, precisely. A process is what runs vertices one after the other: a thread that no discipline governs, or
// a worker. "Now" is the instant at hand; things at one instant happen process by process: recorded threads in their
// order, then new workers in the order in which they were made.
//   Dispatch. In POOL and CPU a pool whose discipline is known dispatches its tasks that were recorded as
//     DISPATCH_NEW, WOKEN, QUEUED or CALLER; a stealing one not CALLER, but those that ran HELPED in a wait. All
//     others, those that never started among them, are taken up where they were recorded, and all pools' are in DAG.
//     The n-th worker that a pool makes is the n-th thread that was recorded of it, as long as there are any.
//   Making. A task that was made in the body of another, and handed over by a third (a future's continuation), is
//     offered when that other one has begun, if that comes later than its spawn; the bracket is as recorded (unmade.h).
//     Not in a pool whose spawners may have to run it.
//   Mailboxes. What an actor does is a job of its dispatcher's pool, one at a time (mailbox.h): what comes while the
//     job before waits or runs lies in the actor's mailbox. It is NEXT if the worker goes on with it, by the mean
//     pick-up of that kind where it was recorded otherwise. A worker goes on as often as was seen of the pool, or five
//     times; then the next is offered like a spawn. The order within a mailbox is that of
//     sending, the library's own messages first.
//   Bodies. A process runs a task's vertices from `start` to `tail`, each after its predecessor p: T(v) = T(p) + t(v) -
//     t(p). Bodies of other tasks that were recorded within (helping, caller-runs) are passed over, with the time that
//     they took, and are dispatched like all others.
//     The same holds for what a worker did between tasks: all up to a task's tail is done for that task.
//   Spawns. At SPAWN_BEGIN of an inlined task the process goes to its start and from its end behind its SPAWN_END; the
//     bracket, the pick-up and the edges into and out of the body go (dag/edit/edit.h). Else the task is offered to its
//     pool at that instant, which decides how it is dispatched (enum dispatch). If that is how it was recorded, bracket
//     and pick-up take as long as recorded; else what the pool's mean bracket and pick-up of that kind took (costs),
//     and of a part that queues, in CPU, less of that the more hand-overs came before it (cold_code.h). In
//     CPU brackets compute, and so do pick-ups of QUEUED (what they were recorded to, if as recorded), HELPED and
//     CALLER; a worker that is woken or made computes nothing until then, but may wait for a core in the end, as it
//     did. A start is at the later of its spawn and the moment when its worker came free (or was made) plus the
//     pick-up; of a caller's at its spawn plus the pick-up. What lay in a bracket that now costs a mean is gone with
//     it, unless it did other tasks' work: then the bracket stays as recorded.
//   Pools of threads (java.util.concurrent.ThreadPoolExecutor's rules). Fewer workers than core, and (wakes_first) none
//     that idles: a new one; so, too, of a pool that grows first, where of those that idle or were called there are no
//     more than tasks queue, and there are fewer than maximum. Else into
//     the queue if it has room, which calls an idle worker, if any (the one that has slept longest, or with
//     lifo_wakeups the shortest). Else, below maximum: a new worker. Else the spawner runs it (caller_runs), or it
//     takes the place of the queue's next (discards_oldest), or it is rejected; what is rejected or gave up its place
//     never runs, so that a process that awaits it is stuck. A hand-off has no queue: an idle worker, which that task
//     wakes, a new one, or rejected; a resized one gets a queue without bound. A worker that comes free takes from the
//     queue by the discipline (PRIORITY: whichever was recorded to start first), or goes idle; it retires when idle for
//     keep_alive_ns while there are more than core (or core_times_out), or at shutdown with an empty queue (as long
//     after that, or after it came free, as it was recorded; or else as the first recorded of its pool that slept at
//     the shutdown like it, or was busy). When nothing else goes on any more, idle workers retire only if all that were
//     recorded of the pool did. Spawns after a shutdown are not rejected.
//   Stages of pipelines (pipeline.h). A stage makes no thread: each is there as long after the vertex that starts it as
//     it was, takes from the queue, and goes idle; of a resized one as many as it has in this run, those beyond the
//     recorded ones with the last of them. Nothing is rejected. With the last recorded spawn to it the stage is shut
//     down, where all its threads were seen to leave and none was told to by a shutdown. Before that a thread leaves
//     behind a task behind which the recorded one did, as long as others are left; a task that nothing was seen to put,
//     and with which a thread left, is part of its leaving. Where nothing goes on any more, and that spawn did not
//     come, stages whose threads were seen to leave are shut down then.
//   Calls. While a called worker wakes up, others may come free. So it is not said what it will run. It stands for the
//     recorded worker that was the first to come after that spawn and before the queue had run empty, of as many as
//     slept at it, and for which none is on its way yet: comes as late after the spawn; takes what that one took, if
//     that is there and, of as many as are on their way, one of the first so many, else what comes first; and falls
//     asleep again where nothing is left. Where none came so, it comes a mean pick-up of WOKEN after the queue had run
//     empty then: awake before, it would have taken something. Where no more workers slept than are on their way, as
//     long after the spawn. With CPU, a worker that woke up but got no core yet had come, and does not sleep. One that
//     comes free meanwhile leaves what others come for. Brackets stay as recorded, WOKEN or QUEUED, while some worker
//     is on its way. A task that finds a worker idle for less than the pool's mean bracket and pick-up of WOKEN is
//     QUEUED, and that one takes it at once, since no worker falls asleep in an instant; unless it was recorded WOKEN,
//     or lay in the queue though more workers slept than are on their way, since those had fallen asleep.
//   Standing tasks (dag_task_stands) are those that a pool had when recording began, since the program ran before.
//     Workers that were there then come first: each begins with the task that it had or took up next, its time before
//     that passing as recorded, or else is free. All other standing tasks lie in the queue from the first instant, in
//     the order in which they were recorded to start; a worker that takes one up spends what its pick-up was recorded
//     to take. A resized pool has its further workers from that instant on, as far as there is something in the queue.
//     No spawn of theirs is simulated, and the edit finds no site that it could change them by. One that seems to stand
//     because its spawn was lost (dag_lacks_spawn) comes when its worker came to it.
//   Stealing (java.util.concurrent.ForkJoinPool's rules). A worker's spawns go to its own deque, others' to a shared
//     queue. A free worker takes its own newest, then the oldest of the shared queue, then the oldest of the worker
//     with the most. A spawn calls for a worker as long as fewer than the parallelism run: it wakes an idle one, or
//     makes one while there are fewer than the parallelism or none runs. The worker that comes takes what it then
//     finds, or goes idle. It needs as long as the spawned task's pick-up if that was WOKEN, or as the next worker took
//     to wake up and take what it then took, where one was idle and called for at that spawn, or as the recorded worker
//     that it is took from its making; else the pool's mean. One that is woken as recorded has what it takes so long
//     before its start as it had it for sure: since it was busy, or since the spawner came to await it, and found it
//     gone. A worker that has been idle for no longer than its pool's take to look around before they go idle finds the
//     task as one that queued. A bracket stays as recorded unless only one of the recorded and this one made a worker.
//     A worker that waits for a task of its pool that is not done runs it if it is in its own deque, else the oldest of
//     the worker with the most among those that work for it: that stole what they run from it, or from one that did
//     (three steps at most). Helping any other could bury a task under one that waits for it. What it took from others
//     costs the mean of what waiters took from others, unless it was recorded so. If it finds nothing it sleeps until
//     the result comes, and does not count as running. What a waiter did in its wait behind tasks that it helped with
//     (making a spare), it does once it finds no more; and what kept it from a core behind the last of them, comes
//     behind that one, or behind whatever it helps with if that runs elsewhere. An idle worker is woken in its place; a
//     spare is made if no other runs, beyond the recorded number of workers only if something is queued. Waits that
//     did not sleep when recorded and do now take the mean wake-up to end, or nothing if they are shorter than that.
//     Where several tasks bring about together what is awaited (CountedCompleter), a waiter that helped in the
//     recording runs its own newest that was helped with. A thread that is no worker of the pool runs what it waits for
//     if it is in the shared queue and ran HELPED in the recording.
//   Batches (struct dag_batch). Where a governed pool runs helpers, what they and their task share out goes to the
//     one that comes first: at a claim, in order of time, the unit that was taken next when recorded runs there as long
//     as it did, its taking included; a task takes until none is left, a helper as many as one of its site took at the
//     most. One that finds none goes on behind those that it had.
//   Threads. A task with a thread of its own starts when recorded after its spawn.
//   Waits. A wait for a task ends as dag_propagate's RULE_WAIT says, from the task's new result.
//     A wait with a time limit gives up so long after its begin, plus what it was recorded to take beyond that, or the
//     mean wake-up, unless its result is there by then. Where that is another outcome than recorded the task goes on as
//     a donor did (donors.c), or without one as recorded. Whoever gave up without one waits, up to the end of its task,
//     for no other of the tasks that this had made before, where that wait has a limit. What was cancelled behind a
//     wait that gave up has its result when it is cancelled or ends, whichever comes first; if it lies in a queue then
//     it never runs. If it was cancelled before it began, and is not now, it runs as the task of its site that was
//     spawned before it (cancelled.c). Where the wait for a pool's end is recorded, it ends when the pool has been shut
//     down and has no task left, plus the recorded rest.
//   Resources. Each is a count of units. What asks has it at once if there is enough, and: of a fair one, if none
//   waits;
//     a reader, if no writer waits first. Else it waits: in a fair list in the order in which they came, in others in
//     that in which they got it when recorded (what gave up, behind all that are there). A release calls waiters from
//     the first on, as long as there is enough for the next beside those that were called. A fair resource is theirs
//     then. Else they wake up first, and have it if there is enough still; if another takes it meanwhile, those called
//     last are called off and wait on, but for those that compute already, which come in vain. Waking takes as long as
//     it did (waking_ns), or what its waits did on the mean where there was none. A wait of unknown cause (unknown_ns)
//     takes as long as it did, and where there is but one unit, something unknown has it meanwhile. Time is up limit_ns
//     after it asked, unless it was called. Where that is another outcome than recorded the task goes on as a donor did
//     (donors.c), and gives up as recorded, whatever there is, where it has none. A lock that its process has already
//     costs nothing. Where no release is told the lock comes back held_ns after it was had. With CPU, both are shorter
//     by what such a holder stood ready without a core (unknown_ready_ns, held_ready_ns).
//   Cores. An edge is awake, computing or ready to, for compute_ns + queued_ns from its beginning on; where it sleeps
//     for its cause, up to its end, but not before the result came that it slept for. What a worker does between tasks,
//     but for pick-ups, wants no core. Between two samples others take b cores: what machine and process computed less
//     what edges did, which compute evenly while they are awake; but no more than left edges, while they were awake,
//     the cores for (0.99 of) what they computed, whatever others took while the program slept. Of n processes that are
//     awake each has min(1, (cores - b) / n) of a core. In a run these stretches end when as much has been computed in
//     all as had been by fair shares, but no later than recorded (pauses left out): what leaves cores less to do makes
//     others do no more. With fewer cores than recorded others take the same part of them, for as much longer, with
//     more as many. Schedulers are not that fair: slices of time, which woke up first, what a core was busy with. What
//     an edge got of the shares that were fair while it was awake, less what it computed, is its residual. As the
//     recording is replayed it gets all of that again, and so takes as long as it did; and what part of a core it has
//     to do without meanwhile is kept. Under an edit its residual comes back in proportion to what it has to do without
//     then: no process waits for a core that has one. Nor does any compute for less than compute_ns. A waiter's bad
//     residual before it found a task to help with comes back before it looks for one.
//   Pace. Where the trace tells what the JVM's compilers computed, an edge is work: what it computed, times the pace at
//     which it did when recorded (pacing.h), and takes as long as that takes at the pace of now. Pauses and stretches
//     of the recording are placed by work. Compilers compute beside the processes that are awake, as so many more of
//     them while there is something to compile (cores.h), and are no part of what others take.
//   Carriers. A virtual thread computes on one of as many carriers as its scheduler has, a plan says, or, on other
//     cores, there are; a process that has none waits in the order in which they became ready, and its first vertex
//     comes when it has one. It keeps that until it sleeps; where it was pinned, for as long as it slept so when
//     recorded, or until the wait is over in which it was. Where more were pinned at once than there are carriers the
//     JVM made others, and nothing keeps one asleep.
//   First use. Where an edge slept since something was done for the first time (costs.h), in CPU it sleeps until the
//     first task of its site has been there for as long as that took, but no longer than it did; if that comes later
//     than it, as long as it did. What is done but once is done by the process that did it when recorded.
//   Merge. At a spawn of a member that is not its group's last, nothing happens and no time passes. At the last one's
//     the group is spawned as one task: the members' bodies run one after the other, from the first, with the last
//     one's bracket and pick-up; every result of a member is there when the group ends. What the spawner computed
//     between two brackets to make a task, a waiter between two waits to ask for it, and the worker behind a member's
//     result is done but once (amortised.c says how much of it that is).
//   Inline. In CPU the same goes altogether between two inlined tasks.
//   Split. At the spawn, as many tasks are spawned one after the other, each with a bracket of its own (the recorded
//     one, then the mean), each with an equal part of what is computed between start and end, and all of what is slept
//     there (where nothing tells these apart, an equal part of all). The result is there when the last part ends.
//   Combinator. The coordinator is inlined up to its first wait that finds no result. There it is left, the process
//   goes
//     on behind the bracket (or, for a later wait, where that process was), and the coordinator goes on at the result
//     it awaits, on the process that brings it, before that does anything else. Its waits take no time. Or it is
//     dispatched like any task, and ends for its worker at that wait; one that its spawner has to run is inlined.
// Nothing but what it helps with is ever dispatched to a worker that waits, so when nothing can happen any more and
// work is left, the run is stuck: simulation_stuck says by what.
#ifndef REHYPE_DAG_SIMULATE_H
#define REHYPE_DAG_SIMULATE_H

#include "dag/simulate/costs.h"
#include "dag/simulate/model.h"

struct simulation; // workspace, reused from plan to plan; not shared between threads

// NULL and *error when there is no memory. The DAG and the costs must outlive it.
struct simulation *simulation_new(const struct dag *dag, const struct costs *costs, struct error *error);

// For another thread: what `other` has found out of the recording is both's, so it must outlive this. Not while `other`
// runs.
struct simulation *simulation_new_beside(const struct simulation *other, struct error *error);

// Of a replicate of the recording that `other` simulates (metrics/interval.h): a DAG of the same vertices at other
// times. Its tasks take longer or less long, but on the whole it is as short of cores: by how much for each edge,
// MODEL_CPU does not find out again, if `other` has. `other` must outlive it.
struct simulation *simulation_new_replicate(const struct dag *replicate, const struct simulation *other,
                                            struct error *error);
void simulation_free(struct simulation *simulation);

// DAG_DEADLOCK: see simulation_stuck. The edit's improvements must not have been refused. MODEL_DAG knows neither parts
// nor pool sizes nor first stages on a pool. Cost: about 100 ns a vertex (bench/analyser), by MODEL_CPU three times as
// much. Of runs of many vertices a second thread, which is gone when this returns, lays a part.
enum dag_outcome simulation_run(struct simulation *simulation, const struct dag_edit *edit, const struct model *model);

// Of a simulation in which many edits will be tried by one model: the same without an edit (which is given, and empty),
// and the state of that run is kept at a few moments. Later runs by this model, of simulations beside this one too,
// begin at the latest of these at which nothing had come up that their edit changes (snapshot.h), and come out as they
// would. Asked for again by the same model it keeps nothing anew, so that simulations beside this one may run meanwhile
// in other threads. Memory: about what one more simulation takes.
enum dag_outcome simulation_keep(struct simulation *simulation, const struct dag_edit *none, const struct model *model);

// The run, until the next one; made when first asked for, under the edit of the run, which must still be what it was.
// NULL: there is no memory. Not of a run that was stuck. Threads that were recorded come first, in their order, with no
// vertices where the edit left them nothing; workers that were not recorded come after, with the stream of one of their
// pool's. Tasks keep their index: those that were inlined, staged, merged into another or split are TASK_NESTED (with
// `result` where someone awaits it); every part of a split, the first included, is a task at the end.
const struct dag *simulation_dag(struct simulation *simulation);

// When each vertex of the recorded DAG comes in the last run (DAG_ABSENT: not at all), until the next. Of those that go
// past in a row only what others wait for is told: the ends of requests and spawns among them.
const int64_t *simulation_times(const struct simulation *simulation);

const struct stuck *simulation_stuck(struct simulation *simulation); // until the next run

// How many vertices the last run had passed where it began (simulation_keep).
uint32_t simulation_spared(const struct simulation *simulation);

struct outcomes simulation_outcomes(const struct simulation *simulation);

#endif
