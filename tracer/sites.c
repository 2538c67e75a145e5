// SPDX-License-Identifier: Apache-2.0
#include "tracer/sites.h"

#include "tracer/application.h"
#include "tracer/generated.h"
#include "tracer/identity.h"
#include "tracer/lambda.h"
#include "tracer/registry.h"
#include "tracer/seen_frames.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOT_APPLICATION = 0, // a frame of the JDK's
    EVERYWHERE = -1,     // in a method, for a bytecode index
    DEEPEST = 64,
    DEEPEST_SERVED = 256,
    AT_FIRST = 4, // frames: most sites are among them
    AT_A_TIME = 12,
    NAME_BYTES = 1024,
};

char *dotted_name(const char *internal, size_t length, char *text, size_t size) {
    if (length >= size) length = size - 1;
    for (size_t i = 0; i < length; i++) text[i] = internal[i] == '/' ? '.' : internal[i];
    text[length] = '\0';
    return text;
}

// Maps under one lock: frames seen to sites, and to frames of calling contexts; woven methods, by name, to shifts.
struct woven_method {
    char *key; // "com/acme/Main.run()V"
    struct bci_shift *shifts;
    size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct seen_frames sites_seen, frames_seen, calls_seen; // calls: by the library's method and the site
static struct seen_frames methods_seen;                        // 1: of the program's own
static struct woven_method *woven;
static size_t woven_count, woven_capacity;

static size_t hash_text(const char *text) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    while (*text) hash = (hash ^ (unsigned char)*text++) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

static struct woven_method *woven_slot(struct woven_method *table, size_t capacity, const char *key) {
    size_t at = hash_text(key) & (capacity - 1);
    while (table[at].key && strcmp(table[at].key, key) != 0) at = (at + 1) & (capacity - 1);
    return &table[at];
}

static bool woven_grow(void) {
    size_t capacity = woven_capacity ? woven_capacity * 2 : 256;
    struct woven_method *table = calloc(capacity, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < woven_capacity; i++) {
        if (woven[i].key) *woven_slot(table, capacity, woven[i].key) = woven[i];
    }
    free(woven);
    woven = table;
    woven_capacity = capacity;
    return true;
}

void site_remember_shifts(const struct class_file *class, const struct class_method *method,
                          const struct bci_shift *shifts, size_t count) {
    char key[NAME_BYTES];
    int length = snprintf(key, sizeof key, "%.*s.%.*s%.*s", class->name.length, class->name.bytes, method->name.length,
                          method->name.bytes, method->descriptor.length, method->descriptor.bytes);
    if (count == 0 || length >= (int)sizeof key) return;
    struct bci_shift *copy = malloc(count * sizeof *copy);
    if (!copy) return;
    memcpy(copy, shifts, count * sizeof *copy);
    pthread_mutex_lock(&lock);
    struct woven_method *slot = NULL;
    if (woven_count * 2 < woven_capacity || woven_grow()) slot = woven_slot(woven, woven_capacity, key);
    if (slot && !slot->key && (slot->key = strdup(key))) woven_count++;
    if (slot && slot->key) {
        free(slot->shifts);
        slot->shifts = copy;
        slot->count = count;
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
}

static jlocation original_bci(const char *key, jlocation bci) {
    jlocation subtract = 0;
    pthread_mutex_lock(&lock);
    if (woven_capacity) {
        const struct woven_method *slot = woven_slot(woven, woven_capacity, key);
        for (size_t i = 0; slot->key && i < slot->count && slot->shifts[i].from <= bci; i++) {
            subtract = slot->shifts[i].subtract;
        }
    }
    pthread_mutex_unlock(&lock);
    return bci - subtract;
}

static uint32_t line_of(jmethodID method, jlocation bci) {
    jint count;
    jvmtiLineNumberEntry *table;
    if ((*tracer.jvmti)->GetLineNumberTable(tracer.jvmti, method, &count, &table) != JVMTI_ERROR_NONE) return 0;
    jint line = 0;
    jlocation nearest = -1;
    for (jint i = 0; i < count; i++) {
        if (bci == EVERYWHERE && (line == 0 || table[i].line_number < line)) line = table[i].line_number;
        if (table[i].start_location <= bci && table[i].start_location > nearest) {
            nearest = table[i].start_location;
            line = table[i].line_number;
        }
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)table);
    return (uint32_t)line;
}

static void release(char *text) {
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)text);
}

// A frame that was entered before its method was woven runs the code that the method had then.
static bool is_obsolete(jmethodID method) {
    jboolean obsolete = JNI_FALSE;
    (*tracer.jvmti)->IsMethodObsolete(tracer.jvmti, method, &obsolete);
    return obsolete;
}

typedef uint32_t register_place(const struct trace_site *place);

static uint32_t register_of_library(const struct trace_site *place) {
    struct trace_site site = *place;
    site.of_library = true;
    return registry_site(&site);
}

static uint32_t describe(jclass declaring, jmethodID method, jlocation bci, register_place *register_it) {
    char *signature = NULL, *name = NULL, *descriptor = NULL, *file = NULL;
    uint32_t id = 0;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE) {
        (*tracer.jvmti)->GetSourceFileName(tracer.jvmti, declaring, &file);
        size_t length = strlen(signature) - 2; // Lcom/acme/Main;
        char class_name[NAME_BYTES], key[3 * NAME_BYTES];
        snprintf(key, sizeof key, "%.*s.%s%s", (int)length, signature + 1, name, descriptor);
        size_t stable = generated_stable_length(signature + 1, length);
        const struct trace_site site = {.class_name = dotted_name(signature + 1, stable, class_name, sizeof class_name),
                                        .method = name,
                                        .descriptor = descriptor,
                                        .file = file,
                                        .line = line_of(method, bci),
                                        .bci = (int32_t)(is_obsolete(method) ? bci : original_bci(key, bci))};
        id = register_it(&site);
    }
    release(signature);
    release(name);
    release(descriptor);
    release(file);
    return id;
}

bool is_library(const char *internal) {
    static const char SCALA[] = "scala/concurrent/";
    return strncmp(internal, SCALA, sizeof SCALA - 1) == 0;
}

static bool is_application(JNIEnv *jni, jclass declaring) {
    jobject loader = NULL;
    if ((*tracer.jvmti)->GetClassLoader(tracer.jvmti, declaring, &loader) != JVMTI_ERROR_NONE || !loader) return false;
    bool platform = tracer.platform_loader && (*jni)->IsSameObject(jni, loader, tracer.platform_loader);
    (*jni)->DeleteLocalRef(jni, loader);
    char *signature = NULL;
    if (platform || (*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool library = is_library(signature + 1); // Lcom/acme/Main;
    release(signature);
    return !library;
}

// "CompletableFuture::join" of "java.util.concurrent.CompletableFuture.join".
static void name_reference(const char *body, char *text, size_t size) {
    const char *method = strrchr(body, '.'), *class = method ? memrchr(body, '.', (size_t)(method - body)) : NULL;
    if (method)
        snprintf(text, size, "%.*s::%s", (int)(method - (class ? class + 1 : body)), class ? class + 1 : body,
                 method + 1);
    else
        snprintf(text, size, "%s", body);
}

// Of a lambda's class what it calls, in the class that has the lambda; 0: it is none.
static uint32_t describe_lambda(jclass declaring) {
    char *signature, body[NAME_BYTES], host[NAME_BYTES], reference[NAME_BYTES];
    uint32_t id = 0;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) != JVMTI_ERROR_NONE) return 0;
    if (lambda_body_name(declaring, signature, body, sizeof body)) {
        dotted_name(signature + 1, generated_host_length(signature + 1, strlen(signature) - 2), host, sizeof host);
        name_reference(body, reference, sizeof reference);
        id = registry_site(&(struct trace_site){.class_name = host, .method = reference, .bci = -1});
    }
    release(signature);
    return id;
}

static bool is_of_generated(jclass declaring) {
    char *signature;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    bool generated = is_generated(signature + 1, strlen(signature) - 2); // Lcom/acme/Main;
    release(signature);
    return generated;
}

struct frame_site {
    uint32_t id;      // NOT_APPLICATION: the frame is one of the JDK's
    bool is_fallback; // it is one of a library's, or of a generated class
};

static bool is_of_library(jclass declaring) {
    char *signature, dotted[NAME_BYTES];
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    dotted_name(signature + 1, strlen(signature) - 2, dotted, sizeof dotted);
    release(signature);
    return !application_has(dotted);
}

bool site_is_own(JNIEnv *jni, jclass class) {
    return is_application(jni, class) && !is_of_generated(class) && !is_of_library(class);
}

static struct frame_site resolve(JNIEnv *jni, const jvmtiFrameInfo *frame) {
    struct frame_site site = {NOT_APPLICATION, false};
    jclass declaring;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, frame->method, &declaring) != JVMTI_ERROR_NONE)
        return site;
    if (is_application(jni, declaring)) {
        const bool generated = is_of_generated(declaring), of_library = is_of_library(declaring);
        site.id = generated && !of_library ? describe_lambda(declaring) : 0;
        if (!site.id)
            site.id =
                describe(declaring, frame->method, frame->location, of_library ? register_of_library : registry_site);
        site.is_fallback = generated || of_library;
    }
    (*jni)->DeleteLocalRef(jni, declaring);
    return site;
}

static void remember(struct seen_frames *map, const struct seen_frame *frame) {
    pthread_mutex_lock(&lock);
    seen_frames_add(map, frame);
    pthread_mutex_unlock(&lock);
}

static bool know_frame(const jvmtiFrameInfo *frame, struct frame_site *site) {
    pthread_mutex_lock(&lock);
    const struct seen_frame *known = seen_frames_find(&sites_seen, frame->method, frame->location);
    if (!known) known = seen_frames_find(&sites_seen, frame->method, EVERYWHERE);
    if (known) *site = (struct frame_site){known->id, known->is_fallback};
    pthread_mutex_unlock(&lock);
    return known;
}

// Frames of JDK methods are remembered by method alone, so that one entry serves all their places.
static struct frame_site site_of_frame(JNIEnv *jni, const jvmtiFrameInfo *frame) {
    struct frame_site site = {NOT_APPLICATION, false};
    if (know_frame(frame, &site)) return site;
    site = resolve(jni, frame); // outside the lock: two threads may both come here, and then one site has two ids
    jlocation bci = site.id == NOT_APPLICATION ? EVERYWHERE : frame->location;
    const struct seen_frame seen = {
        .method = frame->method, .bci = bci, .id = site.id, .is_fallback = site.is_fallback};
    remember(&sites_seen, &seen);
    return site;
}

// 0: no room.
static uint32_t describe_frame(JNIEnv *jni, const jvmtiFrameInfo *frame) {
    jclass declaring;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, frame->method, &declaring) != JVMTI_ERROR_NONE) return 0;
    uint32_t id = describe(declaring, frame->method, frame->location, registry_frame);
    (*jni)->DeleteLocalRef(jni, declaring);
    if (id) remember(&frames_seen, &(struct seen_frame){.method = frame->method, .bci = frame->location, .id = id});
    return id;
}

bool sites_of_stack(JNIEnv *jni, const jvmtiFrameInfo *stack, size_t depth, uint32_t *frames) {
    bool known = true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < depth; i++) {
        const struct seen_frame *seen = seen_frames_find(&frames_seen, stack[i].method, stack[i].location);
        frames[i] = seen ? seen->id : 0;
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; known && i < depth; i++) { // outside the lock: the JVM is asked
        if (!frames[i]) frames[i] = describe_frame(jni, &stack[i]);
        known = frames[i] != 0;
    }
    return known;
}

void sites_restart(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < woven_capacity; i++) {
        free(woven[i].key);
        free(woven[i].shifts);
    }
    free(woven);
    woven = NULL;
    woven_count = woven_capacity = 0;
    seen_frames_clear(&sites_seen);
    seen_frames_clear(&frames_seen);
    seen_frames_clear(&calls_seen);
    seen_frames_clear(&methods_seen);
    pthread_mutex_unlock(&lock);
}

// Of a class that is the library's; "" for what is made at run time, which no source has.
static void name_library_class(jclass declaring, char *text, size_t size) {
    char *signature;
    *text = '\0';
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, declaring, &signature, NULL) != JVMTI_ERROR_NONE) return;
    const size_t length = strlen(signature) - 2; // Lorg/acme/Pool;
    if (!is_generated(signature + 1, length)) dotted_name(signature + 1, length, text, size);
    release(signature);
}

static __thread const char *through_class, *through_method; // of the site that is being described

static uint32_t register_through(const struct trace_site *place) {
    struct trace_site site = *place;
    site.through_class = through_class;
    site.through_method = through_method;
    return registry_site(&site);
}

static uint32_t describe_call(const jvmtiFrameInfo *frame, jmethodID called) {
    jclass caller = NULL, library = NULL;
    char *name = NULL, class_name[NAME_BYTES];
    uint32_t id = 0;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, frame->method, &caller) == JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, called, &library) == JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, called, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
        name_library_class(library, class_name, sizeof class_name);
        through_class = class_name;
        through_method = name;
        if (*class_name) id = describe(caller, frame->method, frame->location, register_through);
    }
    release(name);
    return id;
}

// The application's frame, whose site is known, and the library's method that it called.
static uint32_t site_through(const jvmtiFrameInfo *frame, uint32_t site, jmethodID called) {
    pthread_mutex_lock(&lock);
    const struct seen_frame *seen = seen_frames_find(&calls_seen, called, site);
    uint32_t id = seen ? seen->id : 0;
    pthread_mutex_unlock(&lock);
    if (id) return id;
    id = describe_call(frame, called); // outside the lock: the JVM is asked
    if (!id) id = site;
    remember(&calls_seen, &(struct seen_frame){.method = called, .bci = site, .id = id});
    return id;
}

// The innermost frame of the application's; where there is none, that of a library that spawns by itself, or of what a
// method reference calls: the innermost of these is the fallback.
struct outer_site {
    uint32_t fallback; // 0: no frame yet
    jmethodID called;  // the outermost of libraries' so far; NULL: none yet
};

static uint32_t look_for_site(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count, struct outer_site *outer) {
    for (jint i = 0; i < count; i++) {
        struct frame_site site = site_of_frame(jni, &frames[i]);
        if (site.id == NOT_APPLICATION) continue;
        if (!site.is_fallback) return outer->called ? site_through(&frames[i], site.id, outer->called) : site.id;
        if (!outer->fallback) outer->fallback = site.id;
        outer->called = frames[i].method;
    }
    return 0;
}

uint32_t site_of_stack(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count) {
    struct outer_site outer = {0};
    const uint32_t site = look_for_site(jni, frames, count, &outer);
    return site ? site : outer.fallback;
}

jclass site_class_of_stack(JNIEnv *jni, const jvmtiFrameInfo *frames, jint count) {
    for (jint i = 0; i < count; i++) {
        struct frame_site site = site_of_frame(jni, &frames[i]);
        jclass class = NULL;
        if (site.id == NOT_APPLICATION || site.is_fallback) continue;
        (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, frames[i].method, &class);
        return class;
    }
    return NULL;
}

jclass site_class_here(JNIEnv *jni, bool at_top) {
    jvmtiFrameInfo stack[DEEPEST];
    jint count = 0;
    (*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, at_top ? 0 : 1, DEEPEST, stack, &count);
    return site_class_of_stack(jni, stack, count);
}

static uint32_t walk_from(JNIEnv *jni, jint first_depth) {
    jvmtiFrameInfo stack[AT_A_TIME];
    jint asked = AT_FIRST, count = asked;
    struct outer_site outer = {0};
    for (jint depth = first_depth; depth < DEEPEST && count == asked; depth += count) {
        asked = depth == first_depth ? AT_FIRST : AT_A_TIME;
        if ((*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, depth, asked, stack, &count) != JVMTI_ERROR_NONE) break;
        uint32_t site = look_for_site(jni, stack, count, &outer);
        if (site) return site;
    }
    return outer.fallback;
}

// 0 is the probe.
static uint32_t walk_to_site(JNIEnv *jni) {
    return walk_from(jni, 1);
}

uint32_t site_of_spawn(JNIEnv *jni, struct thread_state *state) {
    return state->site ? state->site : walk_to_site(jni);
}

static uint32_t site_at_hand(JNIEnv *jni, struct place_at_hand *place) {
    return place_needs_walk(place) ? place_walked(place, walk_to_site(jni)) : place->site;
}

uint32_t site_of_sleep(JNIEnv *jni, struct thread_state *state, uint32_t class) {
    struct native_thread *native = state->native;
    if (state->site) return state->site;
    return site_at_hand(jni, places_take(&native->sleeps, __builtin_frame_address(0), class));
}

uint32_t site_of_spawn_to_other(JNIEnv *jni, struct thread_state *state, uint32_t class) {
    struct native_thread *native = state->native;
    if (state->site) return state->site;
    if (tracer.attached) return walk_to_site(jni);
    return site_at_hand(jni, places_take(&native->spawns, __builtin_frame_address(0), class));
}

uint32_t site_of_acquisition(JNIEnv *jni, struct thread_state *state, uint32_t slot, bool at_top) {
    struct place_at_hand *place = places_take(&state->native->acquisitions, __builtin_frame_address(0), slot);
    return place_needs_walk(place) ? place_walked(place, walk_from(jni, at_top ? 0 : 1)) : place->site;
}

// Code that serves requests -------------------------------------------------------------------------------------------

jmethodID site_caller(void) {
    jmethodID method = NULL;
    jlocation location;
    const jvmtiError error = (*tracer.jvmti)->GetFrameLocation(tracer.jvmti, NULL, 1, &method, &location);
    return error == JVMTI_ERROR_NONE ? method : NULL;
}

static bool know_method(jmethodID method, bool *own) {
    pthread_mutex_lock(&lock);
    const struct seen_frame *seen = seen_frames_find(&methods_seen, method, EVERYWHERE);
    if (seen) *own = seen->id;
    pthread_mutex_unlock(&lock);
    return seen;
}

static bool is_own_method(JNIEnv *jni, jmethodID method) {
    bool own = false;
    jclass declaring;
    if (know_method(method, &own)) return own;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &declaring) != JVMTI_ERROR_NONE) return false;
    own = site_is_own(jni, declaring);
    (*jni)->DeleteLocalRef(jni, declaring);
    remember(&methods_seen, &(struct seen_frame){.method = method, .bci = EVERYWHERE, .id = own});
    return own;
}

static jmethodID find_served_by(JNIEnv *jni, jmethodID served) {
    jvmtiFrameInfo stack[AT_A_TIME];
    jmethodID found = NULL;
    jint count = AT_A_TIME;
    for (jint depth = 1; depth < DEEPEST_SERVED && count == AT_A_TIME; depth += count) {
        if ((*tracer.jvmti)->GetStackTrace(tracer.jvmti, NULL, depth, AT_A_TIME, stack, &count) != JVMTI_ERROR_NONE)
            break;
        for (jint i = 0; i < count; i++) {
            if (stack[i].method == served) return found;
            if (is_own_method(jni, stack[i].method)) found = stack[i].method;
        }
    }
    return found;
}

bool site_method_name(JNIEnv *jni, jmethodID method, char *text, size_t size) {
    char *name, class_name[NAME_BYTES];
    jclass declaring;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &declaring) != JVMTI_ERROR_NONE) return false;
    identity_class_name(declaring, class_name, sizeof class_name);
    (*jni)->DeleteLocalRef(jni, declaring);
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
    const int length = snprintf(text, size, "%s.%s", class_name, name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    return (size_t)length < size;
}

bool site_served_by(JNIEnv *jni, jmethodID served, char *text, size_t size) {
    const jmethodID method = find_served_by(jni, served);
    return method && site_method_name(jni, method, text, size);
}
