/* SPDX-License-Identifier: Apache-2.0 */
#include "waits.h"

#include <string.h>

#include "stint/detail/impl_layout.h"

static struct {
    uint32_t node[WAITS_MOST]; /* units; the thread that took the place, release */
    uint32_t taken;            /* places, or more; any thread, relaxed */
    uint32_t age;              /* the child of a fork alone */
} waits_known;

void waits_add(uint32_t unit) {
    uint32_t at = __atomic_fetch_add(&waits_known.taken, 1, __ATOMIC_RELAXED);
    if (at < WAITS_MOST) {
        STINT_IMPL_PUBLISH(&waits_known.node[at], unit);
    }
}

uint32_t waits_count(void) {
    uint32_t count = STINT_IMPL_LOAD(&waits_known.taken);
    return count < WAITS_MOST ? count : WAITS_MOST;
}

uint32_t waits_node(uint32_t index) {
    return __atomic_load_n(&waits_known.node[index], __ATOMIC_ACQUIRE);
}

uint32_t waits_left_out(void) {
    return STINT_IMPL_LOAD(&waits_known.taken) - waits_count();
}

uint32_t waits_age(void) {
    return waits_known.age;
}

void waits_forget(void) {
    memset(waits_known.node, 0, sizeof waits_known.node);
    waits_known.taken = 0;
    ++waits_known.age;
}
