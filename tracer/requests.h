// SPDX-License-Identifier: Apache-2.0
// What other probes tell of the request that their thread is at (requests.c).
#ifndef REHYPE_TRACER_REQUESTS_H
#define REHYPE_TRACER_REQUESTS_H

#include "tracer/tracer.h"

// A task is handed over: a request that nothing has named so far is named by the program's first function that leads
// there. Cheap where there is none; else a walk over the stack, a few times for a request at most.
static inline bool request_wants_name(const struct thread_state *state) {
    return __builtin_expect(state->serving.request != 0, 0) && state->serving.name == NAMED_NOT_YET;
}
void request_name_by_code(JNIEnv *jni, struct thread_state *state);

#endif
