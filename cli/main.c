// SPDX-License-Identifier: GPL-3.0-or-later
// rehype: what-if analysis of task-based JVM programs. See docs/architecture.md.
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

const struct command *const commands[] = {
    &command_record,
    &command_attach,
    &command_info,
    &command_metrics,
    &command_suggest,
    &command_estimate,
    &command_compare,
    &command_coverage,
    &command_report,
    &command_export,
    &command_doctor,
    &command_completion,
    NULL,
};

static const char *next_command(const void *names, size_t index) {
    (void)names;
    return commands[index] ? commands[index]->name : NULL;
}

static const struct command *find_command(const char *name) {
    for (const struct command *const *command = commands; *command; command++) {
        if (strcmp((*command)->name, name) == 0) return *command;
    }
    return NULL;
}

static void write_overview(FILE *file) {
    fputs("Usage: rehype COMMAND [ARGUMENT...]\n\n"
          "Finds the refactorings of a task-based Java program that would pay, and by how much, from one\n"
          "recorded run.\n\n"
          "Commands:\n",
          file);
    for (const struct command *const *command = commands; *command; command++) {
        fprintf(file, "  %-10s  %s\n", (*command)->name, (*command)->summary);
    }
    fputs("\n'rehype COMMAND --help' tells more, with an example. 'rehype --version' tells the version.\n"
          "Exit status: 0 done, 1 failed, 2 wrong usage, 3 the input is not what it should be.\n",
          file);
}

static int unknown_command(const char *name) {
    const char *near = nearest_name(name, next_command, NULL);
    fprintf(stderr, "rehype: no command '%s'", name);
    if (near)
        fprintf(stderr, "; did you mean %s?\n", near);
    else
        fputs("; 'rehype --help' lists them\n", stderr);
    return STATUS_USAGE;
}

static void write_error(const struct command *command, const struct error *error) {
    char text[ERROR_MAX_CAUSES * ERROR_CAUSE_BYTES];
    const unsigned look = terminal_look(stderr);
    fprintf(stderr, "%srehype %s:%s %s\n", look_begin(look, TONE_BAD), command->name, look_end(look, TONE_BAD),
            error_text(error, text, sizeof text));
    if (error->status == STATUS_USAGE) fprintf(stderr, "'rehype %s --help' shows what there is.\n", command->name);
}

static int run_command(const struct command *command, int argc, char **argv) {
    if (options_ask_help(command, argc, argv)) {
        options_write_help(command, stdout);
        return STATUS_OK;
    }
    struct error error = ERROR_INIT;
    struct operands operands;
    int status =
        options_parse(command, argc, argv, &operands, &error) ? command->run(&operands, &error) : (int)error.status;
    progress_end();
    if (error.status != STATUS_OK) write_error(command, &error);
    return status;
}

// A full disk shows only when the last bytes are written: results that did not arrive are a failure.
static int check_output(int status) {
    bool lost = ferror(stdout) != 0;
    errno = 0;
    lost |= fflush(stdout) != 0;
    if (!lost) return status;
    fprintf(stderr, "rehype: the results could not be written to standard output: %s\n",
            errno ? strerror(errno) : "write error");
    return status == STATUS_OK ? STATUS_FAILED : status;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        write_overview(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        write_overview(stdout);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("rehype " REHYPE_VERSION);
        return STATUS_OK;
    }
    const struct command *command = find_command(argv[1]);
    return command ? run_command(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, ""); // only for what the terminal can show: numbers stay as JSON has them
    return check_output(run(argc, argv));
}
