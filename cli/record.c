// SPDX-License-Identifier: GPL-3.0-or-later
// rehype record: runs a command with the tracer in every JVM that it starts.
#include "cli/agent.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/record_config.h"
#include "cli/recorded.h"
#include "cli/terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *output, *config, *sample;
    bool calls;
    struct rotation_options rotation;
    struct agent_options agent;
} options;

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

// JAVA_TOOL_OPTIONS is split at blanks, outside quotes.
static bool set_tool_options(const char *agent, struct arena *arena, struct error *error) {
    const char *present = getenv("JAVA_TOOL_OPTIONS"), *quote = strpbrk(agent, " \t") ? "\"" : "";
    size_t size = strlen(agent) + (present ? strlen(present) : 0) + 8;
    char *value = ARENA_NEW(arena, char, size);
    if (!value) return no_memory(error);
    snprintf(value, size, "%s%s%s%s%s", present ? present : "", present && *present ? " " : "", quote, agent, quote);
    return setenv("JAVA_TOOL_OPTIONS", value, 1) == 0 || no_memory(error);
}

static char **command_line(const struct operands *command, struct arena *arena, struct error *error) {
    const char *library = agent_find(arena, error);
    if (!library) return NULL;
    if (strpbrk(library, "=\"")) {
        error_set(error, STATUS_FAILED, "a JVM can't be told to load %s: move it to a path without = and quotes",
                  library);
        return NULL;
    }
    bool direct = is_java_launcher(command->items[0]);
    char *agent = agent_argument(library, &options.agent, direct, arena);
    if (!agent) {
        no_memory(error);
        return NULL;
    }
    if (!direct) return set_tool_options(agent, arena, error) ? command->items : NULL;
    char **argv = with_agent(command, agent, arena);
    if (!argv) no_memory(error);
    return argv;
}

static int record(const struct operands *command, struct arena *arena, struct error *error) {
    int status;
    if ((options.config && !record_config_read(options.config, &options.agent, arena, error)) ||
        !record_config_calls(options.calls, &options.agent, arena, error) ||
        !record_config_sample(options.sample, &options.agent, arena, error) || !resolve_output(arena, error) ||
        !record_config_rotation(&options.rotation, &options.agent, arena, error) ||
        !recorded_make_way(options.agent.out, error)) {
        return (int)error->status;
    }
    char **argv = command_line(command, arena, error);
    time_t start = time(NULL);
    if (!argv || !launch(argv, environ, &status, error)) return (int)error->status;
    recorded_summarise(options.agent.out, start, stderr, terminal_look(stderr));
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
             "[--config FILE] "
             "[--rotate-size SIZE] [--rotate-time TIME] [--rotate-keep NUMBER] [--wide] -- COMMAND...",
    .about =
        "Runs COMMAND with the tracer in every JVM that it starts, and ends with what was recorded, on stderr.\n"
        "COMMAND's streams, signals and exit status pass through. Tasks are always traced; functions only those of\n"
        "--include. If COMMAND is a java launcher it gets the tracer as an option; JVMs further down get it through\n"
        "JAVA_TOOL_OPTIONS, which each of them mentions on stderr (\"Picked up ...\"). The first JVM writes FILE;\n"
        "others put their process id before its extension. An old trace at FILE is replaced, anything else is not.",
    .example = "  rehype record -o before.msgpack -- java -jar app.jar\n"
               "  rehype record --include 'com.acme.*' -- mvn -q test",
    .options = specs,
    .operands_least = 1,
    .operands_most = SIZE_MAX,
    .passes_on = true,
    .run = run,
};
