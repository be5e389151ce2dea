/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of the tool's options, over getopt_long. main.c uses it for the options before the
 * command, each command for its own. It checks numbers and choices by the table, and calls the
 * command's function with each option; a text is checked there. Every message about options is
 * printed here, from the table.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "command.h"
#include "report/report_options.h"
#include "system/log.h"

#include "option_table.inc"

static const char environment_help[] =
#include "env_help.inc"
    ;

static const char view_help[] =
#include "view_help.inc"
    ;

/* The topics that `stint help` explains besides commands. */
static const struct {
    const char *name;
    const char *help;
} topics[] = {{"env", environment_help}, {"views", view_help}};
#define TOPICS (sizeof topics / sizeof *topics)

#define OPTIONS_MAX 32
#define LONG_ONLY 256 /* getopt's value of an option without a letter: this plus its place */

struct getopt_form {
    struct option longs[OPTIONS_MAX + 1];
    char letters[2 * OPTIONS_MAX + 3];
};

/* ---- Messages. */

/* Prints "COMMAND: what option", and how to read on. */
static int refuse_option(const struct command_entry *command, const char *what,
                         const char *option) {
    if (command == &tool_entry) {
        log_error("%s%.260s (stint --help)", what, option);
    } else {
        log_error("%s: %s%.260s (stint %s --help)", command->name, what, option, command->name);
    }
    return COMMAND_BAD;
}

/* Whether the text is one of the words of "a|b|c"; its place. */
static int list_find(const char *list, const char *text, size_t length, uint64_t *place) {
    for (*place = 0;; ++*place) {
        size_t have = strcspn(list, "|");
        if (have == length && !memcmp(list, text, length)) {
            return 1;
        }
        if (!list[have]) {
            return 0;
        }
        list += have + 1;
    }
}

#define VIEW_SORT "sort="
#define VIEW_TOP "top="
#define VIEW_OPTIONS VIEW_SORT "|" VIEW_TOP "|threads|corrected"

static int is_view_part(const char *words, const char *text, size_t length) {
    uint64_t place;
    return !strncmp(text, VIEW_TOP, strlen(VIEW_TOP)) || list_find(words, text, length, &place);
}

/* For the first part of a view that is wrong: "tabel", "table,sort=slef". */
static void suggest_view(char hint[OPTIONS_HINT], const char *views, const char *text) {
    const char *words = views, *prefix = "";
    size_t length = strcspn(text, ",");
    while (is_view_part(words, text, length)) {
        if (!text[length]) {
            return;
        }
        text += length + 1;
        words = VIEW_OPTIONS;
        prefix = "";
        if (!strncmp(text, VIEW_SORT, strlen(VIEW_SORT))) {
            text += strlen(VIEW_SORT);
            words = WORDS_SORT_KEYS;
            prefix = VIEW_SORT;
        }
        length = strcspn(text, ",");
    }
    struct suggestion s;
    suggestion_start(&s, text, length);
    suggestion_try_list(&s, words);
    suggestion_text(&s, prefix, hint, OPTIONS_HINT);
}

static void suggest_value(char hint[OPTIONS_HINT], const struct option_entry *option,
                          const char *value) {
    struct suggestion s;
    if (!option->values) {
        return;
    }
    if (strchr(value, ',')) {
        suggest_view(hint, option->values, value);
        return;
    }
    suggestion_start(&s, value, strlen(value));
    suggestion_try_list(&s, option->values);
    suggestion_text(&s, "", hint, OPTIONS_HINT);
}

static int refuse_value(const struct option_entry *option, const char *value) {
    char hint[OPTIONS_HINT] = "";
    if (option->kind == OPTION_FLAG) { /* the command does not take what the table lists */
        log_error("--%s: not supported", option->name);
        return COMMAND_BAD;
    }
    suggest_value(hint, option, value);
    log_error("--%s %.100s: expected %s%s", option->name, value, option->expected, hint);
    return COMMAND_BAD;
}

/* ---- The table in getopt's form. */

static int option_code(const struct command_entry *command, const struct option_entry *option) {
    if (option->letter) {
        return option->letter;
    }
    return LONG_ONLY + (int)(option - command->options);
}

static const struct option_entry *option_find(const struct command_entry *command, int code) {
    for (const struct option_entry *o = command->options; o->name; ++o) {
        if (option_code(command, o) == code) {
            return o;
        }
    }
    return NULL;
}

static void form_make(struct getopt_form *form, const struct command_entry *command) {
    char *letter = form->letters;
    size_t count = 0;
    memset(form, 0, sizeof *form);
    if (command->operands) {
        *letter++ = '+';
    }
    *letter++ = ':'; /* getopt returns ':' for a missing value */
    for (const struct option_entry *o = command->options; o->name && count < OPTIONS_MAX; ++o) {
        struct option *to = &form->longs[count++];
        to->name = o->name;
        to->has_arg = required_argument;
        if (o->kind == OPTION_FLAG) {
            to->has_arg = no_argument;
        } else if (o->kind == OPTION_OPTIONAL) {
            to->has_arg = optional_argument;
        }
        to->val = option_code(command, o);
        if (!o->letter) {
            continue;
        }
        *letter++ = (char)o->letter;
        if (o->kind != OPTION_FLAG) {
            *letter++ = ':';
        }
    }
}

/* ---- Options and their values. */

/* Whether an unknown long option is the beginning of more than one. */
static int option_is_ambiguous(const struct command_entry *command, const char *argument) {
    size_t length = strcspn(argument, "=");
    int count = 0;
    for (const struct option_entry *o = command->options; o->name; ++o) {
        count += length > 2 && !strncmp(o->name, argument + 2, length - 2);
    }
    return count > 1;
}

static int refuse_unknown(const struct command_entry *command, const char *argument) {
    char text[201 + OPTIONS_HINT], hint[OPTIONS_HINT] = "";
    size_t length = strcspn(argument, "=");
    if (length > 2) {
        struct suggestion s;
        suggestion_start(&s, argument + 2, length - 2);
        for (const struct option_entry *o = command->options; o->name; ++o) {
            suggestion_try(&s, o->name);
        }
        suggestion_text(&s, "--", hint, sizeof hint);
    }
    snprintf(text, sizeof text, "%.200s%s", argument, hint);
    return refuse_option(command, "unknown option ", text);
}

/* After getopt returned '?' or ':'. optopt is the code of an option of the table, a letter that is
 * not in it, or 0 for an unknown long option, which is the argument before optind. */
static int refuse_argument(const struct command_entry *command, int result, char **argv) {
    const struct option_entry *option = option_find(command, optopt);
    char text[64];
    if (option && result == ':') {
        snprintf(text, sizeof text, "--%s %s", option->name, option->value);
        return refuse_option(command, "missing value: ", text);
    }
    if (option) {
        snprintf(text, sizeof text, "--%s", option->name);
        return refuse_option(command, "takes no value: ", text);
    }
    if (optopt) {
        snprintf(text, sizeof text, "-%c", optopt);
        return refuse_option(command, "unknown option ", text);
    }
    if (option_is_ambiguous(command, argv[optind - 1])) {
        return refuse_option(command, "ambiguous option ", argv[optind - 1]);
    }
    return refuse_unknown(command, argv[optind - 1]);
}

static int parse_choice(const struct option_entry *option, const char *text, uint64_t *out) {
    if (list_find(option->values, text, strlen(text), out)) {
        return 0;
    }
    return -1;
}

static int parse_value(const struct option_entry *option, struct option_value *out) {
    switch (option->kind) {
    case OPTION_NUMBER:
        return number_read_whole(out->text, option->min, option->max, &out->number);
    case OPTION_CHOICE:
        return parse_choice(option, out->text, &out->number);
    default:
        return 0;
    }
}

static int parse_entry(const struct command_entry *command, int argc, char **argv,
                       option_taker *take, void *to) {
    struct getopt_form form;
    int code;
    form_make(&form, command);
    opterr = 0; /* the messages are printed here */
    optind = 0; /* getopt starts anew */
    while ((code = getopt_long(argc, argv, form.letters, form.longs, NULL)) != -1) {
        const struct option_entry *option = option_find(command, code);
        if (!option) {
            return refuse_argument(command, code, argv);
        }
        struct option_value value = {.id = option->id, .text = optarg};
        if (value.id == OPTION_HELP) {
            return command_print(command->help);
        }
        if (parse_value(option, &value) || take(to, &value)) {
            return refuse_value(option, value.text);
        }
    }
    return OPTIONS_TAKEN;
}

int options_parse(enum command_id command, int argc, char **argv, option_taker *take, void *to) {
    return parse_entry(&command_table[command], argc, argv, take, to);
}

int options_parse_tool(int argc, char **argv, option_taker *take, void *to) {
    return parse_entry(&tool_entry, argc, argv, take, to);
}

/* ---- Help. */

enum command_id options_command_find(const char *name) {
    enum command_id command = 0;
    while (command < TOOL_COMMANDS && strcmp(command_table[command].name, name)) {
        ++command;
    }
    return command;
}

void options_command_hint(char out[OPTIONS_HINT], const char *name, int with_topics) {
    struct suggestion s;
    suggestion_start(&s, name, strlen(name));
    for (enum command_id command = 0; command < TOOL_COMMANDS; ++command) {
        suggestion_try(&s, command_table[command].name);
    }
    for (size_t i = 0; with_topics && i < TOPICS; ++i) {
        suggestion_try(&s, topics[i].name);
    }
    suggestion_text(&s, "", out, OPTIONS_HINT);
}

int options_print_help(enum command_id command) {
    return command_print(command_table[command].help);
}

int options_print_tool_help(void) {
    return command_print(tool_entry.help);
}

int options_print_topic(const char *name) {
    for (size_t i = 0; i < TOPICS; ++i) {
        if (!strcmp(name, topics[i].name)) {
            return command_print(topics[i].help);
        }
    }
    return OPTIONS_TAKEN;
}
