// SPDX-License-Identifier: Apache-2.0
// The agent's options: key=value pairs separated by commas; bytes that would end a value are written %XX.
//   out=FILE          the trace (trace.msgpack); %p is the process id, %t the time, %n the file's number
//   include=GLOB      trace functions of these classes (com.acme.*), or methods (com.acme.*::get*); repeatable
//   exclude=GLOB      leave these out again; repeatable
//   executor=LINE     a method of an executor that is none of the JDK's (executors.h); repeatable
//   library=GLOB      more classes that spawn for others: a spawn's site is what called them; repeatable
//   app=GLOB          the program's own classes, instead of what would be guessed (application.h); repeatable
//   min-duration=NS   functions that are shorter are left out
//   without=KIND      locks, gc, samples, calling-contexts, cycles (what threads compute) or actors are not recorded;
//                     repeatable
//   memory=BYTES      that all threads' buffers may take together; otherwise a share of what there is (memory_room.h)
//   clock=NAME        counter (the processor's, where it is sound; default) or monotonic
//   rotate-size=BYTES, rotate-time=NS   the recording goes on in another file when one is so large, or so old
//   rotate-keep=N     and so many files are kept
//   buffer=N          a thread's buffer holds twice so many records (16 bytes each); otherwise what memory there is
//   sample=HZ         take all threads' stacks so often, 1 to 1000 times a second (stack_sampling.h); then only an
//                     include that names one method outright (com.acme.Main::step) traces a function
//   calls=SECONDS     look for so long for functions in which requests sleep, and trace them, too (sleepers.h)
//   bytecodes=1       count the bytecodes that each thread executes (bytecodes.h)
//   claim=1           if FILE exists another JVM has it: put the pid before its extension
//   children=1        set JAVA_TOOL_OPTIONS, so that JVMs that this one starts are traced, too
#ifndef REHYPE_TRACER_OPTIONS_H
#define REHYPE_TRACER_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "tracer/rotation.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct class_glob {
    const char *class_name, *method; // method "*" unless given
    const struct class_glob *next;
};

struct executor_hook;

struct options {
    const char *out;  // decoded, %p expanded
    const char *text; // as given
    struct class_glob *includes, *excludes, *libraries, *applications;
    _Atomic(const struct class_glob *) found; // methods that are included since the recording began, each by its name
    struct executor_hook *executors;          // last line first
    uint32_t buffer_records;                  // 0: no limit
    uint64_t least_ns;                        // of a function
    uint64_t sample_hz;                       // 0: stacks are not sampled
    uint64_t calls_s;                         // 0: functions in which requests sleep are not looked for
    uint64_t memory_bytes;                    // 0: a share of what there is
    struct rotation_rules rotation;
    bool without_locks, without_gc, without_samples, without_calling_contexts, monotonic;
    bool without_cycles, without_actors;
    bool bytecodes;
    bool claim, children;
};

// Into the arena. Errors (STATUS_USAGE) name the option and those that there are.
bool options_parse(const char *text, struct arena *arena, struct options *options, struct error *error);

// * is any run of characters, dots included; ? is one.
bool glob_match(const char *glob, const char *text);

// Whether the class has functions to trace at all; then, for each of its methods, whether it is one.
bool options_trace_class(const struct options *options, const char *dotted_class);
bool options_trace_method(const struct options *options, const char *dotted_class, const char *method);

// Whether spawns of the class are its callers': it is a library's, or in a line about an executor.
bool options_is_library(const struct options *options, const char *dotted_class);

// FILE with ".PID" before its extension: trace.msgpack -> trace.123.msgpack. In the arena.
const char *options_out_with_pid(const char *out, struct arena *arena);

#endif
