// SPDX-License-Identifier: Apache-2.0
// The agent's life in a JVM that it comes to: Agent_OnAttach -> a thread of its own, which waits until woven code can
// link, begins the recording, weaves what is loaded, and, when `rehype attach` has had enough (session.h), ends the
// recording and undoes the weaving. Then the JVM can be attached to again.
//
// The JVM looks for natives in this library only after Agent_OnAttach has returned: hence the thread. What stays is the
// library itself and the helper class, which nobody calls.
#include "tracer/calibration.h"
#include "tracer/kept.h"
#include "tracer/mail.h"
#include "tracer/pools.h"
#include "tracer/registry.h"
#include "tracer/resources.h"
#include "tracer/run.h"
#include "tracer/running.h"
#include "tracer/session.h"
#include "tracer/sites.h"
#include "tracer/sleepers.h"
#include "tracer/sleeps.h"
#include "tracer/stack_sampling.h"
#include "tracer/stops.h"
#include "tracer/tracer.h"
#include "tracer/virtual.h"
#include "tracer/weaving.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { POLL_US = 50000, LINK_POLL_US = 1000, LINK_POLLS = 10000, LIVE_POLLS = 10000 };

// Held while a recording begins or ends, so that the JVM does not die meanwhile; guards what follows.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool busy, dead;

static bool fail_busy(struct error *error) {
    return error_set(error, STATUS_FAILED, "a recording is under way already, into %s: end that one first",
                     tracer.options.out);
}

// Beginning -----------------------------------------------------------------------------------------------------------

// Whether the helper's natives are this library's. They are the first one's that was loaded, for as long as the JVM
// lives.
static bool wait_until_linked(JNIEnv *jni, struct error *error) {
    jclass helper = (*jni)->FindClass(jni, HELPER_CLASS);
    jmethodID agent = helper ? (*jni)->GetStaticMethodID(jni, helper, "agent", "()J") : NULL;
    for (int i = 0; agent && i < LINK_POLLS; i++) {
        (*jni)->ExceptionClear(jni);
        jlong owner = (*jni)->CallStaticLongMethod(jni, helper, agent);
        if ((*jni)->ExceptionCheck(jni)) {
            usleep(LINK_POLL_US);
            continue;
        }
        if (owner == (jlong)(uintptr_t)&tracer) return true;
        return error_set(error, STATUS_FAILED,
                         "another copy of the tracer has been in this JVM: attach with the rehype that brought it");
    }
    (*jni)->ExceptionClear(jni);
    return error_set(error, STATUS_FAILED, "the JVM does not find the tracer's natives");
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni) {
    pthread_mutex_lock(&lock);
    dead = true;
    run_hear(JVMTI_DISABLE);
    run_stop();
    pthread_mutex_unlock(&lock);
}

static void listen(void) {
    jvmtiEventCallbacks callbacks = {.VMDeath = on_vm_death};
    run_listen(&callbacks);
    (*tracer.jvmti)->SetEventCallbacks(tracer.jvmti, &callbacks, sizeof callbacks);
    (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
}

static bool know_jvm(JNIEnv *jni, struct error *error) {
    static bool known;
    if (known) return true;
    known = run_define_helper(jni, error) && wait_until_linked(jni, error) && run_know_classes(jni, error);
    if (known) pools_init(jni);
    return known;
}

static bool begin(JNIEnv *jni, struct error *error) {
    struct error nothing = ERROR_INIT;
    if (!know_jvm(jni, error)) return false;
    sites_restart();
    registry_restart();
    calling_schedule_restart();
    sleeps_restart();
    mail_clear();
    virtual_restart();
    resources_unwatch(jni);
    running_expect(jni);
    if (!run_start(&nothing, error)) return false;
    atomic_store(&tracer.stopped, false);
    atomic_store(&tracer.tracing, true);
    run_hear_threads();
    running_begin(jni); // before any thread can tell of anything but its own beginning
    run_hear(JVMTI_ENABLE);
    atomic_store(&tracer.linkable, true);
    (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    weaving_begin(jni);
    resources_name_again();
    running_look_again(jni);
    calibration_start(jni);
    stack_sampling_start(jni);
    sleepers_start(jni);
    return true;
}

static void end(JNIEnv *jni) {
    atomic_store(&tracer.linkable, false);
    run_hear(JVMTI_DISABLE);
    run_stop();
    resources_unwatch(jni);
    running_end();
    weaving_undo(jni);
    (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
}

// The thread ----------------------------------------------------------------------------------------------------------

static JNIEnv *enter_jvm(void) {
    JNIEnv *jni;
    char name[] = "rehype";
    JavaVMAttachArgs as = {.version = JNI_VERSION_1_6, .name = name};
    return (*tracer.vm)->AttachCurrentThreadAsDaemon(tracer.vm, (void **)&jni, &as) == JNI_OK ? jni : NULL;
}

static bool begin_in_jvm(struct error *error) {
    pthread_mutex_lock(&lock);
    JNIEnv *jni = dead ? NULL : enter_jvm();
    bool begun = jni ? begin(jni, error) : error_set(error, STATUS_FAILED, "the JVM is about to end");
    if (jni) (*tracer.vm)->DetachCurrentThread(tracer.vm);
    pthread_mutex_unlock(&lock);
    return begun;
}

// What is waited for is named by the class that asks for it.
static void name_resources(void) {
    pthread_mutex_lock(&lock);
    JNIEnv *jni = dead ? NULL : enter_jvm();
    if (jni) {
        weaving_grant_wishes(jni);
        resources_name_again();
        (*tracer.vm)->DetachCurrentThread(tracer.vm);
    }
    pthread_mutex_unlock(&lock);
}

static void end_in_jvm(void) {
    pthread_mutex_lock(&lock);
    JNIEnv *jni = dead ? NULL : enter_jvm();
    if (jni) {
        end(jni);
        (*tracer.vm)->DetachCurrentThread(tracer.vm);
    }
    pthread_mutex_unlock(&lock);
}

static void tell_stops(int session) {
    struct stops_sum sum;
    char figures[96];
    if (!stops_take(&sum)) return;
    snprintf(figures, sizeof figures, "%" PRIu64 " %" PRIu64 " %" PRIu64, sum.count, sum.largest_ns, sum.total_ns);
    session_tell(session, "stops", figures);
}

static void *attend(void *argument) {
    int session = (int)(intptr_t)argument;
    struct error error = ERROR_INIT;
    char why[ERROR_MAX_CAUSES * ERROR_CAUSE_BYTES];
    thread_state_refuse();
    if (begin_in_jvm(&error)) {
        session_tell(session, "recording", tracer.options.out);
        while (session_lasts(session) && drainer_running()) {
            usleep(POLL_US);
            if (weaving_has_wishes()) name_resources();
        }
        end_in_jvm();
        tell_stops(session);
        session_tell(session, "stopped", NULL);
    } else {
        session_tell(session, "failed", error_text(&error, why, sizeof why));
    }
    pthread_mutex_lock(&lock);
    busy = false;
    pthread_mutex_unlock(&lock);
    if (session >= 0) close(session);
    return NULL;
}

// The program's signals are the program's.
static bool start_thread(int session, struct error *error) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, attend, (void *)(intptr_t)session) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(thread);
    return started || error_set(error, STATUS_FAILED, "cannot start the tracer's thread");
}

// A JVM that is only starting has no interface for tools until it is live, and its start does not wait for this thread.
static void wait_until_live(JavaVM *vm) {
    void *jvmti = NULL;
    for (int i = 0; i < LIVE_POLLS && (*vm)->GetEnv(vm, &jvmti, JVMTI_VERSION_1_2) != JNI_OK; i++) usleep(LINK_POLL_US);
    if (jvmti) (*(jvmtiEnv *)jvmti)->DisposeEnvironment(jvmti);
}

// Once: the JVM's word on what the tracer may do, and who it is told by.
static bool ask(JavaVM *vm, struct error *error) {
    if (tracer.attached) return true;
    wait_until_live(vm);
    if (!run_ask(vm, error)) return false;
    if (!kept_init(vm)) return error_set(error, STATUS_FAILED, "the JVM refuses to keep the tracer's numbers");
    tracer.attached = true;
    stops_init();
    listen();
    return true;
}

static bool take_up(JavaVM *vm, const char *options, int session, struct error *error) {
    if (tracer.vm && !tracer.attached) {
        return error_set(error, STATUS_FAILED,
                         "this JVM was started under the tracer, which records it into %s until it ends",
                         tracer.options.out);
    }
    if (busy) return fail_busy(error);
    arena_destroy(&tracer.arena); // of the last recording: nobody weaves
    if (!options_parse(options, &tracer.arena, &tracer.options, error)) return false;
    if (tracer.options.bytecodes)
        return error_set(error, STATUS_USAGE, "bytecodes can be counted from a JVM's start only: use rehype record");
    if (!ask(vm, error)) return false;
    JNIEnv *jni = NULL;
    (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6);
    run_know_application(jni);
    return start_thread(session, error);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *given, void *reserved) {
    static const char SESSION[] = "session=";
    struct arena arena = ARENA_INIT;
    struct error error = ERROR_INIT;
    const char *options = given;
    char why[ERROR_MAX_CAUSES * ERROR_CAUSE_BYTES];
    int session = -1;
    bool shared = given && strncmp(given, SESSION, sizeof SESSION - 1) == 0;
    if (shared) session = session_open(given + sizeof SESSION - 1, &arena, &options, &error);
    pthread_mutex_lock(&lock);
    if (error.status == STATUS_OK && take_up(vm, options, session, &error)) busy = true;
    pthread_mutex_unlock(&lock);
    if (error.status != STATUS_OK) {
        session_tell(session, "failed", error_text(&error, why, sizeof why));
        if (session >= 0) close(session);
    }
    arena_destroy(&arena);
    return JNI_OK; // whatever it was: the session says it
}
