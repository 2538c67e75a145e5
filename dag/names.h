// SPDX-License-Identifier: GPL-3.0-or-later
// What users call things, for messages and tables: never a hidden class, and never nothing. Names that have no room are
// cut. All return text.
#ifndef REHYPE_DAG_NAMES_H
#define REHYPE_DAG_NAMES_H

#include "dag/dag.h"

// "HikariPool-1", "monitor of Cache", "lock Bank.lock", "semaphore Limits.slots"; of a resource without a name, that of
// its class or the place at which it is taken (trace site, 0 unknown): "lock taken at Bank.pay:12", "a ReentrantLock".
const char *dag_resource_text(const struct dag *dag, uint32_t resource, uint32_t site, char *text, size_t size);

// Whether it is what the JVM locks while it initialises a class: an int[] of its own.
bool dag_initialises_class(const struct dag *dag, uint32_t resource);

// Trace site of an acquisition of the resource, the first that is known; 0: none is. Cost: a step an ask.
uint32_t dag_resource_site(const struct dag *dag, uint32_t resource);

// Where a task was spawned; "main"; without a spawn its class, its thread, or its pool.
const char *dag_task_text(const struct dag *dag, uint32_t task, char *text, size_t size);

// "Bank.pay:12"; "an unknown place" for 0.
const char *dag_place_text(const struct dag *dag, uint32_t trace_site, char *text, size_t size);

// As workers are named ("pool-1"), or "pool 3".
const char *dag_pool_text(const struct dag *dag, uint32_t pool, char *text, size_t size);

// Whether the class is one that comes with the JDK, by its name's package.
bool dag_is_jdk_class(const char *class_name);

// Whether the method is called so: "acme.Main.run" for com.acme.Main.run, as a name may leave out leading packages.
bool dag_is_named(const char *class_name, const char *method, const char *name, size_t length);

#endif
