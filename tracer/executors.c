// SPDX-License-Identifier: Apache-2.0
#include "tracer/executors.h"

#include "tracer/classfile.h"
#include "tracer/registry.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACC_STATIC = 0x0008, WORDS = 10, OF_A_CLASS = 64 };

// One line ------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum executor_role role;
    bool takes_number, takes_outer, needs_argument;
    bool takes_receiver;
    unsigned least, most; // words that say what is told (telling.h)
} roles[] = {
    {"spawn", EXECUTOR_SPAWN, true, false, true, false, 0, 0},
    {"run", EXECUTOR_RUN, true, false, false, false, 0, 0},
    {"worker", EXECUTOR_WORKER, false, true, false, false, 0, 0},
    {"idle", EXECUTOR_IDLE, true, true, false, false, 0, 0},
    {"standby", EXECUTOR_STANDBY, false, true, false, false, 0, 0},
    {.name = "called", .role = EXECUTOR_CALLED, .least = 1, .most = 1},
    {"take", EXECUTOR_TAKE, false, false, false, false, 0, 0},
    {"shutdown", EXECUTOR_SHUTDOWN, false, false, false, false, 0, 0},
    {"core", EXECUTOR_CORE, false, false, false, false, 0, 0},
    {"maximum", EXECUTOR_MAXIMUM, false, false, false, false, 0, 0},
    {"queue", EXECUTOR_QUEUE, false, false, false, false, 0, 0},
    {"capacity", EXECUTOR_CAPACITY, false, false, false, false, 0, 0},
    {"keep-alive-ms", EXECUTOR_KEEP_ALIVE_MS, false, false, false, false, 0, 0},
    {"keep-alive-ns", EXECUTOR_KEEP_ALIVE_NS, false, false, false, false, 0, 0},
    {"delegate", EXECUTOR_DELEGATE, false, false, false, false, 0, 0},
    {"grows", EXECUTOR_GROWS, false, false, false, false, 0, 0},
    {"wakes", EXECUTOR_WAKES, false, false, false, false, 0, 0},
    {"message", EXECUTOR_MESSAGE, true, false, true, true, 0, 0},
    {"handle", EXECUTOR_HANDLE, true, false, true, true, 0, 0},
    {"init", EXECUTOR_INIT, false, false, false, false, 0, 0},
    {.name = "request serve", .role = EXECUTOR_REQUEST_SERVE, .least = 1, .most = 3},
    {.name = "request part", .role = EXECUTOR_REQUEST_PART, .least = 1, .most = 3},
    {.name = "request more", .role = EXECUTOR_REQUEST_MORE, .least = 1, .most = 1},
    {.name = "request async", .role = EXECUTOR_REQUEST_ASYNC},
    {.name = "request end", .role = EXECUTOR_REQUEST_END, .least = 1, .most = 2},
    {.name = "request last", .role = EXECUTOR_REQUEST_LAST, .least = 1, .most = 2},
    {.name = "request code", .role = EXECUTOR_REQUEST_CODE},
    {.name = "request thrown", .role = EXECUTOR_REQUEST_THROWN, .least = 1, .most = 1},
    {.name = "request connection", .role = EXECUTOR_REQUEST_CONNECTION, .least = 1, .most = 1},
    {.name = "request name", .role = EXECUTOR_REQUEST_NAME, .least = 2, .most = 2},
    {.name = "request mapped", .role = EXECUTOR_REQUEST_MAPPED, .least = 2, .most = 3},
    {.name = "request matched", .role = EXECUTOR_REQUEST_MATCHED, .least = 2, .most = 2},
    {"resource acquire", EXECUTOR_RESOURCE_ACQUIRE, true, false, false, false, 0, 0},
    {"resource release", EXECUTOR_RESOURCE_RELEASE, false, false, false, false, 0, 0},
    {"resource capacity", EXECUTOR_RESOURCE_CAPACITY, false, false, false, false, 0, 0},
    {"resource name", EXECUTOR_RESOURCE_NAME, false, false, false, false, 0, 0},
    {"resource limit", EXECUTOR_RESOURCE_LIMIT, false, false, false, false, 0, 0},
};

static bool refuse(const char *line, const char *expected, struct error *error) {
    return error_set(error, STATUS_USAGE, "executor '%s': expected %s", line, expected);
}

static size_t split(char *text, char **words) {
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(text, " \t", &rest); word && count < WORDS; word = strtok_r(NULL, " \t", &rest)) {
        words[count++] = word;
    }
    return count;
}

static bool set_argument(struct executor_hook *hook, size_t role, const char *argument) {
    if (!argument) return !roles[role].needs_argument;
    hook->outer = strcmp(argument, "outer") == 0;
    if (hook->outer) return roles[role].takes_outer && strchr(hook->class_name, '$');
    if (hook->role == EXECUTOR_RUN && strchr(argument, ':')) {
        hook->field = argument;
        return true;
    }
    char *end;
    unsigned long number = strtoul(argument, &end, 10);
    hook->argument = (unsigned)number;
    return roles[role].takes_number && !*end && number >= 1 && number <= 255;
}

static bool set_receiver(struct executor_hook *hook, size_t role, const char *receiver) {
    if (!receiver) return true;
    if (hook->role == EXECUTOR_SPAWN && strcmp(receiver, "outer") == 0) {
        hook->outer = true;
        return strchr(hook->class_name, '$');
    }
    if (hook->role == EXECUTOR_RUN && strcmp(receiver, "seen") == 0) {
        hook->seen = true;
        return true;
    }
    char *end;
    unsigned long number = strtoul(receiver, &end, 10);
    hook->receiver = (unsigned)number;
    return roles[role].takes_receiver && !*end && end != receiver && number <= 255;
}

static bool set_tellings(struct executor_hook *hook, size_t role, char *const *words, size_t count,
                         struct arena *arena) {
    for (size_t i = 0; i < count && i < EXECUTOR_TELLINGS; i++) {
        if (strcmp(words[i], "-") == 0) continue; // it tells none
        hook->telling[i] = telling_parse(words[i], arena);
        if (!hook->telling[i]) return false;
    }
    return count >= roles[role].least && count <= roles[role].most;
}

// "if=2:com.acme.Message": its second argument is one.
static bool set_only(struct executor_hook *hook, const char *word, struct arena *arena) {
    char argument[8];
    const char *colon = strchr(word, ':');
    const size_t length = colon ? (size_t)(colon - word) : 0;
    if (length == 0 || length >= sizeof argument || !colon[1]) return false;
    snprintf(argument, sizeof argument, "%.*s", (int)length, word);
    hook->only = telling_parse(argument, arena);
    hook->only_class = colon + 1;
    return hook->only;
}

// What a line of paths says beyond its role.
static bool set_paths(struct executor_hook *hook, size_t role, char *const *words, size_t count, struct arena *arena) {
    static const char ONLY[] = "if=";
    const bool only = count > 0 && strncmp(words[count - 1], ONLY, strlen(ONLY)) == 0;
    if (only && !set_only(hook, words[--count] + strlen(ONLY), arena)) return false;
    return set_tellings(hook, role, words, count, arena);
}

static bool set_role(struct executor_hook *hook, char *const *words, size_t count, const char *line,
                     struct arena *arena, struct error *error) {
    const char *name = words[3], *argument = count > 4 ? words[4] : NULL, *receiver = count > 5 ? words[5] : NULL;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(name, roles[i].name) != 0) continue;
        hook->role = roles[i].role;
        if (roles[i].least > 0 || strncmp(name, "request ", 8) == 0)
            return set_paths(hook, i, words + 4, count - 4, arena) ||
                   refuse(line, "what it tells, see rehype-record(1)", error);
        return (set_argument(hook, i, argument) && set_receiver(hook, i, receiver)) ||
               refuse(line, "another argument, see rehype-record(1)", error);
    }
    return refuse(
        line,
        "a role: spawn, run, worker, idle, standby, called, take, shutdown, core, maximum, queue, capacity, "
        "keep-alive-ms, "
        "keep-alive-ns, delegate, grows, wakes, message, handle, init, resource with acquire, release, capacity, name "
        "or limit, or request with serve, part, more, async, end, last, code, thrown, connection, name, mapped or "
        "matched",
        error);
}

// A role of two words is one.
static void join_role(char **words, size_t *count, struct arena *arena) {
    bool is_two = *count > 4 && (strcmp(words[3], "resource") == 0 || strcmp(words[3], "request") == 0);
    char *joined = is_two ? arena_alloc(arena, 64, 1) : NULL;
    if (!joined) return;
    snprintf(joined, 64, "%s %s", words[3], words[4]);
    words[3] = joined;
    --*count;
    for (size_t i = 4; i < *count; i++) words[i] = words[i + 1];
}

struct executor_hook *executor_parse(const char *line, struct arena *arena, struct error *error) {
    char *words[WORDS], *text = arena_string(arena, line, strlen(line));
    struct executor_hook *hook = ARENA_NEW(arena, struct executor_hook, 1);
    if (!text || !hook) {
        error_set(error, STATUS_FAILED, "no memory for the tracer's options");
        return NULL;
    }
    size_t count = split(text, words);
    join_role(words, &count, arena);
    const bool tells = count > 3 && strncmp(words[3], "request ", 8) == 0;
    if (count < 4 || (count > 6 && !tells)) {
        refuse(line, "CLASS METHOD DESCRIPTOR ROLE [ARGUMENT [RECEIVER]]", error);
        return NULL;
    }
    for (char *at = words[0]; *at; at++) {
        if (*at == '.') *at = '/';
    }
    *hook = (struct executor_hook){.class_name = words[0],
                                   .class_length = strlen(words[0]),
                                   .method = words[1],
                                   .descriptor = strcmp(words[2], "*") == 0 ? NULL : words[2]};
    return set_role(hook, words, count, line, arena, error) ? hook : NULL;
}

// Weaving -------------------------------------------------------------------------------------------------------------

bool executor_is_of(const struct executor_hook *hook, struct utf8 internal_class, struct utf8 *prefix) {
    const size_t length = hook->class_length;
    if (internal_class.length < length) return false;
    const size_t before = internal_class.length - length;
    if (before > 0 && internal_class.bytes[before - 1] != '/') return false;
    if (memcmp(internal_class.bytes + before, hook->class_name, length) != 0) return false;
    if (prefix) *prefix = (struct utf8){internal_class.bytes, (uint16_t)before};
    return true;
}

const char *executor_relocated(struct utf8 prefix, const char *type, char *text, size_t size) {
    const bool of_library = *type == 'L' && strncmp(type, "Ljava/", 6) != 0;
    if (of_library)
        snprintf(text, size, "L%.*s%s", (int)prefix.length, prefix.bytes, type + 1);
    else
        snprintf(text, size, "%s", type);
    return text;
}

bool executors_concern(const struct executor_hook *hooks, struct utf8 internal_class) {
    for (; hooks; hooks = hooks->next) {
        if (executor_is_of(hooks, internal_class, NULL)) return true;
    }
    return false;
}

// Whether a method's descriptor is the one of a line, where types of the library may be relocated as its class is.
static bool is_descriptor(struct utf8 actual, const char *wanted, struct utf8 prefix) {
    const char *at = actual.bytes, *end = actual.bytes + actual.length;
    for (; *wanted && at < end; wanted++, at++) {
        if (*at != *wanted) return false;
        bool relocated =
            *at == 'L' && prefix.length && end - at > prefix.length && memcmp(at + 1, prefix.bytes, prefix.length) == 0;
        if (relocated) at += prefix.length;
    }
    return !*wanted && at == end;
}

static _Atomic(const struct executor_hook *) numbered[EXECUTOR_NUMBERS];

int executor_number(const struct executor_hook *hook) {
    for (int i = 0; i < EXECUTOR_NUMBERS; i++) {
        const struct executor_hook *there = NULL;
        if (atomic_compare_exchange_strong(&numbered[i], &there, hook) || there == hook) return i;
    }
    return -1;
}

const struct executor_hook *executor_numbered(int number) {
    return atomic_load_explicit(&numbered[number], memory_order_relaxed);
}

// The local that holds a reference parameter; -1 where there is no such parameter.
static int local_of(const struct class_method *method, unsigned parameter) {
    const char *at = method->descriptor.bytes + 1, *end = method->descriptor.bytes + method->descriptor.length;
    int local = method->access & ACC_STATIC ? 0 : 1;
    for (unsigned i = 1; at < end && *at != ')'; i++) {
        const char *first = at;
        while (at < end && *at == '[') at++;
        const char *name_end = at < end && *at == 'L' ? memchr(at, ';', (size_t)(end - at)) : at;
        if (!name_end) return -1;
        at = name_end + 1;
        if (i == parameter) return *first == 'L' ? local : -1;
        local += *first == 'J' || *first == 'D' ? 2 : 1;
    }
    return -1;
}

// Where the method is being woven: its hook, and the text of snippets.
struct site {
    struct weaver *weaver;
    uint16_t index;
    const struct class_method *method;
    const struct executor_hook *hook, *hooks; // the line, and all of them
    struct utf8 prefix;                       // of the class's name, where it is a relocated copy
    char pool[600];                           // pushes the pool
};

static bool insert(const struct site *site, enum insert_where where, const char *snippet, struct error *error) {
    return weaver_insert(site->weaver, site->index, where, 0, snippet, error);
}

static bool bracket(const struct site *site, const char *opening, const char *closing, const char *thrown,
                    struct error *error) {
    return insert(site, INSERT_ENTRY, opening, error) && insert(site, INSERT_BEFORE_RETURN, closing, error) &&
           weaver_catch_all(site->weaver, site->index, thrown, error);
}

static bool no_argument(const struct site *site, struct error *error) {
    return error_set(error, STATUS_USAGE, "it has no parameter %u of a class's type", site->hook->argument);
}

// The first character of what a method returns.
static char gives(const struct class_method *method) {
    const struct utf8 descriptor = method->descriptor;
    const char *end = memchr(descriptor.bytes, ')', descriptor.length);
    return end && end + 1 < descriptor.bytes + descriptor.length ? end[1] : 'V';
}

// Whether threads of the program's own take from what a line hands over to.
static bool is_stage(const struct site *site) {
    for (const struct executor_hook *other = site->hooks; other; other = other->next) {
        if (other->role == EXECUTOR_TAKE && strcmp(other->class_name, site->hook->class_name) == 0) return true;
    }
    return false;
}

static bool weave_spawn(const struct site *site, struct error *error) {
    char opening[800];
    int local = local_of(site->method, site->hook->argument);
    if (local < 0 || site->method->access & ACC_STATIC) return no_argument(site, error);
    char closing[80] = "call spawned ()V";
    snprintf(opening, sizeof opening, "aload %d; %scall %s (Ljava/lang/Object;Ljava/lang/Object;)V", local, site->pool,
             is_stage(site) ? "stagePut" : "executorSpawn");
    if (gives(site->method) == 'Z') // false: it has not taken it
        snprintf(closing, sizeof closing, "dup; aload %d; call spawnedIf (ZLjava/lang/Object;)V", local);
    return bracket(site, opening, closing, "call rejected ()V", error);
}

static bool weave_run_calls(const struct site *site, struct error *error) {
    const struct call_site *calls;
    size_t count = weaver_call_sites(site->weaver, site->index, &calls);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (!utf8_is(calls[i].name, "run") || !utf8_is(calls[i].descriptor, "()V")) continue;
        good = weaver_insert(site->weaver, site->index, INSERT_BEFORE_BCI, calls[i].bci,
                             "dup; call startObject (Ljava/lang/Object;)V", error) &&
               weaver_insert(site->weaver, site->index, INSERT_AFTER_BCI, calls[i].bci, "call endObject ()V", error);
    }
    return good;
}

static bool weave_run_of_field(const struct site *site, struct error *error) {
    char name[80], type[200], relocated[400], opening[600];
    if (sscanf(site->hook->field, "%79[^:]:%199s", name, type) != 2 || site->method->access & ACC_STATIC)
        return error_set(error, STATUS_USAGE, "it is static, or the field is not written NAME:TYPE");
    executor_relocated(site->prefix, type, relocated, sizeof relocated);
    if (!weaver_has_field(site->weaver, name, relocated))
        return error_set(error, STATUS_USAGE, "its class has no field %s", name);
    snprintf(opening, sizeof opening, "aload 0; getfield . %s %s; call startObject (Ljava/lang/Object;)V", name,
             relocated);
    return bracket(site, opening, "call endObject ()V", "call threwObject ()V", error);
}

static bool weave_run(const struct site *site, struct error *error) {
    char opening[80];
    if (site->hook->field) return weave_run_of_field(site, error);
    if (!site->hook->argument) return weave_run_calls(site, error);
    int local = local_of(site->method, site->hook->argument);
    if (local < 0) return no_argument(site, error);
    snprintf(opening, sizeof opening, "aload %d; call %s (Ljava/lang/Object;)V", local,
             site->hook->seen ? "startSeen" : "startObject");
    return bracket(site, opening, "call endObject ()V", "call threwObject ()V", error);
}

static bool weave_worker(const struct site *site, struct error *error) {
    char opening[700];
    snprintf(opening, sizeof opening, "%scall executorWorker (Ljava/lang/Object;)V", site->pool);
    return bracket(site, opening, "call executorLeaves ()V", "call executorLeaves ()V", error);
}

// What asked, a task of the pool, has ended by that, and goes on whatever it gets.
static bool weave_standby(const struct site *site, struct error *error) {
    char opening[700];
    snprintf(opening, sizeof opening, "%scall executorStandsBy (Ljava/lang/Object;)V", site->pool);
    return insert(site, INSERT_ENTRY, opening, error) &&
           insert(site, INSERT_BEFORE_RETURN, "aload 0; call busy (Ljava/lang/Object;)V", error);
}

static bool weave_shutdown(const struct site *site, struct error *error) {
    if (site->method->access & ACC_STATIC) return error_set(error, STATUS_USAGE, "it is static");
    return insert(site, INSERT_ENTRY, "aload 0; call executorShutdown (Ljava/lang/Object;)V", error);
}

// Whether the loop of this pool's workers itself runs their tasks. Of a loop that began before the tracer came the old
// code goes on, in which nothing tells where they begin.
static bool loop_runs_tasks(const struct site *site) {
    for (const struct executor_hook *loop = site->hooks; loop; loop = loop->next) {
        if (loop->role != EXECUTOR_WORKER || strcmp(loop->class_name, site->hook->class_name) != 0) continue;
        for (const struct executor_hook *run = site->hooks; run; run = run->next) {
            if (run->role == EXECUTOR_RUN && !run->argument && !run->field &&
                strcmp(run->class_name, loop->class_name) == 0 && strcmp(run->method, loop->method) == 0)
                return true;
        }
    }
    return false;
}

static bool weave_idle(const struct site *site, struct error *error) {
    char opening[700];
    bool gives_task = gives(site->method) == 'L';
    snprintf(opening, sizeof opening, "%scall %s (Ljava/lang/Object;)V", site->pool,
             gives_task && loop_runs_tasks(site) ? "executorLoopIdle" : "executorIdle");
    return insert(site, INSERT_ENTRY, opening, error) &&
           insert(site, INSERT_BEFORE_RETURN,
                  gives_task ? "dup; call busy (Ljava/lang/Object;)V" : "aload 0; call busy (Ljava/lang/Object;)V",
                  error);
}

// Null leaves the thread idle.
static bool weave_take(const struct site *site, struct error *error) {
    const char result = gives(site->method);
    if (site->method->access & ACC_STATIC || (result != 'L' && result != '['))
        return error_set(error, STATUS_USAGE, "it is static, or gives no object");
    return insert(site, INSERT_ENTRY, "aload 0; call stageTakes (Ljava/lang/Object;)V", error) &&
           insert(site, INSERT_BEFORE_RETURN, "dup; aload 0; call stageTook (Ljava/lang/Object;Ljava/lang/Object;)V",
                  error);
}

static char type_of(const struct class_method *method, unsigned parameter) {
    const char *at = method->descriptor.bytes + 1, *end = method->descriptor.bytes + method->descriptor.length;
    for (unsigned i = 1; at < end && *at != ')' && i < parameter; i++)
        at += descriptor_field_length(at, (size_t)(end - at));
    return at < end && *at != ')' ? *at : '\0';
}

static unsigned slot_of(const struct class_method *method, unsigned parameter) {
    unsigned slot = method->access & ACC_STATIC ? 0 : 1;
    for (unsigned i = 1; i < parameter; i++) slot += type_of(method, i) == 'J' || type_of(method, i) == 'D' ? 2 : 1;
    return slot;
}

// Milliseconds as a long or an int, or a Duration; without an argument there is no limit.
static bool limit_of(const struct site *site, char *text, size_t size, struct error *error) {
    const unsigned argument = site->hook->argument;
    const unsigned slot = slot_of(site->method, argument);
    const char type = argument ? type_of(site->method, argument) : '0';
    if (type == '0')
        snprintf(text, size, "lconst_0; call poolAsks (Ljava/lang/Object;J)V");
    else if (type == 'J')
        snprintf(text, size, "lload %u; call poolAsks (Ljava/lang/Object;J)V", slot);
    else if (type == 'I')
        snprintf(text, size, "iload %u; i2l; call poolAsks (Ljava/lang/Object;J)V", slot);
    else if (type == 'L')
        snprintf(text, size, "aload %u; call poolAsksFor (Ljava/lang/Object;Ljava/lang/Object;)V", slot);
    else
        return no_argument(site, error);
    return true;
}

// Of a gate, which gives leave to go on, and no object.
static bool weave_gate(const struct site *site, struct error *error) {
    return bracket(site, "aload 0; call gateAsks (Ljava/lang/Object;)V",
                   "aload 0; call poolGives (Ljava/lang/Object;)V", "call poolThrew ()V", error);
}

static bool weave_acquire(const struct site *site, struct error *error) {
    char limit[120], opening[200];
    const char given = gives(site->method);
    if (site->method->access & ACC_STATIC || (given != 'L' && given != 'V'))
        return error_set(error, STATUS_USAGE, "it is static, or gives no object");
    if (given == 'V') return weave_gate(site, error);
    if (!limit_of(site, limit, sizeof limit, error)) return false;
    snprintf(opening, sizeof opening, "aload 0; %s", limit);
    return bracket(site, opening, "dup; call poolGives (Ljava/lang/Object;)V", "call poolThrew ()V", error);
}

static bool weave_release(const struct site *site, struct error *error) {
    if (site->method->access & ACC_STATIC) return error_set(error, STATUS_USAGE, "it is static");
    return insert(site, INSERT_ENTRY, "aload 0; call poolTakesBack (Ljava/lang/Object;)V", error);
}

// Of the object itself, or of a parameter; -1 where there is none.
static int local_of_receiver(const struct site *site) {
    bool is_static = site->method->access & ACC_STATIC;
    if (site->hook->receiver) return local_of(site->method, site->hook->receiver);
    return is_static ? -1 : 0;
}

static bool message_of(const struct site *site, const char *probe, char *text, size_t size, struct error *error) {
    int message = local_of(site->method, site->hook->argument), receiver = local_of_receiver(site);
    if (message < 0 || receiver < 0)
        return error_set(error, STATUS_USAGE, "the message or who it is for is no parameter of a class's type");
    snprintf(text, size, "aload %d; aload %d; call %s (Ljava/lang/Object;Ljava/lang/Object;)V", message, receiver,
             probe);
    return true;
}

static bool weave_message(const struct site *site, struct error *error) {
    char opening[160];
    return message_of(site, "mailed", opening, sizeof opening, error) && insert(site, INSERT_ENTRY, opening, error);
}

static bool weave_handle(const struct site *site, struct error *error) {
    char opening[160];
    return message_of(site, "opens", opening, sizeof opening, error) &&
           bracket(site, opening, "call closes ()V", "call closesThrowing ()V", error);
}

// In a constructor `this` can be looked at only behind that of the class above.
static bool weave_init(const struct site *site, struct error *error) {
    if (site->method->access & ACC_STATIC) return error_set(error, STATUS_USAGE, "it is static");
    return bracket(site, "aload 0; call makes (Ljava/lang/Object;)V", "aload 0; call initEnds (Ljava/lang/Object;)V",
                   "aconst_null; call initEnds (Ljava/lang/Object;)V", error);
}

// Pushes the pool: an argument, what the object is nested in, or the object itself.
static bool find_pool(struct site *site, struct error *error) {
    const struct executor_hook *hook = site->hook;
    const struct utf8 name = weaver_class(site->weaver)->name;
    const char *nested = memrchr(name.bytes, '$', name.length);
    const int local = hook->role == EXECUTOR_IDLE && hook->argument ? local_of(site->method, hook->argument) : 0;
    if (local < 0) return no_argument(site, error);
    snprintf(site->pool, sizeof site->pool, "aload %d; ", local);
    if (!hook->outer || !nested) return true;
    char type[300];
    snprintf(type, sizeof type, "L%.*s;", (int)(nested - name.bytes), name.bytes);
    if (!weaver_has_field(site->weaver, "this$0", type)) // some compilers leave it out where it is not used
        return error_set(error, STATUS_USAGE, "its class does not know what it is nested in");
    snprintf(site->pool, sizeof site->pool, "aload 0; getfield . this$0 %s; ", type);
    return true;
}

// Pushes what a path begins at; null where there is none. -1: no such parameter.
static bool push_root(const struct site *site, const struct telling *telling, char *text, size_t size,
                      struct error *error) {
    const unsigned argument = telling ? telling->argument : 0;
    const bool is_static = site->method->access & ACC_STATIC;
    const int local = !argument ? (is_static ? -1 : 0) : local_of(site->method, argument);
    if (!telling) return snprintf(text, size, "aconst_null; ") > 0;
    if (local < 0) return error_set(error, STATUS_USAGE, "it has no parameter %u of a class's type", argument);
    return snprintf(text, size, "aload %d; ", local) > 0;
}

// With the roots of the first `roots` tellings, what the line goes for alone if `only`, and the hook's number.
struct told_probe {
    const char *name;
    unsigned roots;
    bool only;
};

static bool tell(const struct site *site, struct told_probe probe, char *text, size_t size, struct error *error) {
    const struct executor_hook *hook = site->hook;
    const int number = executor_number(hook);
    char roots[EXECUTOR_TELLINGS + 1][40] = {""}, types[120] = "";
    const unsigned count = probe.roots + probe.only;
    if (number < 0) return error_set(error, STATUS_USAGE, "more than %d lines tell of requests", EXECUTOR_NUMBERS);
    for (unsigned i = 0; i < count; i++) {
        const struct telling *telling = i < probe.roots ? hook->telling[i] : hook->only;
        if (!push_root(site, telling, roots[i], sizeof roots[i], error)) return false;
        snprintf(types + strlen(types), sizeof types - strlen(types), "Ljava/lang/Object;");
    }
    snprintf(text, size, "%s%s%s%sint %d; call %s (%sI)V", roots[0], roots[1], roots[2], roots[3], number, probe.name,
             types);
    return true;
}

static bool weave_serve(const struct site *site, struct told_probe probe, struct error *error) {
    char opening[400], closing[80], thrown[80];
    if (!tell(site, probe, opening, sizeof opening, error)) return false;
    snprintf(closing, sizeof closing, "int %d; call requestCloses (I)V", executor_number(site->hook));
    snprintf(thrown, sizeof thrown, "int %d; call requestThrew (I)V", executor_number(site->hook));
    return bracket(site, opening, closing, thrown, error);
}

static bool weave_connection(const struct site *site, struct error *error) {
    char opening[200];
    return tell(site, (struct told_probe){"requestReads", 1, false}, opening, sizeof opening, error) &&
           bracket(site, opening, "call requestRead ()V", "call requestRead ()V", error);
}

static bool weave_telling(const struct site *site, enum insert_where where, struct told_probe probe,
                          struct error *error) {
    char text[400];
    return tell(site, probe, text, sizeof text, error) && insert(site, where, text, error);
}

// What it returns is a pool of that name.
static bool weave_called(const struct site *site, struct error *error) {
    char root[40], text[200];
    const int number = executor_number(site->hook);
    if (number < 0 || gives(site->method) != 'L')
        return error_set(error, STATUS_USAGE, "it gives no object, or there are too many lines");
    if (!push_root(site, site->hook->telling[0], root, sizeof root, error)) return false;
    snprintf(text, sizeof text, "dup; %sint %d; call poolCalled (Ljava/lang/Object;Ljava/lang/Object;I)V", root,
             number);
    return insert(site, INSERT_BEFORE_RETURN, text, error);
}

static bool weave(struct site *site, struct error *error) {
    const struct executor_hook *hook = site->hook;
    if (!find_pool(site, error)) return false;
    switch (hook->role) {
    case EXECUTOR_SPAWN:
        return weave_spawn(site, error);
    case EXECUTOR_RUN:
        return weave_run(site, error);
    case EXECUTOR_WORKER:
        return weave_worker(site, error);
    case EXECUTOR_IDLE:
        return weave_idle(site, error);
    case EXECUTOR_STANDBY:
        return weave_standby(site, error);
    case EXECUTOR_CALLED:
        return weave_called(site, error);
    case EXECUTOR_TAKE:
        return weave_take(site, error);
    case EXECUTOR_SHUTDOWN:
        return weave_shutdown(site, error);
    case EXECUTOR_MESSAGE:
        return weave_message(site, error);
    case EXECUTOR_HANDLE:
        return weave_handle(site, error);
    case EXECUTOR_INIT:
        return weave_init(site, error);
    case EXECUTOR_REQUEST_SERVE:
    case EXECUTOR_REQUEST_PART:
        return weave_serve(site, (struct told_probe){"requestOpens", 3, true}, error);
    case EXECUTOR_REQUEST_MORE:
        return weave_serve(site, (struct told_probe){"requestTakenUp", 1, true}, error);
    case EXECUTOR_REQUEST_ASYNC:
        return insert(site, INSERT_ENTRY, "call requestAsync ()V", error);
    case EXECUTOR_REQUEST_END:
        return weave_telling(site, INSERT_BEFORE_RETURN, (struct told_probe){"requestEnds", 2, true}, error);
    case EXECUTOR_REQUEST_LAST:
        return weave_telling(site, INSERT_ENTRY, (struct told_probe){"requestEnds", 2, true}, error);
    case EXECUTOR_REQUEST_CODE:
        return insert(site, INSERT_ENTRY, "call requestCode ()V", error);
    case EXECUTOR_REQUEST_THROWN:
        return weave_telling(site, INSERT_ENTRY, (struct told_probe){"requestThrown", 1, false}, error);
    case EXECUTOR_REQUEST_CONNECTION:
        return weave_connection(site, error);
    case EXECUTOR_REQUEST_NAME:
        return weave_telling(site, INSERT_ENTRY, (struct told_probe){"requestNamed", 2, false}, error);
    case EXECUTOR_REQUEST_MAPPED:
        return weave_telling(site, INSERT_ENTRY, (struct told_probe){"requestMapped", 3, false}, error);
    case EXECUTOR_REQUEST_MATCHED:
        return weave_telling(site, INSERT_BEFORE_RETURN, (struct told_probe){"requestNamed", 2, false}, error);
    case EXECUTOR_RESOURCE_ACQUIRE:
        return weave_acquire(site, error);
    case EXECUTOR_RESOURCE_RELEASE:
        return weave_release(site, error);
    default:
        return true; // only called
    }
}

static void weave_hook(const struct executor_hook *hook, const struct executor_hook *hooks, struct weaver *weaver,
                       struct utf8 prefix) {
    const struct class_file *class = weaver_class(weaver);
    for (uint16_t m = 0; m < class->method_count; m++) {
        const struct class_method *method = &class->methods[m];
        if (!utf8_is(method->name, hook->method) || method->code_length == 0) continue;
        if (hook->descriptor && !is_descriptor(method->descriptor, hook->descriptor, prefix)) continue;
        struct error error = ERROR_INIT;
        struct site site = {weaver, m, method, hook, hooks, prefix, ""};
        if (weave(&site, &error)) continue;
        char name[600], why[ERROR_CAUSE_BYTES];
        snprintf(name, sizeof name, "%s.%s", hook->class_name, hook->method);
        registry_skip(name, error_text(&error, why, sizeof why));
    }
}

void executors_weave(const struct executor_hook *hooks, struct weaver *weaver) {
    const struct utf8 name = weaver_class(weaver)->name;
    const struct executor_hook *of_class[OF_A_CLASS];
    struct utf8 prefix = {0};
    size_t count = 0;
    for (const struct executor_hook *hook = hooks; hook && count < OF_A_CLASS; hook = hook->next) {
        if (executor_is_of(hook, name, &prefix)) of_class[count++] = hook;
    }
    while (count > 0) weave_hook(of_class[--count], hooks, weaver, prefix); // the list begins with the last line
}
