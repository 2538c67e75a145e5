// SPDX-License-Identifier: Apache-2.0
#include "tracer/actor_hooks.h"

#include "tracer/hook.h"
#include "tracer/registry.h"
#include "tracer/tracer.h"

#include <stdio.h>

// In the table `@` stands for one of them.
const char *const actor_hooks_packages[] = {"akka", "org/apache/pekko", NULL};

#define REF_NUMBER      "getfield @/actor/ActorRef " TASK_FIELD " J; "
#define CELL_NUMBER     "getfield @/actor/ActorCell " TASK_FIELD " J; "
#define ENVELOPE_NUMBER "getfield @/dispatch/Envelope " TASK_FIELD " J; "
#define THIS_CELL       "aload 0; checkcast @/actor/ActorCell; " CELL_NUMBER
#define MESSAGE(local)  "aload " #local "; " ENVELOPE_NUMBER
#define IS(local, type) "aload " #local "; instanceof @/" type "; "

// A cell is made for the ActorRef in local 2.
#define MADE(class_name, constructor, parent)                                                                          \
    {                                                                                                                  \
        class_name, "<init>", constructor, AT_RETURN,                                                                  \
            "aload 2; aload 2; aload 2; " REF_NUMBER "aload " #parent                                                  \
            "; aload 2; virtual @/actor/ActorRef path ()L@/actor/ActorPath;; "                                         \
            "aload 2; virtual @/actor/ActorRef path ()L@/actor/ActorPath;; "                                           \
            "interface @/actor/ActorPath name ()Ljava/lang/String;; "                                                  \
            "call actorMade (Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)J; "            \
            "putfield @/actor/ActorRef " TASK_FIELD " J",                                                              \
            NULL                                                                                                       \
    }

// The Envelope in local 1 comes to an actor whose number `actor` pushes.
#define SENDS(actor)                                                                                                   \
    "aload 1; " MESSAGE(1) actor "aload 1; virtual @/dispatch/Envelope message ()Ljava/lang/Object;; "                 \
                                 "call sends (JJLjava/lang/Object;)J; putfield @/dispatch/Envelope " TASK_FIELD " J"

// The Envelope in local 2 comes to a queue that may have no room for it, or that of those who are gone.
#define MAY_DROP(class_name)                                                                                           \
    BRACKET(class_name, "enqueue", "(L@/actor/ActorRef;L@/dispatch/Envelope;)V", MESSAGE(2) "call drops (J)V",         \
            "lconst_0; call drops (J)V")

#define ENVELOPE_BECOMES(probe)                                                                                        \
    "aload 1; " MESSAGE(1) "call " probe " (J)J; putfield @/dispatch/Envelope " TASK_FIELD " J"

#define HANDLES(method)                                                                                                \
    {"@/actor/ActorCell",                                                                                              \
     "invoke",                                                                                                         \
     "(L@/dispatch/Envelope;)V",                                                                                       \
     BEFORE_CALL,                                                                                                      \
     MESSAGE(1) "aload 0; " CELL_NUMBER "call handles (JJ)V",                                                          \
     method},                                                                                                          \
    {                                                                                                                  \
        "@/actor/ActorCell", "invoke", "(L@/dispatch/Envelope;)V", AFTER_CALL, ENVELOPE_BECOMES("handled"), method     \
    }

// What a method sends is enum message_origin's.
#define SENDS_FOR(origin, class_name, method, descriptor)                                                              \
    BRACKET(class_name, method, descriptor, "int " origin "; call sendsFor (I)V", "int 0; call sendsFor (I)V")
#define CONTEXT   "@/actor/typed/internal/ActorContextImpl"
#define SCHEDULED "1"
#define LIBRARY   "3"

#define SETUP     "@/actor/typed/internal/BehaviorImpl$DeferredBehavior$$anon$1"
#define SETS_UP   "(L@/actor/typed/TypedActorContext;)L@/actor/typed/Behavior;"

// What the library does to make or stop an actor; of the last one made `actor` pushes 0.
#define UPKEEP(class_name, method, descriptor, actor)                                                                  \
    {class_name, method, descriptor, AT_ENTRY, actor "call upkeepBegins (J)V", NULL},                                  \
        {class_name, method, descriptor, AT_RETURN, actor "call upkeepEnds (J)V", NULL}, {                             \
        class_name, method, descriptor, AT_THROW, "lconst_0; call upkeepEnds (J)V", NULL                               \
    }

static const struct hook_field fields[] = {
    {"@/actor/ActorRef", TASK_FIELD, "J"},
    {"@/actor/ActorCell", TASK_FIELD, "J"},
    {"@/dispatch/Envelope", TASK_FIELD, "J"},
};

static const struct hook hooks[] = {
    MADE("@/actor/ActorCell",
         "(L@/actor/ActorSystemImpl;L@/actor/InternalActorRef;L@/actor/Props;L@/dispatch/MessageDispatcher;"
         "L@/actor/InternalActorRef;)V",
         5),
    {"@/actor/ActorCell", "<init>", NULL, AT_RETURN,
     "aload 0; aload 2; " REF_NUMBER "putfield @/actor/ActorCell " TASK_FIELD " J", NULL},
    // Top-level actors have none until they are started, and are sent messages before.
    MADE("@/actor/UnstartedCell",
         "(L@/actor/ActorSystemImpl;L@/actor/RepointableActorRef;L@/actor/Props;L@/actor/InternalActorRef;)V", 4),

    // The constructor, and no more of the library's own than it takes to call it.
    {"@/actor/ActorCell", "newActor", "()L@/actor/Actor;", BEFORE_CALL, "aload 0; " CELL_NUMBER "call initBegins (J)V",
     "newActor"},
    {"@/actor/ActorCell", "newActor", "()L@/actor/Actor;", AFTER_CALL, "dup; call initEnds (Ljava/lang/Object;)V",
     "newActor"},
    {"@/actor/ActorCell", "newActor", "()L@/actor/Actor;", AT_THROW, "aconst_null; call initEnds (Ljava/lang/Object;)V",
     NULL},
    // A typed actor's Behaviors.setup, which a guardian runs as it handles the first message.
    {SETUP, "apply", SETS_UP, AT_ENTRY, "call setupBegins ()V", NULL},
    {SETUP, "apply", SETS_UP, AT_RETURN, "dup; call initEnds (Ljava/lang/Object;)V", NULL},
    {SETUP, "apply", SETS_UP, AT_THROW, "aconst_null; call initEnds (Ljava/lang/Object;)V", NULL},
    {"@/actor/typed/internal/RestartSupervisor", "restartCompleted", NULL, AT_ENTRY,
     "aload 1; interface @/actor/typed/TypedActorContext asScala ()L@/actor/typed/scaladsl/ActorContext;; "
     "interface @/actor/typed/scaladsl/ActorContext self ()L@/actor/typed/ActorRef;; "
     "call restarts (Ljava/lang/Object;)V",
     NULL},
    {"@/actor/typed/internal/adapter/ActorAdapter", "preStart", "()V", AT_ENTRY, "call setupBegins ()V", NULL},
    {"@/actor/typed/internal/adapter/ActorAdapter", "preStart", "()V", AT_RETURN,
     "aload 0; virtual . currentBehavior ()L@/actor/typed/Behavior;; call initEnds (Ljava/lang/Object;)V", NULL},
    {"@/actor/typed/internal/adapter/ActorAdapter", "preStart", "()V", AT_THROW,
     "aconst_null; call initEnds (Ljava/lang/Object;)V", NULL},
    {"@/actor/dungeon/FaultHandling", "finishRecreate", NULL, AFTER_CALL, THIS_CELL "call actorRestarted (J)V",
     "newActor"},
    {"@/actor/dungeon/FaultHandling", "finishTerminate", NULL, AT_RETURN, THIS_CELL "call actorStopped (J)V", NULL},

    UPKEEP("@/actor/dungeon/Children", "makeChild", NULL, "lconst_0; "),
    UPKEEP("@/actor/RepointableActorRef", "point", "(Z)L@/actor/RepointableActorRef;", "aload 0; " REF_NUMBER),
    UPKEEP("@/actor/dungeon/FaultHandling", "finishTerminate", NULL, THIS_CELL),

    {"@/actor/dungeon/Dispatch", "sendMessage", "(L@/dispatch/Envelope;)V", AT_ENTRY, SENDS(THIS_CELL), NULL},
    {"@/actor/UnstartedCell", "sendMessage", "(L@/dispatch/Envelope;)V", AT_ENTRY,
     SENDS("aload 0; virtual . self ()L@/actor/RepointableActorRef;; " REF_NUMBER), NULL},
    {"@/routing/RoutedActorCell", "sendMessage", "(L@/dispatch/Envelope;)V", AT_ENTRY, MESSAGE(1) "call routes (J)V",
     NULL},
    {"@/routing/RoutedActorCell", "sendMessage", "(L@/dispatch/Envelope;)V", AT_RETURN, "lconst_0; call routes (J)V",
     NULL},
    BRACKET("@/routing/SeveralRoutees", "send", "(Ljava/lang/Object;L@/actor/ActorRef;)V", "call sendsToSeveral ()V",
            "call sentToSeveral ()V"),
    BRACKET("@/actor/ActorSelection$", "deliverSelection", NULL, "call sendsToSeveral ()V", "call sentToSeveral ()V"),
    SENDS_FOR(SCHEDULED, "@/actor/Scheduler$$anon$3", "run", "()V"),
    SENDS_FOR(SCHEDULED, "@/actor/Scheduler$$anon$4", "run", "()V"),
    SENDS_FOR(SCHEDULED, "@/actor/Scheduler$$anon$6", "run", "()V"),
    SENDS_FOR(SCHEDULED, "@/actor/typed/internal/TimerSchedulerImpl", "$anonfun$startTimer$*", NULL),
    SENDS_FOR(LIBRARY, "@/event/EventStream", "publish", "(Ljava/lang/Object;L@/actor/ActorRef;)V"),
    SENDS_FOR(LIBRARY, "@/pattern/PipeToSupport$PipeableFuture$$anonfun$pipeTo$1", "applyOrElse", NULL),
    SENDS_FOR(LIBRARY, "@/pattern/PipeToSupport$PipeableFuture$$anonfun$pipeToSelection$1", "applyOrElse", NULL),
    SENDS_FOR(LIBRARY, "@/pattern/PipeToSupport$PipeableCompletionStage$$anon$1", "accept",
              "(Ljava/lang/Object;Ljava/lang/Throwable;)V"),
    SENDS_FOR(LIBRARY, "@/pattern/PipeToSupport$PipeableCompletionStage$$anon$2", "accept",
              "(Ljava/lang/Object;Ljava/lang/Throwable;)V"),
    SENDS_FOR(LIBRARY, "@/pattern/PipeToSupport$PipeableCompletionStage", "$anonfun$pipeTo*", NULL), // Pekko
    SENDS_FOR(LIBRARY, CONTEXT, "$anonfun$pipeToSelf$1", NULL),
    SENDS_FOR(LIBRARY, CONTEXT, "$anonfun$pipeToSelf$2", NULL),

    // Who is gone is told at once, without a future.
    {"@/pattern/AskableActorRef$", "internalAsk$extension", NULL, AT_ENTRY, "call asks ()V", NULL},
    {"@/pattern/ExplicitlyAskableActorRef$", "internalAsk$extension", NULL, AT_ENTRY, "call asks ()V", NULL},
    {"@/actor/typed/scaladsl/AskPattern$PromiseRef", "<init>", NULL, AT_RETURN, "call asks ()V", NULL},
    {"@/pattern/PromiseActorRef$", "apply", NULL, AT_RETURN, "call asks ()V", NULL},
    {"@/pattern/PromiseActorRef", "$bang", NULL, AFTER_CALL,
     "dup; aload 1; " IS(1, "actor/AutoReceivedMessage") "call answers (ZLjava/lang/Object;Z)V", "tryComplete"},
    {"@/actor/DeadLetter", "<init>", NULL, AT_RETURN,
     "aload 1; " IS(1, "actor/AutoReceivedMessage")
         IS(1, "dispatch/sysmsg/SystemMessage") "call tellsNobody (Ljava/lang/Object;ZZ)V",
     NULL},
    MAY_DROP("@/dispatch/Mailboxes$$anon$1$$anon$2"),
    MAY_DROP("@/dispatch/BoundedNodeMessageQueue"),
    MAY_DROP("@/dispatch/BoundedQueueBasedMessageQueue"),
    MAY_DROP("@/dispatch/BoundedDequeBasedMessageQueue"),
    MAY_DROP("@/dispatch/BoundedControlAwareMessageQueue"),

    HANDLES("receiveMessage"),
    HANDLES("autoReceiveMessage"), // a PoisonPill, a Terminated
    {"@/actor/ActorCell", "invoke", "(L@/dispatch/Envelope;)V", BEFORE_CALL, ENVELOPE_BECOMES("handlingThrew"),
     "handleNonFatalOrInterruptedException"},
    {"@/actor/ActorCell", "invoke", "(L@/dispatch/Envelope;)V", BEFORE_CALL, ENVELOPE_BECOMES("handlingThrew"),
     "isDefinedAt"}, // where Scala's compiler has put that one's body in its place
    // How actors are made, stopped, watched and supervised: what they do as they are started or stopped lies in it.
    {"@/dispatch/DefaultSystemMessageQueue", "systemEnqueue", NULL, AT_ENTRY,
     "aload 1; aload 2; call sendsInternal (Ljava/lang/Object;Ljava/lang/Object;)V", NULL},
    {"@/dispatch/Mailboxes$$anon$1", "systemEnqueue", NULL, AT_ENTRY,
     "aload 1; call dropsInternal (Ljava/lang/Object;)V", NULL},
    {"@/actor/ActorCell", "systemInvoke", NULL, AT_ENTRY, "aload 0; " CELL_NUMBER "call handlesInternal (J)V", NULL},
    {"@/actor/ActorCell", "systemInvoke", NULL, AT_RETURN, "call closes ()V", NULL},
    {"@/actor/ActorCell", "systemInvoke", NULL, AT_THROW, "call closesThrowing ()V", NULL},

    {"@/actor/UnhandledMessage", "<init>", NULL, AT_RETURN, "int 2; call becomes (I)V", NULL},
    {"@/actor/StashSupport", "stash", "()V", AT_RETURN, "int 3; call becomes (I)V", NULL},

    {"@/dispatch/Mailbox", "<init>", NULL, AT_RETURN, "aload 0; call schedules (Ljava/lang/Object;)V", NULL},
};

enum { FIELDS = sizeof fields / sizeof *fields, HOOKS = sizeof hooks / sizeof *hooks };
enum { ACC_PUBLIC_TRANSIENT_SYNTHETIC = 0x0001 | 0x0080 | 0x1000, TEXT_BYTES = 1024 };

// The library's package, where the class is in one; NULL: it is not.
static const char *library_of(const char *internal_class, size_t length) {
    for (const char *const *package = actor_hooks_packages; *package; package++) {
        size_t prefix = strlen(*package);
        if (length > prefix && strncmp(internal_class, *package, prefix) == 0 && internal_class[prefix] == '/')
            return *package;
    }
    return NULL;
}

// The same; NULL also where it is not to be hooked.
static const char *package_of(const char *internal_class, size_t length) {
    return tracer.attached || tracer.options.without_actors ? NULL : library_of(internal_class, length);
}

static const char *in_package(const char *pattern, const char *package, char *text) {
    size_t used = 0;
    if (!pattern) return NULL;
    for (const char *at = pattern; *at && used + 1 < TEXT_BYTES; at++) {
        if (*at != '@')
            text[used++] = *at;
        else
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", package);
    }
    text[used < TEXT_BYTES ? used : TEXT_BYTES - 1] = '\0';
    return text;
}

static bool is_class(const char *pattern, const char *package, struct utf8 class) {
    char name[TEXT_BYTES];
    return utf8_is(class, in_package(pattern, package, name));
}

bool actor_hooks_concern(const char *internal_class) {
    struct utf8 name = {internal_class, (uint16_t)strlen(internal_class)};
    const char *package = package_of(internal_class, name.length);
    for (size_t i = 0; package && i < HOOKS; i++) {
        if (is_class(hooks[i].class_name, package, name)) return true;
    }
    return package && is_class(fields[FIELDS - 1].class_name, package, name);
}

bool actor_hooks_schedules(struct utf8 name) {
    const char *package = package_of(name.bytes, name.length);
    return package && is_class("@/dispatch/Mailbox", package, name);
}

bool actor_hooks_come_too_late(const char *internal_class, size_t length) {
    const char *package = tracer.options.without_actors ? NULL : library_of(internal_class, length);
    return package && is_class("@/actor/ActorCell", package, (struct utf8){internal_class, (uint16_t)length});
}

static void weave_hook(struct weaver *weaver, const struct hook *from_table, const char *package) {
    char class_name[TEXT_BYTES], descriptor[TEXT_BYTES], snippet[TEXT_BYTES];
    struct hook hook = *from_table;
    hook.class_name = in_package(hook.class_name, package, class_name);
    hook.descriptor = in_package(hook.descriptor, package, descriptor);
    hook.snippet = in_package(hook.snippet, package, snippet);
    hook_weave(weaver, &hook);
}

void actor_hooks_weave(struct weaver *weaver) {
    const struct utf8 name = weaver_class(weaver)->name;
    const char *package = package_of(name.bytes, name.length);
    struct error error = ERROR_INIT;
    for (size_t i = 0; package && i < FIELDS; i++) {
        if (is_class(fields[i].class_name, package, name))
            weaver_add_field(weaver, fields[i].name, fields[i].descriptor, ACC_PUBLIC_TRANSIENT_SYNTHETIC, &error);
    }
    for (size_t i = 0; package && i < HOOKS; i++) {
        if (is_class(hooks[i].class_name, package, name)) weave_hook(weaver, &hooks[i], package);
    }
}
