/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter and a name, a NUL between them. What it decides is compared with a matcher of another
 * kind: a table of which piece of the glob matches which piece of the name.
 */
#include <string.h>

#include "fuzz.h"
#include "system/filter.h"

#define NAME_MOST 200u

static int matches(const char *glob, size_t glob_length, const char *name, size_t length) {
    unsigned char now[NAME_MOST + 1] = {1}; /* glob so far matches so many bytes of the name */
    for (size_t g = 0; g < glob_length; ++g) {
        unsigned char before = now[0];
        now[0] = now[0] && glob[g] == '*';
        for (size_t n = 1; n <= length; ++n) {
            unsigned char here = now[n];
            now[n] = glob[g] == '*' ? now[n] || now[n - 1]
                                    : before && (glob[g] == '?' || glob[g] == name[n - 1]);
            before = here;
        }
    }
    return now[length];
}

static int allows(const char *list, const char *name, size_t length) {
    int allow = *list == '-' || !*list;
    for (const char *p = list; *p; p += *p == ',') {
        size_t width = strcspn(p, ",");
        size_t sign = *p == '+' || *p == '-';
        if (matches(p + sign, width - sign, name, length)) {
            allow = *p != '-';
        }
        p += width;
    }
    return allow;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
    size_t list_length = end ? (size_t)(end - data) : size;
    size_t length = end ? size - list_length - 1 : 0;
    length = length < NAME_MOST ? length : NAME_MOST;
    char *list = fuzz_text(data, list_length);
    char *name = fuzz_text(end ? end + 1 : data, length);
    if (!filter_set(list)) {
        FUZZ_NEED(filter_allows(name, length) == allows(list, name, length));
    }
    free(list);
    free(name);
    return 0;
}
