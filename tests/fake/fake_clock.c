/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"

uint64_t fake_now = FAKE_START;
uint64_t fake_step;

void fake_advance(uint64_t ns) {
    __atomic_fetch_add(&fake_now, ns, __ATOMIC_RELAXED);
}

uint64_t fake_read(void) {
    return __atomic_load_n(&fake_now, __ATOMIC_RELAXED);
}

uint64_t stint_fake_ticks(void) {
    return __atomic_fetch_add(&fake_now, __atomic_load_n(&fake_step, __ATOMIC_RELAXED),
                              __ATOMIC_RELAXED);
}
