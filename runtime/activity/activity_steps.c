/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_private.h"

#include "arena/arena.h"

#define STEPS 1024u
#define MANY 256u

static uint64_t steps[STEPS];  /* 0 = free; atomic exchanges */
static uint64_t steps_added;   /* ever put in */
static uint32_t steps_waiting; /* since they were taken out; set after the step is there */

int activity_steps_put(uint64_t at) {
    uint64_t number = __atomic_fetch_add(&steps_added, 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&steps[number % STEPS], at, __ATOMIC_RELAXED)) {
        arena_lose(STINT_STATUS_ACTIVITY_LATE, 1);
    }
    __atomic_store_n(&steps_waiting, 1, __ATOMIC_RELEASE);
    return number % MANY == MANY - 1;
}

void activity_steps_take(void (*out)(uint64_t at)) {
    if (!STINT_IMPL_LOAD(&steps_waiting) ||
        !__atomic_exchange_n(&steps_waiting, 0, __ATOMIC_ACQUIRE)) {
        return;
    }
    for (uint32_t i = 0; i < STEPS; ++i) {
        uint64_t at = STINT_IMPL_LOAD(&steps[i]);
        if (at) {
            at = __atomic_exchange_n(&steps[i], 0, __ATOMIC_RELAXED);
        }
        if (at) {
            out(at);
        }
    }
}

static void activity_steps_discard(uint64_t at) {
    (void)at;
}

void activity_steps_forget(void) {
    activity_steps_take(activity_steps_discard);
}
