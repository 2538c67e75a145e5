// SPDX-License-Identifier: GPL-3.0-or-later
// rehype completion: what a shell needs to complete command lines, written from the tables that they are parsed by.
#include "cli/commands.h"
#include "cli/model.h"
#include "dag/simulate/corrections.h"

#include <stdlib.h>
#include <string.h>

static const struct option_spec specs[] = {{0}};

// ---- What an option's value can be

static const char *const formats[] = {"perfetto", "chrome", "speedscope", "collapsed", "graphml",
                                      "dot",      "csv",    "json",       "sarif",     NULL};
static const char *const objectives[] = {"balanced",    "composite",  "wall",  "threads", "granularity",
                                         "utilisation", "throughput", "edits", NULL};

static const char *const windows[] = {"steady", "warm", NULL};

// The words that stand for an option's value, by number; NULL after the last, and of other options.
static const char *value_word(const struct option_spec *option, size_t index) {
    if (strcmp(option->name, "--to") == 0) return formats[index];
    if (strcmp(option->name, "--objective") == 0) return objectives[index];
    if (strcmp(option->name, "--window") == 0) return windows[index];
    if (strcmp(option->name, "--model") == 0) return index <= MODEL_CPU ? model_names[index] : NULL;
    if (strcmp(option->name, "--without") != 0) return NULL;
    return index < CORRECTION_COUNT ? correction_names[index] : index == CORRECTION_COUNT ? "all" : NULL;
}

static bool names(const char *usage, const char *const words[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strstr(usage, words[i])) return true;
    }
    return false;
}

static bool is_file(const struct option_spec *option) {
    static const char *const files[] = {"FILE", "PLAN", "TRACE", "DIR"};
    return option->argument && names(option->argument, files, sizeof files / sizeof *files);
}

// Whether what follows the options is a file: usage says so.
static bool takes_files(const struct command *command) {
    static const char *const files[] = {"TRACE", "ESTIMATED"};
    return names(command->usage, files, sizeof files / sizeof *files);
}

static void write_value_words(const struct option_spec *option) {
    for (size_t i = 0; value_word(option, i); i++) printf("%s%s", i ? " " : "", value_word(option, i));
}

// ---- bash

static bool has_words(const struct option_spec *option) {
    return value_word(option, 0);
}

static bool is_plain(const struct option_spec *option) {
    return option->argument && !is_file(option) && !has_words(option);
}

static bool is_any(const struct option_spec *option) {
    (void)option;
    return true;
}

static bool has_value(const struct option_spec *option) {
    return option->argument;
}

// "  variable='--one -o --two'", of those options.
static void write_bash_list(const char *variable, const struct command *command,
                            bool (*is_one)(const struct option_spec *option)) {
    printf(" %s='", variable);
    const char *blank = "";
    for (const struct option_spec *option = command->options; option->name; option++) {
        if (!is_one(option)) continue;
        printf("%s%s", blank, option->name);
        if (option->letter) printf(" -%c", option->letter);
        blank = " ";
    }
    putchar('\'');
}

static void write_bash_command(const struct command *command) {
    printf("    %s)\n       ", command->name);
    write_bash_list("options", command, is_any);
    write_bash_list("valued", command, has_value);
    write_bash_list("files", command, is_file);
    write_bash_list("plain", command, is_plain);
    printf(" operands=%s\n        case $before in\n", command->passes_on       ? "command"
                                                      : takes_files(command)   ? "file"
                                                      : command->operands_most ? command->name
                                                                               : "none");
    for (const struct option_spec *option = command->options; option->name; option++) {
        if (!has_words(option)) continue;
        printf("        %s) words='", option->name);
        write_value_words(option);
        puts("' ;;");
    }
    puts("        esac ;;");
}

static void write_bash_commands(void) {
    printf("    local commands='");
    for (const struct command *const *command = commands; *command; command++) printf("%s ", (*command)->name);
    puts("--help --version'");
}

// What comes behind the tables: finds out what the word at hand is.
static const char bash_end[] =
    "    *) return ;;\n"
    "    esac\n"
    "    if [ \"$operands\" = command ]; then # from its first word on it is another program's line\n"
    "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "            if [ \"${COMP_WORDS[i]}\" = -- ]; then ((i++)); break; fi\n"
    "            if [[ \" $valued \" == *\" ${COMP_WORDS[i]} \"* ]]; then ((i++)); continue; fi\n"
    "            [[ ${COMP_WORDS[i]} == -* || ${COMP_WORDS[i]} == = ]] || break\n"
    "        done\n"
    "        if [ \"$i\" -le \"$COMP_CWORD\" ] && { [ \"${COMP_WORDS[i-1]}\" = -- ] || [ \"$i\" -lt "
    "\"$COMP_CWORD\" ]; }; then\n"
    "            if declare -F _command_offset >/dev/null; then\n"
    "                _command_offset \"$i\"\n"
    "            elif [ \"$i\" -eq \"$COMP_CWORD\" ]; then\n"
    "                mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
    "            else\n"
    "                compopt -o filenames 2>/dev/null\n"
    "                mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "            fi\n"
    "            return\n"
    "        fi\n"
    "    fi\n"
    "    if [ -n \"$words\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "    elif [[ \" $plain \" == *\" $before \"* ]]; then\n"
    "        return\n"
    "    elif [[ \" $files \" == *\" $before \"* ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options --help\" -- \"$cur\")\n"
    "    elif [ \"$operands\" = file ]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "    elif [ \"$operands\" = command ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
    "    elif [ \"$operands\" = attach ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$(pgrep -x java 2>/dev/null)\" -- \"$cur\")\n"
    "    elif [ \"$operands\" = completion ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "complete -F _rehype rehype";

static void write_bash(void) {
    puts("# rehype completion bash. Written by rehype from its own tables of options.\n"
         "_rehype() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
         "    local options='' valued='' files='' plain='' operands='' words='' i\n"
         "    COMPREPLY=()");
    write_bash_commands();
    puts("    if [ \"$COMP_CWORD\" -le 1 ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n"
         "        return\n"
         "    fi\n"
         "    if [ \"$cur\" = = ]; then cur=''; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "    case $command in");
    for (const struct command *const *command = commands; *command; command++) write_bash_command(*command);
    puts(bash_end);
}

// ---- zsh and fish

// Within single quotes, and as an _arguments specification has it where `zsh`; a line break is a blank.
static void write_quoted(const char *text, bool zsh) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs(zsh ? "'\\''" : "\\'", stdout);
        else if (zsh && strchr("[]:\\", *text))
            printf("\\%c", *text);
        else if (*text == '\\')
            fputs("\\\\", stdout);
        else
            putchar(*text == '\n' ? ' ' : *text);
    }
}

static void write_zsh_value(const struct option_spec *option) {
    if (!option->argument) return;
    putchar(':');
    write_quoted(option->argument, true);
    putchar(':');
    if (has_words(option)) {
        putchar('(');
        write_value_words(option);
        putchar(')');
    } else if (is_file(option)) {
        fputs(strcmp(option->argument, "DIR") == 0 ? "_files -/" : "_files", stdout);
    }
}

static void write_zsh_option(const struct option_spec *option) {
    const bool repeats = option->type == OPTION_LIST;
    fputs("            ", stdout);
    if (option->letter)
        printf("'(-%c %s)'{-%c,%s%s}'", option->letter, option->name, option->letter, option->name,
               option->argument ? "=" : "");
    else
        printf("'%s%s%s", repeats ? "*" : "", option->name, option->argument ? "=" : "");
    putchar('[');
    write_quoted(option->help, true);
    putchar(']');
    write_zsh_value(option);
    puts("' \\");
}

static void write_zsh_command(const struct command *command) {
    printf("    %s)\n        _arguments -s -S \\\n", command->name);
    for (const struct option_spec *option = command->options; option->name; option++) write_zsh_option(option);
    fputs("            '(- *)'{-h,--help}'[this text]'", stdout);
    if (command->passes_on)
        puts(" \\\n            '*::command:_normal' ;;");
    else if (takes_files(command))
        puts(" \\\n            '*:trace:_files' ;;");
    else if (command == &command_completion)
        puts(" \\\n            '1:shell:(bash zsh fish)' ;;");
    else if (command->operands_most > 0)
        puts(" \\\n            '1:process:_pids' ;;");
    else
        puts(" ;;");
}

static void write_zsh(void) {
    puts("#compdef rehype\n"
         "# rehype completion zsh. Written by rehype from its own tables of options.\n"
         "_rehype() {\n"
         "    local -a named=( # \"commands\" is zsh's own");
    for (const struct command *const *command = commands; *command; command++) {
        printf("        '%s:", (*command)->name);
        write_quoted((*command)->summary, true);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe -t commands command named\n"
         "        return\n"
         "    fi\n"
         "    local chosen=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $chosen in");
    for (const struct command *const *command = commands; *command; command++) write_zsh_command(*command);
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _rehype ]; then _rehype \"$@\"; else compdef _rehype rehype; fi");
}

static void write_fish_option(const struct command *command, const struct option_spec *option) {
    printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name + 2);
    if (option->letter) printf(" -s %c", option->letter);
    if (has_words(option)) {
        fputs(" -x -a '", stdout);
        write_value_words(option);
        putchar('\'');
    } else if (option->argument) {
        fputs(is_file(option) ? " -r -F" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    write_quoted(option->help, false);
    puts("'");
}

static void write_fish_operands(const struct command *command) {
    if (command->passes_on) {
        printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -x -a '(__rehype_command)'\n", command->name);
    } else if (takes_files(command)) {
        printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -F\n", command->name);
    } else if (command == &command_completion) {
        printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -a 'bash zsh fish'\n", command->name);
    } else if (command->operands_most > 0) {
        printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -a '(__fish_complete_pids)'\n", command->name);
    }
}

static void write_fish(void) {
    puts("# rehype completion fish. Written by rehype from its own tables of options.\n"
         "function __rehype_command # what is recorded, behind --\n"
         "    set -l words (commandline -opc)\n"
         "    set -l at (contains -i -- -- $words)\n"
         "    set -q at[1]; and set words $words[(math $at[1] + 1)..]; or set -e words\n"
         "    complete -C (string join ' ' $words (commandline -ct))\n"
         "end\n"
         "complete -c rehype -f\n"
         "complete -c rehype -n __fish_use_subcommand -l help -s h -d 'the commands'\n"
         "complete -c rehype -n __fish_use_subcommand -l version -d 'the version'");
    for (const struct command *const *command = commands; *command; command++) {
        printf("complete -c rehype -n __fish_use_subcommand -a %s -d '", (*command)->name);
        write_quoted((*command)->summary, false);
        puts("'");
    }
    for (const struct command *const *command = commands; *command; command++) {
        for (const struct option_spec *option = (*command)->options; option->name; option++)
            write_fish_option(*command, option);
        printf("complete -c rehype -n '__fish_seen_subcommand_from %s' -l help -s h -d 'this text'\n",
               (*command)->name);
        write_fish_operands(*command);
    }
}

static int run(const struct operands *operands, struct error *error) {
    const struct {
        const char *name;
        void (*write)(void);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(operands->items[0], shells[i].name) != 0) continue;
        shells[i].write();
        return STATUS_OK;
    }
    error_set(error, STATUS_USAGE, "no shell '%s'; there are: bash, zsh, fish", operands->items[0]);
    return (int)error->status;
}

const struct command command_completion = {
    .name = "completion",
    .summary = "completion of rehype's command lines, for bash, zsh and fish",
    .usage = "bash|zsh|fish",
    .about = "Writes what that shell needs to complete commands, options, their values and files. An installed rehype\n"
             "has it where shells look; else have the shell read it.",
    .example = "  source <(rehype completion bash)\n"
               "  rehype completion zsh >~/.zfunc/_rehype\n"
               "  rehype completion fish >~/.config/fish/completions/rehype.fish",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
