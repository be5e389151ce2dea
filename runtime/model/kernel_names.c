/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_table.h"

#include <string.h>

struct kernel_pattern {
    const char *text; /* ^: where the name begins */
    const char *means;
};

#include "kernel_names_table.inc"

/* The part of the name that patterns are compared with: without return type and arguments. */
struct head {
    const char *name;
    size_t length;
};

static int text_begins_with(const struct head *h, size_t at, const char *text, size_t length) {
    return length <= h->length - at && !memcmp(h->name + at, text, length);
}

static struct head head_of(const char *name, size_t length) {
    static const char type[] = "void ", unnamed[] = "(anonymous namespace)";
    struct head h = {name, length};
    if (text_begins_with(&h, 0, type, sizeof type - 1)) {
        h.name += sizeof type - 1;
        h.length -= sizeof type - 1;
    }
    for (size_t at = 0; at < h.length; ++at) {
        if (h.name[at] == '(' && !text_begins_with(&h, at, unnamed, sizeof unnamed - 1)) {
            h.length = at;
        }
    }
    return h;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int stands_at(const struct head *h, size_t at, const char *text, size_t length) {
    size_t end = at + length;
    return text_begins_with(h, at, text, length) &&
           !(is_digit(text[length - 1]) && end < h->length && is_digit(h->name[end]));
}

static int pattern_matches(const struct head *h, const char *pattern) {
    size_t length = strlen(pattern);
    if (*pattern == '^') {
        return stands_at(h, 0, pattern + 1, length - 1);
    }
    for (size_t at = 0; at < h->length; ++at) {
        if (stands_at(h, at, pattern, length)) {
            return 1;
        }
    }
    return 0;
}

static const char *first_of(const struct kernel_pattern *p, const char *name, size_t length) {
    struct head h = head_of(name, length);
    while (p->text && !pattern_matches(&h, p->text)) {
        ++p;
    }
    return p->means;
}

const char *kernel_lib(const char *name, size_t length) {
    const char *lib = first_of(kernel_lib_patterns, name, length);
    return lib ? lib : "user";
}

const char *kernel_precision(const char *name, size_t length) {
    const char *precision = first_of(kernel_precision_patterns, name, length);
    return precision ? precision : "";
}
