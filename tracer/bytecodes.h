// SPDX-License-Identifier: Apache-2.0
// How many bytecodes a thread has executed so far (option bytecodes=1): every basic block of every method that can be
// woven adds its number of instructions to a field of the running thread. What is inserted is never counted.
//
// The field is added to java.lang.Thread as the JVM loads it, before there is any Java code: hence only in a JVM that
// starts with the agent, and JDK 9 or later. Counting begins when the JVM is initialised; classes that are loaded by
// then are retransformed.
//
// Not counted: native methods; hidden classes, so what the JVM makes of lambdas (but not their bodies); VirtualThread
// and jdk.internal.vm, where it is not settled which thread is the current one; methods for which the JVM may have code
// of its own (@IntrinsicCandidate), which are taken for native, so that the count does not depend on what has been
// compiled; and methods that can't be woven, which are listed. T 3.7.1 says what such a count is worth beside cycles.
#ifndef REHYPE_TRACER_BYTECODES_H
#define REHYPE_TRACER_BYTECODES_H

#include "tracer/tracer.h"
#include "tracer/weave.h"

// In Agent_OnLoad, before the JVM is asked for capabilities. false: this JVM can't.
bool bytecodes_ask(jvmtiCapabilities *wanted, struct error *error);

// While the JVM loads its first classes: adds the field to the class if it is java.lang.Thread.
void bytecodes_first_class(jvmtiEnv *jvmti, const char *name, const unsigned char *bytes, jint length, jint *new_length,
                           unsigned char **new_bytes);

// The helper class with the method that counts; its bytes are the weaver's. NULL and *error where that fails.
struct weaver *bytecodes_helper(const uint8_t **bytes, size_t *length, struct error *error);

// Has every method of the class count. Called before anything else is woven into it, so that probes find what runs
// before them counted. A method that fails is registered as a skip.
void bytecodes_weave(struct weaver *weaver);

// When classes can be had. false and *error: threads have no such field.
bool bytecodes_init(JNIEnv *jni, struct error *error);

// Executed so far by the calling thread (the virtual thread, if one is mounted), or by the given one. Cost: 100 ns.
uint64_t bytecodes_here(void);
uint64_t bytecodes_of(JNIEnv *jni, jthread thread);

// Brackets what the tracer itself calls in Java on the program's thread: that does not count.
struct bytecodes_pause {
    bool counting;
    uint64_t before;
};
struct bytecodes_pause bytecodes_pause(void);
void bytecodes_resume(struct bytecodes_pause pause);

#endif
