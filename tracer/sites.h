// SPDX-License-Identifier: Apache-2.0
// Where in the application something happens: the innermost frame outside the JDK that has a line, which those of
// generated classes (generated.h) have not. Woven call sites say it beforehand (6 ns); without one the stack is walked
// (1 to 10 us) and what it shows is remembered.
#ifndef REHYPE_TRACER_SITES_H
#define REHYPE_TRACER_SITES_H

#include "tracer/tracer.h"
#include "tracer/weave.h"

// The site of a hand-over, or of a wait for a task, by this thread now.
uint32_t site_of_spawn(JNIEnv *jni, struct thread_state *state);

// The same where it parks, or waits for a monitor, on an object of the class: what a thread does thousands of times a
// second. Most times the place is at hand (places.h).
uint32_t site_of_sleep(JNIEnv *jni, struct thread_state *state, uint32_t class);

// The same where it hands an object of the class over to an executor that is none of the JDK's (executors.h): what
// calls such a library has no woven call sites. In a JVM that was attached to, where no class has, each is found by a
// walk.
uint32_t site_of_spawn_to_other(JNIEnv *jni, struct thread_state *state, uint32_t class);

// The same of a thread that sleeps, by its stack, innermost frame first.
uint32_t site_of_stack(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count);

// The class of the frame that is that site, a local reference; NULL: there is no such frame of the application's.
jclass site_class_of_stack(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count);

// The same of the calling thread. `at_top` as of site_of_acquisition.
jclass site_class_here(JNIEnv *jni, bool at_top);

// The site where it asks for a resource, known by its slot. `at_top`: the innermost frame may be the application's, as
// where JVMTI tells of a monitor; else it is the probe's.
uint32_t site_of_acquisition(JNIEnv *jni, struct thread_state *state, uint32_t slot, bool at_top);

// The places of a stack's frames, the JDK's own included, by their numbers in the table of frames (registry_frame).
// false: there is no room for one. A frame of location -1 is its method's, on that's first line.
bool sites_of_stack(JNIEnv *jni, const jvmtiFrameInfo *stack, size_t depth, uint32_t *frames);

// Woven code has moved: remembers by how much, so that a bytecode index seen in a stack is the class file's own again.
void site_remember_shifts(const struct class_file *class, const struct class_method *method,
                          const struct bci_shift *shifts, size_t count);

// Whether a class (java/lang/String) belongs to a library that hands tasks over for the program: none of its frames is
// a site.
bool is_library(const char *internal);

// "com.acme.Main" of "com/acme/Main" of the given length; in `text`, cut to `size`.
char *dotted_name(const char *internal, size_t length, char *text, size_t size);

// Whether a class is the program's own (application.h), and no library's, nor made at run time.
bool site_is_own(JNIEnv *jni, jclass class);

// Of a probe: the method that calls it; NULL: unknown.
jmethodID site_caller(void);

// The program's function nearest to the method `served`, which the calling thread is in, of those that it leads to; of
// NULL the outermost on the stack. "com.acme.Shop.list". false: none is on the stack, or it has no room in `text`.
// Cost: 1 us for four frames, and some for each method that was not seen before.
bool site_served_by(JNIEnv *jni, jmethodID served, char *text, size_t size);

// "com.acme.Shop.list" of a method; false where it has no room in `text`.
bool site_method_name(JNIEnv *jni, jmethodID method, char *text, size_t size);

// Before a recording: where code stood in an earlier one says nothing.
void sites_restart(void);

#endif
