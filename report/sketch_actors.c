// SPDX-License-Identifier: GPL-3.0-or-later
// Sketches of own-pool, merge-actors, split-actor and inline-message, in the words of Akka and Pekko: classic actors,
// or typed ones where the recording has a method that makes their behaviour.
#include "report/sketch_kinds.h"

#include <ctype.h>
#include <string.h>

struct actors {
    const char *library; // "akka" or "pekko", as settings begin
    bool typed;
    struct java_name type; // "Renderer"; of typed ones what makes the behaviour, "Shop.pricer()"
    struct java_name name; // of the actor, or after its type
    struct java_name variable;
};

// ---- names

static const char *library_of(const struct improvement *improvement) {
    const struct trace *trace = improvement->dag->trace;
    const char *of = improvement->change.of;
    if (of && strncmp(of, "pekko:", 6) == 0) return "pekko";
    for (uint32_t c = 1; c < trace->class_count; c++) {
        if (trace->classes[c].name && strncmp(trace->classes[c].name, "org.apache.pekko.", 17) == 0) return "pekko";
    }
    return "akka";
}

// The class of what the actor at a path began as, NULL unknown.
static const char *class_of_path(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    if (!improvement->change.actor_count) return NULL;
    const uint32_t init = dag->actors[improvement->change.actors[0]].init;
    const uint32_t class = init == DAG_NONE ? 0 : dag->tasks[init].task_class;
    return class && class < dag->trace->class_count ? dag->trace->classes[class].name : NULL;
}

// "Shop.pricer()" of com.acme.Shop.pricer, or of a lambda in that method; empty of what is a class.
static struct java_name behaviour_of(const char *type) {
    struct java_name name = {""};
    const char *last = type ? strrchr(type, '.') : NULL;
    if (!last || last == type) return name;
    char class_name[300];
    snprintf(class_name, sizeof class_name, "%.*s", (int)(last - type), type);
    const struct java_name method = java_method(last + 1), home = java_class(class_name);
    if (!islower((unsigned char)method.s[0]) || !isupper((unsigned char)home.s[0])) return name;
    snprintf(name.s, sizeof name.s, "%.70s.%.70s()", home.s, method.s);
    return name;
}

static struct actors actors_of(const struct improvement *improvement) {
    const bool by_path = improvement->kind == KIND_SPLIT_ACTOR;
    const char *of = improvement->change.of ? improvement->change.of : "";
    const char *type = by_path ? class_of_path(improvement) : of;
    const char *last = strrchr(of, '/');
    struct actors actors = {.library = library_of(improvement)};
    actors.type = behaviour_of(type);
    actors.typed = *actors.type.s;
    const struct java_name simple = java_class(type);
    if (!actors.typed) actors.type = simple;
    actors.variable = java_variable(by_path && last ? last + 1
                                    : actors.typed  ? strchr(actors.type.s, '.')
                                                    : simple.s,
                                    "actor");
    actors.name = by_path && last ? java_text(last + 1) : actors.variable;
    if (!*actors.type.s) actors.type = java_capital(actors.variable.s);
    return actors;
}

// ---- making one: "context.actorOf(Props.create(T.class)", or "context.spawn(T", without its end

static void write_made(FILE *file, const struct actors *actors) {
    if (actors->typed)
        fprintf(file, "ActorRef<Message> %s = context.spawn(%s, \"%s\"", actors->variable.s, actors->type.s,
                actors->name.s);
    else
        fprintf(file, "ActorRef %s = context.actorOf(Props.create(%s.class)", actors->variable.s, actors->type.s);
}

static void write_plain(FILE *file, const struct actors *actors) {
    write_made(file, actors);
    if (actors->typed)
        fputs(");\n", file);
    else
        fprintf(file, ", \"%s\");\n", actors->name.s);
}

// ---- the kinds

void sketch_own_pool(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct actors actors = actors_of(improvement);
    char dispatcher[200];
    snprintf(dispatcher, sizeof dispatcher, "%s-dispatcher", actors.variable.s);
    write_plain(draft->before, &actors);
    draft_after(draft,
                "// application.conf\n// %s {\n//   type = Dispatcher\n//   executor = thread-pool-executor\n"
                "//   thread-pool-executor.fixed-pool-size = %s\n// }\n",
                dispatcher, draft_number(improvement->threads).s);
    write_made(draft->after, &actors);
    if (actors.typed)
        draft_after(draft, ",\n    DispatcherSelector.fromConfig(\"%s\"));\n", dispatcher);
    else
        draft_after(draft,
                    "\n    .withDispatcher(\"%s\"), \"%s\");\n// typed: spawn(..., DispatcherSelector.fromConfig("
                    "\"%s\"))\n",
                    dispatcher, actors.name.s, dispatcher);
    draft_watch(draft, "Children get their parent's dispatcher only where they ask for it; each actor of the type has "
                       "to be made so.");
    draft_watch(draft,
                "These threads come on top of the others: with few cores they take turns. The actor still handles "
                "one message at a time.");
}

void sketch_merge_actors(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct actors actors = actors_of(improvement);
    const char *ref = actors.typed ? "ActorRef<Message>" : "ActorRef";
    char maker[400];
    snprintf(maker, sizeof maker,
             actors.typed ? "context.spawnAnonymous(%s)" : "context.actorOf(Props.create(%s.class))", actors.type.s);
    draft_before(draft,
                 "List<%s> %ss = new ArrayList<>();\nfor (int i = 0; i < count; i++) {\n    %ss.add(%s);\n}\n"
                 "%s to = %ss.get(i);\n",
                 ref, actors.variable.s, actors.variable.s, maker, ref, actors.variable.s);
    draft_after(draft,
                "int remain = (count + %s - 1) / %s; // each does the work of %s\n"
                "List<%s> %ss = new ArrayList<>();\nfor (int i = 0; i < remain; i++) {\n    %ss.add(%s);\n}\n"
                "%s to = %ss.get(i %% remain); // the messages say for which i they are\n",
                draft_number(improvement->factor).s, draft_number(improvement->factor).s,
                draft_number(improvement->factor).s, ref, actors.variable.s, actors.variable.s, maker, ref,
                actors.variable.s);
    draft_watch(draft, "What an actor knows of itself becomes a map by i: the state of those that are one must be kept "
                       "apart, and a failure restarts all of them.");
    draft_watch(draft,
                "Messages of those that are one wait for each other; stop() of one must no longer stop the actor.");
}

void sketch_split_actor(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct actors actors = actors_of(improvement);
    const struct java_name factor = draft_number(improvement->factor);
    write_plain(draft->before, &actors);
    if (actors.typed)
        draft_after(
            draft,
            "ActorRef<Message> %s = context.spawn(\n    Routers.pool(%s, %s).withRoundRobinRouting(), \"%s\");\n",
            actors.variable.s, factor.s, actors.type.s, actors.name.s);
    else
        draft_after(
            draft,
            "ActorRef %s = context.actorOf(\n    new RoundRobinPool(%s).props(Props.create(%s.class)), \"%s\");\n"
            "// typed: Routers.pool(%s, behavior).withRoundRobinRouting()\n",
            actors.variable.s, factor.s, actors.type.s, actors.name.s, factor.s);
    draft_watch(draft,
                "Each copy has a state of its own, and messages to different copies come in no order: where those "
                "of one key belong together, use consistent hashing in place of round robin.");
    draft_watch(draft,
                "The router has the name; the copies are its children, and what watches or stops the actor means "
                "all of them.");
}

static void write_message(struct draft *draft, const char *type) {
    const struct java_name message = java_class(type);
    const char *name = *message.s ? message.s : "Message";
    draft_before(draft, "receiver.tell(new %s(value), getSelf());\n", name);
    draft_after(draft, "receiver.on%s(new %s(value)); // the handler, called as a method\n", java_capital(name).s,
                name);
}

void sketch_inline_message(struct draft *draft) {
    enum { SHOWN = 4 };
    const struct actor_change *change = &draft->improvement->change;
    draft_before(draft, "// in the handler that sends\n");
    draft_after(draft, "// in the handler that sends; receiver: an object that this actor holds, not an ActorRef\n");
    for (uint32_t i = 0; i < change->type_count && i < SHOWN; i++) write_message(draft, change->types[i]);
    if (change->type_count > SHOWN) draft_both(draft, "// ... and %u more\n", change->type_count - SHOWN);
    draft_watch(draft,
                "The receiver's state must belong to the sender, or be guarded: the two are one actor now, on one "
                "thread and one dispatcher.");
    draft_watch(draft,
                "The message no longer comes behind those in the receiver's mailbox, and its exceptions reach the "
                "sender, and with them the sender's supervisor.");
}
