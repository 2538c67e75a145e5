// SPDX-License-Identifier: GPL-3.0-or-later
// Takes a fuzzer's place where there is none: tries each file of the folders given, once. So what a fuzzer found stays
// tried by every build.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static void try_file(FILE *file) {
    enum { LARGEST = 1 << 20 };
    static uint8_t bytes[LARGEST];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    uint8_t *exact = malloc(size + 1); // a sanitizer sees what is read before or behind it
    if (!exact) abort();
    memcpy(exact + 1, bytes, size);
    LLVMFuzzerTestOneInput(exact + 1, size);
    free(exact);
}

static unsigned try_folder(const char *folder) {
    unsigned tried = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_type == DT_DIR ? NULL : fopen(path, "rb");
        if (!file) continue;
        try_file(file);
        fclose(file);
        tried++;
    }
    if (entries) closedir(entries);
    return tried;
}

int main(int argc, char **argv) {
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    unsigned tried = 0;
    for (int i = 1; i < argc; i++) {
        const unsigned of_folder = try_folder(argv[i]);
        if (!of_folder) fprintf(stderr, "%s: nothing to try\n", argv[i]);
        if (!of_folder) return 1;
        tried += of_folder;
    }
    printf("%u inputs tried\n", tried);
    return 0;
}
