// SPDX-License-Identifier: GPL-3.0-or-later
// The tracer's agent library, as the program finds it and as a JVM is told to load it.
#ifndef REHYPE_CLI_AGENT_H
#define REHYPE_CLI_AGENT_H

#include "base/arena.h"
#include "base/error.h"
#include "cli/options.h"

// Path of librehype-agent.so: beside the program (a build folder), or in ../libexec/rehype (installed). NULL and *error
// (STATUS_FAILED) where it isn't.
const char *agent_find(struct arena *arena, struct error *error);

struct agent_options {
    const char *out; // absolute; may hold %p
    struct text_list include, exclude, app;
    bool bytecodes;
    struct text_list settings; // "key=value", as the agent takes them but that the value is not yet encoded
};

// The options as the agent takes them: "out=...,include=...".
void agent_write_options(FILE *file, const struct agent_options *options);

// "-agentpath:LIBRARY=OPTIONS". `direct`: for the java launcher itself, whose JVM then passes the tracer on to the JVMs
// that it starts; else for JAVA_TOOL_OPTIONS, where several JVMs must share one file name. NULL when memory is short.
char *agent_argument(const char *library, const struct agent_options *options, bool direct, struct arena *arena);

#endif
