// SPDX-License-Identifier: GPL-3.0-or-later
// rehype record: runs a command with the tracer in every JVM that it starts.
#include "cli/agent.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/record_config.h"
#include "cli/recorded.h"
#include "cli/series.h"
#include "cli/terminal.h"
#include "metrics/runs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *output, *config, *sample;
    bool calls;
    uint64_t repeat;
    struct rotation_options rotation;
    struct agent_options agent;
} options = {.repeat = 1};

static const struct option_spec specs[] = {
    {"--output", 'o', OPTION_TEXT, &options.output, "FILE",
     "the trace (trace.msgpack); %p is the process id, %t the time, %n the number of one\n"
     "of several files"},
    {"--include", 0, OPTION_LIST, &options.agent.include, "GLOB",
     "trace functions too: of these classes (com.acme.*), or of these\n"
     "methods of them (com.acme.*::get*); repeatable"},
    {"--exclude", 0, OPTION_LIST, &options.agent.exclude, "GLOB", "leave these out again; repeatable"},
    {"--app", 0, OPTION_LIST, &options.agent.app, "GLOB",
     "the program's own classes (com.acme.*), where they can't be told from libraries; repeatable"},
    CALLS_SPEC(&options.calls),
    SAMPLE_SPEC(&options.sample),
    {"--bytecodes", 0, OPTION_FLAG, &options.agent.bytecodes, NULL,
     "count the bytecodes that each task executes; makes the program\n"
     "several times slower"},
    {"--repeat", 0, OPTION_NUMBER, &options.repeat, "N",
     "run COMMAND N times, one after the other, into trace-run1.msgpack,\n"
     "trace-run2.msgpack and so on: suggest and estimate tell by these what runs differ by"},
    {"--config", 0, OPTION_TEXT, &options.config, "FILE",
     "`key = value` lines, such as those of the options, and of executors\n"
     "that the tracer is to know; rehype-record(1) tells all"},
    ROTATION_SPECS(options.rotation),
    TERMINAL_WIDE_OPTION,
    {0},
};

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the command line");
}

static bool resolve_output(struct arena *arena, struct error *error) {
    char folder[PATH_MAX], path[2 * PATH_MAX];
    if (!options.output) options.output = options.agent.out ? options.agent.out : "trace.msgpack";
    if (options.output[0] == '/') {
        options.agent.out = options.output;
        return true;
    }
    if (!getcwd(folder, sizeof folder)) {
        return error_set(error, STATUS_FAILED, "the working folder has no name: %s", strerror(errno));
    }
    snprintf(path, sizeof path, "%s%s%s", folder, folder[1] ? "/" : "", options.output);
    options.agent.out = arena_string(arena, path, strlen(path));
    return options.agent.out || no_memory(error);
}

static bool is_java_launcher(const char *command) {
    const char *slash = strrchr(command, '/');
    return strcmp(slash ? slash + 1 : command, "java") == 0;
}

// The command line with the tracer as the launcher's first option.
static char **with_agent(const struct operands *command, char *agent, struct arena *arena) {
    char **argv = ARENA_NEW(arena, char *, command->count + 2);
    if (!argv) return NULL;
    argv[0] = command->items[0];
    argv[1] = agent;
    memcpy(argv + 2, command->items + 1, (command->count - 1) * sizeof *argv);
    return argv;
}

// JAVA_TOOL_OPTIONS is split at blanks, outside quotes. `present`: what it was before any run.
static bool set_tool_options(const char *present, const char *agent, struct arena *arena, struct error *error) {
    const char *quote = strpbrk(agent, " \t") ? "\"" : "";
    size_t size = strlen(agent) + (present ? strlen(present) : 0) + 8;
    char *value = ARENA_NEW(arena, char, size);
    if (!value) return no_memory(error);
    snprintf(value, size, "%s%s%s%s%s", present ? present : "", present && *present ? " " : "", quote, agent, quote);
    return setenv("JAVA_TOOL_OPTIONS", value, 1) == 0 || no_memory(error);
}

// A run of COMMAND.
struct run {
    struct agent_options agent; // with a file of its own
    struct series_run files;
};

// What all runs share.
struct recording {
    const struct operands *command;
    const char *library;
    const char *tool_options; // JAVA_TOOL_OPTIONS as it was, or NULL
    struct run *runs;
    size_t run_count, made;
    struct arena *arena;
};

static char **command_line(const struct recording *recording, const struct run *run, struct error *error) {
    const struct operands *command = recording->command;
    const bool direct = is_java_launcher(command->items[0]);
    char *agent = agent_argument(recording->library, &run->agent, direct, recording->arena);
    if (!agent) {
        no_memory(error);
        return NULL;
    }
    if (!direct)
        return set_tool_options(recording->tool_options, agent, recording->arena, error) ? command->items : NULL;
    char **argv = with_agent(command, agent, recording->arena);
    if (!argv) no_memory(error);
    return argv;
}

static bool find_library(struct recording *recording, struct error *error) {
    const char *present = getenv("JAVA_TOOL_OPTIONS");
    if (present && !(recording->tool_options = arena_string(recording->arena, present, strlen(present))))
        return no_memory(error);
    recording->library = agent_find(recording->arena, error);
    if (!recording->library) return false;
    return !strpbrk(recording->library, "=\"") ||
           error_set(error, STATUS_FAILED, "a JVM can't be told to load %s: move it to a path without = and quotes",
                     recording->library);
}

static bool read_options(struct arena *arena, struct error *error) {
    if (options.repeat < 1 || options.repeat > RUNS_MOST)
        return error_set(error, STATUS_USAGE, "--repeat: expected 1 to %d runs", RUNS_MOST);
    return (!options.config || record_config_read(options.config, &options.agent, arena, error)) &&
           record_config_calls(options.calls, &options.agent, arena, error) &&
           record_config_sample(options.sample, &options.agent, arena, error) && resolve_output(arena, error);
}

static bool prepare_run(struct recording *recording, size_t index, struct error *error) {
    struct run *run = &recording->runs[index];
    run->agent = options.agent;
    if (recording->run_count > 1)
        run->agent.out = series_path(options.agent.out, (unsigned)index + 1, recording->arena);
    if (!run->agent.out) return no_memory(error);
    if (!record_config_rotation(&options.rotation, &run->agent, recording->arena, error)) return false;
    run->files.path = run->agent.out;
    return recorded_make_way(run->agent.out, error);
}

// All files before the first run: what is in the way of a later one is said now.
static bool prepare(struct recording *recording, struct error *error) {
    if (!read_options(recording->arena, error)) return false;
    recording->run_count = (size_t)options.repeat;
    recording->runs = ARENA_NEW(recording->arena, struct run, recording->run_count);
    bool ok = recording->runs || no_memory(error);
    for (size_t i = 0; ok && i < recording->run_count; i++) ok = prepare_run(recording, i, error);
    return ok && find_library(recording, error);
}

// The exit status is what COMMAND's was.
static bool make_run(struct recording *recording, int *status, struct error *error) {
    struct run *run = &recording->runs[recording->made];
    char **argv = command_line(recording, run, error);
    run->files.start = time(NULL);
    if (!argv || !launch(argv, environ, status, error)) return false;
    recording->made++;
    recorded_summarise(run->files.path, run->files.start, recording->run_count == 1, stderr, terminal_look(stderr));
    return true;
}

// Whether it goes on after a run; else why not is said, and the exit status is no success.
static bool goes_on(const struct recording *recording, int *status) {
    const int signal = launch_asked_to_end();
    if (recording->made == recording->run_count || (*status == 0 && !signal))
        return recording->made < recording->run_count;
    if (*status != 0)
        fprintf(stderr, "rehype: run %zu of %zu ended with exit status %d: the others are not made\n", recording->made,
                recording->run_count, *status);
    else
        fprintf(stderr, "rehype: a signal came in run %zu of %zu: the others are not made\n", recording->made,
                recording->run_count);
    if (*status == 0) *status = 128 + signal;
    return false;
}

static bool write_series(const struct recording *recording, struct error *error) {
    struct series_run *runs = ARENA_NEW(recording->arena, struct series_run, recording->made + 1);
    if (!runs) return no_memory(error);
    for (size_t i = 0; i < recording->made; i++) runs[i] = recording->runs[i].files;
    return series_write(runs, recording->made, stderr, terminal_look(stderr), error);
}

// Of a longer series, that a pattern (trace-run*) would take for one of these.
static void tell_left_over(const struct recording *recording) {
    const char *next = series_path(options.agent.out, (unsigned)recording->run_count + 1, recording->arena);
    if (next && !strchr(next, '%') && access(next, F_OK) == 0)
        fprintf(stderr, "rehype: %s is there from before: it is none of these runs\n", next);
}

static int record(const struct operands *command, struct arena *arena, struct error *error) {
    struct recording recording = {.command = command, .arena = arena};
    int status = 0;
    if (!prepare(&recording, error)) return (int)error->status;
    do {
        if (!make_run(&recording, &status, error)) return (int)error->status;
    } while (goes_on(&recording, &status));
    if (recording.run_count == 1) return status;
    if (!write_series(&recording, error)) return (int)error->status;
    tell_left_over(&recording);
    return status;
}

static int run(const struct operands *operands, struct error *error) {
    struct arena arena = ARENA_INIT;
    int status = record(operands, &arena, error);
    arena_destroy(&arena);
    return status;
}

const struct command command_record = {
    .name = "record",
    .summary = "runs a program under the tracer",
    .usage = "[-o FILE] [--include GLOB]... [--exclude GLOB]... [--app GLOB]... [--calls] [--sample HZ] [--bytecodes] "
             "[--repeat N] [--config FILE] "
             "[--rotate-size SIZE] [--rotate-time TIME] [--rotate-keep NUMBER] [--wide] -- COMMAND...",
    .about =
        "Runs COMMAND with the tracer in every JVM that it starts, and ends with what was recorded, on stderr.\n"
        "COMMAND's streams, signals and exit status pass through. Tasks are always traced; functions only those of\n"
        "--include. If COMMAND is a java launcher it gets the tracer as an option; JVMs further down get it through\n"
        "JAVA_TOOL_OPTIONS, which each of them mentions on stderr (\"Picked up ...\"). The first JVM writes FILE;\n"
        "others put their process id before its extension. An old trace at FILE is replaced, anything else is not.\n"
        "With --repeat the first run that fails, or that a signal ends, is the last; its exit status is rehype's.",
    .example = "  rehype record -o before.msgpack -- java -jar app.jar\n"
               "  rehype record --repeat 9 -- java -jar app.jar\n"
               "  rehype record --include 'com.acme.*' -- mvn -q test",
    .options = specs,
    .operands_least = 1,
    .operands_most = SIZE_MAX,
    .passes_on = true,
    .run = run,
};
