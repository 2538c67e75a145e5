// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/launch.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile pid_t child;
static volatile sig_atomic_t asked_to_end;

int launch_asked_to_end(void) {
    return asked_to_end;
}

// The terminal sends its signals (SI_KERNEL) to the whole foreground group: the child has them already.
static void forward(int number, siginfo_t *info, void *context) {
    (void)context;
    if (number != SIGQUIT) asked_to_end = number;
    if (info->si_code != SI_KERNEL) kill(child, number);
}

// What is ignored (nohup) stays ignored, here and in the child.
static void install(struct sigaction saved[FORWARDED]) {
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], NULL, &saved[i]);
        if (saved[i].sa_handler != SIG_IGN) sigaction(forwarded[i], &action, NULL);
    }
}

static void restore(const struct sigaction saved[FORWARDED]) {
    for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], &saved[i], NULL);
}

// With the signals blocked until `child` is known; the child gets the mask as it was.
static int spawn(char *const argv[], char *const environment[], const sigset_t *mask) {
    posix_spawnattr_t attributes;
    int failure = posix_spawnattr_init(&attributes);
    if (failure) return failure;
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    failure = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environment);
    if (!failure) child = pid;
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static int wait_for_child(void) {
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool launch(char *const argv[], char *const environment[], int *exit_status, struct error *error) {
    sigset_t block, before;
    struct sigaction saved[FORWARDED];
    sigemptyset(&block);
    for (int i = 0; i < FORWARDED; i++) sigaddset(&block, forwarded[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    int failure = spawn(argv, environment, &before);
    if (!failure) install(saved);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (failure) return error_set(error, STATUS_FAILED, "%s can't be started: %s", argv[0], strerror(failure));
    *exit_status = wait_for_child();
    restore(saved);
    return true;
}
