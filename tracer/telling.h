// SPDX-License-Identifier: Apache-2.0
// What an argument of a woven method tells: a path of fields and methods from it, as a line of executors.conf writes
// it:
//
//   3                                                        the third argument itself; 0: `this`
//   3.getMethod()Ljava/lang/String;                          what its method gives, which has no parameter
//   0.connection:Lcom/acme/Connection;.getNumber()I          a field, and what that one's method gives
//   3.getAttribute(Ljava/lang/String;)Ljava/lang/Object;=key what its method gives for a string, to the word's end
//   1.isGood()Z                                              what its method gives, as a number or a boolean
//   0.class                                                  its class
//   0.getParent()Lcom/acme/Path;.getPath()Ljava/lang/String;+0.getPath()Ljava/lang/String;   parts of one path, each
//                                                            behind the one before; a part that is null is left out
//   /0.getPath()Ljava/lang/String;                           likewise, with a / at its beginning, whether it has one or
//                                                            not
#ifndef REHYPE_TRACER_TELLING_H
#define REHYPE_TRACER_TELLING_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { TELLING_STEPS = 4 };

struct telling_step {
    const char *name, *type; // type: of a field, or a method's descriptor
    const char *argument;    // a string that the method gets; NULL: none
    bool is_method;
    _Atomic(struct telling_known *) known; // by who follows it (told.h), as what is next
    _Atomic(void *) string;                // the argument as a string of Java's
};

struct telling {
    unsigned argument; // where it begins; 0: at `this`
    unsigned count;
    bool is_class;          // it ends with the class of what it comes to
    bool is_rooted;         // it begins with a /
    struct telling *behind; // the part that follows, of the same argument; NULL: none
    struct telling_step steps[TELLING_STEPS];
    _Atomic(const char *) fails; // a step that some object did not have; NULL: none
};

// The first letter of the type of what a step gives: L, [, I, Z...
char telling_step_gives(const struct telling_step *step);

// Whether what it comes to is a boolean.
bool telling_is_boolean(const struct telling *telling);

// NULL where the text is none, or memory is short. Lives as long as the arena.
struct telling *telling_parse(const char *text, struct arena *arena);

#endif
