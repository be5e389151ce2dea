/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "base/arithmetic.h"
#include "export_html.h"

void html_thinned(struct html *h, const char *format, ...) {
    size_t room = sizeof h->thinned - h->thinned_length;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(h->thinned + h->thinned_length, room, format, args);
    va_end(args);
    if (n > 0) {
        h->thinned_length += u64_min((size_t)n, room - 1);
    }
}

void html_text(struct sink *out, const char *key, const char *text) {
    struct export_name name = export_text(text);
    sink_member(out, key);
    sink_json(out, name.bytes, name.length);
}
