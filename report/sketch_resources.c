// SPDX-License-Identifier: GPL-3.0-or-later
// Sketches of resize-resource and unlock, by the resource's kind and class.
#include "report/sketch_kinds.h"

#include "dag/names.h"

#include <inttypes.h>
#include <string.h>

struct resource {
    const struct dag_resource *as;
    const char *class_name;     // of the object, "" unknown
    struct java_name variable;  // of the field that holds it
    struct java_name said;      // as users call it: "semaphore Limits.slots"
    struct java_name was, will; // capacity
};

static struct resource resource_of(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    const struct dag_resource *as = &dag->resources[improvement->resource];
    char said[300];
    struct resource resource = {.as = as, .class_name = ""};
    if (as->resource_class && as->resource_class < dag->trace->class_count &&
        dag->trace->classes[as->resource_class].name)
        resource.class_name = dag->trace->classes[as->resource_class].name;
    const char *field = as->name ? strrchr(as->name, '.') : NULL;
    const struct java_name type = java_class(resource.class_name);
    resource.variable = java_variable(field ? field + 1 : as->name ? as->name : type.s, "resource");
    dag_resource_text(dag, improvement->resource, dag_resource_site(dag, improvement->resource), said, sizeof said);
    resource.said = java_text(said);
    resource.was = draft_number(as->capacity);
    resource.will = draft_number(improvement->capacity);
    return resource;
}

// Its name, and where it is waited for.
static void write_head(struct draft *draft, const struct resource *resource) {
    const struct trace_site *site = sketch_site(draft->improvement);
    draft_both(draft, "// %s", resource->said.s);
    if (site) draft_both(draft, "; waited for at %s", java_place(site).s);
    draft_both(draft, "\n");
}

static bool is_absent(struct draft *draft) {
    if (draft->improvement->resource != DAG_NONE) return false;
    draft_both(draft, "// a resource that this recording does not have\n");
    draft_watch(draft, "Another recording has it.");
    return true;
}

// ---- resize-resource

// Pools of connections: their class, the setter, and the property under Spring Boot.
struct connections {
    const char *class_begins, *setter, *property;
};

static const struct connections known[] = {
    {"com.zaxxer.hikari.", "setMaximumPoolSize", "spring.datasource.hikari.maximum-pool-size"},
    {"org.apache.commons.pool2.", "setMaxTotal", "spring.datasource.dbcp2.max-total"},
    {"org.apache.commons.dbcp2.", "setMaxTotal", "spring.datasource.dbcp2.max-total"},
    {"org.apache.tomcat.jdbc.pool.", "setMaxActive", "spring.datasource.tomcat.max-active"},
};

static const struct connections *connections_of(const struct resource *resource) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(resource->class_name, known[i].class_begins, strlen(known[i].class_begins)) == 0) return &known[i];
    }
    return NULL;
}

static void write_connections(struct draft *draft, const struct resource *resource,
                              const struct connections *connections) {
    const bool hikari = strstr(connections->setter, "MaximumPoolSize");
    const char *variable = hikari ? "config" : "dataSource";
    draft_before(draft, "%s.%s(%s);\n", variable, connections->setter, resource->was.s);
    draft_after(draft, "%s.%s(%s);\n", variable, connections->setter, resource->will.s);
    draft_after(draft, "// with Spring Boot: %s=%s\n", connections->property, resource->will.s);
    if (strstr(connections->class_begins, "pool2"))
        draft_watch(draft,
                    "The pool is one of commons-pool2: where DBCP2 does not own it, setMaxTotal() is the pool's.");
    draft_watch(draft, "The database must allow as many connections from all instances together, and is assumed to be "
                       "no slower with them.");
}

static void write_semaphore(struct draft *draft, const struct resource *resource) {
    const char *fair = resource->as->fair ? ", true" : "";
    draft_before(draft, "Semaphore %s = new Semaphore(%s%s);\n", resource->variable.s, resource->was.s, fair);
    draft_after(draft, "Semaphore %s = new Semaphore(%s%s);\n", resource->variable.s, resource->will.s, fair);
    draft_watch(draft, "The semaphore protects something: what it lets in %s times at once must bear that.",
                resource->will.s);
}

static void write_bounded_queue(struct draft *draft, const struct resource *resource) {
    const char *array = strstr(resource->class_name, "Linked") ? "Linked" : "Array";
    const char *deque = strstr(resource->class_name, "Deque") ? "Deque" : "Queue";
    const char *name = resource->variable.s;
    draft_before(draft, "Blocking%s<Item> %s = new %sBlocking%s<>(%s);\n", deque, name, array, deque, resource->was.s);
    draft_after(draft, "Blocking%s<Item> %s = new %sBlocking%s<>(%s);\n", deque, name, array, deque, resource->will.s);
    draft_watch(draft,
                "A longer queue takes more memory, and what waits in it gets older; where consumers are slower on "
                "average it only fills later.");
}

static void write_objects(struct draft *draft, const struct resource *resource) {
    const char *name = resource->variable.s;
    draft_before(draft, "for (int i = 0; i < %s; i++) {\n", resource->was.s);
    draft_after(draft, "for (int i = 0; i < %s; i++) {\n", resource->will.s);
    draft_both(draft, "    %s.add(new Item());\n}\n", name);
    draft_watch(draft,
                "Each object that goes round costs memory or a connection, and what it talks to must bear %s at "
                "once; a bounded queue needs room for all.",
                resource->will.s);
}

static void write_carriers(struct draft *draft, const struct resource *resource) {
    draft_both(draft, "// the command line: carriers of virtual threads\n");
    draft_before(draft, "// -Djdk.virtualThreadScheduler.parallelism=%s\n", resource->was.s);
    draft_after(draft, "// -Djdk.virtualThreadScheduler.parallelism=%s\n", resource->will.s);
    draft_watch(draft, "More carriers than cores help only where virtual threads are pinned (they sleep in "
                       "synchronized or native code) and otherwise compete for the cores.");
}

static void write_rate(struct draft *draft, const struct resource *resource) {
    draft_both(draft, "// where its limit is set\n");
    draft_before(draft, "int limit = %s;\n", resource->was.s);
    draft_after(draft, "int limit = %s;\n", resource->will.s);
    draft_watch(draft, "A limit of a rate protects something: it must bear the higher rate.");
}

void sketch_resize_resource(struct draft *draft) {
    if (is_absent(draft)) return;
    const struct resource resource = resource_of(draft->improvement);
    const struct connections *connections = connections_of(&resource);
    if (draft->improvement->dag->carriers == draft->improvement->resource + 1) {
        write_carriers(draft, &resource);
        return;
    }
    write_head(draft, &resource);
    if (connections) {
        write_connections(draft, &resource, connections);
        return;
    }
    switch (resource.as->kind) {
    case RESOURCE_PERMITS:
        write_semaphore(draft, &resource);
        break;
    case RESOURCE_PLACES:
        write_bounded_queue(draft, &resource);
        break;
    case RESOURCE_RATE:
        write_rate(draft, &resource);
        break;
    default:
        write_objects(draft, &resource);
    }
}

// ---- unlock

static void write_monitor(struct draft *draft, const struct resource *resource) {
    const char *name = resource->variable.s;
    draft_before(draft, "synchronized (%s) {\n    Result result = prepare(key);\n    store(key, result);\n}\n", name);
    draft_after(draft,
                "Result result = prepare(key); // outside of the lock: touches nothing that it guards\n"
                "Object stripe = stripes[Math.floorMod(key.hashCode(), stripes.length)]; // %s as, say, 16 locks\n"
                "synchronized (stripe) {\n    store(key, result);\n}\n",
                name);
}

static void write_stamped_lock(struct draft *draft, const struct resource *resource) {
    const char *name = resource->variable.s;
    draft_before(draft,
                 "long stamp = %s.writeLock();\ntry {\n    Result result = prepare(key);\n    store(key, result);\n"
                 "} finally {\n    %s.unlockWrite(stamp);\n}\n",
                 name, name);
    draft_after(draft,
                "Result result = prepare(key); // outside of the lock, or under an optimistic read\n"
                "long stamp = %s.writeLock();\ntry {\n    store(key, result);\n} finally {\n"
                "    %s.unlockWrite(stamp);\n}\n",
                name, name);
}

static void write_read_write_lock(struct draft *draft, const struct resource *resource) {
    const char *name = resource->variable.s;
    draft_before(
        draft,
        "%s.writeLock().lock();\ntry {\n    Result result = prepare(key);\n    store(key, result);\n} finally {\n"
        "    %s.writeLock().unlock();\n}\n",
        name, name);
    draft_after(draft,
                "Result result = prepare(key); // outside of the lock, or under the read lock\n"
                "%s.writeLock().lock();\ntry {\n    store(key, result);\n} finally {\n"
                "    %s.writeLock().unlock();\n}\n",
                name, name);
}

static void write_lock(struct draft *draft, const struct resource *resource) {
    const char *name = resource->variable.s;
    draft_before(draft,
                 "%s.lock();\ntry {\n    Result result = prepare(key);\n    store(key, result);\n} finally {\n"
                 "    %s.unlock();\n}\n",
                 name, name);
    draft_after(draft,
                "Result result = prepare(key); // outside of the lock: touches nothing that it guards\n"
                "Lock stripe = stripes[Math.floorMod(key.hashCode(), stripes.length)]; // %s as, say, 16 locks\n"
                "stripe.lock();\ntry {\n    store(key, result);\n} finally {\n    stripe.unlock();\n}\n",
                name);
}

void sketch_unlock(struct draft *draft) {
    if (is_absent(draft)) return;
    const struct resource resource = resource_of(draft->improvement);
    const bool of_jdk = strncmp(resource.class_name, "java.util.concurrent.", 21) == 0;
    write_head(draft, &resource);
    if (strcmp(resource.class_name, "java.util.concurrent.locks.StampedLock") == 0)
        write_stamped_lock(draft, &resource);
    else if (resource.as->kind == RESOURCE_READ_WRITE_LOCK)
        write_read_write_lock(draft, &resource);
    else if (resource.as->kind == RESOURCE_MONITOR || (!of_jdk && *resource.class_name))
        write_monitor(draft, &resource);
    else
        write_lock(draft, &resource);
    draft_watch(draft, "The estimate is without any contention: a finer or shorter lock brings that at most.");
    draft_watch(draft, "What the lock keeps together must stay together: all that read or write the same data take the "
                       "same stripe, and what takes several does so in one order.");
}
