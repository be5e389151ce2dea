/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include <string.h>

#define RULES 64
#define BYTES 4096

struct rule {
    int allow;
    size_t start, length; /* in text */
};

static struct {
    char text[BYTES];
    struct rule rules[RULES];
    size_t count;
} active;

/* Linear in practice, length × pattern at worst: only the last star is ever retried. */
static int glob_matches(const char *glob, size_t glob_length, const char *name, size_t length) {
    size_t g = 0, n = 0, star = glob_length, mark = 0;
    while (n < length) {
        if (g < glob_length && glob[g] == '*') {
            star = g++;
            mark = n;
        } else if (g < glob_length && (glob[g] == '?' || glob[g] == name[n])) {
            ++g;
            ++n;
        } else if (star < glob_length) {
            g = star + 1;
            n = ++mark;
        } else {
            return 0;
        }
    }
    while (g < glob_length && glob[g] == '*') {
        ++g;
    }
    return g == glob_length;
}

/* Writes the rules to `out`, NULL: only counts them. -1 for a bad list. */
static int read_rules(const char *list, size_t length, struct rule *out) {
    int count = 0;
    for (size_t at = 0; at < length; ++count) {
        size_t width = strcspn(list + at, ",");
        size_t sign = list[at] == '+' || list[at] == '-';
        if (count == RULES || width <= sign) {
            return -1;
        }
        if (out) {
            out[count] = (struct rule){list[at] != '-', at + sign, width - sign};
        }
        at += width;
        if (list[at] == ',' && ++at == length) {
            return -1; /* nothing after the last comma */
        }
    }
    return count;
}

int filter_set(const char *list) {
    if (!list) {
        list = "";
    }
    size_t length = strlen(list);
    if (length >= BYTES) {
        return -1;
    }
    int count = read_rules(list, length, NULL);
    if (count < 0) {
        return -1;
    }
    memcpy(active.text, list, length + 1);
    read_rules(list, length, active.rules);
    active.count = (size_t)count;
    return 0;
}

int filter_allows(const char *name, size_t length) {
    int allow = !active.count || !active.rules[0].allow;
    for (size_t i = 0; i < active.count; ++i) {
        const struct rule *r = &active.rules[i];
        if (glob_matches(active.text + r->start, r->length, name, length)) {
            allow = r->allow;
        }
    }
    return allow;
}
