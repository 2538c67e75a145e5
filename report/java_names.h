// SPDX-License-Identifier: GPL-3.0-or-later
// Names from a trace, as Java source has them. A trace is untrusted: what comes out is UTF-8 without control
// characters, quotes and backslashes, and cut where it has no room. Each is returned by value, so that it can stand in
// an argument list. NULL is the empty name. Thread-safe, no allocation.
#ifndef REHYPE_REPORT_JAVA_NAMES_H
#define REHYPE_REPORT_JAVA_NAMES_H

#include "tracefile/tables.h"

struct java_name {
    char s[160];
};

// As it is, for comments and between quotes.
struct java_name java_text(const char *text);

// "Job" of com.acme.Main$Job. Empty of what has no name that a program could write: a lambda's method
// (Main.lambda$run$0), an anonymous or hidden class, one of the JDK's or of Scala's library.
struct java_name java_class(const char *class_name);

// The method that the program wrote: "submit" of submit, lambda$submit$0 and $anonfun$submit$1; of <init> and <clinit>
// "constructor" and "initialiser".
struct java_name java_method(const char *method);
// Of a class that a lambda stands for the method with its body: "submit" of Main.lambda$submit$0; else empty.
struct java_name java_lambda_home(const char *class_name);

// An identifier in lower camel case: "pool1" of pool-1, "shopDb" of "shop db"; `otherwise` where nothing is left.
// Reserved words get a "_".
struct java_name java_variable(const char *name, const char *otherwise);
// The same that begins with a capital: "Load" of load.
struct java_name java_capital(const char *name);

// A place as stack traces have it: "com.acme.Main.run(Main.java:12)"; where it lies in a lambda, that is said.
struct java_place {
    char s[512];
};
struct java_place java_place(const struct trace_site *site);

#endif
