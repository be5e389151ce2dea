/* SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <pthread.h>
#include <stddef.h>

#include "base/config.h"

enum { RANGES_FRESH, RANGES_STARTING, RANGES_ON, RANGES_OFF };

static const struct emit_ops *backend; /* written once, by a constructor */
static int state;                       /* release by the starting thread, acquire */

static int get_state(void) {
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

void emit_set_backend(const struct emit_ops *ops) {
    backend = ops;
}

int emit_built(void) {
    return backend != NULL;
}

static void start_once(void) {
    __atomic_store_n(&state, RANGES_STARTING, __ATOMIC_RELEASE);
    int found = RANGES_OFF;
    if (backend && !backend->open()) {
        found = RANGES_ON;
    }
    __atomic_store_n(&state, found, __ATOMIC_RELEASE);
}

void emit_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int known = get_state(), cancel;
    if (!config.nvtx || known == RANGES_ON || known == RANGES_OFF) {
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_once(&once, start_once);
    pthread_setcancelstate(cancel, NULL);
}

int emit_on(void) {
    return get_state() == RANGES_ON;
}

void emit_push(uint32_t site, uint32_t set) {
    backend->push(site, set);
}

void emit_pop(void) {
    backend->pop();
}

/* A start that was under way on another thread does not end in the child: no ranges then. */
void emit_forget_all(void) {
    int usable = state == RANGES_ON && backend->forget && !backend->forget();
    if (state != RANGES_FRESH && !usable) {
        state = RANGES_OFF;
    }
}
