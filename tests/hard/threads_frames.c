/* SPDX-License-Identifier: Apache-2.0 */
/* Two C scopes around a call that may throw. Built twice: with -fexceptions, which closes them on
 * the way out, and without. */
#include <stint/stint.h>

#include "fake_clock.h"
#include "threads_frames.h"

void FRAMES(void (*call)(int), int argument) {
    REGISTER_TIMER("c.outer");
    fake_advance(1);
    {
        REGISTER_TIMER("c.inner");
        call(argument);
        fake_advance(1);
    }
}
