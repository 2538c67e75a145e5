// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES_MOST = 8192, ANSWER_SECONDS = 30, TRIGGER_TRIES = 100 };

static int open_of(pid_t pid, const char *name, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return open(path, flags | O_CLOEXEC);
}

static FILE *file_of(pid_t pid, const char *name) {
    int fd = open_of(pid, name, O_RDONLY);
    return fd < 0 ? NULL : fdopen(fd, "r");
}

static void pause_ms(long ms) {
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static bool refuse_access(const struct target *target, struct error *error) {
    const struct passwd *user = getpwuid(target->uid);
    return error_set(error, STATUS_FAILED,
                     "process %d belongs to user %s (%d), and this one may not look into it: run rehype attach as that "
                     "user or as root",
                     (int)target->pid, user ? user->pw_name : "?", (int)target->uid);
}

// ---- What the process is

struct facts {
    uint64_t caught; // signals
    int uid, gid, own_pid;
    bool zombie, stopped;
};

// The last number of a line: of NSpid the process id in the innermost namespace.
static int last_number(const char *text) {
    const char *at = strrchr(text, '\t');
    return at ? atoi(at + 1) : 0;
}

static bool read_facts(pid_t pid, struct facts *facts) {
    char line[512];
    FILE *file = file_of(pid, "status");
    if (!file) return false;
    *facts = (struct facts){.own_pid = (int)pid};
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "Uid: %*d %d", &facts->uid);
        sscanf(line, "Gid: %*d %d", &facts->gid);
        sscanf(line, "SigCgt: %" SCNx64, &facts->caught);
        if (strncmp(line, "NSpid:", 6) == 0) facts->own_pid = last_number(line);
        if (strncmp(line, "State:\tZ", 8) == 0) facts->zombie = true;
        if (strncmp(line, "State:\tT", 8) == 0) facts->stopped = true;
    }
    fclose(file);
    return true;
}

// 1: yes, 0: no, -1: no right to look.
static int has_libjvm(pid_t pid) {
    char line[PATH_MAX + 128];
    FILE *file = file_of(pid, "maps");
    if (!file) return -1;
    int found = 0, lines = 0;
    while (!found && fgets(line, sizeof line, file)) {
        lines++;
        found = strstr(line, "/libjvm.so") != NULL;
    }
    bool refused = lines == 0 && ferror(file);
    fclose(file);
    return refused ? -1 : found;
}

// Whether one of a list of NUL-ended words (a command line, an environment) has the text.
static bool mentions(pid_t pid, const char *list, const char *text) {
    char *word = NULL;
    size_t capacity = 0;
    bool found = false;
    FILE *file = file_of(pid, list);
    while (file && !found && getdelim(&word, &capacity, '\0', file) >= 0) found = strstr(word, text) != NULL;
    free(word);
    if (file) fclose(file);
    return found;
}

static bool same_file_system(pid_t pid) {
    struct stat ours, its;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root/tmp", (int)pid);
    if (stat("/tmp", &ours) != 0 || stat(path, &its) != 0) return false;
    if (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino) return false;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &its) == 0 && ours.st_ino == its.st_ino;
}

static bool check_jvm(const struct target *target, const struct facts *facts, struct error *error) {
    static const char refusal[] = "-XX:+DisableAttachMechanism";
    int pid = (int)target->pid, jvm = has_libjvm(target->pid);
    if (jvm < 0) return refuse_access(target, error);
    if (jvm == 0) {
        return error_set(error, STATUS_FAILED,
                         "process %d is no HotSpot JVM: it has no libjvm.so; `jps -l` lists those of its user", pid);
    }
    if (facts->stopped) {
        return error_set(error, STATUS_FAILED, "process %d is stopped: let it go on first (kill -CONT %d)", pid, pid);
    }
    if (mentions(target->pid, "cmdline", refusal) || mentions(target->pid, "environ", refusal)) {
        return error_set(error, STATUS_FAILED,
                         "process %d was started with %s: start it without, or under `rehype record`", pid, refusal);
    }
    if (!(facts->caught >> (SIGQUIT - 1) & 1)) {
        return error_set(
            error, STATUS_FAILED,
            "process %d does not listen for SIGQUIT: it is still starting (try again), or was started with "
            "-Xrs (start it without, or under `rehype record`)",
            pid);
    }
    return true;
}

static double seconds_up(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Since when the process has been there, in seconds; negative: not known.
static double age_of(pid_t pid) {
    char line[1024];
    unsigned long long began = 0;
    FILE *file = file_of(pid, "stat");
    const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; // names may hold spaces
    if (file) fclose(file);
    bool known =
        at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                     &began) == 1;
    return known ? seconds_up() - (double)began / (double)sysconf(_SC_CLK_TCK) : -1;
}

static bool is_launcher(pid_t pid) {
    char path[64], program[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(program, '/');
    return slash && strcmp(slash, "/java") == 0;
}

// A JVM that has just been started has no libjvm.so yet, or does not catch the signal yet; a process that is younger
// still may be what is about to become one (env, a shell).
static void wait_until_started(pid_t pid, struct facts *facts) {
    enum { STARTING_S = 10, BECOMING_S = 2, POLL_MS = 20 };
    while (!facts->zombie && !facts->stopped && (has_libjvm(pid) == 0 || !(facts->caught >> (SIGQUIT - 1) & 1))) {
        double age = age_of(pid);
        if (age < 0 || age > (is_launcher(pid) ? STARTING_S : BECOMING_S)) return;
        pause_ms(POLL_MS);
        if (!read_facts(pid, facts)) return;
    }
}

static bool parse_pid(const char *text, pid_t *pid, struct error *error) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 1 || number > INT_MAX) {
        return error_set(error, STATUS_USAGE, "'%s' is no process id", text);
    }
    *pid = (pid_t)number;
    return true;
}

bool target_open(struct target *target, const char *text, struct error *error) {
    struct facts facts;
    *target = (struct target){.tmp = -1};
    if (!parse_pid(text, &target->pid, error)) return false;
    if (!read_facts(target->pid, &facts) || facts.zombie) {
        return error_set(error, STATUS_FAILED, "there is no process %d", (int)target->pid);
    }
    wait_until_started(target->pid, &facts);
    target->own_pid = facts.own_pid;
    target->uid = (uid_t)facts.uid;
    target->gid = (gid_t)facts.gid;
    if (!check_jvm(target, &facts, error)) return false;
    if (target->uid != geteuid() && geteuid() != 0) return refuse_access(target, error);
    target->same_files = same_file_system(target->pid);
    target->tmp = open_of(target->pid, "root/tmp", O_PATH | O_DIRECTORY);
    return target->tmp >= 0 || refuse_access(target, error);
}

void target_close(struct target *target) {
    if (target->tmp >= 0) close(target->tmp);
    target->tmp = -1;
}

bool target_lives(const struct target *target) {
    struct facts facts;
    return read_facts(target->pid, &facts) && !facts.zombie && facts.own_pid == target->own_pid;
}

// ---- Its files

int target_create(const struct target *target, const char *name, struct error *error) {
    int fd = openat(target->tmp, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool good = fd >= 0 && (geteuid() == target->uid || fchown(fd, target->uid, target->gid) == 0);
    if (good) return fd;
    error_set(error, STATUS_FAILED, "cannot create %s in the /tmp of process %d: %s", name, (int)target->pid,
              strerror(errno));
    if (fd >= 0) {
        target_remove(target, name);
        close(fd);
    }
    return -1;
}

void target_remove(const struct target *target, const char *name) {
    unlinkat(target->tmp, name, 0);
}

// With the target's rights: root has its own taken back after.
static void become(uid_t uid, gid_t gid) {
    if (geteuid() == uid && getegid() == gid) return;
    if (geteuid() != 0 && seteuid(0) != 0) return;
    if (setegid(gid) == 0 && seteuid(uid) != 0) errno = EPERM;
}

static bool may(const struct target *target, const char *path, int mode) {
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (uid == 0) become(target->uid, target->gid);
    bool may = faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
    if (uid == 0) become(uid, gid);
    return may;
}

bool target_may_write(const struct target *target, const char *folder) {
    return may(target, folder, W_OK | X_OK);
}

bool target_may_read(const struct target *target, const char *file) {
    return may(target, file, R_OK);
}

// ---- Its socket

static struct sockaddr_un address_of(const struct target *target) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/.java_pid%d", target->tmp, target->own_pid);
    return address;
}

static bool has_socket(const struct target *target) {
    struct stat facts;
    char name[64];
    snprintf(name, sizeof name, ".java_pid%d", target->own_pid);
    return fstatat(target->tmp, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(facts.st_mode) &&
           (facts.st_uid == target->uid || facts.st_uid == 0);
}

// -1 and errno. The JVM talks to its own user only (and, from JDK 9 on, to root).
static int connect_to(const struct target *target) {
    if (!has_socket(target)) {
        errno = ENOENT;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct sockaddr_un address = address_of(target);
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (uid == 0) become(target->uid, target->gid);
    bool connected = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    int failure = errno;
    if (uid == 0) become(uid, gid);
    if (connected) return fd;
    close(fd);
    errno = failure;
    return -1;
}

// The process may have changed since target_open: it is looked at once more.
static bool send_quit(const struct target *target, struct error *error) {
    struct facts facts;
    if (!read_facts(target->pid, &facts) || facts.own_pid != target->own_pid || !check_jvm(target, &facts, error)) {
        if (error->status == STATUS_OK) error_set(error, STATUS_FAILED, "process %d has ended", (int)target->pid);
        return false;
    }
    if (kill(target->pid, SIGQUIT) == 0) return true;
    return error_set(error, STATUS_FAILED, "cannot signal process %d: %s", (int)target->pid, strerror(errno));
}

static int wait_for_socket(const struct target *target, struct error *error) {
    for (int i = 1; i <= TRIGGER_TRIES && target_lives(target); i++) {
        int fd = connect_to(target);
        if (fd >= 0 || (errno != ENOENT && errno != ECONNREFUSED)) return fd;
        pause_ms(i < 10 ? 10 * i : 100);
    }
    error_set(error, STATUS_FAILED,
              "process %d does not open its socket for tools: it is stopped, very busy, or refuses "
              "(-XX:+DisableAttachMechanism)",
              (int)target->pid);
    return -1;
}

static int trigger(const struct target *target, struct error *error) {
    char name[64];
    snprintf(name, sizeof name, ".attach_pid%d", target->own_pid);
    int file = target_create(target, name, error), fd = -1;
    if (file < 0) return -1;
    if (send_quit(target, error)) fd = wait_for_socket(target, error);
    target_remove(target, name);
    close(file);
    return fd;
}

static int open_socket(const struct target *target, struct error *error) {
    int fd = connect_to(target);
    if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED)) fd = trigger(target, error);
    if (fd < 0 && error->status == STATUS_OK) {
        error_set(error, STATUS_FAILED, "cannot reach process %d: %s", (int)target->pid, strerror(errno));
    }
    return fd;
}

// "1", the command and its three arguments, each ended by a NUL.
static bool send_load(int fd, const char *library, const char *options) {
    char request[2 * PATH_MAX];
    int length = snprintf(request, sizeof request, "1%cload%c%s%ctrue%c%s", 0, 0, library, 0, 0, options) + 1;
    return length <= (int)sizeof request && send(fd, request, (size_t)length, MSG_NOSIGNAL) == length;
}

static const char *read_answer(int fd, struct arena *arena) {
    char *text = arena_alloc(arena, ANSWER_BYTES_MOST, 1);
    size_t used = 0;
    for (ssize_t length; text && used + 1 < ANSWER_BYTES_MOST; used += (size_t)length) {
        length = read(fd, text + used, ANSWER_BYTES_MOST - 1 - used);
        if (length < 0 && errno == EINTR)
            length = 0;
        else if (length <= 0)
            break;
    }
    if (text) text[used] = '\0';
    return text;
}

bool target_load(const struct target *target, const char *library, const char *options, struct arena *arena,
                 const char **answer, struct error *error) {
    int fd = open_socket(target, error);
    if (fd < 0) return false;
    *answer = send_load(fd, library, options) ? read_answer(fd, arena) : NULL;
    int failure = errno;
    close(fd);
    if (*answer && **answer) return true;
    return error_set(error, STATUS_FAILED, "process %d does not answer: %s", (int)target->pid,
                     *answer ? "it closed the connection" : strerror(failure));
}
