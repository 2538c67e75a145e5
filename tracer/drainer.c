// SPDX-License-Identifier: Apache-2.0
#include "tracer/drainer.h"

#include "tracefile/ongoing.h"
#include "tracer/clock.h"
#include "tracer/compilers.h"
#include "tracer/cost_meter.h"
#include "tracer/memory_room.h"
#include "tracer/parting.h"
#include "tracer/registry.h"
#include "tracer/rotation.h"
#include "tracer/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_EVENTS = 16384,
    SHORTEST_PAUSE_NS = 500000,
    POLLED_PAUSE_NS = 8000000, // up to here; a burst in a longer one wakes the drainer
    LONGEST_PAUSE_NS = SAMPLE_PERIOD_NS,
    CLOCK_PERIOD_NS = 1000000000,
    REST_PERIOD_NS = 1000000000,
    PARTS_PERIOD_NS = 200000000,
    PARTS_MOST_EVENTS = 1 << 18,   // some 10 MiB
    PARTS_MOST_SEGMENTS = 1 << 14, // some 10 ms to write, in which rings fill up
    ENDED_MOST = 32,               // channels that end in one pause; the last of them wakes the drainer
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of live and joinable; never held while writing
static struct ring_bell bell;
static struct channel *live;
static bool joinable;
static _Atomic(bool) stopping;
static _Atomic(uint32_t) ended_since_round; // channels
static struct drainer_settings settings;
static struct chunks chunks; // of all rings; stays, since threads may still write into those of an earlier recording
static uint32_t recording;   // number of the one under way, or of the last; changes only while there is none
static _Atomic(bool) running;

static pthread_t thread;
static struct trace_writer *writer;
static struct event *batch;
static struct parting parting;
static uint64_t ticks_a_second, clock_written_ns, sample_due_ns, parts_written_ns, costs_due_ns, rest_due_ns;
static struct sampler sampler;
static struct compilers compilers;
static struct event_cost costs[EVENT_KINDS]; // as known by now
static bool costs_known;
static bool finishing;       // all that is left is to be written
static uint64_t round_ticks; // when the round began: what comes later is for another one
static bool behind;          // of which there is some
static const char *stopped_because;

// Of several files.
static struct ongoing ongoing;
static struct parting held;    // what is younger than the cut
static uint64_t cut_ticks;     // 0: no cut is under way
static unsigned rounds_to_cut; // until all that is older has been written
static uint64_t file_events;   // in the file, but for those that it repeats

bool drainer_running(void) {
    return atomic_load_explicit(&running, memory_order_relaxed);
}

void drainer_set(const struct drainer_settings *wanted) {
    settings = *wanted;
}

// As many chunks that there are some for some thousand threads.
static uint32_t chunk_bytes_for(uint64_t limit_bytes) {
    enum { CHUNKS = 4096 };
    uint32_t bytes = CHUNK_MOST_BYTES;
    while (bytes > CHUNK_LEAST_BYTES && bytes > limit_bytes / CHUNKS) bytes /= 2;
    return bytes;
}

static void limit_memory(void) {
    uint64_t bytes = settings.memory_bytes;
    if (!bytes) bytes = memory_share(memory_room_read("").available_bytes + chunks_taken_bytes(&chunks));
    chunks_limit(&chunks, bytes);
}

// Without memory every event is lost, and counted.
static void provide_memory(void) {
    const uint64_t total = memory_room_read("").total_bytes;
    uint64_t bytes = settings.memory_bytes ? settings.memory_bytes : memory_share(total);
    if (total && bytes > total) bytes = total;
    if (!chunks.memory) chunks_reserve(&chunks, 2 * bytes, chunk_bytes_for(bytes));
    limit_memory();
}

struct channel *drainer_open(uint32_t thread_id, uint32_t ring_records) {
    struct channel *channel = aligned_alloc(_Alignof(struct channel), sizeof *channel);
    if (!channel) return NULL;
    ring_init(&channel->ring, &chunks, ring_records, &bell);
    channel->thread = thread_id;
    channel->owner = 0;
    channel->brief.count = 0;
    channel->recording = recording;
    atomic_init(&channel->ended, false);
    pthread_mutex_lock(&lock);
    channel->next = live;
    live = channel;
    pthread_mutex_unlock(&lock);
    return channel;
}

void drainer_close(struct channel *channel) {
    atomic_store_explicit(&channel->ended, true, memory_order_release); // pairs with drain_channel's acquire load
    // So that threads that live for a moment use few chunks in turns.
    if (atomic_fetch_add_explicit(&ended_since_round, 1, memory_order_relaxed) + 1 == ENDED_MOST) ring_bell_ring(&bell);
}

static bool no_memory(void) {
    stopped_because = "no memory for events that wait to be written";
    return false;
}

static bool put_events(uint32_t thread_id, const struct event *events, size_t count) {
    if (settings.several_files && !ongoing_take(&ongoing, thread_id, events, count)) return no_memory();
    file_events += count;
    if (!trace_write_events(writer, thread_id, events, count)) return false;
    if (events[count - 1].kind == EVENT_THREAD_END) trace_end_thread(writer, thread_id);
    return true;
}

static bool hold_events(uint32_t thread_id, struct event *events, size_t count) {
    uint64_t owner = parting_owner(thread_id, 1);
    return parting_take(&held, &owner, events, &count) || no_memory();
}

// All events come through here: into the file, or, if they are younger than a cut that is under way, held.
static bool write_events(uint32_t thread_id, struct event *events, size_t count) {
    size_t older = cut_ticks ? 0 : count;
    while (older < count && events[older].time < cut_ticks) older++;
    return (older == 0 || put_events(thread_id, events, older)) &&
           (older == count || hold_events(thread_id, events + older, count - older));
}

static bool write_part_of(void *unused, uint32_t thread_id, struct event *events, size_t count) {
    (void)unused;
    return write_events(thread_id, events, count);
}

static bool name_thread(uint32_t thread_id, const struct trace_thread *named) {
    return ongoing_name(&ongoing, thread_id, named) || no_memory();
}

// Writes what is new of the tables.
static bool write_names(void) {
    return registry_flush(writer, settings.several_files ? name_thread : NULL);
}

// Ids must be in the file before their first use, and whatever a drained event names was registered before it.
static bool write_batch(const struct channel *channel, size_t count) {
    return count == 0 || (write_names() && write_events(channel->thread, batch, count));
}

static bool write_parts(bool all) {
    if (parting_write(&parting, write_part_of, NULL, all)) return true;
    if (!trace_writer_error(writer)) no_memory();
    return false;
}

static bool write_last_loss(struct channel *channel) {
    uint64_t lost = ring_unreported(&channel->ring);
    if (lost == 0) return true;
    batch[0] = (struct event){.time = clock_ticks(), .kind = EVENT_LOST, .operand = {lost}};
    return write_batch(channel, 1);
}

static const uint64_t NO_MORE = UINT64_MAX; // of times: the thread has ended, and what was held back is let go

// `until`: what the thread recorded before that time is in this batch or an earlier one.
static size_t leave_out(struct channel *channel, size_t count, uint64_t until) {
    if (settings.least_ticks == 0) return count;
    return brief_filter(&channel->brief, settings.least_ticks, until, batch, count);
}

static bool write_due_sample(void);

// Of the last event. What a probe measured has none.
static uint64_t latest_ticks(size_t count) {
    while (count > 0 && batch[count - 1].kind == RING_TIMED) count--;
    return count > 0 ? batch[count - 1].time : 0;
}

// Empties one ring, of what it had when the round began. *seen is how many events there were; *gone, whether the
// producer has ended and all is written.
static bool drain_channel(struct channel *channel, size_t *seen, bool *gone) {
    *gone = atomic_load_explicit(&channel->ended, memory_order_acquire); // before draining: then all of it is visible
    bool ours = channel->recording == recording; // what a thread still had of an earlier recording is no one's
    size_t count;
    bool more;
    do {
        if (!write_due_sample()) return false; // a round may be long
        uint64_t until = *gone ? NO_MORE : clock_ticks();
        count = ring_drain(&channel->ring, batch, BATCH_EVENTS);
        if (count == BATCH_EVENTS) until = 0; // there may be more in the ring
        *seen += count;
        more = count == BATCH_EVENTS && (*gone || finishing || latest_ticks(count) < round_ticks);
        if (!ours) continue;
        size_t own = leave_out(channel, cost_meter_take(batch, count), until);
        if (!parting_take(&parting, &channel->owner, batch, &own)) return no_memory();
        if (!write_batch(channel, own)) return false;
    } while (more);
    behind |= count == BATCH_EVENTS;
    return !ours || !*gone || write_last_loss(channel);
}

static void unlink_channel(struct channel *channel) {
    pthread_mutex_lock(&lock);
    struct channel **link = &live;
    while (*link != channel) link = &(*link)->next;
    *link = channel->next;
    pthread_mutex_unlock(&lock);
}

// The longer they are kept, the fewer and larger a virtual thread's blocks.
static bool write_due_parts(void) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns - parts_written_ns < PARTS_PERIOD_NS && parting.event_count < PARTS_MOST_EVENTS &&
        parting.segment_count < PARTS_MOST_SEGMENTS)
        return true;
    parts_written_ns = now_ns;
    return write_parts(false);
}

// One round over all rings. Channels are only ever added at the head, and only this thread unlinks: walking from a
// snapshot of the head needs no lock.
static bool drain_all(size_t *seen) {
    atomic_store_explicit(&ended_since_round, 0, memory_order_relaxed);
    behind = false;
    round_ticks = clock_ticks();
    pthread_mutex_lock(&lock);
    struct channel *channel = live;
    pthread_mutex_unlock(&lock);
    while (channel) {
        struct channel *next = channel->next;
        bool gone;
        if (!drain_channel(channel, seen, &gone)) return false;
        if (gone) {
            unlink_channel(channel);
            ring_reset(&channel->ring);
            free(channel);
        }
        channel = next;
    }
    parting_round(&parting);
    return write_names() && write_due_parts();
}

// What is left of the machine may be less by now.
static void rest_memory(void) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns < rest_due_ns) return;
    rest_due_ns = now_ns + REST_PERIOD_NS;
    chunks_rest(&chunks);
    limit_memory();
}

static struct channel *jvm_channel(void) {
    pthread_mutex_lock(&lock);
    struct channel *channel = live;
    pthread_mutex_unlock(&lock);
    while (channel && (channel->thread != 0 || channel->recording != recording)) channel = channel->next;
    return channel;
}

// A sample is this thread's own, in the JVM's stream: it takes its place among the events that are in the ring by now.
static bool write_sample(void) {
    enum { MOST = 2 };
    static const struct channel nobody; // thread 0, before the agent has opened its channel
    struct event samples[MOST] = {sampler_take(&sampler)};
    const size_t taken = compilers_take(&compilers, samples[0].time, &samples[1]) ? 2 : 1;
    struct channel *channel = jvm_channel();
    size_t count = channel ? ring_drain(&channel->ring, batch, BATCH_EVENTS - MOST) : 0, at = count;
    while (at > 0 && batch[at - 1].time > samples[0].time) at--;
    memmove(batch + at + taken, batch + at, (count - at) * sizeof *batch);
    memcpy(batch + at, samples, taken * sizeof *samples);
    return write_batch(channel ? channel : &nobody, count + taken);
}

static bool write_due_sample(void) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (settings.without_samples || now_ns < sample_due_ns) return true;
    bool late = now_ns - sample_due_ns >= SAMPLE_PERIOD_NS;
    sample_due_ns = (late ? now_ns : sample_due_ns) + SAMPLE_PERIOD_NS;
    return write_sample();
}

static bool write_clock(uint64_t least_age_ns) {
    uint64_t ticks, ns;
    if (!clock_uses_counter) return true;
    if (clock_ns(CLOCK_MONOTONIC) - clock_written_ns < least_age_ns) return true;
    clock_pair(&ticks, &ns);
    clock_written_ns = ns;
    return trace_write_clock(writer, ticks, ns);
}

// Now and then, so that a run that is killed has them as well.
static bool write_costs(void) {
    if (!cost_meter_costs(ticks_a_second, costs)) return true;
    costs_known = true;
    return trace_write_event_costs(writer, costs);
}

static bool write_due_costs(void) {
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (now_ns < costs_due_ns) return true;
    costs_due_ns = now_ns + CLOCK_PERIOD_NS;
    return write_costs();
}

// Another file --------------------------------------------------------------------------------------------------------

// All that is older than now is in the rings, or was taken from them; what was taken of virtual threads may be written
// when every ring has been emptied once more.
static bool begin_cut(void) {
    enum { ROUNDS = 2 };
    if (!settings.without_samples && !write_sample()) return false;
    cut_ticks = clock_ticks();
    rounds_to_cut = ROUNDS;
    return true;
}

static bool write_held(void *unused, uint32_t thread_id, struct event *events, size_t count) {
    (void)unused;
    return put_events(thread_id, events, count);
}

static bool release_held(void) {
    cut_ticks = 0;
    if (parting_write(&held, write_held, NULL, true)) return true;
    if (!trace_writer_error(writer)) no_memory();
    return false;
}

static bool cannot_go_on(const struct error *error) {
    static char why[ERROR_CAUSE_BYTES];
    stopped_because = error_text(error, why, sizeof why);
    return false;
}

// The file that goes on is there before the other says so.
static bool close_for(struct trace_writer *next) {
    struct trace_end end = {0};
    struct error error = ERROR_INIT;
    bool good = write_costs() && write_clock(0) && trace_write_next(writer, rotation_name());
    registry_end(&end);
    good &= trace_writer_close(writer, &end, &error);
    writer = next;
    return good || cannot_go_on(&error);
}

static bool begin_file(void) {
    struct trace_part part = rotation_part();
    part.repeated = ongoing_events(&ongoing);
    registry_repeat();
    file_events = 0;
    clock_written_ns = sample_due_ns = 0;
    bool good = trace_write_part(writer, &part) && write_clock(0) && write_names() &&
                (ongoing_write(&ongoing, writer, cut_ticks) || trace_writer_error(writer) || no_memory()) &&
                (!costs_known || trace_write_event_costs(writer, costs));
    rotation_begun(writer);
    return good && release_held();
}

static bool finish_cut(void) {
    struct error error = ERROR_INIT;
    if (!write_parts(false)) return false;
    struct trace_writer *next = rotation_open(file_events, &error);
    if (!next) return cannot_go_on(&error);
    return close_for(next) && begin_file();
}

// After each round.
static bool go_on_in_another_file(void) {
    if (!settings.several_files) return true;
    if (cut_ticks) return --rounds_to_cut > 0 || finish_cut();
    return !rotation_due(writer) || begin_cut();
}

static struct timespec after(uint64_t pause_ns) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)pause_ns;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

// Sleeps until then, unless told to stop, whatever producers do: one that fills small rings all the time is not to make
// a system call each time.
static void sleep_until(const struct timespec *until) {
    uint32_t rings;
    do rings = atomic_load(&bell.rings);
    while (!atomic_load(&stopping) && ring_bell_wait(&bell, rings, until));
}

// Returns whether a producer has rung since the bell had been rung `rings` times, as it does in a burst.
static bool sleep_lightly_until(const struct timespec *until, uint32_t rings) {
    atomic_store(&bell.awaited, true);
    bool rung = !atomic_load(&stopping) && ring_bell_wait(&bell, rings, until);
    atomic_store(&bell.awaited, false);
    return rung;
}

static bool pause_for(uint64_t pause_ns, uint32_t rings) {
    if (behind) return true;
    const struct timespec until = after(pause_ns);
    if (pause_ns > POLLED_PAUSE_NS) return sleep_lightly_until(&until, rings);
    sleep_until(&until);
    return false;
}

// No longer than until the next sample; and to cut files at their time takes rounds that follow one another closely.
static uint64_t at_most_until_due(uint64_t pause_ns) {
    uint64_t longest_ns = settings.several_files ? POLLED_PAUSE_NS : LONGEST_PAUSE_NS;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (!settings.without_samples && now_ns < sample_due_ns && sample_due_ns - now_ns < longest_ns)
        longest_ns = sample_due_ns - now_ns;
    return pause_ns < longest_ns ? pause_ns : longest_ns;
}

// Some thousand events in a pause are enough to handle at once, and fit the rings. To cut files at their size takes
// more rounds.
static uint64_t next_pause(uint64_t pause_ns, size_t seen) {
    if (seen > (settings.several_files ? BATCH_EVENTS / 4 : BATCH_EVENTS)) return SHORTEST_PAUSE_NS;
    if (seen > BATCH_EVENTS / 4) return pause_ns;
    return pause_ns < LONGEST_PAUSE_NS / 2 ? pause_ns * 2 : LONGEST_PAUSE_NS;
}

static bool drain_while_running(void) {
    uint64_t pause_ns = SHORTEST_PAUSE_NS;
    do {
        size_t seen = 0;
        const uint32_t rings = atomic_load(&bell.rings);
        if (!write_clock(CLOCK_PERIOD_NS) || !write_due_sample() || !drain_all(&seen) || !write_due_costs() ||
            !go_on_in_another_file() || !trace_writer_flush(writer)) {
            return false;
        }
        if (!cut_ticks) registry_forget_pools();
        rest_memory();
        pause_ns = next_pause(pause_ns, seen);
        if (pause_for(at_most_until_due(pause_ns), rings)) pause_ns = SHORTEST_PAUSE_NS;
    } while (!atomic_load(&stopping));
    return true;
}

// At the end the rings of threads that never ended are drained as far as they are published, and what they dropped
// since is counted.
static bool drain_the_rest(void) {
    size_t seen = 0;
    finishing = true;
    if (!release_held() || !drain_all(&seen)) return false;
    for (struct channel *channel = live; channel; channel = channel->next) {
        if (channel->recording != recording) continue;
        if (!write_batch(channel, leave_out(channel, 0, NO_MORE)) || !write_last_loss(channel)) return false;
    }
    return write_parts(true) && (settings.without_samples || write_sample()) && write_costs() && write_clock(0);
}

static bool write_first_part(void) {
    struct trace_part part = rotation_part();
    return !settings.several_files || trace_write_part(writer, &part);
}

static void *run(void *unused) {
    (void)unused;
    struct trace_end end = {0};
    bool good = write_first_part() && drain_while_running() && drain_the_rest();
    if (!good && !trace_writer_error(writer)) end.stopped_because = stopped_because;
    atomic_store_explicit(&running, false, memory_order_relaxed);
    parting_destroy(&parting);
    parting_destroy(&held);
    ongoing_destroy(&ongoing);
    registry_end(&end);
    struct error error = ERROR_INIT;
    trace_writer_close(writer, &end, &error); // says itself, in the file, what went wrong
    return NULL;
}

bool drainer_start(struct trace_writer *open_writer, uint64_t ticks_per_s, struct error *error) {
    if (!batch) batch = malloc((BATCH_EVENTS + BRIEF_HELD) * sizeof *batch);
    if (!batch) return error_set(error, STATUS_FAILED, "no memory for the drainer");
    writer = open_writer;
    ticks_a_second = ticks_per_s;
    provide_memory();
    recording++;
    atomic_store(&stopping, false);
    clock_written_ns = sample_due_ns = parts_written_ns = costs_due_ns = rest_due_ns = 0;
    cut_ticks = file_events = 0;
    costs_known = finishing = false;
    sampler = (struct sampler){0};
    compilers = (struct compilers){0};
    cost_meter_restart();
    // The program's signals are the program's: this thread must never be the one that the kernel picks for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store_explicit(&running, true, memory_order_relaxed); // before the thread, which may stop at once
    joinable = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (joinable) return true;
    atomic_store_explicit(&running, false, memory_order_relaxed);
    return error_set(error, STATUS_FAILED, "cannot start the drainer's thread");
}

void drainer_stop(void) {
    pthread_mutex_lock(&lock);
    bool join = joinable;
    joinable = false;
    pthread_mutex_unlock(&lock);
    if (!join) return;
    atomic_store(&stopping, true);
    ring_bell_ring(&bell);
    pthread_join(thread, NULL);
}
