// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sources.h"

#include "report/escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

struct source_file {
    const char *path;   // that can be opened
    const char *within; // its part behind the folder
    uint32_t folder;    // as they were given
};

static bool ends(const char *text, const char *with) {
    const size_t length = strlen(text), end = strlen(with);
    return length >= end && strcmp(text + length - end, with) == 0;
}

// ---- finding files

static bool is_source(const char *name) {
    return ends(name, ".java") || ends(name, ".scala") || ends(name, ".kt");
}

static bool add_file(struct sources *sources, const char *path, size_t within, uint32_t folder) {
    if (sources->count == sources->capacity) {
        const size_t capacity = sources->capacity ? sources->capacity * 2 : 256;
        struct source_file *files = realloc(sources->files, capacity * sizeof *files);
        if (!files) return false;
        sources->files = files;
        sources->capacity = capacity;
    }
    const char *kept = arena_string(&sources->arena, path, strlen(path));
    if (!kept) return false;
    sources->files[sources->count++] = (struct source_file){kept, kept + within, folder};
    return true;
}

struct walk {
    struct sources *sources;
    char path[PATH_BYTES];
    size_t within; // length of the folder that was given, with its slash
    uint32_t folder;
};

static bool look_through(struct walk *walk, size_t length, unsigned depth);

// What walk->path, so long, names. A link is neither a folder nor a file here.
static bool look_at(struct walk *walk, size_t length, unsigned depth) {
    struct stat status;
    if (lstat(walk->path, &status) != 0) return true;
    if (S_ISDIR(status.st_mode) && depth < SOURCES_DEPTH) return look_through(walk, length, depth + 1);
    if (!S_ISREG(status.st_mode) || !is_source(walk->path)) return true;
    return add_file(walk->sources, walk->path, walk->within, walk->folder);
}

// false: no memory. What can't be opened is left out.
static bool look_through(struct walk *walk, size_t length, unsigned depth) {
    DIR *folder = opendir(walk->path);
    bool done = true;
    for (struct dirent *entry; folder && done && (entry = readdir(folder));) {
        const size_t name = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length + name + 2 > sizeof walk->path) continue;
        if (walk->sources->entries++ >= SOURCES_ENTRIES) break;
        walk->path[length] = '/';
        memcpy(walk->path + length + 1, entry->d_name, name + 1);
        done = look_at(walk, length + 1 + name, depth);
        walk->path[length] = '\0';
    }
    if (folder) closedir(folder);
    return done;
}

static bool open_folder(struct sources *sources, const char *folder, uint32_t index, struct error *error) {
    struct walk walk = {.sources = sources, .folder = index};
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    DIR *opened = opendir(folder);
    if (!opened) return error_set(error, STATUS_FAILED, "can't open the sources %s: %s", folder, strerror(errno));
    closedir(opened);
    if (length + 2 > sizeof walk.path) return error_set(error, STATUS_FAILED, "the path %s is too long", folder);
    memcpy(walk.path, folder, length);
    walk.within = length + 1;
    return look_through(&walk, length, 0) || error_set(error, STATUS_FAILED, "no memory for the sources");
}

bool sources_open(struct sources *sources, const char *const *folders, size_t count, struct error *error) {
    *sources = (struct sources){0};
    for (size_t i = 0; i < count; i++) {
        if (open_folder(sources, folders[i], (uint32_t)i, error)) continue;
        sources_close(sources);
        return false;
    }
    return true;
}

void sources_close(struct sources *sources) {
    free(sources->files);
    free(sources->missing);
    arena_destroy(&sources->arena);
    *sources = (struct sources){0};
}

// ---- the file of a class

struct wanted {
    char folder[PATH_BYTES]; // "com/acme/", or nothing
    char file[512];          // as the class file names it, or nothing
    char outer[512];         // outermost class
};

// A class file names a file and no folder.
static void want(struct wanted *wanted, const struct trace_site *site) {
    const char *package = strrchr(site->class_name, '.'), *simple = package ? package + 1 : site->class_name;
    const char *base = site->file ? strrchr(site->file, '/') : NULL;
    snprintf(wanted->folder, sizeof wanted->folder, "%.*s", (int)(simple - site->class_name), site->class_name);
    for (char *dot = wanted->folder; (dot = strchr(dot, '.'));) *dot = '/';
    snprintf(wanted->file, sizeof wanted->file, "%s", base ? base + 1 : site->file ? site->file : "");
    snprintf(wanted->outer, sizeof wanted->outer, "%.*s", (int)strcspn(simple, "$"), simple);
}

static bool is_at(const struct source_file *file, const char *path) {
    if (!ends(file->within, path)) return false;
    const size_t before = strlen(file->within) - strlen(path);
    return before == 0 || file->within[before - 1] == '/';
}

static bool is_nearer(const struct source_file *file, const struct source_file *than) {
    if (!than || file->folder != than->folder) return !than || file->folder < than->folder;
    const size_t length = strlen(file->within), other = strlen(than->within);
    return length != other ? length < other : strcmp(file->within, than->within) < 0;
}

static const struct source_file *nearest_at(const struct sources *sources, const char *path, size_t *count) {
    const struct source_file *nearest = NULL;
    *count = 0;
    for (size_t i = 0; i < sources->count; i++) {
        if (!is_at(&sources->files[i], path)) continue;
        (*count)++;
        if (is_nearer(&sources->files[i], nearest)) nearest = &sources->files[i];
    }
    return nearest;
}

// In the package's folder; or, but for Java, the only one of that name.
static const struct source_file *find_named(const struct sources *sources, const char *folder, const char *name) {
    char path[PATH_BYTES + 512];
    size_t count;
    if (!*name) return NULL;
    snprintf(path, sizeof path, "%s%s", folder, name);
    const struct source_file *found = nearest_at(sources, path, &count);
    if (found || ends(name, ".java")) return found;
    found = nearest_at(sources, name, &count);
    return count == 1 ? found : NULL;
}

static const struct source_file *find_file(const struct sources *sources, const struct wanted *wanted) {
    static const char *const endings[] = {".java", ".scala", ".kt"};
    const struct source_file *found = find_named(sources, wanted->folder, wanted->file);
    for (size_t i = 0; !found && i < sizeof endings / sizeof *endings; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", wanted->outer, endings[i]);
        found = find_named(sources, wanted->folder, name);
    }
    return found;
}

// ---- its lines

// A character as it is shown, a tab up to the next multiple of 4. Returns how many columns it takes.
static size_t shown(struct utf8 *character, size_t column) {
    const unsigned char first = (unsigned char)character->bytes[0];
    if (first == '\t') *character = (struct utf8){"    ", (uint8_t)(4 - column % 4)};
    if (first == '\t') return character->length;
    if (first < ' ' || first == 0x7f) *character = (struct utf8){"?", 1};
    return 1;
}

static const char *clean(const char *text, struct arena *arena) {
    char line[EXCERPT_COLUMNS * 4 + 8];
    size_t used = 0, columns = 0;
    struct utf8 character;
    while (columns < EXCERPT_COLUMNS && (text = utf8_next(text, &character))) {
        columns += shown(&character, columns);
        memcpy(line + used, character.bytes, character.length);
        used += character.length;
    }
    if (text && *text) used += (size_t)snprintf(line + used, 4, "...");
    return arena_string(arena, line, used);
}

static char *read_text(int descriptor, size_t size, const char **why) {
    char *bytes = malloc(size + 1);
    const ssize_t got = bytes ? read(descriptor, bytes, size) : -1;
    *why = got < 0 ? "can't be read" : memchr(bytes, '\0', (size_t)got) ? "is no text" : NULL;
    if (!*why) {
        bytes[got] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

// The whole file with a NUL behind it, freed by the caller; else NULL, and *why says what is wrong with it.
static char *read_file(const char *path, const char **why) {
    struct stat status;
    char *text = NULL;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    *why = "can't be read";
    if (descriptor < 0) return NULL;
    const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && status.st_size > SOURCE_BYTES)
        *why = "is larger than 4 MB";
    else if (regular)
        text = read_text(descriptor, (size_t)status.st_size, why);
    close(descriptor);
    return text;
}

static bool keep_line(struct excerpt *excerpt, char *line, struct arena *arena) {
    const size_t length = strlen(line);
    if (length && line[length - 1] == '\r') line[length - 1] = '\0';
    if (!excerpt->count) excerpt->first = excerpt->last;
    return (excerpt->lines[excerpt->count++] = clean(line, arena));
}

// Cuts the text into lines. false: no memory.
static bool keep_lines(struct excerpt *excerpt, char *text, struct arena *arena) {
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        if (end) *end = '\0';
        excerpt->last++;
        if (excerpt->last + EXCERPT_AROUND < excerpt->line || excerpt->last > excerpt->line + EXCERPT_AROUND) continue;
        if (!keep_line(excerpt, line, arena)) return false;
    }
    if (excerpt->line > excerpt->last) excerpt->status = EXCERPT_PAST_END;
    return true;
}

static bool read_excerpt(const struct source_file *file, struct arena *arena, struct excerpt *excerpt) {
    char *text = read_file(file->path, &excerpt->why);
    if (!(excerpt->path = clean(file->path, arena))) {
        free(text);
        return false;
    }
    excerpt->status = text ? EXCERPT_FOUND : EXCERPT_UNREADABLE;
    const bool done = !text || keep_lines(excerpt, text, arena);
    free(text);
    return done;
}

// Remembers what was looked for in vain; true when it was before.
static bool miss(struct sources *sources, struct excerpt *excerpt) {
    for (size_t i = 0; i < sources->missing_count; i++) {
        if (strcmp(sources->missing[i], excerpt->path) == 0) return (excerpt->told = true);
    }
    if (sources->missing_count == sources->missing_capacity) {
        const size_t capacity = sources->missing_capacity ? sources->missing_capacity * 2 : 16;
        const char **missing = realloc(sources->missing, capacity * sizeof *missing);
        if (!missing) return false;
        sources->missing = missing;
        sources->missing_capacity = capacity;
    }
    const char *kept = arena_string(&sources->arena, excerpt->path, strlen(excerpt->path));
    if (kept) sources->missing[sources->missing_count++] = kept;
    return kept;
}

bool sources_excerpt(struct sources *sources, const struct trace_site *site, struct arena *arena,
                     struct excerpt *excerpt) {
    struct wanted wanted;
    char name[PATH_BYTES + 600];
    *excerpt = (struct excerpt){.status = EXCERPT_NO_PLACE};
    if (!site || !site->class_name || !*site->class_name || !site->line) return true;
    want(&wanted, site);
    excerpt->line = site->line;
    const struct source_file *file = find_file(sources, &wanted);
    if (file) return read_excerpt(file, arena, excerpt);
    excerpt->status = EXCERPT_NO_FILE;
    snprintf(name, sizeof name, "%s%s%s", wanted.folder, *wanted.file ? wanted.file : wanted.outer,
             *wanted.file ? "" : ".java");
    excerpt->path = clean(name, arena);
    return excerpt->path && miss(sources, excerpt);
}
