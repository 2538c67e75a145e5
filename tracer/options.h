// SPDX-License-Identifier: Apache-2.0
// The agent's options: key=value pairs separated by commas; bytes that would end a value are written %XX.
//   out=FILE        where the trace goes; %p is the process id. Default trace.msgpack
//   include=GLOB    trace functions of these classes (com.acme.*), or of methods of them (com.acme.*::get*); repeatable
//   exclude=GLOB    leave these out again; repeatable
//   buffer=N        records in each half of a thread's buffer (16 bytes each)
//   claim=1         if FILE exists another JVM has it: put the pid before its extension
//   children=1      set JAVA_TOOL_OPTIONS, so that JVMs that this one starts are traced, too
#ifndef REHYPE_TRACER_OPTIONS_H
#define REHYPE_TRACER_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct class_glob {
    const char *class_name, *method; // method "*" unless given
    struct class_glob *next;
};

struct options {
    const char *out;  // decoded, %p expanded
    const char *text; // as given
    struct class_glob *includes, *excludes;
    uint32_t buffer_records;
    bool claim, children;
};

// Into the arena. Errors (STATUS_USAGE) name the option and those that there are.
bool options_parse(const char *text, struct arena *arena, struct options *options, struct error *error);

// * is any run of characters, dots included; ? is one.
bool glob_match(const char *glob, const char *text);

// Whether the class has functions to trace at all; then, for each of its methods, whether it is one.
bool options_trace_class(const struct options *options, const char *dotted_class);
bool options_trace_method(const struct options *options, const char *dotted_class, const char *method);

// FILE with ".PID" before its extension: trace.msgpack -> trace.123.msgpack. In the arena.
const char *options_out_with_pid(const char *out, struct arena *arena);

#endif
