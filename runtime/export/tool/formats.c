/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include <string.h>

#include "formats_table.inc"

const struct format *format_at(size_t index) {
    if (index >= sizeof formats / sizeof *formats) {
        return NULL;
    }
    return &formats[index];
}

const struct format *format_find(const char *name) {
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); ++i) {
        if (!strcmp(f->name, name)) {
            return f;
        }
    }
    return NULL;
}
