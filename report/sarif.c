// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sarif.h"

#include "report/escape.h"
#include "report/json.h"
#include "tracefile/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 4096 };

struct rule {
    const char *kind, *name, *what;
};

// What a reviewer reads of a kind of change first.
static const struct rule rules[] = {
    {"inline", "InlineTask", "Run the task where it is spawned, on the spawner's thread."},
    {"hoist-branch", "HoistBranch", "Run the tasks that take one path where they are spawned."},
    {"combinator", "UseCombinator", "Turn code that waits for results into stages of a CompletableFuture."},
    {"merge", "MergeTasks", "Make one task of several that follow one another."},
    {"split", "SplitTask", "Make several tasks of one."},
    {"resize-pool", "ResizePool", "Give the pool another number of threads."},
    {"resize-resource", "ResizeResource", "Give the resource another capacity."},
    {"unlock", "ReduceLocking", "Hold the lock for less: threads wait for it."},
    {"own-pool", "OwnDispatcher", "Give the actors a dispatcher of their own."},
    {"merge-actors", "MergeActors", "Make one actor of several that are alike."},
    {"split-actor", "SplitActor", "Make several actors of one that its messages wait for."},
    {"inline-message", "InlineMessage", "Do what the message asks for where it is sent, and send none."},
};

// ---- the suggestions, of which nothing is certain

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number_of(const cJSON *object, const char *key, double otherwise) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static bool flag_of(const cJSON *object, const char *key, bool otherwise) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

static bool is_in_best_plan(const cJSON *suggestions, const cJSON *improvement) {
    const cJSON *plan = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(suggestions, "plans"), 0), *id;
    cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(plan, "improvements")) {
        if (cJSON_IsNumber(id) && id->valuedouble == number_of(improvement, "id", -1)) return true;
    }
    return false;
}

// What was told is a text of its own, in UTF-8 whatever the document had.
static cJSON *clean_text(const char *text) {
    char *clean = NULL;
    size_t size = 0;
    struct utf8 character;
    FILE *memory = open_memstream(&clean, &size);
    if (!memory) return NULL;
    while (text && (text = utf8_next(text, &character))) fputs(character.bytes, memory);
    cJSON *item = fclose(memory) == 0 ? cJSON_CreateString(clean) : NULL;
    free(clean);
    return item;
}

static void add(cJSON *object, const char *key, cJSON *item) {
    cJSON_AddItemToObject(object, key, item);
}

static cJSON *message_of(const char *text) {
    cJSON *message = cJSON_CreateObject();
    add(message, "text", clean_text(text));
    return message;
}

// ---- rules

static const struct rule *rule_of(const char *kind) {
    for (size_t i = 0; kind && i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].kind, kind) == 0) return &rules[i];
    }
    return NULL;
}

static cJSON *rules_json(void) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        cJSON *object = cJSON_CreateObject(), *configuration = cJSON_CreateObject();
        add(object, "id", cJSON_CreateString(rules[i].kind));
        add(object, "name", cJSON_CreateString(rules[i].name));
        add(object, "shortDescription", message_of(rules[i].what));
        add(configuration, "level", cJSON_CreateString("note"));
        add(object, "defaultConfiguration", configuration);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

// ---- places

// "src/main/java/com/acme/Main.java", in the form of a URI: the file lies in the folder of its package.
static cJSON *uri_of(const char *sources, const char *class_name, const char *file_name) {
    char *uri = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&uri, &size);
    if (!memory) return NULL;
    escape_uri(memory, sources);
    if (sources && *sources && sources[strlen(sources) - 1] != '/') putc('/', memory);
    const char *package_end = class_name ? strrchr(class_name, '.') : NULL;
    char folder[TEXT_BYTES];
    snprintf(folder, sizeof folder, "%.*s", package_end ? (int)(package_end - class_name) + 1 : 0,
             class_name ? class_name : "");
    for (char *dot = folder; (dot = strchr(dot, '.'));) *dot = '/';
    escape_uri(memory, folder);
    const char *last = strrchr(file_name, '/'); // a class file names a file, and no folder
    escape_uri(memory, last ? last + 1 : file_name);
    cJSON *item = fclose(memory) == 0 ? cJSON_CreateString(uri) : NULL;
    free(uri);
    return item;
}

static cJSON *physical_of(const cJSON *site, const char *sources) {
    cJSON *physical = cJSON_CreateObject(), *artifact = cJSON_CreateObject();
    add(artifact, "uri", uri_of(sources, text_of(site, "class"), text_of(site, "file")));
    add(artifact, "uriBaseId", cJSON_CreateString("SRCROOT"));
    add(physical, "artifactLocation", artifact);
    const double line = number_of(site, "line", 0);
    if (line >= 1 && line <= INT32_MAX) {
        cJSON *region = cJSON_CreateObject();
        add(region, "startLine", json_integer((int64_t)line));
        add(physical, "region", region);
    }
    return physical;
}

static cJSON *logical_of(const char *name, const char *kind) {
    cJSON *array = cJSON_CreateArray(), *logical = cJSON_CreateObject();
    add(logical, "fullyQualifiedName", clean_text(name));
    add(logical, "kind", cJSON_CreateString(kind));
    cJSON_AddItemToArray(array, logical);
    return array;
}

// Where the change is made: a place in the sources, or the name of a pool or a resource, whose place is not known.
static cJSON *location_of(const cJSON *improvement, const char *sources) {
    char method[TEXT_BYTES];
    cJSON *location = cJSON_CreateObject();
    const cJSON *site = cJSON_GetObjectItemCaseSensitive(improvement, "site");
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(improvement, "params");
    const char *pool = text_of(params, "pool"), *resource = text_of(params, "resource");
    if (text_of(site, "file")) add(location, "physicalLocation", physical_of(site, sources));
    if (text_of(site, "class") && text_of(site, "method")) {
        snprintf(method, sizeof method, "%s.%s", text_of(site, "class"), text_of(site, "method"));
        add(location, "logicalLocations", logical_of(method, "function"));
    } else if (pool || resource) {
        add(location, "logicalLocations", logical_of(pool ? pool : resource, "resource"));
    }
    return location;
}

// ---- results

static void write_params(const cJSON *params, FILE *file) {
    const cJSON *item;
    const char *before = " (";
    cJSON_ArrayForEach(item, params) {
        if (cJSON_IsString(item))
            fprintf(file, "%s%s %s", before, item->string, item->valuestring);
        else if (cJSON_IsNumber(item))
            fprintf(file, "%s%s %.15g", before, item->string, item->valuedouble);
        else
            continue;
        before = ", ";
    }
    if (*before == ',') putc(')', file);
}

// "merge (factor 4)", which also tells one change from another; freed by the caller. NULL: no memory.
static char *change_of(const cJSON *improvement, bool with_why) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return NULL;
    fputs(text_of(improvement, "kind"), memory);
    write_params(cJSON_GetObjectItemCaseSensitive(improvement, "params"), memory);
    const char *why = with_why ? text_of(improvement, "why") : NULL;
    if (why) fprintf(memory, ": %s", why);
    return fclose(memory) == 0 ? text : NULL;
}

// The same for the same change at the same place, be it estimated from another recording.
static cJSON *fingerprint_of(const cJSON *improvement, const char *change) {
    char key[TEXT_BYTES], hex[20];
    const cJSON *site = cJSON_GetObjectItemCaseSensitive(improvement, "site");
    const char *parts[] = {text_of(site, "class"), text_of(site, "method"), text_of(site, "descriptor")};
    snprintf(key, sizeof key, "%s|%s|%s|%s", change, parts[0] ? parts[0] : "", parts[1] ? parts[1] : "",
             parts[2] ? parts[2] : "");
    snprintf(hex, sizeof hex, "%016" PRIx64, format_checksum(key, strlen(key)));
    cJSON *object = cJSON_CreateObject();
    add(object, "rehypeChange/v1", cJSON_CreateString(hex));
    return object;
}

static cJSON *properties_of(const cJSON *improvement) {
    cJSON *object = cJSON_CreateObject();
    const cJSON *estimate = cJSON_GetObjectItemCaseSensitive(improvement, "estimate");
    add(object, "improvement", json_number(number_of(improvement, "id", NAN)));
    add(object, "tasks", json_number(number_of(improvement, "tasks", NAN)));
    add(object, "composite", json_number(number_of(estimate, "composite", NAN)));
    add(object, "balanced", json_number(number_of(estimate, "balanced", NAN)));
    return object;
}

// What Markdown would take for its own is escaped.
static void write_plain(const char *text, FILE *file) {
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>#|~", *text)) putc('\\', file);
        putc(*text, file);
    }
}

static void write_code(const char *heading, const char *lines, FILE *file) {
    fprintf(file, "\n\n%s:\n\n````java\n%s````", heading, lines);
}

// How the change is made, as Markdown, where the suggestions have a sketch; else NULL.
static cJSON *markdown_of(const cJSON *improvement, const char *told) {
    const cJSON *sketch = cJSON_GetObjectItemCaseSensitive(improvement, "sketch"), *sentence;
    const char *before = text_of(sketch, "before"), *after = text_of(sketch, "after");
    char *text = NULL;
    size_t size = 0;
    FILE *memory = before && after && told ? open_memstream(&text, &size) : NULL;
    if (!memory) return NULL;
    write_plain(told, memory);
    write_code("Before", before, memory);
    write_code("After", after, memory);
    fputs("\n\n", memory);
    cJSON_ArrayForEach(sentence, cJSON_GetObjectItemCaseSensitive(sketch, "watch")) {
        if (!cJSON_IsString(sentence)) continue;
        fputs("- ", memory);
        write_plain(sentence->valuestring, memory);
        putc('\n', memory);
    }
    cJSON *item = fclose(memory) == 0 ? clean_text(text) : NULL;
    free(text);
    return item;
}

static cJSON *message_of_change(const cJSON *improvement, const char *told) {
    cJSON *message = message_of(told), *markdown = markdown_of(improvement, told);
    if (markdown) add(message, "markdown", markdown);
    return message;
}

static cJSON *result_of(const cJSON *improvement, bool best, const char *sources) {
    cJSON *result = cJSON_CreateObject(), *locations = cJSON_CreateArray();
    char *change = change_of(improvement, false), *told = change_of(improvement, true);
    const struct rule *rule = rule_of(text_of(improvement, "kind"));
    add(result, "ruleId", clean_text(text_of(improvement, "kind")));
    if (rule) add(result, "ruleIndex", json_integer(rule - rules));
    add(result, "level", cJSON_CreateString(best ? "warning" : "note"));
    add(result, "message", message_of_change(improvement, told));
    cJSON_AddItemToArray(locations, location_of(improvement, sources));
    add(result, "locations", locations);
    add(result, "partialFingerprints", fingerprint_of(improvement, change ? change : ""));
    add(result, "properties", properties_of(improvement));
    free(change);
    free(told);
    return result;
}

static cJSON *results_of(const cJSON *suggestions, const char *sources) {
    cJSON *array = cJSON_CreateArray();
    const cJSON *improvement;
    cJSON_ArrayForEach(improvement, cJSON_GetObjectItemCaseSensitive(suggestions, "improvements")) {
        const bool best = is_in_best_plan(suggestions, improvement);
        const bool pays = flag_of(improvement, "passes", false) && flag_of(improvement, "shown", true) &&
                          !flag_of(improvement, "negligible", false);
        if (text_of(improvement, "kind") && (best || pays))
            cJSON_AddItemToArray(array, result_of(improvement, best, sources));
    }
    return array;
}

// ---- the document

static cJSON *tool_of(const char *version) {
    cJSON *tool = cJSON_CreateObject(), *driver = cJSON_CreateObject();
    add(driver, "name", cJSON_CreateString("rehype"));
    add(driver, "semanticVersion", cJSON_CreateString(version));
    add(driver, "rules", rules_json());
    add(tool, "driver", driver);
    return tool;
}

static cJSON *bases(void) {
    cJSON *object = cJSON_CreateObject(), *root = cJSON_CreateObject();
    add(root, "description", message_of("The root of the repository that holds the sources."));
    add(object, "SRCROOT", root);
    return object;
}

static cJSON *document_of(const cJSON *suggestions, const struct sarif_names *names) {
    cJSON *document = cJSON_CreateObject(), *runs = cJSON_CreateArray(), *run = cJSON_CreateObject();
    cJSON *properties = cJSON_CreateObject();
    add(document, "$schema", cJSON_CreateString("https://json.schemastore.org/sarif-2.1.0.json"));
    add(document, "version", cJSON_CreateString("2.1.0"));
    add(run, "tool", tool_of(names->version));
    add(run, "originalUriBaseIds", bases());
    add(run, "results", results_of(suggestions, names->sources));
    add(run, "columnKind", cJSON_CreateString("utf16CodeUnits"));
    add(properties, "trace", clean_text(text_of(suggestions, "trace")));
    add(properties, "model", clean_text(text_of(suggestions, "model")));
    add(run, "properties", properties);
    cJSON_AddItemToArray(runs, run);
    add(document, "runs", runs);
    return document;
}

bool sarif_write(const cJSON *suggestions, const struct sarif_names *names, FILE *file, struct error *error) {
    const char *schema = text_of(suggestions, "schema");
    if (!schema || strcmp(schema, "rehype.suggest/1") != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "not what `rehype suggest --json` writes: no schema rehype.suggest/1");
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(suggestions, "improvements")))
        return error_set(error, STATUS_BAD_INPUT, "the suggestions have no array of improvements");
    return json_write(document_of(suggestions, names), file, error);
}
