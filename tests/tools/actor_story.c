// SPDX-License-Identifier: GPL-3.0-or-later
// Beside the loop: main asks physics, whose answer completes a future, and sends a message to nobody; the sound puts
// one message aside and gets it back, and later throws, so that it begins anew; one actor fails to start; the renderer
// does not know what to do with a message, and one lies in physics' mailbox at the end; the system's own logger gets a
// message, which is not the program's.
#include "actor_story.h"

enum { MAIN = 1, TIMER, FIRST, SECOND }; // threads
enum { MAIN_TASK = 100, TIMER_RUN, FIRST_RUN, SECOND_RUN };
enum { ROOT = 1, USER, SYSTEM, PHYSICS, RENDERER, SOUND, BROKEN, LOGGER };

struct story {
    struct trace_builder *tb;
    uint64_t cpu_ns[SECOND + 1];
    uint64_t next; // message
    uint32_t tick, moved, hit, status, log;
    bool coupled;
};

#define US *UINT64_C(1000)

static uint64_t send_as(struct story *s, uint32_t thread, uint64_t at_ns, uint64_t to, uint64_t operand) {
    tb_event(s->tb, thread, at_ns, EVENT_MESSAGE_SENT, s->next, to, operand);
    return s->next++;
}

static uint64_t tell(struct story *s, uint32_t thread, uint64_t at_ns, uint64_t to, uint32_t class) {
    return send_as(s, thread, at_ns, to, message_operand(class, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false));
}

static uint64_t trigger(struct story *s, uint64_t at_ns, uint64_t to) {
    return send_as(s, TIMER, at_ns, to, message_operand(s->tick, MESSAGE_SCHEDULED, MESSAGE_TO_ACTOR, false));
}

static void begin(struct story *s, uint32_t thread, uint64_t at_ns, uint64_t message, uint64_t actor) {
    tb_event(s->tb, thread, at_ns, EVENT_MESSAGE_BEGIN, message, s->cpu_ns[thread], actor);
}

static void end(struct story *s, uint32_t thread, uint64_t at_ns, uint64_t message, uint64_t computed_ns,
                enum message_outcome outcome) {
    tb_event(s->tb, thread, at_ns, EVENT_MESSAGE_END, message, s->cpu_ns[thread] += computed_ns, outcome);
}

static void initialise(struct story *s, uint32_t thread, uint64_t at_ns, uint64_t actor, uint64_t took_ns,
                       enum init_outcome outcome) {
    tb_event(s->tb, thread, at_ns, EVENT_INIT_BEGIN, actor, s->cpu_ns[thread]);
    tb_event(s->tb, thread, at_ns + took_ns, EVENT_INIT_END, actor, s->cpu_ns[thread] += took_ns,
             init_operand(0, outcome));
}

static void add_threads(struct story *s) {
    const uint32_t pool = tb_pool(s->tb, "ris-dispatcher", 2);
    tb_thread(s->tb, MAIN, "main", 0);
    tb_thread(s->tb, TIMER, "ris-scheduler-1", THREAD_DAEMON);
    tb_thread(s->tb, FIRST, "ris-dispatcher-1", 0);
    tb_thread(s->tb, SECOND, "ris-dispatcher-2", 0);
    tb_event(s->tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK, 1);
    tb_event(s->tb, TIMER, 1, EVENT_THREAD_START, TIMER_RUN, 1);
    tb_event(s->tb, FIRST, 2, EVENT_THREAD_START, FIRST_RUN, 1);
    tb_event(s->tb, FIRST, 3, EVENT_WORKER_BEGIN, pool);
    tb_event(s->tb, SECOND, 2, EVENT_THREAD_START, SECOND_RUN, 1);
    tb_event(s->tb, SECOND, 3, EVENT_WORKER_BEGIN, pool);
    s->cpu_ns[MAIN] = s->cpu_ns[FIRST] = s->cpu_ns[SECOND] = 1;
}

static void create(struct story *s, uint64_t at_ns, uint64_t actor, uint64_t parent, const char *name,
                   const char *type) {
    tb_actor(s->tb, actor, name);
    tb_event(s->tb, MAIN, at_ns, EVENT_UPKEEP_BEGIN, 0, s->cpu_ns[MAIN]);
    tb_event(s->tb, MAIN, at_ns + 1 US, EVENT_ACTOR_CREATED, actor, parent, type ? tb_class(s->tb, type) : 0);
    tb_event(s->tb, MAIN, at_ns + 2 US, EVENT_UPKEEP_END, actor, s->cpu_ns[MAIN] += 2 US);
}

static void add_actors(struct story *s) {
    create(s, 10 US, ROOT, 0, "akka://ris/", NULL);
    create(s, 20 US, USER, ROOT, "user", NULL);
    create(s, 30 US, SYSTEM, ROOT, "system", NULL);
    create(s, 40 US, LOGGER, SYSTEM, "log", "akka.event.Logger");
    create(s, 50 US, PHYSICS, USER, "physics", "p.Physics");
    create(s, 60 US, RENDERER, USER, "renderer", "p.Renderer");
    create(s, 70 US, SOUND, USER, "sound", "p.Sound");
    create(s, 80 US, BROKEN, USER, "broken", "p.Broken");
    initialise(s, FIRST, 60 US, PHYSICS, 20 US, INIT_DONE);
    initialise(s, SECOND, 70 US, RENDERER, 40 US, INIT_DONE);
    initialise(s, FIRST, 100 US, SOUND, 10 US, INIT_DONE);
    initialise(s, SECOND, 120 US, BROKEN, 10 US, INIT_FAILED);
    tb_event(s->tb, SECOND, 140 US, EVENT_ACTOR_STOPPED, BROKEN);
}

// An ask and its answer, a message to nobody, one to a system actor, and one that the renderer does not know.
static void add_others(struct story *s) {
    const uint64_t ask =
        send_as(s, MAIN, 150 US, PHYSICS, message_operand(s->status, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, true));
    const uint64_t nobody =
        send_as(s, MAIN, 160 US, 0, message_operand(s->status, MESSAGE_OF_PROGRAM, MESSAGE_TO_NOBODY, false));
    tb_event(s->tb, MAIN, 161 US, EVENT_DEAD_LETTER, nobody);
    const uint64_t log = tell(s, MAIN, 170 US, LOGGER, s->log), unknown = tell(s, MAIN, 180 US, RENDERER, s->status);
    begin(s, FIRST, 200 US, ask, PHYSICS);
    send_as(s, FIRST, 220 US, 0, message_operand(s->status, MESSAGE_OF_PROGRAM, MESSAGE_TO_FUTURE, false));
    end(s, FIRST, 230 US, ask, 30 US, MESSAGE_HANDLED);
    begin(s, SECOND, 240 US, log, LOGGER);
    end(s, SECOND, 250 US, log, 10 US, MESSAGE_HANDLED);
    begin(s, SECOND, 260 US, unknown, RENDERER);
    end(s, SECOND, 270 US, unknown, 5 US, MESSAGE_UNHANDLED);
}

// Physics' turn, of 4 ms. Returns what triggers the renderer.
static uint64_t add_physics(struct story *s, uint64_t from_ns, bool hits, uint64_t moved[2], uint64_t *hit) {
    const uint64_t tick = trigger(s, from_ns, PHYSICS);
    uint64_t render = s->coupled ? 0 : trigger(s, from_ns + 1 US, RENDERER);
    begin(s, FIRST, from_ns + 10 US, tick, PHYSICS);
    moved[0] = tell(s, FIRST, from_ns + 1000 US, RENDERER, s->moved);
    moved[1] = tell(s, FIRST, from_ns + 2000 US, RENDERER, s->moved);
    *hit = hits ? tell(s, FIRST, from_ns + 3000 US, SOUND, s->hit) : 0;
    if (s->coupled) render = tell(s, FIRST, from_ns + 3500 US, RENDERER, s->tick);
    end(s, FIRST, from_ns + 4010 US, tick, 4000 US, MESSAGE_HANDLED);
    return render;
}

static void add_handling(struct story *s, uint32_t thread, uint64_t from_ns, uint64_t took_ns, uint64_t message,
                         uint64_t actor) {
    begin(s, thread, from_ns, message, actor);
    end(s, thread, from_ns + took_ns, message, took_ns, MESSAGE_HANDLED);
}

// Apart it renders, for 3 ms, before it learns what moved; coupled behind that.
static void add_renderer(struct story *s, uint64_t from_ns, uint64_t render, const uint64_t moved[2]) {
    if (!s->coupled) add_handling(s, SECOND, from_ns + 20 US, 3000 US, render, RENDERER);
    add_handling(s, SECOND, from_ns + 3100 US, 100 US, moved[0], RENDERER);
    add_handling(s, SECOND, from_ns + 3300 US, 100 US, moved[1], RENDERER);
    if (s->coupled) add_handling(s, SECOND, from_ns + 3600 US, 3000 US, render, RENDERER);
}

// The first hit is put aside for the time being; at the second the sound throws.
static void add_sound(struct story *s, uint64_t from_ns, uint64_t hit, bool first) {
    begin(s, FIRST, from_ns + 4100 US, hit, SOUND);
    end(s, FIRST, from_ns + 4150 US, hit, 20 US, first ? MESSAGE_PUT_ASIDE : MESSAGE_THREW);
    if (first) {
        const uint64_t again = s->next++;
        tb_event(s->tb, FIRST, from_ns + 4160 US, EVENT_MESSAGE_QUEUED, again, SOUND, hit);
        add_handling(s, FIRST, from_ns + 4200 US, 200 US, again, SOUND);
        return;
    }
    tb_event(s->tb, FIRST, from_ns + 4160 US, EVENT_ACTOR_RESTARTED, SOUND);
    initialise(s, FIRST, from_ns + 4170 US, SOUND, 10 US, INIT_DONE);
}

static void add_turn(struct story *s, uint32_t turn) {
    const uint64_t from_ns = 1000 US + (uint64_t)turn * STORY_TURN_NS;
    uint64_t moved[2], hit;
    const uint64_t render = add_physics(s, from_ns, turn % 2, moved, &hit);
    add_renderer(s, from_ns, render, moved);
    if (hit) add_sound(s, from_ns, hit, turn == 1);
}

struct trace_builder *actor_story(bool coupled) {
    struct story s = {.tb = tb_new(), .next = 1000, .coupled = coupled};
    s.tick = tb_class(s.tb, "p.Scene$Tick");
    s.moved = tb_class(s.tb, "p.Scene$Moved");
    s.hit = tb_class(s.tb, "p.Scene$Hit");
    s.status = tb_class(s.tb, "p.Status");
    s.log = tb_class(s.tb, "akka.event.Logging$Info");
    add_threads(&s);
    add_actors(&s);
    add_others(&s);
    for (uint32_t turn = 0; turn < STORY_TURNS; turn++) add_turn(&s, turn);
    const uint64_t end_ns = 1000 US + (uint64_t)STORY_TURNS * STORY_TURN_NS;
    tell(&s, MAIN, end_ns - 10 US, PHYSICS, s.status);
    tb_event(s.tb, FIRST, end_ns - 1 US, EVENT_THREAD_END, FIRST_RUN, s.cpu_ns[FIRST]);
    tb_event(s.tb, SECOND, end_ns - 1 US, EVENT_THREAD_END, SECOND_RUN, s.cpu_ns[SECOND]);
    tb_event(s.tb, MAIN, end_ns, EVENT_THREAD_END, MAIN_TASK, s.cpu_ns[MAIN]);
    return s.tb;
}
