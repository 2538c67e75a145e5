// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/doctor.h"

#include "cli/agent.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OLDEST_JAVA = 17 };

__attribute__((format(printf, 4, 5))) static void add(struct findings *findings, const char *what, enum verdict verdict,
                                                      const char *format, ...) {
    if (findings->count == FINDINGS_MOST) return;
    struct finding *finding = &findings->items[findings->count++];
    finding->what = what;
    finding->verdict = verdict;
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
}

static bool read_first_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    bool ok = file && fgets(line, (int)size, file);
    if (file) fclose(file);
    if (ok) line[strcspn(line, "\n")] = '\0';
    return ok;
}

// ---- JDKs

struct homes {
    char paths[16][PATH_MAX];
    size_t count;
};

// Each once, however many links lead to it.
static void add_home(struct homes *homes, const char *path) {
    char java[PATH_MAX + 16], real[PATH_MAX];
    snprintf(java, sizeof java, "%s/bin/java", path);
    if (access(java, X_OK) != 0 || !realpath(path, real)) return;
    for (size_t i = 0; i < homes->count; i++) {
        if (strcmp(homes->paths[i], real) == 0) return;
    }
    if (homes->count == sizeof homes->paths / sizeof *homes->paths) return;
    strcpy(homes->paths[homes->count++], real);
}

static void add_home_on_path(struct homes *homes) {
    char list[8192], java[PATH_MAX + 16], real[PATH_MAX];
    snprintf(list, sizeof list, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (char *rest = list, *folder; (folder = strsep(&rest, ":"));) {
        snprintf(java, sizeof java, "%s/java", folder);
        if (access(java, X_OK) != 0 || !realpath(java, real)) continue;
        char *bin = strstr(real, "/bin/java");
        if (bin) *bin = '\0';
        add_home(homes, real);
        return;
    }
}

static void find_homes(struct homes *homes) {
    glob_t found;
    if (getenv("JAVA_HOME")) add_home(homes, getenv("JAVA_HOME"));
    add_home_on_path(homes);
    if (glob("/usr/lib/jvm/*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) add_home(homes, found.gl_pathv[i]);
        globfree(&found);
    }
}

// The file `release` of a JDK has a line JAVA_VERSION="17.0.15".
static bool read_version(const char *home, char *version, size_t size) {
    static const char key[] = "JAVA_VERSION=\"";
    char path[PATH_MAX + 16], line[256];
    snprintf(path, sizeof path, "%s/release", home);
    FILE *file = fopen(path, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, key, strlen(key)) == 0;
        if (found) snprintf(version, size, "%.*s", (int)strcspn(line + strlen(key), "\""), line + strlen(key));
    }
    if (file) fclose(file);
    return found;
}

static void check_jdks(struct findings *findings) {
    static struct homes homes;
    find_homes(&homes);
    for (size_t i = 0; i < homes.count; i++) {
        char version[64];
        if (!read_version(homes.paths[i], version, sizeof version)) {
            add(findings, "JDK", VERDICT_WARN, "%s: its version is unknown", homes.paths[i]);
        } else if (strtol(version, NULL, 10) < OLDEST_JAVA) {
            add(findings, "JDK", VERDICT_WARN, "%s in %s: too old, %d or later is needed", version, homes.paths[i],
                OLDEST_JAVA);
        } else {
            add(findings, "JDK", VERDICT_OK, "%s in %s", version, homes.paths[i]);
        }
    }
    if (homes.count == 0) {
        add(findings, "JDK", VERDICT_FAIL, "none in JAVA_HOME, PATH or /usr/lib/jvm: install one (%d or later)",
            OLDEST_JAVA);
    }
}

static void check_agent(struct findings *findings) {
    struct arena arena = ARENA_INIT;
    struct error error = ERROR_INIT;
    const char *library = agent_find(&arena, &error);
    if (library)
        add(findings, "tracer", VERDICT_OK, "%s", library);
    else
        add(findings, "tracer", VERDICT_FAIL, "%.300s", error.cause[0]);
    arena_destroy(&arena);
}

// ---- Clock

static bool processor_has(const char *flag) {
    char *line = NULL;
    size_t capacity = 0;
    bool has = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !has && getline(&line, &capacity, file) >= 0) {
        has = strncmp(line, "flags", 5) == 0 && strstr(line, flag) != NULL;
    }
    free(line);
    if (file) fclose(file);
    return has;
}

static void check_clock(struct findings *findings) {
    char source[64] = "unknown";
    read_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
#if defined(__aarch64__)
    add(findings, "clock", VERDICT_OK, "the generic timer; the kernel uses %s", source);
#else
    bool invariant = processor_has("constant_tsc") && processor_has("nonstop_tsc");
    if (invariant)
        add(findings, "clock", VERDICT_OK, "the time-stamp counter is invariant; the kernel uses %s", source);
    else {
        add(findings, "clock", VERDICT_WARN,
            "the time-stamp counter may change its rate (the kernel uses %s): the tracer reads CLOCK_MONOTONIC, which "
            "costs more",
            source);
    }
#endif
}

// ---- Counters

static int open_counter(uint32_t type, uint64_t config) {
    struct perf_event_attr attributes = {
        .type = type, .size = sizeof attributes, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
#if defined(__aarch64__)
    if (type == PERF_TYPE_HARDWARE) attributes.config1 = 3; // as the tracer asks: 64 bits wide, to be read by users
#endif
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_mmap_page *map_page(int fd) {
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void check_cycles(struct findings *findings) {
    int fd = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    if (fd < 0) {
        add(findings, "cycle counter", VERDICT_WARN, "none (%s): the size of tasks is measured in CPU time",
            strerror(errno));
        return;
    }
    struct perf_event_mmap_page *page = map_page(fd);
    if (page && page->cap_user_rdpmc)
        add(findings, "cycle counter", VERDICT_OK, "read without a system call: the measure of the size of tasks");
    else {
        add(findings, "cycle counter", VERDICT_WARN,
            "not readable without a system call: the size of tasks is measured in CPU time");
    }
    if (page) munmap(page, (size_t)sysconf(_SC_PAGESIZE));
    close(fd);
}

static void check_task_clock(struct findings *findings) {
    int fd = open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    if (fd < 0) {
        add(findings, "task clock", VERDICT_WARN,
            "no software event (%s): CPU time is read by a system call, less often", strerror(errno));
        return;
    }
    struct perf_event_mmap_page *page = map_page(fd);
    if (!page) {
        add(findings, "task clock", VERDICT_WARN, "its page can't be mapped (%s)", strerror(errno));
    } else {
        add(findings, "task clock", VERDICT_OK, "its page can be read without a system call%s",
            page->cap_user_time ? ", with time" : "");
        munmap(page, (size_t)sysconf(_SC_PAGESIZE));
    }
    close(fd);
}

static void check_paranoid(struct findings *findings) {
    char line[32];
    if (!read_first_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line)) {
        add(findings, "perf_event_paranoid", VERDICT_WARN, "the kernel has no perf events");
    } else if (strtol(line, NULL, 10) > 2) {
        add(findings, "perf_event_paranoid", VERDICT_WARN,
            "%s: no counters for users; 'sysctl kernel.perf_event_paranoid=2' as root allows them", line);
    } else {
        add(findings, "perf_event_paranoid", VERDICT_OK, "%s", line);
    }
}

static void check_folder(struct findings *findings) {
    if (access(".", W_OK | X_OK) == 0)
        add(findings, "working folder", VERDICT_OK, "traces can be written here");
    else {
        add(findings, "working folder", VERDICT_WARN, "not writable (%s): give record a FILE with -o", strerror(errno));
    }
}

void doctor_check(struct findings *findings) {
    check_jdks(findings);
    check_agent(findings);
    check_clock(findings);
    check_cycles(findings);
    check_task_clock(findings);
    check_paranoid(findings);
    check_folder(findings);
}
