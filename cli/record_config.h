// SPDX-License-Identifier: GPL-3.0-or-later
// --config of `record` and `attach`: a text file of `key = value` lines; # begins a comment. rehype-record(1) lists the
// keys. Of executors only the agent knows what a line may say: it tells in the trace. Some keys are options as well.
#ifndef REHYPE_CLI_RECORD_CONFIG_H
#define REHYPE_CLI_RECORD_CONFIG_H

#include "cli/agent.h"

// Adds to the options; values live in the arena. Errors: STATUS_BAD_INPUT with line and byte, STATUS_FAILED.
bool record_config_read(const char *path, struct agent_options *options, struct arena *arena, struct error *error);

// Of the command line: when the recording goes on in another file; NULL where not given.
struct rotation_options {
    const char *size, *time, *keep;
};

#define ROTATION_SPECS(options)                                                                                        \
    {"--rotate-size",                                                                                                  \
     0,                                                                                                                \
     OPTION_TEXT,                                                                                                      \
     &(options).size,                                                                                                  \
     "SIZE",                                                                                                           \
     "go on in another file when one has so many bytes (64M); %n in FILE,\n"                                           \
     "else a number before its extension, tells them apart"},                                                          \
        {"--rotate-time", 0, OPTION_TEXT, &(options).time, "TIME", "... or when one is so old (10m, 1h)"}, {           \
        "--rotate-keep", 0, OPTION_TEXT, &(options).keep, "NUMBER", "keep so many files, and delete older ones"        \
    }

// Adds them, after those of a file. Afterwards `out` has %n if there are to be several files. Errors: STATUS_USAGE,
// STATUS_FAILED.
bool record_config_rotation(const struct rotation_options *rotation, struct agent_options *options, struct arena *arena,
                            struct error *error);

// Of the command line: how often stacks are sampled; NULL where not given. Errors: STATUS_USAGE, STATUS_FAILED.
bool record_config_sample(const char *hz, struct agent_options *options, struct arena *arena, struct error *error);

// Of the command line: whether functions in which requests sleep are looked for, in the first seconds of requests.
// Errors: STATUS_FAILED.
bool record_config_calls(bool wanted, struct agent_options *options, struct arena *arena, struct error *error);

#define CALLS_SPEC(target)                                                                                             \
    {                                                                                                                  \
        "--calls", 0, OPTION_FLAG, (target), NULL,                                                                     \
            "trace the functions in which requests of a server sleep, which are\n"                                     \
            "found in their first 3 s"                                                                                 \
    }

#define SAMPLE_SPEC(target)                                                                                            \
    {                                                                                                                  \
        "--sample", 0, OPTION_TEXT, (target), "HZ",                                                                    \
            "take all threads' stacks so often, 1 to 1000 times a second;\n"                                           \
            "then only an --include of one method (com.acme.Main::step) traces\n"                                      \
            "a function, others say which methods coverage counts"                                                     \
    }

#endif
