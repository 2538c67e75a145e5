// SPDX-License-Identifier: GPL-3.0-or-later
// The cost of a whole event: a small Java program (java/EventCost.java, embedded) run under the tracer.
#include "cli/agent.h"
#include "cli/doctor.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const unsigned char event_cost_bytes[];
extern const size_t event_cost_length;

static bool write_class(const char *folder) {
    char path[256];
    snprintf(path, sizeof path, "%s/EventCost.class", folder);
    FILE *file = fopen(path, "we");
    if (!file) return false;
    bool written = fwrite(event_cost_bytes, 1, event_cost_length, file) == event_cost_length;
    return fclose(file) == 0 && written;
}

static void remove_all(const char *folder) {
    static const char *const names[] = {"EventCost.class", "trace.msgpack"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

// Starts java with its output into a pipe whose reading end is returned; -1 where that fails.
static int start(char *const argv[], pid_t *pid) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed) return ends[0];
    close(ends[0]);
    return -1;
}

static double run(char *const argv[]) {
    double ns = NAN;
    pid_t pid;
    int output = start(argv, &pid);
    if (output < 0) return NAN;
    FILE *file = fdopen(output, "r");
    if (!file) {
        close(output);
    } else {
        if (fscanf(file, "%lf", &ns) != 1) ns = NAN;
        fclose(file);
    }
    int status;
    bool ended = waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ended ? ns : NAN;
}

double doctor_event_ns(void) {
    struct arena arena = ARENA_INIT;
    struct error ignored = ERROR_INIT; // the check of the tracer says it
    char folder[] = "/tmp/rehype-doctor-XXXXXX", trace[64];
    double ns = NAN;
    const char *library = agent_find(&arena, &ignored);
    if (library && mkdtemp(folder)) {
        snprintf(trace, sizeof trace, "%s/trace.msgpack", folder);
        const char *traced[] = {"EventCost::traced"};
        struct agent_options options = {.out = trace, .include = {.items = traced, .count = 1}};
        char *agent = agent_argument(library, &options, true, &arena);
        char *argv[] = {"java", agent, "-cp", folder, "EventCost", NULL};
        if (agent && write_class(folder)) ns = run(argv);
        remove_all(folder);
    }
    arena_destroy(&arena);
    return ns;
}
