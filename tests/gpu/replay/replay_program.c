/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_program PROFILE OUT.json [SEED]: replays a profile (cupti_replay.h) and exports what the
 * library made of it. With a seed, the work of the GPU comes late and in any order, with a report
 * after each part. The clock is the fake one, so that every figure is exact.
 */
#include <stdio.h>
#include <stdlib.h>

#include "activity/tracer.h"
#include "cupti_replay.h"
#include "fake_clock.h"
#include "stint/stint.h"

#define APART UINT64_C(1700000000000000000) /* CUPTI's clock shows the time of day */

static uint64_t replay_clock(void) {
    return APART + stint_fake_ticks();
}

#define PARTS 9

static void replay_report(void) {
    tracer_flush(0);
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "replay_program PROFILE OUT.json [SEED]\n");
        return 2;
    }
    setenv("STINT_CUPTI_LIB", CUPTI_REPLAY_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so", 1);
    cupti_replay_set_clock(replay_clock);
    long count = cupti_replay_read(argv[1]);
    if (count < 0 || tracer_start()) {
        return 1;
    }
    fake_advance(cupti_replay_span() + 1000);
    uint64_t delivered;
    if (argc == 4) {
        delivered = cupti_replay_deliver_late(strtoull(argv[3], NULL, 10), PARTS, replay_report);
    } else {
        delivered = cupti_replay_deliver(1);
    }
    tracer_flush(0);
    if (delivered != (uint64_t)count) {
        fprintf(stderr, "replay_program: %ld records read, %llu delivered\n", count,
                (unsigned long long)delivered);
        return 1;
    }
    int failed = stint_export(argv[2], "json");
    tracer_stop();
    return failed != 0;
}
