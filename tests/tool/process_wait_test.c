/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/common/tool_process.h"

#include <sys/time.h>
#include <time.h>

#include "harness.h"

#define SIGNALS 20000
#define LONG_S 60 /* a wait that no signal ends */
#define LIMIT_S 30

static volatile sig_atomic_t caught;

static void note_signal(int number) {
    (void)number;
    caught = 1;
}

/* The timer expires before the wait, within its calls of the system or after them. */
TEST(process_wait, ends_at_a_signal_at_any_moment) {
    time_t start = time(NULL);
    unsigned random = 1;
    tool_process_catch(SIGALRM, note_signal);
    for (int i = 0; i < SIGNALS && time(NULL) - start < LIMIT_S; ++i) {
        random = random * 1103515245u + 12345u;
        struct itimerval once = {.it_value = {.tv_usec = 1 + (random >> 16) % 8}};
        caught = 0;
        CHECK(!setitimer(ITIMER_REAL, &once, NULL));
        while (!caught) {
            tool_process_wait(NULL, 0, LONG_S, &caught);
        }
    }
    CHECK(time(NULL) - start < LIMIT_S);
}
