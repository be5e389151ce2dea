/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the commands by table (gen/options.ini): one parser for all. The table also makes
 * --help, the messages about wrong options and values, the manual page and docs/tool.md.
 */
#ifndef STINT_TOOL_OPTIONS_H
#define STINT_TOOL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "option_ids.inc"

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_CHOICE, OPTION_OPTIONAL };

struct option_entry {
    const char *name;  /* without "--" */
    const char *value; /* its name in messages; NULL = none */
    enum option_kind kind;
    enum option_id id;
    int letter; /* 0 = none */
    uint64_t min;
    uint64_t max;
    const char *values; /* separated by |; NULL: any text */
    const char *expected;
};

struct command_entry {
    const char *name;
    const struct option_entry *options; /* up to one without a name */
    const char *help;
    int operands; /* options end at the first argument that is none */
};

struct option_value {
    enum option_id id;
    const char *text; /* NULL of a flag, and of an optional value that is not there */
    uint64_t number;  /* of a choice its place in the list, OPTION_NAME_VALUE */
};

/* Takes an option. 0, or -1 for a value of another form (the parser prints what is expected) and
 * for an option that the command does not know. */
typedef int option_taker(void *to, const struct option_value *value);

#define OPTIONS_TAKEN (-1)

/* Gives each option of the command to `take`, but --help: NULL if there is no other.
 * OPTIONS_TAKEN: argv[optind] is the first argument that is not an option; otherwise the exit
 * status, after --help or one line on stderr. */
int options_parse(enum command_id command, int argc, char **argv, option_taker *take, void *to);
/* The same for the options before the command. */
int options_parse_tool(int argc, char **argv, option_taker *take, void *to);

/* The command of that name, or TOOL_COMMANDS. */
enum command_id options_command_find(const char *name);
/* "", or ", did you mean COMMAND?" after a name that is none; also a topic of `stint help` if
 * with_topics. */
#define OPTIONS_HINT 128
void options_command_hint(char out[OPTIONS_HINT], const char *name, int with_topics);
/* Print the --help of a command and of the tool. Return the exit status. */
int options_print_help(enum command_id command);
int options_print_tool_help(void);
/* Prints what `stint help` says about a topic: "env" or "views". The exit status, or OPTIONS_TAKEN
 * for a name that is none. */
int options_print_topic(const char *name);

/* ---- suggest.c: "did you mean": the known word that a mistyped one is nearest to. */

struct suggestion {
    const char *typed;
    size_t length;    /* of what was typed */
    const char *word; /* the nearest so far, or NULL; not terminated by a NUL */
    size_t word_length;
    uint32_t mistakes; /* of that word */
    int several;       /* other words have as few */
};

/* Starts with the text that was typed, or the beginning of it. */
void suggestion_start(struct suggestion *s, const char *typed, size_t length);
/* A word that would be right, or each of the words of a list: "a|b|c". */
void suggestion_try(struct suggestion *s, const char *word);
void suggestion_try_list(struct suggestion *s, const char *list);
/* "; instead use …" if an earlier version knew the typed word. Else ", did you mean WORD?" with
 * that prefix before the word, or "": no word is near, or several. */
void suggestion_text(const struct suggestion *s, const char *prefix, char *out, size_t size);

#endif
