// SPDX-License-Identifier: Apache-2.0
// Classes that are made while a program runs, by the JVM and the JDK: of lambdas and method references, and all other
// hidden classes; dynamic proxies; what reflection calls methods by; and by libraries: subclasses that call what was
// written (Spring, CGLIB, Guice, Hibernate, Byte Buddy, Javassist). No line of a program is in them, and their names
// change from run to run. No JVM type in it.
#ifndef REHYPE_TRACER_GENERATED_H
#define REHYPE_TRACER_GENERATED_H

#include <stdbool.h>
#include <stddef.h>

// Whether a class is one, by its internal name as JVMTI has it in signatures: com/acme/Main$$Lambda.0x00007f4c0c000c50
// (JDK 15 and later), com/acme/Main$$Lambda$2/558638686 (before).
bool is_generated(const char *internal, size_t length);

// How much of the name stays the same from run to run: com/acme/Main$$Lambda. All of it where the class is no hidden
// one.
size_t generated_stable_length(const char *internal, size_t length);

// Of the rest the class whose method has the lambda: com/acme/Main.
size_t generated_host_length(const char *internal, size_t length);

#endif
