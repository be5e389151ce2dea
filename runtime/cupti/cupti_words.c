/* SPDX-License-Identifier: Apache-2.0 */
/* Words for why there is no session, and for the header of reports about the parts that one lacks
 * and its errors. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cupti_private.h"
#include "gpu/gpu.h"

#define FAULTS_FROM 130000u
#define FAULTS_UNTIL 130101u /* CUDA 13.1 Update 1 */
#define SCOPED_SINCE 130200u /* CUDA 13.2: functions per subscriber */
#define DRIFT_SAID 500u      /* millionths: 0.5 ms per second */

int cupti_is_without_driver(int code) {
    return code == CUPTI_NOT_INITIALIZED || code == CUPTI_UNKNOWN;
}

int cupti_is_excluded(uint32_t version, int code) {
    return code == CUPTI_NOT_COMPATIBLE && version >= SCOPED_SINCE;
}

void cupti_describe_failure(const struct cupti *c, uint32_t version, const char *function, int code,
                            char reason[CUPTI_REASON]) {
    char words[CUPTI_REASON];
    const char *rest = "";
    if (cupti_is_without_driver(code)) {
        const struct gpu_ops *gpu = cupti_gpu();
        struct gpu_device device = {0};
        if (gpu->reason) {
            snprintf(reason, CUPTI_REASON, "%s", gpu->reason);
            return;
        }
        if (gpu_device(gpu, 0, &device) != GPU_OK) {
            rest = "; the CUDA driver has no device or is not initialised";
        }
    }
    cupti_describe_code(c, code, words, sizeof words);
    if (code == CUPTI_HELD) {
        char holder[CUPTI_HOLDER];
        cupti_scope_name_holder(c, version, holder);
        if (*holder) {
            snprintf(words, sizeof words, "another tool has CUPTI: %s", holder);
        }
    }
    if (cupti_is_excluded(version, code)) {
        snprintf(words, sizeof words,
                 "another CUPTI client uses the functions per subscriber (V2) of CUDA 13.2 and "
                 "later, which exclude these");
    }
    snprintf(reason, CUPTI_REASON, "%s: %.150s%s", function, words, rest);
}

/* Words that are appended to each other, as far as there is room. */
struct complaints {
    char *out;
    size_t size;
    size_t used; /* may be more than there is room for */
};

__attribute__((format(printf, 2, 3))) static void cupti_complain(struct complaints *c,
                                                                 const char *format, ...) {
    va_list args;
    if (c->used < c->size) {
        va_start(args, format);
        c->used += (size_t)vsnprintf(c->out + c->used, c->size - c->used, format, args);
        va_end(args);
    }
}

static void cupti_complain_of_code(struct complaints *c, const struct cupti *library,
                                   const char *what, int error) {
    char words[CUPTI_REASON];
    if (error) {
        cupti_describe_code(library, error, words, sizeof words);
        cupti_complain(c, ", %s fails: %.150s", what, words);
    }
}

static void cupti_complain_of_clock(struct complaints *c, const struct cupti_callback_sums *sums) {
    if (sums->clock_jumps) {
        cupti_complain(c, ", its clock was set %" PRIu32 " %s", sums->clock_jumps,
                       sums->clock_jumps == 1 ? "time" : "times");
    }
    if (sums->clock_drift_ppm >= DRIFT_SAID) {
        cupti_complain(c, ", its clock drifts by up to %" PRIu32 " ppm", sums->clock_drift_ppm);
    }
}

static void cupti_complain_of_missing(struct complaints *c, uint32_t kinds) {
    const char *before = ", without ";
    for (int i = 0; i <= CUPTI_KINDS; ++i) {
        if (kinds >> i & 1) {
            cupti_complain(c, "%s%s", before,
                           i < CUPTI_KINDS ? cupti_kind_table[i].words : "scopes");
            before = ", ";
        }
    }
}

void cupti_put_complaints(const struct cupti *library, const struct cupti_troubles *t, char *out,
                          size_t size) {
    struct complaints c = {.out = out, .size = size};
    out[0] = '\0';
    if (t->taken) {
        cupti_complain(&c, ", another CUPTI client took the records of %" PRIu64 " launch%s",
                       t->taken, t->taken == 1 ? "" : "es");
    }
    /* NVIDIA's release notes of CUDA 13.0 Update 1 (a deadlock in cuptiActivityDisable, a crash in
     * cuptiActivityFlushAll) and of 13.1 Update 1 (numbers of graph launches in later sessions). */
    if (t->version >= FAULTS_FROM && t->version < FAULTS_UNTIL) {
        cupti_complain(&c, ", has known faults: use 13.1 Update 1");
    }
    cupti_complain_of_missing(&c, t->missing);
    cupti_complain_of_clock(&c, t->sums);
    cupti_complain_of_code(&c, library, "flushing", t->flush_error);
    if (t->wait_error) {
        cupti_complain(&c, ", waiting for the GPU fails: %.100s",
                       gpu_code_name(cupti_gpu(), t->wait_error));
    }
    cupti_complain_of_code(&c, library, "reading its clock", t->sums->clock_error);
}
