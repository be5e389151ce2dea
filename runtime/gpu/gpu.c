/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include "base/clock.h"
#include "base/config.h"

#define LOOK_NS 1000000000u /* between two; one takes 20 to 30 us */

static const struct gpu_backend *const *backends; /* written once, by a constructor */
static const struct gpu_ops *found;               /* release, acquire */
uint64_t gpu_next_look = UINT64_MAX;

void gpu_set_list(const struct gpu_backend *const *list) {
    backends = list;
}

const struct gpu_backend *const *gpu_list(void) {
    return backends;
}

/* The first that is usable, else the first of the list, with its reason. */
static const struct gpu_ops *gpu_open_first(void) {
    const struct gpu_ops *refused = NULL;
    for (const struct gpu_backend *const *b = backends; b && *b; ++b) {
        const struct gpu_ops *ops = (*b)->open(config.cuda_lib);
        if (!ops->reason) {
            return ops;
        }
        if (!refused) {
            refused = ops;
        }
    }
    return refused ? refused : &gpu_none;
}

const struct gpu_ops *gpu_ops(void) {
    const struct gpu_ops *ops = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!ops) {
        ops = gpu_open_first();
        if (ops != &gpu_none) { /* else it could not be tried: the next call tries again */
            if (ops->reason) {
                __atomic_store_n(&gpu_next_look, clock_ticks() + clock_ticks_of_ns(LOOK_NS),
                                 __ATOMIC_RELAXED);
            }
            const struct gpu_ops *before = NULL;
            if (!__atomic_compare_exchange_n(&found, &before, ops, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
                ops = before;
            }
        }
    }
    return ops;
}

/* The first whose library is loaded by now; NULL: none. */
static const struct gpu_ops *gpu_look_first(void) {
    for (const struct gpu_backend *const *b = backends; b && *b; ++b) {
        const struct gpu_ops *ops = NULL;
        if ((*b)->look) {
            ops = (*b)->look(config.cuda_lib);
        }
        if (ops) {
            return ops;
        }
    }
    return NULL;
}

int gpu_look_again(uint64_t now) {
    const struct gpu_ops *before = gpu_known();
    uint64_t due = __atomic_load_n(&gpu_next_look, __ATOMIC_RELAXED);
    if (!before || now < due) {
        return 0;
    }
    if (!before->reason) {
        return 1;
    }
    uint64_t next = now + clock_ticks_of_ns(LOOK_NS);
    if (!__atomic_compare_exchange_n(&gpu_next_look, &due, next, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) ||
        !gpu_may_seek()) {
        return 0;
    }
    const struct gpu_ops *ops = gpu_look_first();
    if (!ops) {
        return 0;
    }
    __atomic_store_n(&found, ops, __ATOMIC_RELEASE);
    __atomic_store_n(&gpu_next_look, UINT64_MAX, __ATOMIC_RELAXED);
    return 1;
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

const char *gpu_code_name(int code) {
    const struct gpu_ops *ops = gpu_known();
    const char *name = NULL;
    if (ops && ops->code_name) {
        name = ops->code_name(code);
    }
    return name ? name : "error";
}

int gpu_is_fatal(int code) {
    const struct gpu_ops *ops = gpu_known();
    return ops && ops->is_fatal && ops->is_fatal(code);
}
