/* SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <pthread.h>
#include <stddef.h>

#include "system/config.h"

static const struct emit_ops *backend; /* written once, by a constructor */
int emit_state;

void emit_set_backend(const struct emit_ops *ops) {
    backend = ops;
}

int emit_built(void) {
    return backend != NULL;
}

static void start_once(void) {
    __atomic_store_n(&emit_state, EMIT_STARTING, __ATOMIC_RELEASE);
    int found = EMIT_OFF;
    if (backend && !backend->open()) {
        found = EMIT_ON;
    }
    __atomic_store_n(&emit_state, found, __ATOMIC_RELEASE);
}

void emit_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int known = __atomic_load_n(&emit_state, __ATOMIC_ACQUIRE), cancel;
    if (!config.nvtx || known == EMIT_ON || known == EMIT_OFF) {
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_once(&once, start_once);
    pthread_setcancelstate(cancel, NULL);
}

void emit_push(uint32_t site, uint32_t set) {
    backend->push(site, set);
}

void emit_pop(void) {
    backend->pop();
}

/* A start that was under way on another thread does not end in the child: no ranges then. */
void emit_forget_all(void) {
    int usable = emit_state == EMIT_ON && backend->forget && !backend->forget();
    if (emit_state != EMIT_FRESH && !usable) {
        emit_state = EMIT_OFF;
    }
}
