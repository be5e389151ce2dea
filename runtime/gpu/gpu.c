/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back ends of the process. The first call that needs one opens all of the build's list; the
 * first queue opens the back ends of queues. The usable ones stay open. Callers: the event pool,
 * captures, tracers and reports. What was found is read without a lock.
 */
#include "gpu.h"

#include "system/clock.h"
#include "system/config.h"

#define LOOK_NS 1000000000u /* between two; one takes 20 to 30 us */

static const struct gpu_backend *const *backends; /* written once, by a constructor */
/* The functions of each back end, in their order: NULL before it was opened. Release, acquire. */
static const struct gpu_ops *backend_opened[GPU_BACKENDS_MAX];
/* The first usable one, else the first of the list with its reason; NULL before all were opened.
 * Release, acquire. */
static const struct gpu_ops *first;
static unsigned usable_count; /* written before `first`; relaxed */
/* The one that is used for queues; NULL before one was opened. Release, acquire. */
static const struct gpu_ops *first_of_queues;
uint64_t gpu_next_look = UINT64_MAX;

void gpu_set_list(const struct gpu_backend *const *list) {
    backends = list;
}

const struct gpu_backend *const *gpu_list(void) {
    return backends;
}

static unsigned gpu_count_list(void) {
    unsigned count = 0;
    while (backends && backends[count] && count < GPU_BACKENDS_MAX) {
        ++count;
    }
    return count;
}

static const struct gpu_ops *gpu_get_opened(unsigned index) {
    return __atomic_load_n(&backend_opened[index], __ATOMIC_ACQUIRE);
}

/* Returns whether it could be tried. Of threads that open it at once the first one's result
 * counts. */
static int gpu_open_one(unsigned index) {
    const struct gpu_ops *before = gpu_get_opened(index);
    if (before) {
        return 1;
    }
    const struct gpu_ops *ops = backends[index]->open();
    if (ops == &gpu_none) {
        return 0;
    }
    __atomic_compare_exchange_n(&backend_opened[index], &before, ops, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return 1;
}

/* Opens the back ends of queues, or all others. Returns whether all could be tried. */
static int gpu_open_all(int of_queues) {
    int complete = 1;
    for (unsigned i = 0; i < gpu_count_list(); ++i) {
        if (backends[i]->of_queues == of_queues) {
            complete &= gpu_open_one(i);
        }
    }
    return complete;
}

/* Returns the first usable one of the opened back ends of queues, or of the others; else the
 * first. */
static const struct gpu_ops *gpu_choose_first(int of_queues, unsigned *usable) {
    const struct gpu_ops *chosen = &gpu_none;
    *usable = 0;
    for (unsigned i = gpu_count_list(); i-- > 0;) {
        const struct gpu_ops *ops = gpu_get_opened(i);
        if (!ops || backends[i]->of_queues != of_queues) {
            continue;
        }
        if (!ops->reason) {
            ++*usable;
        }
        if (!ops->reason || chosen->reason) {
            chosen = ops;
        }
    }
    return chosen;
}

/* Whether the back end is not usable, but may become so. */
static int gpu_is_hopeful(unsigned index) {
    const struct gpu_ops *ops = gpu_get_opened(index);
    return ops && ops->reason && backends[index]->look;
}

static int gpu_may_find_more(void) {
    for (unsigned i = 0; i < gpu_count_list(); ++i) {
        if (gpu_is_hopeful(i)) {
            return 1;
        }
    }
    return 0;
}

static void gpu_plan_look(uint64_t now) {
    uint64_t next = UINT64_MAX;
    if (gpu_may_find_more()) {
        next = now + clock_ticks_of_ns(LOOK_NS);
    }
    __atomic_store_n(&gpu_next_look, next, __ATOMIC_RELAXED);
}

static const struct gpu_ops *gpu_publish_first(void) {
    unsigned usable;
    const struct gpu_ops *chosen = gpu_choose_first(0, &usable);
    __atomic_store_n(&usable_count, usable, __ATOMIC_RELAXED);
    __atomic_store_n(&first, chosen, __ATOMIC_RELEASE);
    return chosen;
}

const struct gpu_ops *gpu_ops(void) {
    const struct gpu_ops *ops = gpu_known();
    if (ops) {
        return ops;
    }
    if (!gpu_open_all(0)) { /* the next call tries again */
        unsigned usable;
        return gpu_choose_first(0, &usable);
    }
    if (!gpu_count_list()) {
        return &gpu_none;
    }
    gpu_plan_look(clock_ticks());
    return gpu_publish_first();
}

const struct gpu_ops *gpu_ops_of(const struct gpu_words *words) {
    const struct gpu_ops *found = &gpu_none;
    (void)gpu_ops();
    for (unsigned i = gpu_count_list(); i-- > 0;) {
        const struct gpu_ops *ops = gpu_get_opened(i);
        if (ops && ops->words == words && (!ops->reason || found->reason)) {
            found = ops;
        }
    }
    return found;
}

/* Where several are usable. */
static const struct gpu_ops *gpu_find_owner(void *handle) {
    const struct gpu_ops *rest = NULL;
    for (unsigned i = 0; i < gpu_count_list(); ++i) {
        const struct gpu_ops *ops = gpu_get_opened(i);
        if (!ops || ops->reason || backends[i]->of_queues) {
            continue;
        }
        if (!ops->owns) {
            rest = rest ? rest : ops;
        } else if (ops->owns(handle)) {
            return ops;
        }
    }
    return rest;
}

struct gpu_stream gpu_stream_of(void *handle) {
    struct gpu_stream s = {.gpu = gpu_ops(), .handle = handle};
    if (__atomic_load_n(&usable_count, __ATOMIC_RELAXED) > 1) {
        const struct gpu_ops *owner = gpu_find_owner(handle);
        s.gpu = owner ? owner : s.gpu;
    }
    return s;
}

struct gpu_stream gpu_stream_of_queue(void *handle) {
    struct gpu_stream s = {.gpu = gpu_known_of_queues(), .handle = handle};
    unsigned usable;
    if (!s.gpu) {
        int complete = gpu_open_all(1);
        s.gpu = gpu_choose_first(1, &usable);
        if (complete && s.gpu != &gpu_none) {
            __atomic_store_n(&first_of_queues, s.gpu, __ATOMIC_RELEASE);
        }
    }
    return s;
}

/* Returns whether this thread has to look: it is time, and no other thread was faster. */
static int gpu_claim_look(uint64_t now) {
    uint64_t due = __atomic_load_n(&gpu_next_look, __ATOMIC_RELAXED);
    uint64_t next = now + clock_ticks_of_ns(LOOK_NS);
    return now >= due && __atomic_compare_exchange_n(&gpu_next_look, &due, next, 0,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Looks for the unusable back ends again. */
static void gpu_retry_unusable(void) {
    for (unsigned i = 0; i < gpu_count_list(); ++i) {
        if (gpu_is_hopeful(i)) {
            const struct gpu_ops *found = backends[i]->look();
            if (found) {
                __atomic_store_n(&backend_opened[i], found, __ATOMIC_RELEASE);
            }
        }
    }
}

int gpu_look_again(uint64_t now) {
    if (!gpu_known() || !gpu_claim_look(now) || !gpu_may_seek()) {
        return 0;
    }
    gpu_retry_unusable();
    gpu_plan_look(now);
    return !gpu_publish_first()->reason;
}

const struct gpu_ops *gpu_known(void) {
    return __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}

const struct gpu_ops *gpu_known_of_queues(void) {
    return __atomic_load_n(&first_of_queues, __ATOMIC_ACQUIRE);
}

const struct gpu_ops *gpu_known_at(unsigned index) {
    for (unsigned i = 0; i < gpu_count_list(); ++i) {
        const struct gpu_ops *ops = gpu_get_opened(i);
        if (ops && !ops->reason && index-- == 0) {
            return ops;
        }
    }
    return NULL;
}

int gpu_get_context(const struct gpu_stream *stream, struct gpu_context *out) {
    int code = stream->gpu->context(stream->handle, out);
    if (code == GPU_INVALID_CONTEXT && stream->gpu->primary) {
        code = stream->gpu->primary(stream->handle, out);
    }
    out->gpu = stream->gpu;
    return code;
}

int gpu_time_ns(float ms, uint64_t *ns) {
    if (!(ms >= 0.0f) || ms > 1e12f) { /* 1e12: 31 years */
        return GPU_INVALID_VALUE;
    }
    *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return GPU_OK;
}

const char *gpu_code_name(const struct gpu_ops *gpu, int code) {
    const char *name = NULL;
    if (gpu->code_name) {
        name = gpu->code_name(code);
    }
    return name ? name : "error";
}

int gpu_is_fatal(const struct gpu_ops *gpu, int code) {
    return gpu->is_fatal && gpu->is_fatal(code);
}
