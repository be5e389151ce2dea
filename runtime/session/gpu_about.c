/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_about.h"

#include "about.h"
#include "arena/arena.h"
#include "base/print.h"
#include "capture/tracer.h"
#include "gpu/gpu.h"
#include "record/registry.h"
#include "system/config.h"

/* The bytes of `out` used so far, after one more back end. */
static size_t gpu_about_put(const struct gpu_ops *ops, char *out, size_t size, size_t used) {
    used += print_text(out + used, size - used, "%s%s", used ? ", " : "", ops->name);
    if (ops->reason) {
        used += print_text(out + used, size - used, " (%s)", ops->reason);
    } else if (ops->uninitialized && ops->uninitialized()) {
        used += print_text(out + used, size - used, " (no device, or %s was not initialised)",
                           gpu_words_platform(ops->words));
    }
    return used;
}

/* Those that are open; if none can be used, why. */
static size_t gpu_about_put_all(char *out, size_t size) {
    const struct gpu_ops *first = gpu_known(), *queues = gpu_known_of_queues(), *ops;
    size_t used = 0;
    if (first) {
        used = gpu_about_put(first, out, size, used);
    }
    for (unsigned i = 0; (ops = gpu_known_at(i)); ++i) {
        if (ops != first && ops != queues) {
            used = gpu_about_put(ops, out, size, used);
        }
    }
    if (queues) {
        used = gpu_about_put(queues, out, size, used);
    }
    int usable = (first && !first->reason) || gpu_known_at(0);
    if (config.gpu == CONFIG_GPU_SYNC && usable) {
        used += print_text(out + used, size - used, ", sync: GPU scopes wait for their stream");
    }
    return used;
}

void gpu_about_describe(char *out, size_t size) {
    char tracer[300];
    if (!size) {
        return;
    }
    out[0] = '\0';
    tracer_describe(tracer, sizeof tracer);
    size_t used = gpu_about_put_all(out, size);
    if (*tracer) { /* cut to fit */
        print_text(out + used, size - used, "%s%s", used ? "; " : "", tracer);
    }
}

/* At the end of the run, because a back end is looked for when it is first needed. */
void gpu_about_record(void) {
    char gpu[160];
    gpu_about_describe(gpu, sizeof gpu);
    if (*gpu && !registry_held()) { /* held: the program ends in a signal handler that interrupted
                                       the holder */
        registry_lock();
        arena_header()->about.gpu = about_put_text(gpu);
        registry_unlock();
    }
}
