// SPDX-License-Identifier: Apache-2.0
// A place in a library's code where a snippet (weave.h) is inserted.
#ifndef REHYPE_TRACER_HOOK_H
#define REHYPE_TRACER_HOOK_H

#include "tracer/weave.h"

enum hook_where { AT_ENTRY, AT_RETURN, AT_THROW, BEFORE_CALL, AFTER_CALL };

struct hook {
    const char *class_name, *method; // "name*": any method whose name begins so
    const char *descriptor;          // NULL: any
    enum hook_where where;
    const char *snippet;
    const char *call; // name of the called method, for BEFORE_CALL and AFTER_CALL
};

// A bracket that is closed however the method is left.
#define BRACKET(class_name, method, descriptor, opening, closing)                                                      \
    {class_name, method, descriptor, AT_ENTRY, opening, NULL},                                                         \
        {class_name, method, descriptor, AT_RETURN, closing, NULL}, {                                                  \
        class_name, method, descriptor, AT_THROW, closing, NULL                                                        \
    }

// A field that is added to a class for hooks to keep numbers in.
struct hook_field {
    const char *class_name, *name, *descriptor;
};

// Inserts it wherever the class that is being woven has such a method. One that fails is registered as a skip.
void hook_weave(struct weaver *weaver, const struct hook *hook);

#endif
