/* SPDX-License-Identifier: Apache-2.0 */
#include "removed.h"

#include <string.h>

static const struct {
    const char *name;
    const char *use;
} removed[] = {
    {"STINT_SAMPLE", "STINT_FILTER or STINT_LEVEL, which leave scopes out"},
    {"trend", "stint export DIR --to history and Apache Otava"},
    {"serve", "--follow -o FILE, which curl or node_exporter delivers"},
    {"post", "--follow -o FILE, which curl delivers"},
    {"speedscope", "chrome or folded, which speedscope opens"},
    {"benchmark", "json, of which jq makes the list"},
    {"prometheus-native", "otlp, which Prometheus 3 takes"},
    {"otlp-proto", "otlp, the same in JSON"},
};

const char *removed_use(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof removed / sizeof *removed; ++i) {
        if (strlen(removed[i].name) == length && !memcmp(removed[i].name, name, length)) {
            return removed[i].use;
        }
    }
    return NULL;
}
