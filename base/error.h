// SPDX-License-Identifier: Apache-2.0
// Errors with causes. The caller owns a struct error on its stack and passes it down; whoever fails first
// calls error_set with the innermost fact, and every level above may error_wrap it with what it was about to do.
// No allocation, no printing, no global state: usable inside the user's JVM and from any thread.
#ifndef REHYPE_BASE_ERROR_H
#define REHYPE_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The program's exit statuses (SPEC section 3) are the only error classes that there are.
enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,    // it could not be done: the system said no
    STATUS_USAGE = 2,     // the caller asked for something that makes no sense
    STATUS_BAD_INPUT = 3, // a file is not what it should be
};

#define ERROR_NO_OFFSET   UINT64_MAX
#define ERROR_MAX_CAUSES  4
#define ERROR_CAUSE_BYTES 512

struct error {
    enum status status;
    uint64_t offset; // byte of the input that is wrong, or ERROR_NO_OFFSET
    int causes;      // cause[0] is the innermost
    char cause[ERROR_MAX_CAUSES][ERROR_CAUSE_BYTES];
};

#define ERROR_INIT                                                                                                     \
    { .status = STATUS_OK, .offset = ERROR_NO_OFFSET }

// Sets the innermost cause, forgetting what was there. Returns false, so that `return error_set(...)` reads well.
bool error_set(struct error *error, enum status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// The same for input: the byte offset is kept for tests and shown in the message.
bool error_set_at(struct error *error, uint64_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Adds what was being done when it failed. Past ERROR_MAX_CAUSES the outermost is replaced. Returns false.
bool error_wrap(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes "outermost: ...: innermost (byte 123)" into text, always terminated. Returns text.
char *error_text(const struct error *error, char *text, size_t size);

#endif
