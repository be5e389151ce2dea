/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of NAME=VALUE as the whole environment. The parser is included: it keeps the texts of one
 * environment a process, and here thousands follow each other.
 */
#include <unistd.h>

#include "fuzz.h"
#include "session/env.c"

#define LINES 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *entries[LINES + 1] = {NULL};
    struct stint_config out = {.memory = 1, .report = NULL};
    char **real = environ;
    char *text = fuzz_text(data, size), *at = text;
    for (size_t i = 0; i < LINES && *at; ++i) {
        size_t length = strcspn(at, "\n");
        entries[i] = at;
        at += length;
        if (*at) {
            *at++ = '\0';
        }
    }
    kept = 0;
    environ = entries;
    env_read(&out);
    environ = real;
    FUZZ_NEED(kept <= KEEP_BYTES && (out.enable == 0 || out.enable == 1));
    FUZZ_NEED(out.level >= 0 && out.level <= 2 && out.unit >= 0 && out.unit <= CONFIG_UNIT_AUTO);
    const char *const texts[] = {out.report,  out.output,     out.filter,  out.file,
                                 out.capture, out.driver_lib, out.gpu_peak};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) { /* ours, not the environment's */
        FUZZ_NEED(!texts[i] || (texts[i] >= keep && texts[i] < keep + kept));
    }
    free(text);
    return 0;
}
