// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/settling.h"

#include "metrics/steady.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "" where there is none.
static void read_of_thread(pid_t pid, const char *tid, const char *what, char *text, int size) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/%s", (int)pid, tid, what);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, size, file)) *text = '\0';
    if (file) fclose(file);
}

// HotSpot's compilers, by their threads' names, of which the kernel keeps 15 characters.
static bool compiles(const char *name) {
    return strncmp(name, "C1 Compiler", 11) == 0 || strncmp(name, "C2 Compiler", 11) == 0 ||
           strncmp(name, "JVMCI Compiler", 14) == 0;
}

// What the compilers that there are have computed so far.
static uint64_t compiled_ns(pid_t pid) {
    char path[64], text[96];
    uint64_t sum_ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
        if (*thread->d_name == '.') continue;
        read_of_thread(pid, thread->d_name, "comm", text, sizeof text);
        if (!compiles(text)) continue;
        read_of_thread(pid, thread->d_name, "schedstat", text, sizeof text);
        sum_ns += strtoull(text, NULL, 10);
    }
    if (threads) closedir(threads);
    return sum_ns;
}

void settling_begin(struct settling *settling, pid_t pid, uint64_t now_ms) {
    *settling = (struct settling){pid, now_ms, compiled_ns(pid)};
}

// A compiler that ends takes what it had along: then another half second tells.
bool settling_is_over(struct settling *settling, uint64_t now_ms) {
    const uint64_t passed_ms = now_ms - settling->since_ms;
    if (passed_ms < SETTLED_MS) return false;
    const uint64_t before_ns = settling->compiled_ns;
    settling_begin(settling, settling->pid, now_ms);
    return settling->compiled_ns >= before_ns &&
           (double)(settling->compiled_ns - before_ns) < SETTLED_CORES * 1e6 * (double)passed_ms;
}
