// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/options.h"

#include "optimize/text.h"
#include "report/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *nearest_name(const char *text, const char *(*next)(const void *names, size_t index), const void *names) {
    const char *best = NULL, *name;
    size_t best_distance = strlen(text) / 3 + 2; // as far as a slip of the fingers goes
    for (size_t i = 0; (name = next(names, i)); i++) {
        size_t distance = text_distance(text, name);
        if (distance >= best_distance) continue;
        best = name;
        best_distance = distance;
    }
    return best;
}

static const char *next_option(const void *names, size_t index) {
    const struct option_spec *options = names;
    return options[index].name;
}

// ---- Parsing

struct parse {
    const struct command *command;
    int argc, next;
    char **argv;
    struct operands *operands;
    struct error *error;
};

static bool unknown_option(const struct parse *parse, const char *text) {
    const char *near = nearest_name(text, next_option, parse->command->options);
    if (near) return error_set(parse->error, STATUS_USAGE, "no option '%s'; did you mean %s?", text, near);
    return error_set(parse->error, STATUS_USAGE, "no option '%s'", text);
}

static bool set_number(const struct parse *parse, const struct option_spec *option, const char *value) {
    char *end;
    errno = 0;
    uint64_t number = strtoull(value, &end, 10);
    if (errno || end == value || *end || *value == '-') {
        return error_set(parse->error, STATUS_USAGE, "%s %s: expected a whole number", option->name, value);
    }
    *(uint64_t *)option->target = number;
    return true;
}

static bool append(const struct parse *parse, struct text_list *list, const char *value) {
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) return error_set(parse->error, STATUS_FAILED, "no memory for the arguments");
    items[list->count++] = value;
    list->items = items;
    return true;
}

static bool set_value(const struct parse *parse, const struct option_spec *option, const char *value) {
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)option->target = value;
        return true;
    case OPTION_NUMBER:
        return set_number(parse, option, value);
    case OPTION_LIST:
        return append(parse, option->target, value);
    }
    return true;
}

// `value` is what follows in the same argument ("--top=3", "-oFILE"), or NULL.
static bool take_option(struct parse *parse, const struct option_spec *option, const char *value) {
    if (option->type == OPTION_FLAG && value) {
        return error_set(parse->error, STATUS_USAGE, "%s takes no value", option->name);
    }
    if (option->type != OPTION_FLAG && !value) {
        if (parse->next == parse->argc) {
            return error_set(parse->error, STATUS_USAGE, "%s needs a %s", option->name, option->argument);
        }
        value = parse->argv[parse->next++];
    }
    return set_value(parse, option, value);
}

static bool take_long(struct parse *parse, const char *text) {
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    for (const struct option_spec *option = parse->command->options; option->name; option++) {
        if (strlen(option->name) == length && strncmp(option->name, text, length) == 0) {
            return take_option(parse, option, equals ? equals + 1 : NULL);
        }
    }
    return unknown_option(parse, text);
}

static bool take_short(struct parse *parse, const char *text) {
    for (const struct option_spec *option = parse->command->options; option->name; option++) {
        if (option->letter == text[1]) return take_option(parse, option, text[2] ? text + 2 : NULL);
    }
    return unknown_option(parse, text);
}

// Operands are gathered at the front of argv, over arguments that were taken already.
static bool take_argument(struct parse *parse) {
    char *text = parse->argv[parse->next++];
    if (strncmp(text, "--", 2) == 0) return take_long(parse, text);
    if (text[0] == '-' && text[1]) return take_short(parse, text);
    parse->operands->items[parse->operands->count++] = text;
    return true;
}

static void take_rest(struct parse *parse) {
    while (parse->next < parse->argc) parse->operands->items[parse->operands->count++] = parse->argv[parse->next++];
}

// How long the first of the ways to use it is.
static int first_way(const struct command *command) {
    return (int)strcspn(command->usage, "\n");
}

static bool check_operands(const struct parse *parse) {
    const struct command *command = parse->command;
    size_t count = parse->operands->count;
    if (count < command->operands_least) {
        return error_set(parse->error, STATUS_USAGE, "something is missing; usage: rehype %s %.*s", command->name,
                         first_way(command), command->usage);
    }
    if (count > command->operands_most) {
        return error_set(parse->error, STATUS_USAGE, "'%s' is too much; usage: rehype %s %.*s",
                         parse->operands->items[command->operands_most], command->name, first_way(command),
                         command->usage);
    }
    return true;
}

bool options_parse(const struct command *command, int argc, char **argv, struct operands *operands,
                   struct error *error) {
    *operands = (struct operands){argv + 1, 0};
    struct parse parse = {command, argc, 1, argv, operands, error};
    while (parse.next < argc) {
        if (strcmp(argv[parse.next], "--") == 0) {
            parse.next++;
            break;
        }
        if (!take_argument(&parse)) return false;
        if (command->passes_on && operands->count > 0) break;
    }
    take_rest(&parse);
    operands->items[operands->count] = NULL; // at the latest where argv's own NULL stands
    return check_operands(&parse);
}

// ---- Help

bool options_ask_help(const struct command *command, int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (command->passes_on && argv[i][0] != '-') return false;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

enum { LEFT_WIDTH = 30 };

// Line breaks of the text are blanks here: lines are as long as the terminal's are.
static void write_part(FILE *file, const char *lead, unsigned indent, const char *text, const char *end) {
    char joined[4096];
    size_t used = 0;
    for (; text < end && used + 1 < sizeof joined; text++) {
        const bool again = (*text == ' ' || *text == '\n') && used > 0 && joined[used - 1] == ' ';
        if (!again) joined[used++] = *text == '\n' ? ' ' : *text;
    }
    joined[used] = '\0';
    look_lead(file, LOOK_UTF8, TONE_PLAIN, lead, indent, joined);
}

static void write_paragraph(FILE *file, const char *lead, unsigned indent, const char *text) {
    write_part(file, lead, indent, text, text + strlen(text));
}

static unsigned blanks_at(const char *text) {
    return (unsigned)strspn(text, " ");
}

// "  name  what it is" is a row of a table; lines that begin with more blanks go on with it.
static bool is_row(const char *text) {
    return blanks_at(text) == 2;
}

// The end of the paragraph, or the row, that begins here.
static const char *part_end(const char *text) {
    const bool row = is_row(text);
    for (const char *at = text; (at = strchr(at, '\n'));) {
        const unsigned blanks = blanks_at(++at);
        if (row ? blanks <= 2 : blanks > 0) return at;
    }
    return text + strlen(text);
}

static void write_row(FILE *file, const char *row, const char *end) {
    char lead[LEFT_WIDTH];
    const char *gap = strstr(row + 2, "  ");
    const char *what = gap && gap < end ? gap + blanks_at(gap) : row + 2;
    const unsigned indent = (unsigned)(what - row);
    snprintf(lead, sizeof lead, "%.*s", (int)indent, row);
    write_part(file, lead, indent, what, end[-1] == '\n' ? end - 1 : end);
}

static void write_about(FILE *file, const char *text) {
    for (const char *end; *text; text = end) {
        end = part_end(text);
        if (is_row(text))
            write_row(file, text, end);
        else
            write_part(file, "", 0, text, end[-1] == '\n' ? end - 1 : end);
    }
}

// Ways to use a command stand on lines of their own.
static void write_usage(const struct command *command, FILE *file) {
    char lead[64];
    const char *before = "Usage:";
    for (const char *way = command->usage; *way; before = "") {
        const char *end = way + strcspn(way, "\n");
        snprintf(lead, sizeof lead, "%-6s rehype %s ", before, command->name);
        write_part(file, lead, (unsigned)strlen(lead), way, end);
        way = *end ? end + 1 : end;
    }
}

static void write_option(const struct option_spec *option, FILE *file) {
    char left[64], lead[80], letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    snprintf(lead, sizeof lead, "  %-*s  ", LEFT_WIDTH - 4, left);
    write_paragraph(file, lead, LEFT_WIDTH, option->help);
}

void options_write_help(const struct command *command, FILE *file) {
    write_usage(command, file);
    putc('\n', file);
    write_about(file, command->about);
    fputs("\nOptions:\n", file);
    for (const struct option_spec *option = command->options; option->name; option++) write_option(option, file);
    const struct option_spec help = {.name = "--help", .letter = 'h', .help = "this text"};
    write_option(&help, file);
    fprintf(file, "\nExample:\n%s\n", command->example);
}
