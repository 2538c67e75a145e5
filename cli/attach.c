// SPDX-License-Identifier: GPL-3.0-or-later
// rehype attach: records a JVM that runs already. What it shares with the agent is a file in the JVM's /tmp, known to
// both by its descriptor: the agent's options, then a line for whatever the agent has to say. The agent records for as
// long as this process keeps the file locked, so that it goes when this process does, however that ends.
#include "cli/agent.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/record_config.h"
#include "cli/recorded.h"
#include "cli/settling.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "report/text.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 50, NAME_BYTES = 96, BEGIN_SECONDS = 120, STARTING_MS = 10000 };
enum { SETTLE_SECONDS = 30, TOLD_MS = 1000 }; // what is shorter is not told

static struct {
    const char *output, *config, *duration, *settle, *sample;
    bool calls;
    struct rotation_options rotation;
    struct agent_options agent;
} options;

static const struct option_spec specs[] = {
    {"--output", 'o', OPTION_TEXT, &options.output, "FILE",
     "the trace (trace.msgpack); %p is the process id, %t the time, %n the number of one\n"
     "of several files"},
    {"--duration", 'd', OPTION_TEXT, &options.duration, "SECONDS",
     "detach after so long; else on Ctrl-C, or when the JVM ends"},
    {"--settle", 0, OPTION_TEXT, &options.settle, "SECONDS",
     "with --duration: first wait until the JVM has compiled again what it threw away as\n"
     "the tracer came, at most so long (30; 0: don't wait)"},
    {"--include", 0, OPTION_LIST, &options.agent.include, "GLOB",
     "trace functions too: of these classes (com.acme.*), or of these\n"
     "methods of them (com.acme.*::get*); repeatable"},
    {"--exclude", 0, OPTION_LIST, &options.agent.exclude, "GLOB", "leave these out again; repeatable"},
    {"--app", 0, OPTION_LIST, &options.agent.app, "GLOB",
     "the program's own classes (com.acme.*), where they can't be told from libraries; repeatable"},
    CALLS_SPEC(&options.calls),
    SAMPLE_SPEC(&options.sample),
    {"--config", 0, OPTION_TEXT, &options.config, "FILE", "more options; see rehype-record(1)"},
    ROTATION_SPECS(options.rotation),
    TERMINAL_WIDE_OPTION,
    {0},
};

// One attachment. Names are of files in the target's /tmp.
struct attachment {
    struct target target;
    char output[2 * PATH_MAX];     // the trace, as we see it
    char session_name[NAME_BYTES]; // empty once it is removed
    char library_name[NAME_BYTES]; // of the agent's copy; empty where the target can load the original
    char trace_name[NAME_BYTES];   // empty where the target can write to `output`
    int session, trace;            // descriptors, or -1
    off_t told_from;               // where in the session the agent's lines begin
    struct arena *arena;
};

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory to attach");
}

// ---- What is asked for

struct times {       // seconds
    double duration; // 0: until Ctrl-C
    double settle;   // at most
};

// Of what an option tells; without it `*seconds` stays.
static bool parse_seconds(const char *name, const char *text, double least, double *seconds, struct error *error) {
    char *end;
    if (!text) return true;
    *seconds = strtod(text, &end);
    if (end != text && !*end && *seconds >= least && *seconds < 1e9) return true;
    return error_set(error, STATUS_USAGE, "%s %s: expected a number of seconds%s", name, text,
                     least > 0 ? " above 0" : "");
}

static bool parse_times(struct times *times, struct error *error) {
    *times = (struct times){.settle = SETTLE_SECONDS};
    return parse_seconds("--duration", options.duration, DBL_MIN, &times->duration, error) &&
           parse_seconds("--settle", options.settle, 0, &times->settle, error);
}

// With the process id in place of %p, and the time in place of %t.
static void expand_marks(const char *name, pid_t pid, char *text, size_t size) {
    time_t now = time(NULL);
    struct tm local;
    size_t used = 0;
    localtime_r(&now, &local);
    for (; *name && used + 32 < size; name++) {
        bool is_pid = strncmp(name, "%p", 2) == 0, is_time = strncmp(name, "%t", 2) == 0;
        if (is_pid) used += (size_t)snprintf(text + used, 32, "%d", (int)pid);
        if (is_time) used += strftime(text + used, 32, "%Y%m%d-%H%M%S", &local);
        if (is_pid || is_time)
            name++;
        else
            text[used++] = *name;
    }
    text[used] = '\0';
}

// FILE from the root.
static bool resolve_output(struct attachment *attachment, struct error *error) {
    char folder[PATH_MAX] = "";
    if (!options.output) options.output = options.agent.out ? options.agent.out : "trace.msgpack";
    const char *name = options.output;
    if (name[0] != '/' && !getcwd(folder, sizeof folder)) {
        return error_set(error, STATUS_FAILED, "the working folder has no name: %s", strerror(errno));
    }
    const char *slash = name[0] != '/' && folder[1] ? "/" : "";
    int used = snprintf(attachment->output, sizeof attachment->output, "%s%s", folder, slash);
    expand_marks(name, attachment->target.pid, attachment->output + used, sizeof attachment->output - (size_t)used);
    options.agent.out = attachment->output;
    if (!record_config_rotation(&options.rotation, &options.agent, attachment->arena, error)) return false;
    if (options.agent.out != attachment->output)
        snprintf(attachment->output, sizeof attachment->output, "%s", options.agent.out);
    if (strstr(attachment->output, "%n") && !attachment->target.same_files) {
        return error_set(
            error, STATUS_FAILED,
            "process %d has other files: a recording there is one file, without rotate-size or rotate-time",
            (int)attachment->target.pid);
    }
    return recorded_make_way(attachment->output, error);
}

// ---- Where the target sees what

static void make_name(char *name, const char *stem, const char *extension) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) random = (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
    snprintf(name, NAME_BYTES, "%s%016llx%s", stem, (unsigned long long)random, extension);
}

// The trace is written where the target can, by the target itself.
static bool place_trace(struct attachment *attachment, struct error *error) {
    const struct target *target = &attachment->target;
    char path[PATH_MAX], folder[2 * PATH_MAX];
    options.agent.out = attachment->output;
    if (target->same_files) {
        snprintf(folder, sizeof folder, "%s", attachment->output);
        char *slash = strrchr(folder, '/');
        slash[slash == folder] = '\0';
        if (target_may_write(target, folder)) return true;
        return error_set(error, STATUS_FAILED,
                         "process %d may not write into %s: choose another folder with -o, such as /tmp",
                         (int)target->pid, folder);
    }
    make_name(attachment->trace_name, "rehype-", ".msgpack");
    snprintf(path, sizeof path, "/tmp/%s", attachment->trace_name);
    options.agent.out = arena_string(attachment->arena, path, strlen(path));
    return options.agent.out || no_memory(error);
}

static bool copy_all(int from, int to) {
    char bytes[1 << 16];
    ssize_t length;
    while ((length = read(from, bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0, written; at < length; at += written) {
            written = write(to, bytes + at, (size_t)(length - at));
            if (written < 0) return false;
        }
    }
    return length == 0;
}

// The same library has the same name each time: the JVM knows by it that it has it already.
static bool copy_library(struct attachment *attachment, const char *library, struct error *error) {
    struct stat facts;
    int from = open(library, O_RDONLY | O_CLOEXEC);
    if (from < 0 || fstat(from, &facts) != 0) {
        if (from >= 0) close(from);
        return error_set(error, STATUS_FAILED, "%s can't be read: %s", library, strerror(errno));
    }
    snprintf(attachment->library_name, NAME_BYTES, "librehype-agent-%llx-%llx.so", (unsigned long long)facts.st_size,
             (unsigned long long)facts.st_mtim.tv_sec * 1000000000u + (unsigned long long)facts.st_mtim.tv_nsec);
    target_remove(&attachment->target, attachment->library_name);
    int to = target_create(&attachment->target, attachment->library_name, error);
    bool copied = to >= 0 && copy_all(from, to);
    if (to >= 0 && !copied) error_set(error, STATUS_FAILED, "%s can't be copied: %s", library, strerror(errno));
    if (to >= 0) close(to);
    close(from);
    return copied;
}

// *path: where the target finds the agent.
static bool place_library(struct attachment *attachment, const char **path, struct error *error) {
    const char *library = agent_find(attachment->arena, error);
    char copy[NAME_BYTES + 8];
    if (!library) return false;
    *path = library;
    if (attachment->target.same_files && target_may_read(&attachment->target, library)) return true;
    if (!copy_library(attachment, library, error)) return false;
    snprintf(copy, sizeof copy, "/tmp/%s", attachment->library_name);
    *path = arena_string(attachment->arena, copy, strlen(copy));
    return *path || no_memory(error);
}

// ---- The session

static bool write_options(struct attachment *attachment, struct error *error) {
    FILE *file = fdopen(dup(attachment->session), "w");
    if (!file) return no_memory(error);
    agent_write_options(file, &options.agent);
    putc('\n', file);
    attachment->told_from = ftello(file);
    return fclose(file) == 0 || error_set(error, STATUS_FAILED, "the /tmp of process %d can't be written to: %s",
                                          (int)attachment->target.pid, strerror(errno));
}

static bool open_session(struct attachment *attachment, struct error *error) {
    make_name(attachment->session_name, ".rehype-", "");
    attachment->session = target_create(&attachment->target, attachment->session_name, error);
    if (attachment->session < 0) {
        attachment->session_name[0] = '\0';
        return false;
    }
    if (flock(attachment->session, LOCK_EX | LOCK_NB) != 0) {
        return error_set(error, STATUS_FAILED, "the /tmp of process %d knows no locks: %s", (int)attachment->target.pid,
                         strerror(errno));
    }
    return write_options(attachment, error);
}

// Whether the agent has said `what`; what follows that word is then in `text`.
static bool has_told(const struct attachment *attachment, const char *what, char *text, size_t size) {
    char lines[16384];
    size_t length = strlen(what);
    ssize_t got = pread(attachment->session, lines, sizeof lines - 1, attachment->told_from);
    lines[got > 0 ? got : 0] = '\0';
    for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (strncmp(line, what, length) != 0 || (line[length] && line[length] != ' ')) continue;
        snprintf(text, size, "%s", line[length] ? line + length + 1 : "");
        return true;
    }
    return false;
}

static void remove_names(struct attachment *attachment) {
    if (*attachment->session_name) target_remove(&attachment->target, attachment->session_name);
    if (*attachment->library_name) target_remove(&attachment->target, attachment->library_name);
    *attachment->session_name = *attachment->library_name = '\0';
}

// ---- Beginning and end

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static sigset_t ending_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

// Whether one of the signals came meanwhile.
static bool pause_or_signal(void) {
    sigset_t set = ending_signals();
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000};
    return sigtimedwait(&set, NULL, &pause) > 0;
}

// What HotSpot says of an agent that it has loaded ends with the agent's own result, 0.
static bool is_loaded(const char *answer) {
    size_t length = strlen(answer);
    while (length > 0 && answer[length - 1] == '\n') length--;
    return length > 1 && answer[length - 1] == '0' && (answer[length - 2] == '\n' || answer[length - 2] == ' ');
}

static bool refuse(const struct attachment *attachment, const char *answer, struct error *error) {
    const char *text = strchr(answer, '\n');
    text = text ? text + 1 : answer;
    return error_set(error, STATUS_FAILED, "process %d does not load the tracer: %.*s", (int)attachment->target.pid,
                     (int)strcspn(text, "\n"), text);
}

// A JVM that is only starting takes no agent yet.
static bool is_too_early(const char *answer) {
    return strstr(answer, "only permitted in the live phase") != NULL;
}

static bool load(struct attachment *attachment, struct error *error) {
    const char *library, *answer;
    char given[NAME_BYTES + 16];
    if (!place_library(attachment, &library, error) || !open_session(attachment, error)) return false;
    snprintf(given, sizeof given, "session=/tmp/%s", attachment->session_name);
    const uint64_t until = now_ms() + STARTING_MS;
    do {
        if (!target_load(&attachment->target, library, given, attachment->arena, &answer, error)) return false;
    } while (is_too_early(answer) && now_ms() < until && !pause_or_signal());
    return is_loaded(answer) || refuse(attachment, answer, error);
}

static bool wait_for_beginning(struct attachment *attachment, struct error *error) {
    char text[8192];
    uint64_t until = now_ms() + BEGIN_SECONDS * 1000;
    while (now_ms() < until) {
        if (has_told(attachment, "recording", text, sizeof text)) return true;
        if (has_told(attachment, "failed", text, sizeof text)) return error_set(error, STATUS_FAILED, "%s", text);
        if (!target_lives(&attachment->target)) {
            return error_set(error, STATUS_FAILED, "process %d has ended", (int)attachment->target.pid);
        }
        if (pause_or_signal()) return error_set(error, STATUS_FAILED, "interrupted; the tracer detaches by itself");
    }
    return error_set(error, STATUS_FAILED, "process %d is too busy to be recorded", (int)attachment->target.pid);
}

static bool begin(struct attachment *attachment, struct error *error) {
    bool begun = load(attachment, error) && wait_for_beginning(attachment, error);
    remove_names(attachment);
    if (begun && *attachment->trace_name) {
        attachment->trace = openat(attachment->target.tmp, attachment->trace_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    return begun;
}

static bool goes_on(const struct attachment *attachment) {
    char text[64];
    return target_lives(&attachment->target) && !has_told(attachment, "stopped", text, sizeof text);
}

// Until the JVM's compilers are done with what the tracer made them do anew. false: there is an end to make.
static bool settle(const struct attachment *attachment, double most_seconds) {
    const uint64_t begun = now_ms(), until = begun + (uint64_t)(most_seconds * 1000);
    struct settling settling;
    bool signalled = false, over = false;
    progress_stage("waiting until the JVM has compiled again what it threw away");
    settling_begin(&settling, attachment->target.pid, begun);
    while (!signalled && !over && now_ms() < until && goes_on(attachment)) {
        signalled = pause_or_signal();
        over = settling_is_over(&settling, now_ms());
    }
    progress_end();
    const uint64_t passed_ms = now_ms() - begun;
    if (!signalled && passed_ms >= TOLD_MS)
        fprintf(stderr, "rehype: the JVM compiled for %s what it threw away as the tracer came%s\n",
                text_duration(1e6 * (double)passed_ms).s, over ? "" : ", and is not done");
    return !signalled;
}

static void record(const struct attachment *attachment, const struct times *times) {
    if (times->duration > 0 && !settle(attachment, times->settle)) return;
    const uint64_t until = times->duration > 0 ? now_ms() + (uint64_t)(times->duration * 1000) : UINT64_MAX;
    progress_stage("recording");
    while (now_ms() < until && goes_on(attachment)) {
        if (times->duration > 0) progress_left((double)(until - now_ms()) / 1000);
        if (pause_or_signal()) break;
    }
    progress_end();
}

static bool end(const struct attachment *attachment, struct error *error) {
    char text[64];
    flock(attachment->session, LOCK_UN);
    while (target_lives(&attachment->target) && !has_told(attachment, "stopped", text, sizeof text)) {
        if (!pause_or_signal()) continue;
        return error_set(error, STATUS_FAILED,
                         "interrupted; the tracer goes on detaching by itself, and %s may lack its end",
                         attachment->output);
    }
    return true;
}

// From the target's /tmp to where it was asked for.
static bool fetch_trace(struct attachment *attachment, struct error *error) {
    if (!*attachment->trace_name) return true;
    int to = open(attachment->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool copied = attachment->trace >= 0 && to >= 0 && copy_all(attachment->trace, to);
    int failure = errno;
    if (to >= 0) copied &= close(to) == 0;
    if (!copied) {
        return error_set(error, STATUS_FAILED, "the trace can't be copied to %s: %s; it is in /tmp/%s of process %d",
                         attachment->output, strerror(failure), attachment->trace_name, (int)attachment->target.pid);
    }
    target_remove(&attachment->target, attachment->trace_name);
    return true;
}

// How long the program stood still for it, beginning and end.
static void write_stops(const struct attachment *attachment) {
    char text[128];
    unsigned long long count, largest_ns, total_ns;
    if (!has_told(attachment, "stops", text, sizeof text) ||
        sscanf(text, "%llu %llu %llu", &count, &largest_ns, &total_ns) != 3) {
        fputs("  how long the JVM stood still for it is not known: it keeps no performance counters\n", stderr);
        return;
    }
    fprintf(stderr, "  the JVM stood still for it %llu times, %s at most, %s in all\n", count,
            text_duration((double)largest_ns).s, text_duration((double)total_ns).s);
}

static bool attach(struct attachment *attachment, const struct times *times, struct error *error) {
    time_t start = time(NULL);
    if (!place_trace(attachment, error) || !begin(attachment, error)) return false;
    fprintf(stderr, "rehype: recording process %d into %s; %s\n", (int)attachment->target.pid, attachment->output,
            times->duration > 0 ? "Ctrl-C ends it early" : "Ctrl-C ends it");
    record(attachment, times);
    if (!end(attachment, error) || !fetch_trace(attachment, error)) return false;
    recorded_summarise(attachment->output, start, true, stderr, terminal_look(stderr));
    write_stops(attachment);
    return true;
}

static int run(const struct operands *operands, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct attachment attachment = {.session = -1, .trace = -1, .arena = &arena};
    struct times times;
    sigset_t signals = ending_signals();
    bool good = parse_times(&times, error) &&
                (!options.config || record_config_read(options.config, &options.agent, &arena, error)) &&
                record_config_calls(options.calls, &options.agent, &arena, error) &&
                record_config_sample(options.sample, &options.agent, &arena, error) &&
                target_open(&attachment.target, operands->items[0], error) && resolve_output(&attachment, error);
    if (good) {
        sigprocmask(SIG_BLOCK, &signals, NULL);
        good = attach(&attachment, &times, error);
        remove_names(&attachment);
        if (attachment.session >= 0) close(attachment.session);
        if (attachment.trace >= 0) close(attachment.trace);
    }
    target_close(&attachment.target);
    arena_destroy(&arena);
    return good ? STATUS_OK : (int)error->status;
}

const struct command command_attach = {
    .name = "attach",
    .summary = "records a JVM that runs already",
    .usage = "PID [-d SECONDS] [--settle SECONDS] [-o FILE] [--include GLOB]... [--exclude GLOB]... [--app GLOB]... "
             "[--calls] [--sample HZ] "
             "[--config FILE] "
             "[--rotate-size SIZE] [--rotate-time TIME] [--rotate-keep NUMBER] [--wide]",
    .about =
        "Loads the tracer into the JVM with that process id, records, and detaches: after SECONDS, on Ctrl-C, or when\n"
        "the JVM ends. Every class is then as it was, and the JVM can be attached to again. Run it as the JVM's user "
        "or\n"
        "as root; a JVM in a container can be attached to from outside. Tasks that run when recording begins are "
        "shown\n"
        "as begun before. JDK 21 and later print a warning of three lines when an agent is loaded for the first time.",
    .example = "  rehype attach 4711 -d 30 -o busy.msgpack\n"
               "  rehype attach $(pgrep -f app.jar) --include 'com.acme.*'",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
