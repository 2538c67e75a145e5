// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command in the foreground as if it had been started itself: streams, signals and exit status pass through.
#ifndef REHYPE_CLI_LAUNCH_H
#define REHYPE_CLI_LAUNCH_H

#include "base/error.h"

// Starts argv[0] (found through PATH) and waits for it. SIGINT, SIGTERM, SIGHUP and SIGQUIT that are sent to this
// process meanwhile go to it; those of the terminal reach it anyway. *exit_status is its own, or 128 + the signal that
// ended it. Not thread-safe. false and *error (STATUS_FAILED) when it can't be started.
bool launch(char *const argv[], char *const environment[], int *exit_status, struct error *error);

// The last of these signals, but for SIGQUIT (which asks a JVM for its threads' stacks), that came while a command ran;
// 0: none did.
int launch_asked_to_end(void);

#endif
