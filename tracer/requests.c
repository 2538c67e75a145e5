// SPDX-License-Identifier: Apache-2.0
// Requests: what somebody outside asks a server for, told by lines of executors.conf (role `request`). A request is
// known by an object of the server's (its key: a request, an exchange, a connection), on which its number lies from its
// begin to its end; whichever thread handles that object is at the request. What it asks for is an endpoint, told by
// method and route: no path that a client sent is ever kept.
//
// These are the natives of java.lang.Rehype for that. As those of probes.c, none blocks, parks, throws, or
// touches java.util.concurrent.
#include "tracer/requests.h"
#include "tracer/bodies.h"
#include "tracer/bytecodes.h"
#include "tracer/executors.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/sleepers.h"
#include "tracer/thrown.h"
#include "tracer/told.h"
#include "tracer/tracer.h"

#include <java_lang_Rehype.h>

#include <stdio.h>
#include <string.h>

#define PROBE(result, name) JNIEXPORT result JNICALL Java_java_lang_Rehype_##name

// The hooks -----------------------------------------------------------------------------------------------------------

static atomic_bool turned_off[EXECUTOR_NUMBERS];

// NULL: it was turned off.
static const struct executor_hook *hook_of(jint number) {
    if (atomic_load_explicit(&turned_off[number], memory_order_relaxed)) return NULL;
    return executor_numbered(number);
}

static void check(jint number, const struct executor_hook *hook, const struct telling *telling) {
    char method[256], why[128];
    const char *step = telling ? told_fails(telling) : NULL;
    if (!step || atomic_exchange(&turned_off[number], true)) return;
    snprintf(method, sizeof method, "%s.%s", hook->class_name, hook->method);
    snprintf(why, sizeof why, "what it is given has no %s, so it tells nothing any more", step);
    registry_skip(method, why);
}

enum { CLASSES_SEEN = 1 << 10 };

// By class the answer is found once, but for rare meetings of two.
static bool is_of(JNIEnv *jni, struct thread_state *state, jint number, jobject object, const char *name) {
    static _Atomic(uint64_t) seen[CLASSES_SEEN]; // class and hook above, whether it is below
    const uint64_t key = (uint64_t)identity_class(jni, state, object) << 8 | (uint64_t)number;
    _Atomic(uint64_t) *const slot = &seen[(key ^ key >> 8) % CLASSES_SEEN];
    const uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);
    if (there >> 1 == key) return there & 1;
    jclass class = (*jni)->GetObjectClass(jni, object);
    const bool is = told_is(jni, class, name);
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store_explicit(slot, key << 1 | is, memory_order_relaxed);
    return is;
}

// Whether the line goes for a call with this argument.
static bool concerns(JNIEnv *jni, struct thread_state *state, jint number, jobject only) {
    const struct executor_hook *hook = executor_numbered(number);
    return !hook->only || (only && is_of(jni, state, number, only, hook->only_class));
}

// While the server's own code is asked.
struct asking {
    struct bytecodes_pause pause;
    bool begun;
};

static struct asking asking_begin(JNIEnv *jni) {
    struct asking asking = {.pause = bytecodes_pause()};
    asking.begun = (*jni)->PushLocalFrame(jni, 8) == 0;
    thread_state_hide();
    return asking;
}

static void asking_end(JNIEnv *jni, const struct asking *asking) {
    if (asking->begun) (*jni)->PopLocalFrame(jni, NULL);
    thread_state_show();
    bytecodes_resume(asking->pause);
}

// Pools that are told by name: what gives them tells it.
PROBE(void, poolCalled)(JNIEnv *jni, jclass helper, jobject pool, jobject teller, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    char name[256];
    if (!state || !hook || !pool) return;
    const struct asking asking = asking_begin(jni);
    if (told_text(jni, hook->telling[0], teller, name, sizeof name))
        registry_call_pool(identity_executor(jni, state, pool), name);
    asking_end(jni, &asking);
    check(number, hook, hook->telling[0]);
}

// What lies on an object: a request under way and, above it, the connection that it is.
enum { CONNECTION_AT = 40, CONNECTIONS = 1 << 24 };

static uint32_t connection_of(jobject object) {
    static _Atomic(uint32_t) last;
    if (!object) return 0;
    const uint64_t kept = kept_get(object);
    uint32_t connection = (uint32_t)(kept >> CONNECTION_AT);
    while (connection == 0) connection = (atomic_fetch_add(&last, 1) + 1) % CONNECTIONS;
    if (!(kept >> CONNECTION_AT)) kept_set(object, kept | (uint64_t)connection << CONNECTION_AT);
    return connection;
}

static uint64_t request_of(jobject key) {
    return kept_get(key) & CARRIED_ID;
}

static void keep_request(jobject key, uint64_t request) {
    kept_set(key, (kept_get(key) & ~CARRIED_ID) | request);
}

// By what each request under way was named so far, and whether what serves it has thrown: in sets, so that two at a
// time as good as never drive one another out. Of one that was driven out neither is known: it keeps its name.
enum { SET_BITS = 9, WAYS = 8, FAILED = 1 << 3, NOTE_BITS = 4 };
static _Atomic(uint64_t) noted[1 << SET_BITS][WAYS]; // request above, whether it failed and its name's kind below

// Threads take numbers by thousands: their low parts alone are the same.
static _Atomic(uint64_t) *note_set(uint64_t request) {
    return noted[request * 0x9e3779b97f4a7c15u >> (64 - SET_BITS)];
}

// Null where the request has none.
static _Atomic(uint64_t) *find_note(uint64_t request) {
    _Atomic(uint64_t) *const set = note_set(request);
    for (int i = 0; i < WAYS; i++) {
        if (atomic_load_explicit(&set[i], memory_order_relaxed) >> NOTE_BITS == request) return &set[i];
    }
    return NULL;
}

// As it begins. Where the set is full a request that has never ended goes, whichever.
static void begin_note(uint64_t request, uint64_t what) {
    _Atomic(uint64_t) *const set = note_set(request);
    const uint64_t noted_as = request << NOTE_BITS | what;
    for (int i = 0; i < WAYS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&set[i], &none, noted_as, memory_order_relaxed,
                                                    memory_order_relaxed))
            return;
    }
    atomic_store_explicit(&set[request % WAYS], noted_as, memory_order_relaxed);
}

static void end_note(uint64_t request) {
    _Atomic(uint64_t) *const slot = find_note(request);
    if (slot) atomic_store_explicit(slot, 0, memory_order_relaxed);
}

static uint64_t noted_of(uint64_t request) {
    const _Atomic(uint64_t) *const slot = find_note(request);
    return slot ? atomic_load_explicit(slot, memory_order_relaxed) & (FAILED | (FAILED - 1)) : NAMED_BY_ROUTE;
}

static void note(uint64_t request, uint64_t what) {
    _Atomic(uint64_t) *const slot = find_note(request);
    if (slot) atomic_store_explicit(slot, request << NOTE_BITS | what, memory_order_relaxed);
}

static void note_name(uint64_t request, enum serving_name name) {
    note(request, (noted_of(request) & FAILED) | name);
}

static void note_failed(uint64_t request) {
    note(request, noted_of(request) | FAILED);
}

static enum serving_name noted_name(uint64_t request) {
    return (enum serving_name)(noted_of(request) & (FAILED - 1));
}

static bool noted_failed(uint64_t request) {
    return noted_of(request) & FAILED;
}

// What a thread is at ------------------------------------------------------------------------------------------------

static int verb_of(JNIEnv *jni, struct telling *telling, jobject root);

static _Atomic(jmethodID) served_by[EXECUTOR_NUMBERS]; // of each hook, the method that it is of

static void begin(struct thread_state *state, jobject key, uint32_t connection) {
    struct serving *serving = &state->serving;
    if (bodies_in_unseen(state)) bodies_begin_unseen(state);
    serving->request = task_id_new(state);
    sleepers_expect();
    if (!connection) connection = serving->came_by;
    keep_request(key, serving->request);
    begin_note(serving->request, NAMED_NOT_YET);
    record_boundary(state, EVENT_REQUEST_BEGIN, serving->request, connection);
}

static void resume(struct thread_state *state, uint64_t request) {
    state->serving.request = request;
    state->serving.name = noted_name(request);
    record1(state, EVENT_REQUEST_RESUMED, request);
}

static jobject told(JNIEnv *jni, struct telling *telling, jobject root) {
    return telling && root ? told_object(jni, telling, root) : NULL;
}

// What the paths of a line begin at.
struct roots {
    jobject key, connection, verb;
};

static void enter(JNIEnv *jni, struct thread_state *state, jint number, const struct roots *roots) {
    const struct executor_hook *hook = hook_of(number);
    struct serving *serving = &state->serving;
    if (!hook) return;
    *serving = (struct serving){
        .came_by = serving->came_by, .depth = serving->depth, .passed = serving->passed, .hook = (int16_t)number};
    if (!atomic_load_explicit(&served_by[number], memory_order_relaxed))
        atomic_store_explicit(&served_by[number], site_caller(), memory_order_relaxed);
    const struct asking asking = asking_begin(jni);
    jobject key = told(jni, hook->telling[0], roots->key);
    const uint32_t connection = connection_of(told(jni, hook->telling[1], roots->connection));
    const uint64_t under_way = key && hook->role != EXECUTOR_REQUEST_SERVE ? request_of(key) : 0;
    serving->verb = (int8_t)verb_of(jni, hook->telling[2], roots->verb);
    if (under_way)
        resume(state, under_way);
    else if (key && hook->role != EXECUTOR_REQUEST_MORE)
        begin(state, key, connection);
    asking_end(jni, &asking);
    for (unsigned i = 0; i < EXECUTOR_TELLINGS; i++) check(number, hook, hook->telling[i]);
}

// What serves may call what serves: the outermost counts whose line goes for its call.
static void open(JNIEnv *jni, struct thread_state *state, jint hook, const struct roots *roots, jobject only) {
    struct serving *serving = &state->serving;
    if (serving->depth == 0 && !concerns(jni, state, hook, only))
        serving->passed++;
    else if (serving->depth++ == 0)
        enter(jni, state, hook, roots);
}

PROBE(void, requestOpens)
(JNIEnv *jni, jclass helper, jobject key, jobject connection, jobject verb, jobject only, jint hook) {
    PROBED struct thread_state *state = probe_begin();
    const struct roots roots = {key, connection, verb};
    if (state) open(jni, state, hook, &roots, only);
}

PROBE(void, requestTakenUp)(JNIEnv *jni, jclass helper, jobject key, jobject only, jint hook) {
    PROBED struct thread_state *state = probe_begin();
    const struct roots roots = {.key = key};
    if (state) open(jni, state, hook, &roots, only);
}

static void leave(struct thread_state *state, jint number, enum request_outcome outcome) {
    const struct executor_hook *hook = hook_of(number);
    struct serving *serving = &state->serving;
    const uint64_t request = serving->request;
    if (serving->depth == 0 && serving->passed > 0) serving->passed--;
    if (serving->depth == 0 || --serving->depth > 0 || !request) return;
    serving->request = 0;
    if (hook && hook->role == EXECUTOR_REQUEST_SERVE && !serving->asynchronous) {
        end_note(request);
        record_boundary(state, EVENT_REQUEST_END, request, outcome);
        return;
    }
    if (outcome == REQUEST_FAILED) note_failed(request);
    record1(state, EVENT_REQUEST_LEFT, request);
}

PROBE(void, requestCloses)(JNIEnv *jni, jclass helper, jint hook) {
    PROBED struct thread_state *state = probe_begin();
    if (state) leave(state, hook, REQUEST_ANSWERED);
}

PROBE(void, requestThrew)(JNIEnv *jni, jclass helper, jint hook) {
    PROBED struct thread_state *state = probe_begin();
    if (state) leave(state, hook, REQUEST_FAILED);
}

PROBE(void, requestAsync)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->serving.asynchronous = true;
}

PROBE(void, requestReads)(JNIEnv *jni, jclass helper, jobject connection, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    if (!state || !hook) return;
    const struct asking asking = asking_begin(jni);
    state->serving.came_by = connection_of(told(jni, hook->telling[0], connection));
    asking_end(jni, &asking);
    check(number, hook, hook->telling[0]);
}

PROBE(void, requestRead)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->serving.came_by = 0;
}

// Its end -------------------------------------------------------------------------------------------------------------

enum { SERVER_ERROR = 500 };

// By its status, or by whether it is a good one.
static bool says_failed(JNIEnv *jni, struct telling *answer, jobject root) {
    jint status = 0;
    if (!answer || !told_number(jni, answer, root, &status)) return false;
    return telling_is_boolean(answer) ? !status : status >= SERVER_ERROR;
}

static void end(JNIEnv *jni, struct thread_state *state, uint64_t request, struct telling *answer, jobject root) {
    const bool failed = says_failed(jni, answer, root) || noted_failed(request);
    if (state->serving.request == request) state->serving.request = 0;
    end_note(request);
    record_boundary(state, EVENT_REQUEST_END, request, failed ? REQUEST_FAILED : REQUEST_ANSWERED);
}

// Of the object, or (there is none) of what the thread is at.
static uint64_t take_request(JNIEnv *jni, struct thread_state *state, struct telling *telling, jobject root) {
    if (!telling) return state->serving.request;
    jobject key = told(jni, telling, root);
    const uint64_t request = key ? request_of(key) : 0;
    if (request) keep_request(key, 0);
    return request;
}

PROBE(void, requestEnds)(JNIEnv *jni, jclass helper, jobject key, jobject answer, jobject only, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    if (!state || !hook || !concerns(jni, state, number, only)) return;
    const struct asking asking = asking_begin(jni);
    const uint64_t request = take_request(jni, state, hook->telling[0], key);
    if (request) end(jni, state, request, hook->telling[1], answer);
    asking_end(jni, &asking);
    check(number, hook, hook->telling[0]);
    check(number, hook, hook->telling[1]);
}

// Its name ------------------------------------------------------------------------------------------------------------

enum { NAME_BYTES = 512, PATTERN_BYTES = 240, VERBS = 10, CLASS_ENDPOINTS = 1 << 10 };

static const char *const verbs[VERBS] = {"other", "GET",    "HEAD",  "POST",    "PUT",
                                         "PATCH", "DELETE", "TRACE", "OPTIONS", "CONNECT"};

// A client may send any word; -1 where there is no path to it.
static int verb_of(JNIEnv *jni, struct telling *telling, jobject root) {
    char text[16];
    if (!telling) return -1;
    if (!root || !told_text(jni, telling, root, text, sizeof text)) return 0;
    for (int i = 1; i < VERBS; i++) {
        if (strcmp(text, verbs[i]) == 0) return i;
    }
    return 0;
}

static uint32_t endpoint_named(int verb, const char *route) {
    char name[NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s%s", verb < 0 ? "" : verbs[verb], verb < 0 ? "" : " ", route);
    return registry_endpoint(&(struct trace_endpoint){.name = name});
}

// By class the name is made once, but for rare meetings of two.
static uint32_t endpoint_of_class(JNIEnv *jni, struct thread_state *state, int verb, jobject object) {
    static _Atomic(uint64_t) known[CLASS_ENDPOINTS]; // class and verb above, endpoint below
    const uint64_t key = ((uint64_t)identity_class(jni, state, object) << 4) | (uint64_t)(verb + 1);
    _Atomic(uint64_t) *const slot = &known[key % CLASS_ENDPOINTS];
    const uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);
    if (there >> 16 == key) return (uint32_t)(there & 0xffff);
    char text[NAME_BYTES];
    jclass class = (*jni)->GetObjectClass(jni, object);
    const uint32_t endpoint = endpoint_named(verb, identity_class_name(class, text, sizeof text));
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store_explicit(slot, key << 16 | endpoint, memory_order_relaxed);
    return endpoint;
}

static uint32_t endpoint_of(JNIEnv *jni, struct thread_state *state, int verb, struct telling *telling, jobject root) {
    char route[NAME_BYTES];
    if (!telling->is_class) return told_path(jni, telling, root, route, sizeof route) ? endpoint_named(verb, route) : 0;
    jobject object = told_object(jni, telling, root);
    return object ? endpoint_of_class(jni, state, verb, object) : 0;
}

static void take_name(struct thread_state *state, uint32_t endpoint, enum serving_name name) {
    if (!endpoint) return;
    record3(state, EVENT_REQUEST_NAMED, state->serving.request, endpoint, 0);
    note_name(state->serving.request, name);
    state->serving.name = name;
}

// Where the program's code has gone by an exception, that tells what it was.
static void name_by_code(JNIEnv *jni, struct thread_state *state, jthrowable exception) {
    enum { LOOKS_MOST = 4 };
    char name[NAME_BYTES];
    if (state->serving.looks == LOOKS_MOST) return;
    state->serving.looks++;
    const jmethodID served = atomic_load_explicit(&served_by[state->serving.hook], memory_order_relaxed);
    if (site_served_by(jni, served, name, sizeof name) ||
        (exception && thrown_served_by(jni, served, exception, name, sizeof name)))
        take_name(state, endpoint_named(state->serving.verb, name), NAMED_BY_CODE);
}

void request_name_by_code(JNIEnv *jni, struct thread_state *state) {
    name_by_code(jni, state, NULL);
}

PROBE(void, requestCode)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state && request_wants_name(state)) request_name_by_code(jni, state);
}

PROBE(void, requestThrown)(JNIEnv *jni, jclass helper, jobject thrown, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    if (!state || !hook || !request_wants_name(state)) return;
    const struct asking asking = asking_begin(jni);
    name_by_code(jni, state, told(jni, hook->telling[0], thrown));
    asking_end(jni, &asking);
    check(number, hook, hook->telling[0]);
}

static int spoken_verb(JNIEnv *jni, struct thread_state *state, const struct executor_hook *hook, jobject verb) {
    return hook->telling[0] ? verb_of(jni, hook->telling[0], verb) : state->serving.verb;
}

// A route says more than a class, and what is matched first more than where an error is shown.
PROBE(void, requestNamed)(JNIEnv *jni, jclass helper, jobject verb, jobject route, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    if (!state || !hook || !state->serving.request || !route) return;
    const enum serving_name name = hook->telling[1]->is_class ? NAMED_BY_CLASS : NAMED_BY_ROUTE;
    if (state->serving.name >= name) return;
    const struct asking asking = asking_begin(jni);
    const int spoken = spoken_verb(jni, state, hook, verb);
    take_name(state, endpoint_of(jni, state, spoken, hook->telling[1], route), name);
    asking_end(jni, &asking);
    check(number, hook, hook->telling[0]);
    check(number, hook, hook->telling[1]);
}

// Every path ("/", "/*"), or all of one ending ("*.do"): the class of what serves them says more.
static bool tells_path(const char *pattern) {
    return *pattern == '/' && strcmp(pattern, "/") != 0 && strcmp(pattern, "/*") != 0;
}

static uint32_t endpoint_mapped(JNIEnv *jni, int verb, const char *pattern, struct telling *base, jobject root) {
    char route[NAME_BYTES], below[PATTERN_BYTES];
    if (!base || !root || !told_text(jni, base, root, below, sizeof below)) return endpoint_named(verb, pattern);
    snprintf(route, sizeof route, "%s%s", below, pattern);
    return endpoint_named(verb, route);
}

// Servlets of before 4.0 have no patterns to tell: their hook is turned off, and nothing is said of it.
PROBE(void, requestMapped)(JNIEnv *jni, jclass helper, jobject verb, jobject pattern, jobject base, jint number) {
    PROBED struct thread_state *state = probe_begin();
    const struct executor_hook *hook = hook_of(number);
    char text[PATTERN_BYTES];
    if (!state || !hook || !state->serving.request || state->serving.name >= NAMED_BY_MAPPING) return;
    const struct asking asking = asking_begin(jni);
    if (pattern && told_text(jni, hook->telling[1], pattern, text, sizeof text) && tells_path(text)) {
        const int spoken = spoken_verb(jni, state, hook, verb);
        take_name(state, endpoint_mapped(jni, spoken, text, hook->telling[2], base), NAMED_BY_MAPPING);
    }
    asking_end(jni, &asking);
    if (told_fails(hook->telling[1])) atomic_store_explicit(&turned_off[number], true, memory_order_relaxed);
}
