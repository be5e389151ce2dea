/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on ACME's GPU, for acme_test.py: copies that keep the host, kernels, waits and timed
 * streams. The run file is STINT_FILE's.
 */
#include "acme.h"
#include "capture/tracer.h"
#include "fake_clock.h"
#include "stint/stint.h"

static const struct gpu_backend *const backends[] = {&acme_backend, NULL};
static const struct tracer_ops *const tracers[] = {&acme_tracer, NULL};

static void train_step(struct acme_stream *stream) {
    REGISTER_GPU_TIMER("step", stream);
    {
        REGISTER_TIMER("load");
        acme_copy(stream, 4 << 20, 300000);
    }
    {
        REGISTER_TIMER("forward");
        acme_launch(stream, "rocket_gemm", 50000);
        acme_wait(stream);
        fake_advance(2000);
    }
    stint_step();
}

int main(void) {
    gpu_set_list(backends);
    tracer_set_list(tracers);
    REGISTER_TIMER("train");
    if (tracer_start()) {
        return 1;
    }
    acme_alloc(1 << 20);
    for (int i = 0; i < 20; ++i) {
        train_step(&acme_stream[0]);
    }
    tracer_flush(TRACER_COMPLETE);
    tracer_stop();
    return stint_report("gpu");
}
