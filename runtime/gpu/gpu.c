/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include <stdio.h>

#include "base/config.h"

struct gpu_code_row {
    int code;
    int fatal;
    const char *name;
};

#include "gpu_codes.inc"

static const struct gpu_ops *found;

const struct gpu_ops *gpu_ops(void) {
    const struct gpu_ops *ops = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!ops) {
        ops = gpu_api_open(config.cuda_lib);
        if (ops != &gpu_none) { /* it could not even be asked: next time, then */
            const struct gpu_ops *before = NULL;
            if (!__atomic_compare_exchange_n(&found, &before, ops, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
                ops = before;
            }
        }
    }
    return ops;
}

const struct gpu_ops *gpu_known(void) {
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE);
}

int gpu_time_ns(float ms, uint64_t *ns) {
    if (!(ms >= 0.0f) || ms > 1e12f) { /* 1e12: 31 years */
        return GPU_INVALID_VALUE;
    }
    *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return GPU_OK;
}

static const struct gpu_code_row *row_of(int code) {
    for (size_t i = 0; i < sizeof gpu_codes / sizeof *gpu_codes; ++i) {
        if (gpu_codes[i].code == code) {
            return &gpu_codes[i];
        }
    }
    return NULL;
}

const char *gpu_code_name(int code) {
    const struct gpu_code_row *row = row_of(code);
    const struct gpu_ops *ops = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    const char *name = row ? row->name : NULL;
    if (!name && ops && ops->code_name) {
        name = ops->code_name(code);
    }
    return name ? name : "error";
}

int gpu_is_fatal(int code) {
    const struct gpu_code_row *row = row_of(code);
    return row && row->fatal;
}
