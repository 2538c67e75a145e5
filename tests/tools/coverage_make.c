// SPDX-License-Identifier: GPL-3.0-or-later
// Made sampled-*.msgpack of tests/golden/traces: coverage_make FOLDER. A program of 24 methods below `round`, of which
// each is seen the more seldom the higher its number; five runs of it sampled, one sampled with the calls of `round`,
// one woven, and one of another program.
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>

enum { METHODS = 24, RUNS = 5, MOMENTS = 12, CALLS = 30, MOMENTS_OF_CALL = 3, MAIN = 1, IDLE = 2, MS = 1000000 };

struct program {
    struct trace_builder *tb;
    uint32_t round, step[METHODS], idle; // contexts
};

static const char *step_name(int number, char *text, size_t size) {
    snprintf(text, size, "step%02d", number);
    return text;
}

static struct program begin(const char *command, const char *options) {
    struct program p = {.tb = tb_new()};
    char name[16];
    tb_command(p.tb, command);
    tb_options(p.tb, options);
    tb_thread(p.tb, MAIN, "main", 0);
    tb_thread(p.tb, IDLE, "idle", THREAD_DAEMON);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, 1, 0);
    uint32_t main = tb_calling_context(p.tb, 0, tb_frame(p.tb, "shop.Main", "main", 3));
    p.round = tb_calling_context(p.tb, main, tb_frame(p.tb, "shop.Main", "round", 9));
    for (int i = 0; i < METHODS; i++)
        p.step[i] = tb_calling_context(p.tb, p.round,
                                       tb_frame(p.tb, i < METHODS / 2 ? "shop.Basket" : "shop.stock.Shelf",
                                                step_name(i, name, sizeof name), 20 + (uint32_t)i));
    uint32_t run = tb_calling_context(p.tb, 0, tb_frame(p.tb, "java.lang.Thread", "run", 839));
    p.idle = tb_calling_context(p.tb, run, tb_frame(p.tb, "java.lang.Thread", "sleep", 0));
    return p;
}

static void end(struct program *p, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/sampled-%s.msgpack", folder, name);
    tb_write(p->tb, path);
    tb_free(p->tb);
}

// The number of a method, small ones more often: a product of two uniform numbers. The same on every machine.
static int draw(uint64_t *seed) {
    uint64_t number[2];
    for (int i = 0; i < 2; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        number[i] = *seed >> 40;
    }
    return (int)((number[0] * number[1] >> 24) * METHODS >> 24);
}

static void write_run(const char *folder, int number) {
    char name[16];
    uint64_t seed = (uint64_t)number;
    struct program p = begin("java -cp shop.jar shop.Main 4", "out=x,include=shop.%2A,sample=100");
    for (uint64_t m = 0; m < MOMENTS; m++) {
        tb_moment(p.tb, 5 * MS + 10 * MS * m);
        tb_stack(p.tb, MAIN, p.step[draw(&seed)], m, 1);
    }
    tb_stack(p.tb, IDLE, p.idle, 0, MOMENTS);
    if (number == 1)
        tb_stack_costs(p.tb, (struct trace_stack_costs){
                                 .missed = 2, .left_out = 1, .take_ns = MOMENTS * 90000, .work_ns = MOMENTS * 120000});
    tb_event(p.tb, MAIN, 10 * MS * MOMENTS, EVENT_THREAD_END, 1, 0);
    snprintf(name, sizeof name, "run-%d", number);
    end(&p, folder, name);
}

static void write_calls(const char *folder) {
    uint64_t seed = 99, moment = 0, time_ns = 10 * MS;
    struct program p = begin("java -cp shop.jar shop.Main 30", "out=x,sample=100,include=shop.Main::round");
    uint32_t round = tb_method(p.tb, "shop.Main", "round");
    for (int call = 0; call < CALLS; call++) {
        tb_event(p.tb, MAIN, time_ns, EVENT_ENTER, round);
        for (int m = 0; m < MOMENTS_OF_CALL; m++) {
            tb_moment(p.tb, time_ns += 10 * MS);
            tb_stack(p.tb, MAIN, p.step[draw(&seed)], moment++, 1);
        }
        tb_event(p.tb, MAIN, time_ns += 5 * MS, EVENT_EXIT, round);
        time_ns += MS;
    }
    tb_moment(p.tb, time_ns += MS);
    tb_stack(p.tb, MAIN, p.round, moment, 1);
    end(&p, folder, "calls");
}

static void write_whole(const char *folder) {
    struct program p = begin("java -cp shop.jar shop.Main 1", "out=x,include=shop.%2A");
    char name[16];
    uint32_t methods[METHODS + 2] = {tb_method(p.tb, "shop.Main", "main"), tb_method(p.tb, "shop.Main", "round")};
    for (int i = 0; i < METHODS; i++)
        methods[i + 2] =
            tb_method(p.tb, i < METHODS / 2 ? "shop.Basket" : "shop.stock.Shelf", step_name(i, name, sizeof name));
    tb_event(p.tb, MAIN, 1, EVENT_ENTER, methods[0]);
    tb_event(p.tb, MAIN, 2, EVENT_ENTER, methods[1]);
    for (uint64_t i = 2; i < METHODS + 2; i++) {
        tb_event(p.tb, MAIN, 10 * i, EVENT_ENTER, methods[i]);
        tb_event(p.tb, MAIN, 10 * i + 5, EVENT_EXIT, methods[i]);
    }
    tb_event(p.tb, MAIN, 1000, EVENT_EXIT, methods[1]);
    tb_event(p.tb, MAIN, 1001, EVENT_EXIT, methods[0]);
    end(&p, folder, "whole");
}

static void write_other(const char *folder) {
    struct program p = begin("java -jar bank.jar", "out=x,sample=100");
    tb_moment(p.tb, MS);
    tb_stack(p.tb, MAIN, p.round, 0, 1);
    end(&p, folder, "other");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: coverage_make FOLDER\n", stderr);
        return 2;
    }
    for (int number = 1; number <= RUNS; number++) write_run(argv[1], number);
    write_calls(argv[1]);
    write_whole(argv[1]);
    write_other(argv[1]);
    return 0;
}
