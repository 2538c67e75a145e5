// SPDX-License-Identifier: GPL-3.0-or-later
// Another capacity of a resource, and a lock without contention. No vertex and no edge of the tasks' own changes. When
// tasks get what they ask for is settled anew in order of time (dag/simulate/resources.c). Sound as far as tasks do
// with one unit what they do with another, and as what the lock keeps in order needs no order.
#include "dag/edit/edit.h"
#include "dag/names.h"

const char *dag_resize_resource_refusal(const struct dag *dag, uint32_t resource) {
    const struct dag_resource *of = &dag->resources[resource];
    if (of->kind == RESOURCE_MONITOR || of->kind == RESOURCE_LOCK || of->kind == RESOURCE_READ_WRITE_LOCK)
        return "it is a lock, which only one can have: unlock says what it would be without";
    if (of->kind == RESOURCE_QUEUE && !of->goes_round)
        return "its elements do not come back, so that it has no capacity";
    if (of->kind == RESOURCE_PERMITS && !of->goes_round && of->capacity > 0)
        return "its permits are signals: more are given than were taken, so that it has no capacity";
    if (resource + 1 == dag->carriers && !dag->vertices.compute_ns)
        return "the trace does not measure what is computed, so that what had a carrier is not known";
    return of->capacity <= 0 ? "its capacity is not known" : NULL;
}

void dag_edit_resize_resource(struct dag_edit *edit, uint32_t resource, int64_t units) {
    edit->resized_count += !edit->resource_units[resource] && !edit->unlocked[resource];
    edit->resource_units[resource] = units;
}

const char *dag_unlock_refusal(const struct dag *dag, uint32_t resource) {
    if (dag_initialises_class(dag, resource)) return "the JVM locks it while it initialises a class";
    switch (dag->resources[resource].kind) {
    case RESOURCE_MONITOR:
    case RESOURCE_LOCK:
    case RESOURCE_READ_WRITE_LOCK:
        return NULL;
    default:
        return "it is no lock: resize-resource gives it another capacity";
    }
}

void dag_edit_unlock(struct dag_edit *edit, uint32_t resource) {
    edit->resized_count += !edit->resource_units[resource] && !edit->unlocked[resource];
    edit->unlocked[resource] = true;
}
