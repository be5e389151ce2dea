/* SPDX-License-Identifier: Apache-2.0 */
/* Words for why there is no session, and for the header of reports about the parts that one lacks
 * and its errors. */
#include <inttypes.h>
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

/* As words to append; each function returns the bytes used so far, which may be more than there is
 * room for. */
static size_t cupti_put_error(const struct cupti *library, const char *what, int error, char *out,
                              size_t size, size_t n) {
    char words[CUPTI_REASON];
    if (!error || n >= size) {
        return n;
    }
    cupti_describe_code(library, error, words, sizeof words);
    return n + (size_t)snprintf(out + n, size - n, ", %s fails: %.150s", what, words);
}

static size_t cupti_put_wait(int code, char *out, size_t size, size_t n) {
    if (!code || n >= size) {
        return n;
    }
    return n + (size_t)snprintf(out + n, size - n, ", waiting for the GPU fails: %.100s",
                                gpu_code_name(cupti_gpu(), code));
}

static size_t cupti_put_clock(const struct cupti_callback_sums *sums, char *out, size_t size,
                              size_t n) {
    if (sums->clock_jumps && n < size) {
        n += (size_t)snprintf(out + n, size - n, ", its clock was set %" PRIu32 " %s",
                              sums->clock_jumps, sums->clock_jumps == 1 ? "time" : "times");
    }
    if (sums->clock_drift_ppm >= DRIFT_SAID && n < size) {
        n += (size_t)snprintf(out + n, size - n, ", its clock drifts by up to %" PRIu32 " ppm",
                              sums->clock_drift_ppm);
    }
    return n;
}

static size_t cupti_put_missing(uint32_t kinds, char *out, size_t size, size_t n) {
    const char *before = ", without ";
    for (int i = 0; i <= CUPTI_KINDS && n < size; ++i) {
        if (kinds >> i & 1) {
            const char *what = i < CUPTI_KINDS ? cupti_kind_table[i].words : "scopes";
            n += (size_t)snprintf(out + n, size - n, "%s%s", before, what);
            before = ", ";
        }
    }
    return n;
}

static size_t cupti_put_taken(uint64_t launches, char *out, size_t size, size_t n) {
    if (!launches || n >= size) {
        return n;
    }
    return n + (size_t)snprintf(out + n, size - n,
                                ", another CUPTI client took the records of %" PRIu64 " launch%s",
                                launches, launches == 1 ? "" : "es");
}

/* NVIDIA's release notes of CUDA 13.0 Update 1 (a deadlock in cuptiActivityDisable, a crash in
 * cuptiActivityFlushAll) and of 13.1 Update 1 (numbers of graph launches in later sessions). */
static size_t cupti_put_faults(uint32_t version, char *out, size_t size, size_t n) {
    if (version < FAULTS_FROM || version >= FAULTS_UNTIL || n >= size) {
        return n;
    }
    return n + (size_t)snprintf(out + n, size - n, ", has known faults: use 13.1 Update 1");
}

void cupti_put_complaints(const struct cupti *library, const struct cupti_troubles *t, char *out,
                          size_t size) {
    out[0] = '\0';
    size_t n = cupti_put_taken(t->taken, out, size, 0);
    n = cupti_put_faults(t->version, out, size, n);
    n = cupti_put_missing(t->missing, out, size, n);
    n = cupti_put_clock(t->sums, out, size, n);
    n = cupti_put_error(library, "flushing", t->flush_error, out, size, n);
    n = cupti_put_wait(t->wait_error, out, size, n);
    cupti_put_error(library, "reading its clock", t->sums->clock_error, out, size, n);
}
