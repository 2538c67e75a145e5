// SPDX-License-Identifier: Apache-2.0
#include "tracer/weaving.h"
#include "tracer/application.h"

#include "tracer/actor_hooks.h"
#include "tracer/bytecodes.h"
#include "tracer/executors.h"
#include "tracer/generated.h"
#include "tracer/hooks.h"
#include "tracer/makers.h"
#include "tracer/names.h"
#include "tracer/registry.h"
#include "tracer/sites.h"
#include "tracer/stops.h"
#include "tracer/supertypes.h"
#include "tracer/tracer.h"
#include "tracer/woven_places.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 1024, ACC_STATIC = 0x0008, ACC_SYNCHRONIZED = 0x0020, ACC_INTERFACE = 0x0200 };

#define TEXT(literal)                                                                                                  \
    { literal, sizeof literal - 1 }

// Members whose call may hand a task over, or wait for one. The owner doesn't matter: it may be any interface of the
// application's own.
static const struct {
    struct utf8 name, descriptor; // descriptor: how it begins
} spawning[] = {
    {TEXT("submit"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("submit"), TEXT("(Ljava/util/concurrent/Callable;")},
    {TEXT("execute"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("invokeAll"), TEXT("(Ljava/util/Collection;")},
    {TEXT("invokeAny"), TEXT("(Ljava/util/Collection;")},
    {TEXT("schedule"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("schedule"), TEXT("(Ljava/util/concurrent/Callable;")},
    {TEXT("scheduleAtFixedRate"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("scheduleWithFixedDelay"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("supplyAsync"), TEXT("(Ljava/util/function/Supplier;")},
    {TEXT("runAsync"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("start"), TEXT("()V")},
    {TEXT("start"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("startVirtualThread"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("fork"), TEXT("()Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("fork"), TEXT("(Ljava/util/concurrent/Callable;")},
    {TEXT("fork"), TEXT("(Ljava/lang/Runnable;")},
    {TEXT("submit"), TEXT("(Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("execute"), TEXT("(Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("invoke"), TEXT("(Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("invokeAll"), TEXT("(Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("invokeAll"), TEXT("([Ljava/util/concurrent/ForkJoinTask;")},
    {TEXT("join"), TEXT("()Ljava/lang/Object;")},
};

enum { SPAWNING = sizeof spawning / sizeof *spawning };

// What a class's code has, to which something is to be added.
enum { REFERS_SPAWN = 1, REFERS_NOTIFY = 2, REFERS_RUN = 4, REFERS_LAMBDA = 8, REFERS_ACQUIRE = 16 };

// One class being woven.
struct subject {
    struct weaver *weaver;
    const struct class_file *class;
    const char *internal; // its name
    char dotted[NAME_BYTES];
    char file[256];
    uint32_t refers; // of the application's classes: REFERS_
};

static char *text_of(struct utf8 name, char *text, size_t size) {
    snprintf(text, size, "%.*s", (int)name.length, name.bytes);
    return text;
}

static void skip(const struct subject *subject, const struct class_method *method, const char *why) {
    char name[2 * NAME_BYTES];
    snprintf(name, sizeof name, "%s.%.*s%.*s", subject->dotted, method ? method->name.length : 0,
             method ? method->name.bytes : "", method ? method->descriptor.length : 0,
             method ? method->descriptor.bytes : "");
    registry_skip(name, why);
}

static void insert(const struct subject *subject, uint16_t method, enum insert_where where, uint32_t bci,
                   const char *snippet) {
    struct error error = ERROR_INIT;
    char why[ERROR_CAUSE_BYTES];
    if (weaver_insert(subject->weaver, method, where, bci, snippet, &error)) return;
    skip(subject, &subject->class->methods[method], error_text(&error, why, sizeof why));
}

static void catch_all(const struct subject *subject, uint16_t method, const char *snippet) {
    struct error error = ERROR_INIT;
    char why[ERROR_CAUSE_BYTES];
    if (weaver_catch_all(subject->weaver, method, snippet, &error)) return;
    skip(subject, &subject->class->methods[method], error_text(&error, why, sizeof why));
}

// Functions of included classes --------------------------------------------------------------------------------------

static void weave_function(const struct subject *subject, uint16_t index) {
    const struct class_method *method = &subject->class->methods[index];
    char name[NAME_BYTES], descriptor[NAME_BYTES], snippet[64];
    if (!options_trace_method(&tracer.options, subject->dotted, text_of(method->name, name, sizeof name))) return;
    uint32_t id = registry_method(&(struct trace_method){
        .class_name = subject->dotted,
        .name = name,
        .descriptor = text_of(method->descriptor, descriptor, sizeof descriptor),
        .file = *subject->file ? subject->file : NULL,
        .line = method->first_line,
    });
    snprintf(snippet, sizeof snippet, "int %u; call enter (I)V", id);
    insert(subject, index, INSERT_ENTRY, 0, snippet);
    snprintf(snippet, sizeof snippet, "int %u; call exit (I)V", id);
    insert(subject, index, INSERT_BEFORE_RETURN, 0, snippet);
    snprintf(snippet, sizeof snippet, "int %u; call exitThrew (I)V", id);
    catch_all(subject, index, snippet);
}

// Call sites of the application --------------------------------------------------------------------------------------

static bool begins_with(struct utf8 text, struct utf8 begin) {
    return text.length >= begin.length && memcmp(text.bytes, begin.bytes, begin.length) == 0;
}

static bool may_spawn(struct utf8 name, struct utf8 descriptor) {
    for (size_t i = 0; i < SPAWNING; i++) {
        if (name.length == spawning[i].name.length && begins_with(name, spawning[i].name) &&
            begins_with(descriptor, spawning[i].descriptor)) {
            return true;
        }
    }
    return false;
}

static void weave_call_site(const struct subject *subject, uint16_t index, const struct call_site *call) {
    const struct class_method *method = &subject->class->methods[index];
    char name[NAME_BYTES], descriptor[NAME_BYTES], snippet[64];
    uint32_t id = registry_site(&(struct trace_site){
        .class_name = subject->dotted,
        .method = text_of(method->name, name, sizeof name),
        .descriptor = text_of(method->descriptor, descriptor, sizeof descriptor),
        .file = *subject->file ? subject->file : NULL,
        .line = call->line,
        .bci = (int32_t)call->bci,
    });
    snprintf(snippet, sizeof snippet, "int %u; call site (I)V", id);
    insert(subject, index, INSERT_BEFORE_BCI, call->bci, snippet);
    insert(subject, index, INSERT_AFTER_BCI, call->bci, "int 0; call site (I)V");
}

static bool is_notify(struct utf8 name, struct utf8 descriptor) {
    return (utf8_is(name, "notify") || utf8_is(name, "notifyAll")) && utf8_is(descriptor, "()V");
}

// The JVM's own notify can't be woven, its calls can.
static void weave_notify(const struct subject *subject, uint16_t index, const struct call_site *call) {
    if (!is_notify(call->name, call->descriptor)) return;
    bool all = utf8_is(call->name, "notifyAll");
    insert(subject, index, INSERT_BEFORE_BCI, call->bci,
           all ? "dup; call notifiesAll (Ljava/lang/Object;)V" : "dup; call notifies (Ljava/lang/Object;)V");
}

static void weave_call_sites(const struct subject *subject) {
    if (!(subject->refers & (REFERS_SPAWN | REFERS_NOTIFY))) return;
    for (uint16_t m = 0; m < subject->class->method_count; m++) {
        const struct call_site *calls;
        size_t count = weaver_call_sites(subject->weaver, m, &calls);
        for (size_t i = 0; i < count; i++) {
            if (may_spawn(calls[i].name, calls[i].descriptor)) weave_call_site(subject, m, &calls[i]);
            weave_notify(subject, m, &calls[i]);
        }
    }
}

// Locks, queues and semaphores of the application --------------------------------------------------------------------

// Members of the JDK's whose call may wait for a resource: of locks, semaphores, blocking queues.
static const struct {
    struct utf8 name, descriptor; // descriptor: how it begins
} acquiring[] = {
    {TEXT("lock"), TEXT("()V")},
    {TEXT("lockInterruptibly"), TEXT("()V")},
    {TEXT("tryLock"), TEXT("(")},
    {TEXT("acquire"), TEXT("(")},
    {TEXT("acquireUninterruptibly"), TEXT("(")},
    {TEXT("tryAcquire"), TEXT("(")},
    {TEXT("take"), TEXT("()Ljava/lang/Object;")},
    {TEXT("takeFirst"), TEXT("()Ljava/lang/Object;")},
    {TEXT("takeLast"), TEXT("()Ljava/lang/Object;")},
    {TEXT("poll"), TEXT("(")},
    {TEXT("pollFirst"), TEXT("(")},
    {TEXT("pollLast"), TEXT("(")},
    {TEXT("put"), TEXT("(Ljava/lang/Object;)V")},
    {TEXT("putFirst"), TEXT("(Ljava/lang/Object;)V")},
    {TEXT("putLast"), TEXT("(Ljava/lang/Object;)V")},
    {TEXT("offer"), TEXT("(Ljava/lang/Object;J")},
    {TEXT("readLock"), TEXT("()J")},
    {TEXT("readLockInterruptibly"), TEXT("()J")},
    {TEXT("tryReadLock"), TEXT("(")},
    {TEXT("writeLock"), TEXT("()J")},
    {TEXT("writeLockInterruptibly"), TEXT("()J")},
    {TEXT("tryWriteLock"), TEXT("(")},
    {TEXT("tryConvertToReadLock"), TEXT("(J)J")},
    {TEXT("tryConvertToWriteLock"), TEXT("(J)J")},
};

enum { ACQUIRING = sizeof acquiring / sizeof *acquiring };

static bool may_acquire(struct utf8 name, struct utf8 descriptor) {
    for (size_t i = 0; i < ACQUIRING; i++) {
        if (name.length == acquiring[i].name.length && begins_with(name, acquiring[i].name) &&
            begins_with(descriptor, acquiring[i].descriptor)) {
            return true;
        }
    }
    return false;
}

static uint32_t register_place(const struct subject *subject, uint16_t index, uint32_t line, uint32_t bci) {
    const struct class_method *method = &subject->class->methods[index];
    char name[NAME_BYTES], descriptor[NAME_BYTES];
    return registry_site(&(struct trace_site){
        .class_name = subject->dotted,
        .method = text_of(method->name, name, sizeof name),
        .descriptor = text_of(method->descriptor, descriptor, sizeof descriptor),
        .file = *subject->file ? subject->file : NULL,
        .line = line,
        .bci = (int32_t)bci,
    });
}

// com.acme.Bank.lock of a field; of this or a class what a monitor is called by: com.acme.Bank, com.acme.Bank.class.
static bool name_receiver(const struct subject *subject, struct receiver receiver, char *text, size_t size) {
    char owner[NAME_BYTES];
    dotted_name(receiver.member.owner.bytes, receiver.member.owner.length, owner, sizeof owner);
    switch (receiver.kind) {
    case RECEIVER_FIELD:
        snprintf(text, size, "%s.%.*s", owner, (int)receiver.member.name.length, receiver.member.name.bytes);
        return true;
    case RECEIVER_THIS:
        snprintf(text, size, "%s", subject->dotted);
        return true;
    case RECEIVER_CLASS:
        snprintf(text, size, "%s.class", owner);
        return true;
    default:
        return false;
    }
}

static void name_place(const struct subject *subject, uint32_t site, struct receiver receiver) {
    char name[2 * NAME_BYTES];
    if (site && name_receiver(subject, receiver, name, sizeof name)) woven_place_set_name(site, name);
}

// Calls are not woven: the place is found on the stack, and so is the name by it.
static void name_acquisitions(const struct subject *subject, uint16_t index) {
    static const struct utf8 juc = TEXT("java/util/concurrent/");
    const struct call_site *calls;
    size_t count = subject->refers & REFERS_ACQUIRE ? weaver_call_sites(subject->weaver, index, &calls) : 0;
    for (size_t i = 0; i < count; i++) {
        if (!begins_with(calls[i].owner, juc) || !may_acquire(calls[i].name, calls[i].descriptor)) continue;
        struct receiver receiver = weaver_receiver(subject->weaver, index, calls[i].bci, calls[i].descriptor);
        if (receiver.kind == RECEIVER_FIELD)
            name_place(subject, register_place(subject, index, calls[i].line, calls[i].bci), receiver);
    }
}

static uint32_t name_block(const struct subject *subject, uint16_t index, const struct monitor_site *monitor) {
    uint32_t site = register_place(subject, index, monitor->line, monitor->bci);
    name_place(subject, site, weaver_receiver(subject->weaver, index, monitor->bci, (struct utf8){"", 0}));
    return site;
}

static uint32_t name_synchronized(const struct subject *subject, uint16_t index) {
    const bool is_static = subject->class->methods[index].access & ACC_STATIC;
    uint32_t site = register_place(subject, index, weaver_line(subject->weaver, index, 0), 0);
    name_place(
        subject, site,
        (struct receiver){.kind = is_static ? RECEIVER_CLASS : RECEIVER_THIS, .member.owner = subject->class->name});
    return site;
}

// A place is known to the guard (`watchedPlaces`) by a number, which a method's blocks share: where one of them begins
// can't be told where it ends.
static void weave_block(const struct subject *subject, uint16_t index, const struct monitor_site *monitor,
                        uint32_t *number) {
    char snippet[96];
    if (monitor->exits) {
        snprintf(snippet, sizeof snippet, "dup; int %u; call leaves (Ljava/lang/Object;I)V", *number);
        if (*number) insert(subject, index, INSERT_BEFORE_BCI, monitor->bci, snippet);
        return;
    }
    uint32_t site = name_block(subject, index, monitor);
    if (monitor->local < 0) return;
    if (!*number) *number = site;
    woven_place_set_number(site, *number);
    snprintf(snippet, sizeof snippet, "aload %d; int %u; int %u; call entered (Ljava/lang/Object;II)V", monitor->local,
             site, *number);
    if (*number) insert(subject, index, INSERT_AFTER_BCI, monitor->bci, snippet);
}

static void weave_blocks(const struct subject *subject, uint16_t index) {
    const struct monitor_site *monitors;
    uint32_t number = 0;
    size_t count = weaver_monitors(subject->weaver, index, &monitors);
    for (size_t i = 0; i < count; i++) {
        if (!monitors[i].caught) return; // as no compiler of Java's does it
    }
    for (size_t i = 0; i < count; i++) weave_block(subject, index, &monitors[i], &number);
}

static void weave_synchronized(const struct subject *subject, uint16_t index) {
    enum { CLASS_CONSTANTS_MAJOR = 49 };
    const bool is_static = subject->class->methods[index].access & ACC_STATIC;
    const char *object = is_static ? "class" : "aload 0";
    char snippet[96];
    uint32_t site = name_synchronized(subject, index);
    if (!site) return;
    if (is_static ? subject->class->major_version < CLASS_CONSTANTS_MAJOR
                  : !weaver_keeps_receiver(subject->weaver, index))
        return;
    woven_place_set_number(site, site);
    snprintf(snippet, sizeof snippet, "%s; int %u; int %u; call entered (Ljava/lang/Object;II)V", object, site, site);
    insert(subject, index, INSERT_ENTRY, 0, snippet);
    snprintf(snippet, sizeof snippet, "%s; int %u; call leaves (Ljava/lang/Object;I)V", object, site);
    insert(subject, index, INSERT_BEFORE_RETURN, 0, snippet);
    snprintf(snippet, sizeof snippet, "int %u; call left (I)V", site);
    catch_all(subject, index, snippet);
}

static void weave_resources(const struct subject *subject) {
    if (tracer.options.without_locks) return;
    for (uint16_t m = 0; m < subject->class->method_count; m++) {
        if (subject->class->methods[m].code_length == 0) continue;
        name_acquisitions(subject, m);
        weave_blocks(subject, m);
        if (subject->class->methods[m].access & ACC_SYNCHRONIZED) weave_synchronized(subject, m);
    }
}

static void name_places(const struct subject *subject) {
    const struct monitor_site *monitors;
    for (uint16_t m = 0; m < subject->class->method_count && !tracer.options.without_locks; m++) {
        if (subject->class->methods[m].code_length == 0) continue;
        size_t count = weaver_monitors(subject->weaver, m, &monitors);
        name_acquisitions(subject, m);
        for (size_t i = 0; i < count; i++) {
            if (!monitors[i].exits) name_block(subject, m, &monitors[i]);
        }
        if (subject->class->methods[m].access & ACC_SYNCHRONIZED) name_synchronized(subject, m);
    }
}

// Tasks by their type ------------------------------------------------------------------------------------------------

static bool is_body_type(struct utf8 name, struct utf8 descriptor) {
    return (utf8_is(name, "run") && utf8_is(descriptor, "()V")) ||
           (utf8_is(name, "call") && utf8_is(descriptor, "()Ljava/lang/Object;"));
}

static bool is_body(const struct class_method *method) {
    return method->code_length > 0 && !(method->access & ACC_STATIC) && is_body_type(method->name, method->descriptor);
}

// A call of a body by the program's own code. What it calls may be a lambda, whose class can't be woven.
static bool is_run(const struct call_site *call) {
    return (utf8_is(call->owner, "java/lang/Runnable") && utf8_is(call->name, "run")) ||
           (utf8_is(call->owner, "java/util/concurrent/Callable") && utf8_is(call->name, "call"));
}

static bool runs_tasks(const struct subject *subject, uint16_t index) {
    const struct call_site *calls;
    if (!(subject->refers & REFERS_RUN)) return false;
    size_t count = weaver_call_sites(subject->weaver, index, &calls);
    for (size_t i = 0; i < count; i++) {
        if (is_run(&calls[i])) return true;
    }
    return false;
}

// `is_task`: the method is a body itself, and tells by itself that it was left by an exception.
static void weave_runner(const struct subject *subject, uint16_t index, bool is_task) {
    const struct call_site *calls;
    const uint16_t *handlers;
    size_t count = weaver_call_sites(subject->weaver, index, &calls);
    size_t handler_count = weaver_handlers(subject->weaver, index, &handlers);
    insert(subject, index, INSERT_ENTRY, 0, "call runnerEnter ()V");
    insert(subject, index, INSERT_BEFORE_RETURN, 0, "call runnerLeave ()V");
    if (!is_task) catch_all(subject, index, "call runnerThrew ()V");
    for (size_t i = 0; i < handler_count; i++)
        insert(subject, index, INSERT_BEFORE_BCI, handlers[i], "call runnerCaught ()V");
    for (size_t i = 0; i < count; i++) {
        if (!is_run(&calls[i])) continue;
        insert(subject, index, INSERT_BEFORE_BCI, calls[i].bci, "dup; call bodyBegin (Ljava/lang/Object;)V");
        insert(subject, index, INSERT_AFTER_BCI, calls[i].bci, "call bodyEnd ()V");
    }
}

static bool ends_with(struct utf8 text, const char *end) {
    size_t length = strlen(end);
    return text.length >= length && memcmp(text.bytes + text.length - length, end, length) == 0;
}

// Of a lambda's evaluation.
static bool makes_task(struct utf8 descriptor) {
    return ends_with(descriptor, ")Ljava/lang/Runnable;") || ends_with(descriptor, ")Ljava/util/concurrent/Callable;");
}

// A lambda that goes straight to where it gets an id anyway: a thread, or a FutureTask. A program's own executor may be
// known by the JDK's interfaces, but makes no other than these of what is submitted.
static bool is_for_known(const struct call_site *next, const struct call_site *lambda) {
    enum { INVOKEDYNAMIC_BYTES = 5 };
    static const char JUC[] = "java/util/concurrent/";
    if (next->bci != lambda->bci + INVOKEDYNAMIC_BYTES) return false;
    bool thread = utf8_is(next->owner, "java/lang/Thread");
    bool jdk = next->owner.length > sizeof JUC - 1 && memcmp(next->owner.bytes, JUC, sizeof JUC - 1) == 0;
    return thread || (jdk && may_spawn(next->name, next->descriptor) && !utf8_is(next->name, "execute"));
}

static void insert_made(const struct subject *subject, uint16_t method, enum insert_where where, uint32_t bci,
                        const char *object, const char *probe) {
    char snippet[96];
    snprintf(snippet, sizeof snippet, "%s; int %u; call %s (Ljava/lang/Object;I)V", object, makers_new(), probe);
    insert(subject, method, where, bci, snippet);
}

static void weave_lambdas(const struct subject *subject, uint16_t index) {
    const struct call_site *lambdas, *calls;
    if (!(subject->refers & REFERS_LAMBDA)) return;
    size_t count = weaver_dynamic_sites(subject->weaver, index, &lambdas);
    size_t call_count = count ? weaver_call_sites(subject->weaver, index, &calls) : 0, next = 0;
    for (size_t i = 0; i < count; i++) {
        if (!makes_task(lambdas[i].descriptor)) continue;
        while (next < call_count && calls[next].bci < lambdas[i].bci) next++;
        if (next < call_count && is_for_known(&calls[next], &lambdas[i])) continue;
        insert_made(subject, index, INSERT_AFTER_BCI, lambdas[i].bci, "dup", "lambdaMade");
    }
}

static void weave_runners(const struct subject *subject, bool is_task_type) {
    for (uint16_t m = 0; m < subject->class->method_count; m++) {
        if (subject->class->methods[m].code_length == 0) continue;
        weave_lambdas(subject, m);
        if (runs_tasks(subject, m)) weave_runner(subject, m, is_task_type && is_body(&subject->class->methods[m]));
    }
}

// Whether it is one. `runners`: methods that run tasks are woven as well.
static bool weave_task_type(JNIEnv *jni, jobject loader, const struct subject *subject, bool runners) {
    const struct class_file *class = subject->class;
    bool might = class->interface_count > 0 || !utf8_is(class->super_name, "java/lang/Object");
    if (!might || (class->access & ACC_INTERFACE)) return false;
    struct supertypes types = supertypes_of(jni, loader, class);
    for (uint16_t m = 0; types.task && m < class->method_count; m++) {
        if (is_body(&class->methods[m])) {
            insert(subject, m, INSERT_ENTRY, 0, "aload 0; call bodyBegin (Ljava/lang/Object;)V");
            insert(subject, m, INSERT_BEFORE_RETURN, 0, "call bodyEnd ()V");
            catch_all(subject, m,
                      runners && runs_tasks(subject, m) ? "call runnerThrew ()V; call bodyThrew ()V"
                                                        : "call bodyThrew ()V");
        } else if (utf8_is(class->methods[m].name, "<init>") && !types.inherits_it) {
            insert_made(subject, m, INSERT_BEFORE_RETURN, 0, "aload 0", "bodyCreated");
        }
    }
    return types.task;
}

// What was woven, to be undone ---------------------------------------------------------------------------------------

static pthread_mutex_t woven_lock = PTHREAD_MUTEX_INITIALIZER;
static struct names woven_names;    // internal; a name stands for the classes of all loaders that have it
static _Atomic(uint32_t) under_way; // calls of weaving_class_loads

static void remember_woven(struct utf8 name) {
    pthread_mutex_lock(&woven_lock);
    names_add(&woven_names, name.bytes, name.length);
    pthread_mutex_unlock(&woven_lock);
}

static bool was_woven(const char *name, size_t length) {
    pthread_mutex_lock(&woven_lock);
    bool woven = names_have(&woven_names, name, length);
    pthread_mutex_unlock(&woven_lock);
    return woven;
}

// One class ----------------------------------------------------------------------------------------------------------

static bool hand_over(jvmtiEnv *jvmti, const uint8_t *woven, size_t length, jint *new_length,
                      unsigned char **new_bytes) {
    unsigned char *copy;
    if ((*jvmti)->Allocate(jvmti, (jlong)length, &copy) != JVMTI_ERROR_NONE) return false;
    memcpy(copy, woven, length);
    *new_bytes = copy;
    *new_length = (jint)length;
    return true;
}

static void finish(jvmtiEnv *jvmti, const struct subject *subject, jint *new_length, unsigned char **new_bytes) {
    const uint8_t *woven;
    size_t length, skip_count;
    unsigned methods;
    const struct weave_skip *skips;
    struct error error = ERROR_INIT;
    char why[ERROR_CAUSE_BYTES];
    if (!weaver_finish(subject->weaver, &woven, &length, &methods, &skips, &skip_count, &error)) {
        skip(subject, NULL, error_text(&error, why, sizeof why));
        return;
    }
    for (size_t i = 0; i < skip_count; i++) skip(subject, &subject->class->methods[skips[i].method], skips[i].why);
    if (!woven || !hand_over(jvmti, woven, length, new_length, new_bytes)) return;
    registry_woven(methods);
    if (tracer.attached) remember_woven(subject->class->name);
    for (uint16_t m = 0; m < subject->class->method_count; m++) {
        const struct bci_shift *shifts;
        size_t count = weaver_shifts(subject->weaver, m, &shifts);
        site_remember_shifts(subject->class, &subject->class->methods[m], shifts, count);
    }
}

static bool is_application(JNIEnv *jni, jobject loader) {
    return loader && !(tracer.platform_loader && (*jni)->IsSameObject(jni, loader, tracer.platform_loader));
}

// Methods that the JVM calls by itself at delicate moments, and what a probe calls.
static bool must_not_trace(const char *dotted) {
    static const char *const never[] = {"java.lang.Object",        "java.lang.Rehype",  "java.lang.Thread",
                                        "java.lang.VirtualThread", "jdk.internal.vm.*", "java.lang.ref.*",
                                        "jdk.internal.misc.Unsafe"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        if (glob_match(never[i], dotted)) return true;
    }
    return false;
}

static uint32_t what_refers(struct utf8 name, struct utf8 descriptor, bool dynamic) {
    if (dynamic) return makes_task(descriptor) ? REFERS_LAMBDA : 0;
    return (may_spawn(name, descriptor) ? REFERS_SPAWN : 0) | (is_notify(name, descriptor) ? REFERS_NOTIFY : 0) |
           (is_body_type(name, descriptor) ? REFERS_RUN : 0) | (may_acquire(name, descriptor) ? REFERS_ACQUIRE : 0);
}

// This thread has a class made anew to read it: its code stays as it is. A thread that sleeps in a block would leave it
// untold.
static __thread bool only_reads;

static bool is_own(const struct subject *subject) {
    return !is_generated(subject->internal, strlen(subject->internal)) && application_has(subject->dotted);
}

static void read_names(JNIEnv *jni, jobject loader, struct subject *subject) {
    if (is_library(subject->internal) || !is_application(jni, loader) || !is_own(subject)) return;
    subject->refers = weaver_refers_to(subject->weaver, what_refers);
    name_places(subject);
}

static void weave(jvmtiEnv *jvmti, JNIEnv *jni, jobject loader, struct subject *subject, jclass redefined,
                  jint *new_length, unsigned char **new_bytes) {
    text_of(subject->class->source_file, subject->file, sizeof subject->file);
    bool library = is_library(subject->internal);
    if (only_reads) {
        read_names(jni, loader, subject);
        return;
    }
    if (tracer.options.bytecodes) bytecodes_weave(subject->weaver);
    if (!loader || library) hooks_weave(subject->weaver, redefined);
    if (options_trace_class(&tracer.options, subject->dotted) && !must_not_trace(subject->dotted)) {
        for (uint16_t m = 0; m < subject->class->method_count; m++) {
            if (subject->class->methods[m].code_length > 0) weave_function(subject, m);
        }
    }
    if (loader) actor_hooks_weave(subject->weaver);
    if (loader) executors_weave(tracer.options.executors, subject->weaver);
    if (!library && is_application(jni, loader) && !actor_hooks_schedules(subject->class->name)) {
        bool own = is_own(subject);
        if (own) subject->refers = weaver_refers_to(subject->weaver, what_refers);
        if (own) weave_call_sites(subject);
        if (own) weave_resources(subject);
        bool is_task = weave_task_type(jni, loader, subject, own);
        if (own) weave_runners(subject, is_task);
    }
    finish(jvmti, subject, new_length, new_bytes);
}

// Until events have nowhere to go.
static bool is_worthwhile(void) {
    if (atomic_load_explicit(&tracer.stopped, memory_order_relaxed)) return false;
    return drainer_running() || !atomic_load_explicit(&tracer.tracing, memory_order_relaxed);
}

// Classes with hooks use fields that are woven into each other, so to the end all are woven or none.
static bool concerns(JNIEnv *jni, jobject loader, const char *name, const char *dotted) {
    if ((!loader || is_library(name)) && hooks_concern(name)) return true;
    if (loader && actor_hooks_concern(name)) return true;
    if (!is_worthwhile()) return false;
    if (tracer.options.bytecodes || is_application(jni, loader)) return true;
    return options_trace_class(&tracer.options, dotted) ||
           (loader && executors_concern(tracer.options.executors, (struct utf8){name, (uint16_t)strlen(name)}));
}

static void weave_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name, jint length,
                        const unsigned char *bytes, jint *new_length, unsigned char **new_bytes) {
    struct subject subject = {.internal = name};
    dotted_name(name, strlen(name), subject.dotted, sizeof subject.dotted);
    if (!concerns(jni, loader, name, subject.dotted)) return;
    struct error error = ERROR_INIT;
    subject.weaver = weaver_open(bytes, (size_t)length, &error);
    if (!subject.weaver) {
        char why[ERROR_CAUSE_BYTES];
        registry_skip(subject.dotted, error_text(&error, why, sizeof why));
        return;
    }
    subject.class = weaver_class(subject.weaver);
    weave(jvmti, jni, loader, &subject, redefined, new_length, new_bytes);
    weaver_close(subject.weaver);
}

void JNICALL weaving_class_loads(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                 jobject domain, jint length, const unsigned char *bytes, jint *new_length,
                                 unsigned char **new_bytes) {
    // JDK 8 calls in its primordial phase with no JNI and for hidden classes with no name; neither can be woven.
    if (!jni || !name) return;
    atomic_fetch_add(&under_way, 1); // before the look at linkable: weaving_undo waits for who saw it true
    if (atomic_load(&tracer.linkable))
        weave_class(jvmti, jni, redefined, loader, name, length, bytes, new_length, new_bytes);
    else if (tracer.options.bytecodes)
        bytecodes_first_class(jvmti, name, bytes, length, new_length, new_bytes);
    atomic_fetch_sub(&under_way, 1);
}

// Classes that are loaded --------------------------------------------------------------------------------------------

// What HotSpot does while it stands still to take up classes is nearly all the same for one class and for a thousand:
// it walks all compiled code and all classes that are loaded (VM_RedefineClasses::doit). So as few stops as can be.
enum { BATCH_CLASSES = 1024, MORE_REFERENCES = 64 };

typedef bool wanted_class(JNIEnv *jni, jclass class, const char *name, size_t length);

static void name_skip(jclass class, const char *why) {
    char *signature = NULL, dotted[NAME_BYTES];
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return;
    dotted_name(signature + 1, strlen(signature) - 2, dotted, sizeof dotted);
    registry_skip(dotted, why);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
}

static void name_refusal(jclass class, jvmtiError failed) {
    char why[64];
    snprintf(why, sizeof why, "the JVM refuses to retransform it (error %d)", (int)failed);
    name_skip(class, why);
}

static bool is_linked(jclass class) {
    jint status = 0;
    return (*tracer.jvmti)->GetClassStatus(tracer.jvmti, class, &status) == JVMTI_ERROR_NONE &&
           status & JVMTI_CLASS_STATUS_PREPARED;
}

// A call for a class's constructors links it, or waits until the thread that links it has; nothing of it is
// initialised. HotSpot links what it retransforms anyway, but only once it has read its code: what another thread links
// meanwhile it may read half rewritten, and falls over that (seen of JDK 17, 68 ms after its start).
static bool link_class(JNIEnv *jni, jclass class) {
    jclass classes = (*jni)->GetObjectClass(jni, class);
    jmethodID constructors =
        (*jni)->GetMethodID(jni, classes, "getDeclaredConstructors", "()[Ljava/lang/reflect/Constructor;");
    jobject found = constructors ? (*jni)->CallObjectMethod(jni, class, constructors) : NULL;
    (*jni)->ExceptionClear(jni);
    if (found) (*jni)->DeleteLocalRef(jni, found);
    (*jni)->DeleteLocalRef(jni, classes);
    return is_linked(class);
}

static jvmtiError retransform(const jclass *classes, jint count) {
    struct stop_mark stop;
    stop_begin(&stop);
    jvmtiError result = (*tracer.jvmti)->RetransformClasses(tracer.jvmti, count, classes);
    stop_end(&stop, STOP_TO_WEAVE);
    return result;
}

// Those that are linked come first. Returns how many; what can't be linked is left alone.
static jint link_all(JNIEnv *jni, jclass *classes, jint count) {
    jint linked = 0;
    for (jint i = 0; i < count; i++) {
        if (!is_linked(classes[i]) && !link_class(jni, classes[i])) {
            name_skip(classes[i], "it can't be linked");
            continue;
        }
        jclass other = classes[linked];
        classes[linked++] = classes[i];
        classes[i] = other;
    }
    return linked;
}

// All or, where one of them is refused, each by itself.
void weaving_retransform(JNIEnv *jni, jclass *classes, jint count) {
    const jint linked = link_all(jni, classes, count);
    if (linked == 0 || retransform(classes, linked) == JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < linked; i++) {
        jvmtiError failed = retransform(&classes[i], 1);
        if (failed != JVMTI_ERROR_NONE) name_refusal(classes[i], failed);
    }
}

// JDK 8 to 14 have classes without a name that others could find them by, of lambdas above all:
// com.acme.Main$$Lambda$2/558638686. They pass for modifiable, but made anew from a class file they no longer find
// themselves.
static bool is_anonymous(const char *signature) {
    const char *slash = strrchr(signature, '/');
    return slash && slash[1] >= '0' && slash[1] <= '9';
}

static bool is_wanted(JNIEnv *jni, jclass class, wanted_class *wanted) {
    char *signature;
    jboolean modifiable = JNI_FALSE;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    size_t length = strlen(signature);
    bool is = length > 2 && signature[0] == 'L' && !is_anonymous(signature);
    if (is) signature[length - 1] = '\0'; // Lcom/acme/Main;
    is = is && wanted(jni, class, signature + 1, length - 2) &&
         (*tracer.jvmti)->IsModifiableClass(tracer.jvmti, class, &modifiable) == JVMTI_ERROR_NONE && modifiable;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    return is;
}

static bool is_hooked(JNIEnv *jni, jclass class, const char *name, size_t length) {
    return hooks_concern(name);
}

// The hooked classes tell of one task between them, its end by one and its worker's idling by another, so they are made
// anew at once: in between a worker would tell half of what it does.
static void put_hooked_first(JNIEnv *jni, jclass *classes, jint count) {
    jint hooked = 0;
    for (jint i = 0; i < count; i++) {
        if (!is_wanted(jni, classes[i], is_hooked)) continue;
        jclass other = classes[hooked];
        classes[hooked++] = classes[i];
        classes[i] = other;
    }
}

static void retransform_all(JNIEnv *jni, wanted_class *wanted) {
    jclass *classes;
    jint count, found = 0;
    if ((*tracer.jvmti)->GetLoadedClasses(tracer.jvmti, &count, &classes) != JVMTI_ERROR_NONE) return;
    (*jni)->EnsureLocalCapacity(jni, count + MORE_REFERENCES); // after the fact: a checking JVM would complain
    for (jint i = 0; i < count; i++) {
        if (is_wanted(jni, classes[i], wanted))
            classes[found++] = classes[i];
        else
            (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    put_hooked_first(jni, classes, found);
    for (jint i = 0; i < found; i += BATCH_CLASSES) {
        weaving_retransform(jni, classes + i, found - i < BATCH_CLASSES ? found - i : BATCH_CLASSES);
    }
    for (jint i = 0; i < found; i++) (*jni)->DeleteLocalRef(jni, classes[i]);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)classes);
}

static jobject loader_of(jclass class) {
    jobject loader = NULL;
    (*tracer.jvmti)->GetClassLoader(tracer.jvmti, class, &loader);
    return loader;
}

// Spawn sites of classes that are loaded are found on the stack (sites.h), so of the application's only tasks by their
// type and included functions are worth the JVM's stop.
static bool concerns_attached(JNIEnv *jni, jclass class, const char *name, size_t length) {
    char dotted[NAME_BYTES];
    jobject loader = loader_of(class);
    if (loader && actor_hooks_come_too_late(name, length))
        registry_skip("actors and their messages", "they are recorded only where the JVM started with the tracer");
    bool concerned = (!loader || is_library(name)) && hooks_concern(name);
    if (!concerned) {
        dotted_name(name, length, dotted, sizeof dotted);
        concerned = options_trace_class(&tracer.options, dotted) ||
                    (loader && executors_concern(tracer.options.executors, (struct utf8){name, (uint16_t)length}));
    }
    if (!concerned && loader && is_application(jni, loader)) {
        concerned = (*jni)->IsAssignableFrom(jni, class, tracer.runnable) ||
                    (*jni)->IsAssignableFrom(jni, class, tracer.callable);
    }
    if (loader) (*jni)->DeleteLocalRef(jni, loader);
    return concerned;
}

// What is wished for -------------------------------------------------------------------------------------------------

enum { WISHES_MOST = 256 };

static pthread_mutex_t wishes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct names wished; // signatures, in this recording
static jclass wishes[WISHES_MOST];
static _Atomic(jint) wish_count;

static bool is_new_wish(const char *signature) {
    const size_t length = strlen(signature);
    if (wished.count == WISHES_MOST || names_have(&wished, signature, length)) return false;
    return names_add(&wished, signature, length);
}

void weaving_wish(JNIEnv *jni, jclass class) {
    char *signature;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return;
    pthread_mutex_lock(&wishes_lock);
    jclass kept = is_new_wish(signature) ? (*jni)->NewGlobalRef(jni, class) : NULL;
    if (kept) wishes[wish_count++] = kept;
    pthread_mutex_unlock(&wishes_lock);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
}

bool weaving_has_wishes(void) {
    return atomic_load_explicit(&wish_count, memory_order_relaxed) > 0;
}

static bool is_unwoven(JNIEnv *jni, jclass class, const char *name, size_t length) {
    return !was_woven(name, length);
}

// Those that were woven have names, and are not to lose what was woven.
void weaving_grant_wishes(JNIEnv *jni) {
    jclass granted[WISHES_MOST];
    jint read = 0;
    pthread_mutex_lock(&wishes_lock);
    const jint count = wish_count;
    memcpy(granted, wishes, (size_t)count * sizeof *granted);
    wish_count = 0;
    pthread_mutex_unlock(&wishes_lock);
    for (jint i = 0; i < count; i++) {
        if (!is_wanted(jni, granted[i], is_unwoven)) continue;
        jclass other = granted[read];
        granted[read++] = granted[i];
        granted[i] = other;
    }
    only_reads = true;
    weaving_retransform(jni, granted, read);
    only_reads = false;
    for (jint i = 0; i < count; i++) (*jni)->DeleteGlobalRef(jni, granted[i]);
}

static void forget_wishes(JNIEnv *jni) {
    pthread_mutex_lock(&wishes_lock);
    for (jint i = 0; i < wish_count; i++) (*jni)->DeleteGlobalRef(jni, wishes[i]);
    wish_count = 0;
    names_clear(&wished);
    pthread_mutex_unlock(&wishes_lock);
}

void weaving_begin(JNIEnv *jni) {
    retransform_all(jni, concerns_attached);
    weaving_grant_wishes(jni);
}

static bool is_any(JNIEnv *jni, jclass class, const char *name, size_t length) {
    return true;
}

void weaving_count_loaded(JNIEnv *jni) {
    retransform_all(jni, is_any);
}

static bool is_woven(JNIEnv *jni, jclass class, const char *name, size_t length) {
    return was_woven(name, length);
}

void weaving_undo(JNIEnv *jni) {
    while (atomic_load(&under_way) > 0) usleep(1000);
    usleep(20000); // what was woven last is defined by then
    retransform_all(jni, is_woven);
    names_clear(&woven_names);
    forget_wishes(jni);
}
