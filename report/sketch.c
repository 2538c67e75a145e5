// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sketch.h"

#include "dag/names.h"
#include "report/sketch_kinds.h"

#include <stdlib.h>

static void (*const kinds[KIND_COUNT])(struct draft *draft) = {
    [KIND_INLINE] = sketch_inline,
    [KIND_HOIST_BRANCH] = sketch_hoist_branch,
    [KIND_COMBINATOR] = sketch_combinator,
    [KIND_MERGE] = sketch_merge,
    [KIND_SPLIT] = sketch_split,
    [KIND_RESIZE_POOL] = sketch_resize_pool,
    [KIND_RESIZE_RESOURCE] = sketch_resize_resource,
    [KIND_UNLOCK] = sketch_unlock,
    [KIND_OWN_POOL] = sketch_own_pool,
    [KIND_MERGE_ACTORS] = sketch_merge_actors,
    [KIND_SPLIT_ACTOR] = sketch_split_actor,
    [KIND_INLINE_MESSAGE] = sketch_inline_message,
};

// Trace site at which threads wait for it most often; where none is known, one at which it is taken; 0: neither.
static uint32_t place_of(const struct dag *dag, uint32_t resource) {
    enum { PLACES = 32 };
    uint32_t places[PLACES], waits[PLACES], count = 0, most = 0;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (ask->resource != resource || ask->asked == DAG_NONE || !ask->site) continue;
        uint32_t p = 0;
        while (p < count && places[p] != ask->site) p++;
        if (p == PLACES) continue;
        if (p == count) waits[count] = 0, places[count++] = ask->site;
        if (++waits[p] > waits[most]) most = p;
    }
    return count ? places[most] : dag_resource_site(dag, resource);
}

const struct trace_site *sketch_site(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    if (improvement_is_of_site(improvement))
        return improvement->site < dag->site_count ? &dag->sites[improvement->site].site : NULL;
    if (!improvement_is_of_resource(improvement) || improvement->resource == DAG_NONE) return NULL;
    const uint32_t place = place_of(dag, improvement->resource);
    return place && place < dag->trace->site_count ? &dag->trace->sites[place] : NULL;
}

static void write_place(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    if (!improvement_is_of_site(improvement)) return;
    draft_both(draft, "// %s\n", java_place(sketch_site(improvement)).s);
}

static void write_context(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct dag *dag = improvement->dag;
    if (!improvement_is_of_site(improvement) || improvement->context == DAG_NONE) return;
    const struct dag_context *context = &dag->contexts[improvement->context];
    if (!context->length) return;
    draft_both(draft, "// where it is called by way of");
    for (uint32_t i = 0; i < context->length; i++) {
        const struct trace_method *method = &dag->trace->methods[context->methods[i]];
        draft_both(draft, "%s %s.%s", i ? " >" : "", java_text(method->class_name).s, java_method(method->name).s);
    }
    draft_both(draft, "\n");
    draft_watch(draft, "Only calls by this way are to change: give the method a variant for them.");
}

static bool keep(struct arena *arena, FILE *file, char **text, size_t *size, const char **kept) {
    const bool written = file && !ferror(file);
    if ((file && fclose(file) != 0) || !written) return false;
    return (*kept = arena_string(arena, *text, *size));
}

bool sketch_make(const struct improvement *improvement, struct arena *arena, struct sketch *sketch) {
    char *texts[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    *sketch = (struct sketch){0};
    struct draft draft = {.improvement = improvement, .sketch = sketch, .arena = arena};
    draft.before = open_memstream(&texts[0], &sizes[0]);
    draft.after = open_memstream(&texts[1], &sizes[1]);
    if (draft.before && draft.after) {
        write_place(&draft);
        write_context(&draft);
        kinds[improvement->kind](&draft);
    }
    bool done = keep(arena, draft.before, &texts[0], &sizes[0], &sketch->before);
    done = keep(arena, draft.after, &texts[1], &sizes[1], &sketch->after) && done && !draft.out_of_memory;
    free(texts[0]);
    free(texts[1]);
    return done;
}
