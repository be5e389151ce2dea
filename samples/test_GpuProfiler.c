/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job of PaddlePaddle's test_GpuProfiler: ten samples of 16 channels, 64 x 64 doubled to
 * 128 x 128, forward and backward, on the CPU and on the GPU, each compared with the reference, all
 * inside one capture range and one timer. Without a GPU the CPU half runs alone, and says so.
 */
#include "bilinear_gpu.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>
#include <time.h>

#define SIZES "numSamples = 10, channels = 16, imgSizeX = 64, imgSizeY = 64"

static const struct bilinear_shape shape = {10 * 16, 64, 64, 128, 128};
enum { IN_COUNT = 10 * 16 * 64 * 64, OUT_COUNT = 10 * 16 * 128 * 128 };

/* splitmix64: any seed is a good one. */
static uint64_t random_state = 2016;

static float random_float(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) >> 40) / (float)(1 << 23) - 1; /* 24 bits: [-1, 1) */
}

struct job {
    float *in;
    float *out;
    float *out_grad;
    float *in_grad;
    float *gpu_out;
    float *gpu_grad;
    double *reference_out;
    double *reference_grad;
};

static void job_free(struct job *job) {
    free(job->in);
    free(job->out);
    free(job->out_grad);
    free(job->in_grad);
    free(job->gpu_out);
    free(job->gpu_grad);
    free(job->reference_out);
    free(job->reference_grad);
}

/* All gradients start from the same random values: backward adds to what is there. */
static int job_make(struct job *job) {
    REGISTER_TIMER_ROLE("random input", STINT_ROLE_DATA);
    job->in = malloc(IN_COUNT * sizeof *job->in);
    job->out = malloc(OUT_COUNT * sizeof *job->out);
    job->out_grad = malloc(OUT_COUNT * sizeof *job->out_grad);
    job->in_grad = malloc(IN_COUNT * sizeof *job->in_grad);
    job->gpu_out = malloc(OUT_COUNT * sizeof *job->gpu_out);
    job->gpu_grad = malloc(IN_COUNT * sizeof *job->gpu_grad);
    job->reference_out = malloc(OUT_COUNT * sizeof *job->reference_out);
    job->reference_grad = malloc(IN_COUNT * sizeof *job->reference_grad);
    if (!job->in || !job->out || !job->out_grad || !job->in_grad || !job->gpu_out ||
        !job->gpu_grad || !job->reference_out || !job->reference_grad) {
        return -1;
    }
    for (int i = 0; i < IN_COUNT; ++i) {
        job->in[i] = random_float();
        job->in_grad[i] = random_float();
        job->gpu_grad[i] = job->in_grad[i];
        job->reference_grad[i] = (double)job->in_grad[i];
    }
    for (int i = 0; i < OUT_COUNT; ++i) {
        job->out_grad[i] = random_float();
    }
    return 0;
}

static void run_reference(const struct job *job) {
    REGISTER_TIMER_ROLE("reference", STINT_ROLE_COMPUTE);
    bilinear_reference_forward(&shape, job->in, job->reference_out);
    bilinear_reference_backward(&shape, job->out_grad, job->reference_grad);
}

static void run_forward(const struct job *job) {
    REGISTER_TIMER_ROLE("forward", STINT_ROLE_COMPUTE);
    bilinear_forward(&shape, job->in, job->out);
}

static void run_backward(const struct job *job) {
    REGISTER_TIMER_ROLE("backward", STINT_ROLE_COMPUTE);
    bilinear_backward(&shape, job->out_grad, job->in_grad);
}

/* Too far apart both absolutely and relatively; written so that a NaN counts as well. */
static int mismatches(const char *what, const double *expected, const float *got, int count) {
    REGISTER_TIMER("compare");
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        const double apart = fabs(expected[i] - (double)got[i]);
        if (!(apart <= 1e-3 || apart <= 1e-4 * fabs(expected[i]))) {
            if (wrong++ == 0) {
                printf("%s[%d]: expected %.9g, got %.9g\n", what, i, expected[i], (double)got[i]);
            }
        }
    }
    if (wrong != 0) {
        printf("%s: %d of %d differ\n", what, wrong, count);
    }
    return wrong;
}

/* The nested range changes nothing: the outermost one starts and stops the profiler. */
static int run_gpu(const struct job *job) {
    const char *missing = bilinear_gpu_missing();
    if (missing) {
        printf("no GPU: CPU half only (%s)\n", missing);
        return 0;
    }
    REGISTER_GPU_PROFILER("testBilinearFwdBwd on the GPU");
    if (bilinear_gpu_forward(&shape, job->in, job->gpu_out) != 0 ||
        bilinear_gpu_backward(&shape, job->out_grad, job->gpu_grad) != 0) {
        return 1;
    }
    return mismatches("GPU output", job->reference_out, job->gpu_out, OUT_COUNT) +
           mismatches("GPU input gradient", job->reference_grad, job->gpu_grad, IN_COUNT);
}

static int bilinear_forward_backward(void) {
    struct job job = {0};
    int wrong = 1;
    {
        REGISTER_GPU_PROFILER("testBilinearFwdBwd", SIZES);
        REGISTER_TIMER_INFO("testBilinearFwdBwd", SIZES);
        if (job_make(&job) == 0) {
            run_reference(&job);
            run_forward(&job);
            wrong = mismatches("output", job.reference_out, job.out, OUT_COUNT);
            run_backward(&job);
            wrong += mismatches("input gradient", job.reference_grad, job.in_grad, IN_COUNT);
            wrong += run_gpu(&job);
        } else {
            puts("out of memory");
        }
    }
    printAllStatus();
    job_free(&job);
    return wrong == 0;
}

static double milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(void) {
    puts("[ RUN      ] Profiler.BilinearFwdBwd");
    fflush(stdout); /* reports go to stderr: keep the order */
    const double start = milliseconds();
    const int passed = bilinear_forward_backward();
    printf("[ %s ] Profiler.BilinearFwdBwd (%.0f ms)\n", passed ? "      OK" : " FAILED ",
           milliseconds() - start);
    return passed ? 0 : 1;
}
