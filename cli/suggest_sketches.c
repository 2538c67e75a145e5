// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_sketches.h"

#include "optimize/candidates.h"

static bool is_in_best_plan(const struct search_result *result, size_t index) {
    const struct ranked_plan *best = result->plan_count ? &result->plans[0] : NULL;
    for (uint32_t i = 0; best && i < best->count; i++) {
        if (best->candidates[i] == index) return true;
    }
    return false;
}

static bool has_sketch(const struct suggest_sketches *sketches, size_t index) {
    return sketches->is_shown(sketches->result, index) && candidate_is_estimated(&sketches->result->candidates[index]);
}

static bool differ_in_number(const struct improvement *a, const struct improvement *b) {
    return a->dag == b->dag && a->kind == b->kind && a->first == b->first && candidates_same_family(a, b);
}

// The first of those in the best plan, or else of the others, that is written before this one, and is as it but for a
// number: that has a sketch. `index` itself: there is none.
static size_t written_alike(const struct suggest_sketches *sketches, size_t index) {
    const struct search_result *result = sketches->result;
    size_t first = index;
    for (size_t i = 0; i < result->candidate_count; i++) {
        const bool best = is_in_best_plan(result, i);
        if (i == index || !(best || i < first) || !has_sketch(sketches, i)) continue;
        if (!differ_in_number(result->candidates[i].named, result->candidates[index].named)) continue;
        if (best) return i;
        first = i;
    }
    return first;
}

static bool write_one(const struct suggest_sketches *sketches, size_t index, bool best, struct error *error) {
    const struct improvement *named = sketches->result->candidates[index].named;
    const size_t alike = best ? index : written_alike(sketches, index);
    if (alike == index)
        return sketch_write(&sketches->writer, index + 1, named, best ? ", of the best plan" : "", error);
    sketch_write_alike(&sketches->writer, index + 1, named, alike + 1);
    return true;
}

static bool write_those(const struct suggest_sketches *sketches, bool best, struct error *error) {
    for (size_t i = 0; i < sketches->result->candidate_count; i++) {
        if (!has_sketch(sketches, i) || is_in_best_plan(sketches->result, i) != best) continue;
        if (!write_one(sketches, i, best, error)) return false;
    }
    return true;
}

bool suggest_sketches_write(const struct suggest_sketches *sketches, struct error *error) {
    fputs("\nHow to make these changes (work(input), part1(...) and the like stand for your code)\n",
          sketches->writer.file);
    return write_those(sketches, true, error) && write_those(sketches, false, error);
}

// In the order of the candidates, as the document has its improvements.
bool suggest_sketches_add(const struct suggest_sketches *sketches, cJSON *document, struct error *error) {
    cJSON *improvement;
    size_t i = 0;
    cJSON_ArrayForEach(improvement, cJSON_GetObjectItemCaseSensitive(document, "improvements")) {
        cJSON *sketch = sketch_json(&sketches->writer, sketches->result->candidates[i++].named);
        if (!sketch) return error_set(error, STATUS_FAILED, "no memory for the sketches");
        cJSON_AddItemToObject(improvement, "sketch", sketch);
    }
    return true;
}
