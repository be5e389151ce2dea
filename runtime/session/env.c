/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the environment variables of gen/env.ini into the settings, once, at the first use of the
 * library (config_read_environment), with the registry's lock held: it neither allocates memory nor
 * stops the program. For an invalid value or an unknown name with STINT_ one line is written, and
 * the variable is ignored. A kind of value is a function here and a name in gen/env.py.
 */
#include "env.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/number.h"
#include "base/removed.h"
#include "system/config.h"
#include "system/log.h"

enum env_kind {
    ENV_SWITCH,
    ENV_CHOICE,
    ENV_LEVEL,
    ENV_SIZE,
    ENV_TRACE,
    ENV_DURATION,
    ENV_TEXT,
    ENV_GLOBS,
    ENV_VIEW
};

struct env_entry {
    const char *name;
    enum env_kind kind;
    size_t field;
    uint64_t min;
    uint64_t max;
    const char *values;
};

#include "env_table.inc"

/* Values are copied: a later setenv may free them in the environment. */
#define KEEP_BYTES 8192
static char keep[KEEP_BYTES];
static size_t kept;

static int env_keep_text(const char *value, const char **out) {
    size_t bytes = strlen(value) + 1;
    if (bytes > KEEP_BYTES - kept) {
        return -1;
    }
    *out = memcpy(keep + kept, value, bytes);
    kept += bytes;
    return 0;
}

static int env_read_switch(const char *value, int *out) {
    static const char *const off[] = {"0", "off", "no", "false"};
    static const char *const on[] = {"1", "on", "yes", "true"};
    for (size_t i = 0; i < sizeof on / sizeof *on; ++i) {
        if (!strcasecmp(value, off[i]) || !strcasecmp(value, on[i])) {
            *out = !strcasecmp(value, on[i]);
            return 0;
        }
    }
    return -1;
}

/* The index of value in "a|b|c". */
static int env_read_choice(const char *value, const char *choices, int *out) {
    size_t length = strlen(value);
    for (int index = 0; *choices; ++index) {
        size_t width = strcspn(choices, "|");
        if (width == length && !strncmp(choices, value, width)) {
            *out = index;
            return 0;
        }
        choices += width + (choices[width] == '|');
    }
    return -1;
}

/* How far the suffix K, M or G shifts a number; 0: it is none of them. */
static unsigned env_read_suffix(char c) {
    switch (c) {
    case 'K':
    case 'k':
        return 10;
    case 'M':
    case 'm':
        return 20;
    case 'G':
    case 'g':
        return 30;
    default:
        return 0;
    }
}

/* Returns what follows the number, or NULL. */
static const char *env_parse_number(const char *value, uint64_t min, uint64_t max, uint64_t *out) {
    uint64_t n;
    const char *end = number_parse_whole(value, UINT64_MAX, &n);
    if (!end) {
        return NULL;
    }
    unsigned shift = env_read_suffix(*end);
    if (shift) {
        if (n > UINT64_MAX >> shift) {
            return NULL;
        }
        n <<= shift;
        ++end;
    }
    if (n < min || n > max) {
        return NULL;
    }
    *out = n;
    return end;
}

static int env_read_number(const char *value, uint64_t min, uint64_t max, uint64_t *out) {
    uint64_t n;
    const char *end = env_parse_number(value, min, max, &n);
    if (!end || *end) {
        return -1;
    }
    *out = n;
    return 0;
}

/* "64M,touch" */
static int env_read_trace(const char *value, uint64_t min, uint64_t max, struct config_trace *out) {
    uint64_t bytes;
    const char *end = env_parse_number(value, min, max, &bytes);
    if (!end || (*end && strcmp(end, ",touch") != 0)) {
        return -1;
    }
    *out = (struct config_trace){bytes, *end != '\0'};
    return 0;
}

static int env_read_duration(const char *value, uint64_t *out) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    uint64_t n;
    const char *end = number_parse_whole(value, UINT64_MAX, &n);
    if (!end) {
        return -1;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        if (!strcmp(end, units[i].name) && n <= UINT64_MAX / units[i].ns) {
            *out = n * units[i].ns;
            return 0;
        }
    }
    return -1;
}

static int env_read_level(const char *value, uint64_t min, uint64_t max, int *out) {
    uint64_t level;
    if (env_read_number(value, min, max, &level)) {
        return -1;
    }
    *out = (int)level;
    return 0;
}

static int env_read_entry(const struct env_entry *e, const char *value, void *field) {
    switch (e->kind) {
    case ENV_SWITCH:
        return env_read_switch(value, field);
    case ENV_CHOICE:
        return env_read_choice(value, e->values, field);
    case ENV_LEVEL:
        return env_read_level(value, e->min, e->max, field);
    case ENV_SIZE:
        return env_read_number(value, e->min, e->max, field);
    case ENV_TRACE:
        return env_read_trace(value, e->min, e->max, field);
    case ENV_DURATION:
        return env_read_duration(value, field);
    default:
        return env_keep_text(value, field);
    }
}

/* Without this a misspelt name would be ignored silently. */
static void env_report_unknown(void) {
    for (char **entry = environ; entry && *entry && !getauxval(AT_SECURE); ++entry) {
        if (strncmp(*entry, "STINT_", 6) != 0) {
            continue;
        }
        size_t length = strcspn(*entry, "=");
        size_t i = 0;
        while (i < STINT_ENV_COUNT &&
               (strncmp(env_table[i].name, *entry, length) || env_table[i].name[length])) {
            ++i;
        }
        if (i == STINT_ENV_COUNT) {
            const char *use = removed_use(*entry, length);
            if (use) {
                log_warning("%.*s is no longer a variable of stint; instead use %s", (int)length,
                            *entry, use);
            } else {
                log_warning("%.*s is not a variable of stint; ignored", (int)length, *entry);
            }
        }
    }
}

static void env_read_variable(const struct env_entry *e, struct stint_config *out) {
    const char *value = secure_getenv(e->name);
    if (value && *value && env_read_entry(e, value, (char *)out + e->field)) {
        log_warning("%s=%.200s: expected %s; ignored", e->name, value, e->values);
    }
}

/* STINT_LOG first: it decides which lines about the others are printed. */
void env_read(struct stint_config *out) {
    for (int first = 1; first >= 0; --first) {
        for (size_t i = 0; i < STINT_ENV_COUNT; ++i) {
            int is_log = env_table[i].field == offsetof(struct stint_config, log);
            if (is_log == first) {
                env_read_variable(&env_table[i], out);
            }
        }
        if (first) {
            env_report_unknown();
        }
    }
}
