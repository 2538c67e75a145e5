// SPDX-License-Identifier: Apache-2.0
// A lambda's class is hidden: no load hook shows it, and its name says nothing. But its constant pool names, beside
// Object.<init>, exactly one method: the one that holds the body (or the method reference's target).
#ifndef REHYPE_TRACER_LAMBDA_H
#define REHYPE_TRACER_LAMBDA_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

// "com.acme.Main.lambda$main$0" into name; false if the class is no lambda or doesn't say. Once per class.
bool lambda_body_name(jclass class, const char *signature, char *name, size_t size);

#endif
