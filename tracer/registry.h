// SPDX-License-Identifier: Apache-2.0
// What events name by number: functions, sites, classes, pools, threads. Any thread registers (cold paths: weaving a
// class, first sight of a site or pool, start of a thread); the drainer alone writes what is new to the trace.
#ifndef REHYPE_TRACER_REGISTRY_H
#define REHYPE_TRACER_REGISTRY_H

#include "tracefile/tables.h"
#include "tracefile/writer.h"
#include "tracer/stack_slice.h"

#include <stdint.h>

// Each copies the strings, and returns the new id, or 0 when there is no memory (events then carry "none"). A method,
// site or class of the same content as one before has that one's id: what a program loads again and again costs memory
// once. Of endpoints there are at most ENDPOINTS_MOST, of frames 65,536, and as many calling contexts unless more were
// allowed.
uint32_t registry_method(const struct trace_method *method);
uint32_t registry_site(const struct trace_site *site);
uint32_t registry_class(const struct trace_class *class);
enum { ENDPOINTS_MOST = 1000 };
uint32_t registry_endpoint(const struct trace_endpoint *endpoint);
uint32_t registry_frame(const struct trace_site *frame);
uint32_t registry_calling_context(const uint32_t *stack, size_t depth); // frames, innermost first
uint32_t registry_pool(const struct trace_pool *pool);
uint32_t registry_thread(const struct trace_thread *thread);

// No object is the pool's any more. A program may make pools without end. Any thread, while the JVM collects as well.
void registry_pool_collected(uint32_t pool);

// By the drainer: forgets pools that were collected and are written. Not while a file is being cut: what is younger
// than the cut may name one that was collected meanwhile, and the next file has to describe it.
void registry_forget_pools(void);

// Replaces what may change of a pool while it lives; its kind, queue and name stay.
void registry_change_pool(uint32_t pool, const struct trace_pool *rules);

// A new trace begins: what is known already will be written into it as well, since code woven for an earlier one may
// still run; but for threads, which register again, and what was skipped.
void registry_restart(void);

// The recording goes on in another file: what is known will be written into it as well, but for threads and tasks that
// had begun before, of which whoever writes knows which are still there.
void registry_repeat(void);

// What is known of a resource, by its slot (resources.h); replaces what was known before.
void registry_resource(uint32_t slot, const struct trace_resource *resource);

// How an actor is called. What waits to be written is bounded: what is too much goes without.
void registry_actor(const struct trace_actor *actor);

// A task that had begun before recording did.
void registry_running(uint64_t task);

// How long the tracer has just stopped the JVM.
void registry_stop(const struct trace_stop *stop);

// A task that lay in a pool's queue when recording began.
void registry_queued(const struct trace_queued *task);

// Where a task was created, handed over, or begun; and that of one more there was no room for that. What waits to be
// written is bounded: what is too much is left out, too.
void registry_calling_sample(const struct trace_calling_sample *sample);
void registry_calling_left_out(void);

// Calling contexts may come to so many.
void registry_calling_room(uint32_t most);

// Sampled stacks, which it takes over. Few wait to be written: of more, how many there were is told, and how long they
// took.
void registry_stacks(struct stack_slice *slice);

// A pool is named after its first worker ("pool-1-thread-3" -> "pool-1"). Later calls change nothing.
void registry_name_pool(uint32_t pool, const char *thread_name);

// Before that: as it is configured, whatever its threads are called.
void registry_call_pool(uint32_t pool, const char *name);

// Methods that could not be woven, and how much was.
void registry_skip(const char *method, const char *why);
void registry_woven(unsigned methods);

// By the drainer: writes what was registered since the last call. Call it after draining events and before writing
// them, so that every id is in the file before its first use. Holds the lock only to copy, never while writing.
// `named`, unless NULL, hears of each thread as well, and says false where writing is to end.
typedef bool registry_named(uint32_t thread, const struct trace_thread *named);
bool registry_flush(struct trace_writer *writer, registry_named *named);
void registry_end(struct trace_end *end); // skips, counts; strings live as long as the process

#endif
