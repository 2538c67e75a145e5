// SPDX-License-Identifier: GPL-3.0-or-later
// weave_all IN OUT: weaves every class file below the folder IN in every way that the weaver knows, and writes those
// that changed below OUT under the same names. For tests/jvm/verify_all, which then has a JVM verify them.
//
// Every method with code counts its bytecodes, and gets a call on entry, before each return and on the way out of an
// exception; every tenth one also calls before and after each of its call sites. Classes whose path is given after OUT
// are left out.
#define _XOPEN_SOURCE 700 // nftw
#include "tracer/weave.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_REASONS = 32, PATH_BYTES = 4096, EVERY_TENTH = 10 };

static struct {
    const char *in, *out;
    char **left_out;
    int left_out_count;
    unsigned long classes, classes_left_out, methods, woven, sites, errors, skipped;
    struct {
        const char *why;
        unsigned long count;
    } reasons[MAX_REASONS];
} run;

static uint8_t *read_file(const char *path, size_t length) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(length + 1);
    bool whole = file && bytes && fread(bytes, 1, length, file) == length;
    if (file) fclose(file);
    if (whole) return bytes;
    free(bytes);
    return NULL;
}

static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST) perror(path);
        *slash = '/';
    }
}

static bool write_file(const char *name, const uint8_t *bytes, size_t length) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", run.out, name);
    make_folders(path);
    FILE *file = fopen(path, "wb");
    bool whole = file && fwrite(bytes, 1, length, file) == length;
    return file && fclose(file) == 0 && whole;
}

static void count_skip(const char *why, const char *class, struct utf8 method) {
    run.skipped++;
    printf("skipped %s %.*s: %s\n", class, (int)method.length, method.bytes, why);
    for (int i = 0; i < MAX_REASONS; i++) {
        if (run.reasons[i].why && strcmp(run.reasons[i].why, why) != 0) continue;
        run.reasons[i].why = why;
        run.reasons[i].count++;
        return;
    }
}

static bool weave_sites(struct weaver *weaver, uint16_t method, struct error *error) {
    const struct call_site *sites;
    size_t count = weaver_call_sites(weaver, method, &sites);
    for (size_t i = 0; i < count; i++) {
        if (!weaver_insert(weaver, method, INSERT_BEFORE_BCI, sites[i].bci, "int 9; call site (I)V", error) ||
            !weaver_insert(weaver, method, INSERT_AFTER_BCI, sites[i].bci, "int 9; call site (I)V", error)) {
            return false;
        }
    }
    run.sites += count;
    return true;
}

static void weave_instructions(struct weaver *weaver, uint16_t method) {
    struct error no_instruction;
    for (uint32_t bci = 0; bci < weaver_class(weaver)->methods[method].code_length; bci++) {
        weaver_insert(weaver, method, INSERT_BEFORE_BCI, bci, "int 9; call site (I)V", &no_instruction);
    }
}

static bool weave_method(struct weaver *weaver, uint16_t method, struct error *error) {
    if (weaver_class(weaver)->methods[method].code_length == 0) return true;
    unsigned turn = run.methods++ % EVERY_TENTH;
    if (!weaver_is_intrinsic(weaver, method) && !weaver_count_blocks(weaver, method, "count", error)) return false;
    if (turn == 0 && !weave_sites(weaver, method, error)) return false;
    if (turn == EVERY_TENTH / 2) weave_instructions(weaver, method);
    return weaver_insert(weaver, method, INSERT_ENTRY, 0, "int 7; call enter (I)V", error) &&
           weaver_insert(weaver, method, INSERT_BEFORE_RETURN, 0, "int 7; call exit (I)V", error) &&
           weaver_catch_all(weaver, method, "int 7; call exitThrew (I)V", error);
}

static bool weave_class(const char *name, const uint8_t *bytes, size_t length, struct error *error) {
    struct weaver *weaver = weaver_open(bytes, length, error);
    if (!weaver) return false;
    const struct class_file *class = weaver_class(weaver);
    bool done = true;
    for (uint16_t i = 0; i < class->method_count && done; i++) done = weave_method(weaver, i, error);
    const struct weave_skip *skips;
    size_t skip_count;
    unsigned woven;
    done = done && weaver_finish(weaver, &bytes, &length, &woven, &skips, &skip_count, error);
    for (size_t i = 0; done && i < skip_count; i++)
        count_skip(skips[i].why, name, class->methods[skips[i].method].name);
    if (done) run.woven += woven;
    if (done && bytes && !write_file(name, bytes, length)) {
        done = error_set(error, STATUS_FAILED, "can't be written: %s", strerror(errno));
    }
    weaver_close(weaver);
    return done;
}

static bool is_left_out(const char *name) {
    for (int i = 0; i < run.left_out_count; i++) {
        if (strcmp(name, run.left_out[i]) == 0) return true;
    }
    return false;
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    size_t length = strlen(path);
    if (kind != FTW_F || length < 6 || strcmp(path + length - 6, ".class") != 0) return 0;
    const char *name = path + strlen(run.in) + 1;
    if (is_left_out(name)) {
        run.classes_left_out++;
        return 0;
    }
    run.classes++;
    struct error error = ERROR_INIT;
    char text[ERROR_CAUSE_BYTES];
    uint8_t *bytes = read_file(path, (size_t)status->st_size);
    if (!bytes) error_set(&error, STATUS_FAILED, "can't be read");
    if (!bytes || !weave_class(name, bytes, (size_t)status->st_size, &error)) {
        run.errors++;
        printf("error: %s: %s\n", name, error_text(&error, text, sizeof text));
    }
    free(bytes);
    return 0;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: weave_all IN OUT [CLASS-FILE-TO-LEAVE-OUT...]\n");
        return STATUS_USAGE;
    }
    run.in = arguments[1];
    run.out = arguments[2];
    run.left_out = arguments + 3;
    run.left_out_count = count - 3;
    if (nftw(run.in, visit, 32, FTW_PHYS)) {
        perror(run.in);
        return STATUS_FAILED;
    }
    for (int i = 0; i < MAX_REASONS && run.reasons[i].why; i++) {
        printf("%lu skipped: %s\n", run.reasons[i].count, run.reasons[i].why);
    }
    printf("classes %lu, left out %lu, methods %lu, woven %lu, call sites %lu, skipped %lu, errors %lu\n", run.classes,
           run.classes_left_out, run.methods, run.woven, run.sites, run.skipped, run.errors);
    return run.errors ? STATUS_FAILED : STATUS_OK;
}
