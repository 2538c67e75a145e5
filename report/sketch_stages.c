// SPDX-License-Identifier: GPL-3.0-or-later
// Sketch of combinator: the coordinator's code between its waits as part0, part1, ..., which as stages of a
// CompletableFuture run when their inputs are there (optimize/stages.h).
#include "report/sketch_kinds.h"

#include <string.h>

enum { SHOWN = 4 }; // stages

// One stage as the sketch has it.
struct part {
    const struct stage *stage;
    uint32_t number;  // 1 of the first
    uint32_t results; // that a round of it awaits
    bool follows;     // the part before it, as a stage of its own
    bool composes;    // spawns what it awaits itself; else that is under way before
    bool many;        // results that stand in a list
};

static bool is_method(const struct stage *stage, const char *method) {
    return strcmp(stage->method, method) == 0;
}

static struct part part_of(const struct improvement *improvement, uint32_t index) {
    const struct stage *stage = &improvement->stages.items[index];
    struct part part = {.stage = stage, .number = index + 1};
    part.follows = index > 0 || improvement->first == FIRST_STAGE_ON_POOL;
    part.composes = is_method(stage, "thenCompose");
    const bool alone = is_method(stage, "allOf") && !part.follows; // the rounds of such a one are not told apart
    part.results = alone || !stage->rounds ? stage->tasks : stage->tasks / stage->rounds;
    part.many = part.results > 2 || is_method(stage, "allOf") || (stage->rounds > 1 && !part.composes);
    return part;
}

// The method that spawns its i-th result: of inputs that are not known, as promises, "input".
static struct java_name spawner_of(const struct improvement *improvement, const struct part *part, uint32_t i) {
    const struct stage *stage = part->stage;
    if (!stage->input_count) return (struct java_name){"input"};
    const struct dag_site *site = &improvement->dag->sites[stage->inputs[i < stage->input_count ? i : 0]];
    return java_variable(java_method(site->site.method).s, "input");
}

static bool is_seen(const struct improvement *improvement, uint32_t stage, uint32_t input, uint32_t site) {
    for (uint32_t s = 0; s <= stage; s++) {
        const struct stage *of = &improvement->stages.items[s];
        for (uint32_t i = 0; i < (s == stage ? input : of->input_count); i++) {
            if (of->inputs[i] == site) return true;
        }
    }
    return false;
}

// Where the inputs come from, each once.
static void write_inputs(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    for (uint32_t s = 0; s < improvement->stages.count && s < SHOWN; s++) {
        const struct part part = part_of(improvement, s);
        for (uint32_t i = 0; i < part.stage->input_count; i++) {
            const uint32_t site = part.stage->inputs[i];
            if (is_seen(improvement, s, i, site)) continue;
            const struct java_name spawner = spawner_of(improvement, &part, i);
            const struct java_place place = java_place(&improvement->dag->sites[site].site);
            draft_before(draft, "// %s: a Future from %s\n", spawner.s, place.s);
            draft_after(draft, "// %s: CompletableFuture.supplyAsync(...) in place of submit(...), at %s\n", spawner.s,
                        place.s);
        }
    }
}

// ---- before

// "all2", or "a2" and "b2".
static void write_futures(struct draft *draft, const struct part *part, const char *input, const char *indent) {
    const struct improvement *improvement = draft->improvement;
    const struct java_name spawner = spawner_of(improvement, part, 0);
    if (part->many) {
        draft_before(draft, "%sList<Future<Result>> all%u = new ArrayList<>(); // %u results\n", indent, part->number,
                     part->stage->tasks);
        draft_before(draft, "%sfor (Item item : items) {\n%s    all%u.add(%s(item));\n%s}\n", indent, indent,
                     part->number, spawner.s, indent);
        return;
    }
    for (uint32_t i = 0; i < part->results; i++)
        draft_before(draft, "%sFuture<Result> %c%u = %s(%s);\n", indent, i ? 'b' : 'a', part->number,
                     spawner_of(improvement, part, i).s, input);
}

static void write_waits(struct draft *draft, const struct part *part, const char *indent) {
    const uint32_t n = part->number;
    if (part->many)
        draft_before(draft, "%sfor (Future<Result> one : all%u) {\n%s    so = part%u(so, one.get());\n%s}\n", indent, n,
                     indent, n, indent);
    else if (part->results == 2)
        draft_before(draft, "%sso = part%u(so, a%u.get(), b%u.get());\n", indent, n, n, n);
    else
        draft_before(draft, "%sso = part%u(so, a%u.get());\n", indent, n, n);
}

static void write_part_before(struct draft *draft, const struct part *part) {
    const bool loops = part->stage->rounds > 1 && part->composes;
    const char *indent = loops ? "        " : "    ";
    if (loops) draft_before(draft, "    for (int i = 0; i < %u; i++) {\n", part->stage->rounds);
    if (part->composes) write_futures(draft, part, "so", indent);
    write_waits(draft, part, indent);
    if (loops) draft_before(draft, "    }\n");
}

static void write_before(struct draft *draft, const struct java_name *pool) {
    const struct improvement *improvement = draft->improvement;
    draft_before(draft, "Future<Result> future = %s.submit(() -> {\n    Result so = part0(input);\n", pool->s);
    for (uint32_t s = 0; s < improvement->stages.count && s < SHOWN; s++) {
        const struct part part = part_of(improvement, s);
        if (!part.composes) write_futures(draft, &part, "input", "    ");
    }
    for (uint32_t s = 0; s < improvement->stages.count && s < SHOWN; s++) {
        const struct part part = part_of(improvement, s);
        write_part_before(draft, &part);
    }
    draft_before(draft, "    return so;\n});\n");
}

// ---- after

static void write_inputs_under_way(struct draft *draft, const struct part *part) {
    const struct improvement *improvement = draft->improvement;
    if (part->many) {
        draft_after(draft, "List<CompletableFuture<Result>> all%u = new ArrayList<>(); // %u results\n", part->number,
                    part->stage->tasks);
        draft_after(draft, "for (Item item : items) {\n    all%u.add(%s(item));\n}\n", part->number,
                    spawner_of(improvement, part, 0).s);
        return;
    }
    for (uint32_t i = 0; i < part->results; i++)
        draft_after(draft, "CompletableFuture<Result> %c%u = %s(input);\n", i ? 'b' : 'a', part->number,
                    spawner_of(improvement, part, i).s);
}

// What waits for nothing before it.
static void write_first(struct draft *draft, const struct part *part) {
    const uint32_t n = part->number;
    draft_after(draft, "CompletableFuture<Result> result = ");
    if (part->many)
        draft_after(draft,
                    "CompletableFuture.allOf(all%u.toArray(new CompletableFuture<?>[0]))\n"
                    "    .thenApply(none -> part%u(so, all%u));\n",
                    n, n, n);
    else if (part->results == 2)
        draft_after(draft, "a%u.thenCombine(b%u, (x, y) -> part%u(so, x, y));\n", n, n, n);
    else
        draft_after(draft, "a%u.thenApply(x -> part%u(so, x));\n", n, n);
}

static void write_composed(struct draft *draft, const struct part *part, const char *indent) {
    const struct improvement *improvement = draft->improvement;
    const struct java_name a = spawner_of(improvement, part, 0), b = spawner_of(improvement, part, 1);
    const uint32_t n = part->number;
    if (part->many)
        draft_after(draft,
                    "%sresult = result.thenCompose(before -> {\n"
                    "%s    List<CompletableFuture<Result>> all = new ArrayList<>(); // %u results\n"
                    "%s    for (Item item : items) {\n%s        all.add(%s(item));\n%s    }\n"
                    "%s    return CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]))\n"
                    "%s        .thenApply(none -> part%u(before, all));\n%s});\n",
                    indent, indent, part->results, indent, indent, a.s, indent, indent, indent, n, indent);
    else if (part->results == 2)
        draft_after(draft,
                    "%sresult = result.thenCompose(before ->\n"
                    "%s    %s(before).thenCombine(%s(before), (x, y) -> part%u(before, x, y)));\n",
                    indent, indent, a.s, b.s, n);
    else
        draft_after(draft, "%sresult = result.thenCompose(before -> %s(before).thenApply(x -> part%u(before, x)));\n",
                    indent, a.s, n);
}

// What goes on with the result of the part before it.
static void write_following(struct draft *draft, const struct part *part) {
    const uint32_t n = part->number;
    if (part->composes) {
        const bool loops = part->stage->rounds > 1;
        if (loops) draft_after(draft, "for (int i = 0; i < %u; i++) {\n", part->stage->rounds);
        write_composed(draft, part, loops ? "    " : "");
        if (loops) draft_after(draft, "}\n");
    } else if (part->many && part->stage->rounds > 1 && part->results == 1) {
        draft_after(draft,
                    "for (CompletableFuture<Result> one : all%u) {\n"
                    "    result = result.thenCombine(one, (before, x) -> part%u(before, x));\n}\n",
                    n, n);
    } else if (part->many) {
        draft_after(draft,
                    "result = result.thenCombine(CompletableFuture.allOf(all%u.toArray(new CompletableFuture<?>[0])),\n"
                    "    (before, none) -> part%u(before, all%u));\n",
                    n, n, n);
    } else {
        draft_after(draft, "result = result.thenCombine(a%u, (before, x) -> part%u(before, x));\n", n, n);
    }
}

static void write_after(struct draft *draft, const struct java_name *pool) {
    const struct improvement *improvement = draft->improvement;
    const bool on_pool = improvement->first == FIRST_STAGE_ON_POOL;
    if (!on_pool) draft_after(draft, "Result so = part0(input); // on the caller's thread\n");
    for (uint32_t s = 0; s < improvement->stages.count && s < SHOWN; s++) {
        const struct part part = part_of(improvement, s);
        if (!part.composes) write_inputs_under_way(draft, &part);
    }
    if (on_pool)
        draft_after(draft,
                    "CompletableFuture<Result> result = CompletableFuture.supplyAsync(() -> part0(input), %s);\n",
                    pool->s);
    for (uint32_t s = 0; s < improvement->stages.count && s < SHOWN; s++) {
        const struct part part = part_of(improvement, s);
        (part.follows ? write_following : write_first)(draft, &part);
    }
}

void sketch_combinator(struct draft *draft) {
    const struct improvement *improvement = draft->improvement;
    const struct dag *dag = improvement->dag;
    const struct java_name pool = draft_pool(dag, improvement->task_count ? dag->tasks[improvement->tasks[0]].pool : 0);
    write_inputs(draft);
    write_before(draft, &pool);
    write_after(draft, &pool);
    if (improvement->stages.count > SHOWN)
        draft_both(draft, "// ... and %u more, alike\n", improvement->stages.count - SHOWN);
    draft_watch(draft, "What waits for this task gets a CompletableFuture: hand it on (thenAccept, thenCompose), since "
                       "join() blocks a thread again.");
    draft_watch(draft,
                "A stage runs on the thread that brings its last input: where it computes for long, use the Async "
                "form with an executor. Thread-locals and locks do not last from one stage to the next.");
    draft_watch(draft, "Exceptions come as CompletionException, and skip the stages behind: use handle() or "
                       "exceptionally() where the code caught them.");
}
