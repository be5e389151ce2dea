/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings. Order of authority: call > environment > default. The environment is read once, at
 * first use; gen/env.ini lists the variables.
 */
#ifndef STINT_CONFIG_H
#define STINT_CONFIG_H

#include <stdint.h>

#include "base/unit.h"

enum config_clock { CONFIG_CLOCK_AUTO, CONFIG_CLOCK_COUNTER, CONFIG_CLOCK_MONOTONIC };

enum config_gpu {
    CONFIG_GPU_OFF,
    CONFIG_GPU_EVENTS,
    CONFIG_GPU_SYNC,
    CONFIG_GPU_TRACER,
    CONFIG_GPU_TRACER_ALL /* also what is frequent and does no work */
};

enum config_log { CONFIG_LOG_OFF, CONFIG_LOG_ERROR, CONFIG_LOG_ALL };

enum config_mem { CONFIG_MEM_AUTO, CONFIG_MEM_OFF, CONFIG_MEM_ON };

struct config_trace {
    uint64_t bytes; /* for all traces; 0 = none */
    uint64_t touch; /* whether pages are written to before they are needed; no padding, settings are
                     * compared as bytes */
};

struct stint_config {
    int enable;
    int closed; /* by a schedule: this step is not recorded */
    int percentiles;
    int unit;
    int level;
    int clock;
    int log;        /* enum config_log */
    int log_prefix; /* 1 = glog */
    int threads;    /* one row a thread */
    int gpu;
    const char *rank;   /* read again by launch_read */
    const char *ranges; /* read by libstint-ranges.so itself */
    int nvtx;
    int rusage;
    int waits;
    int mem;
    uint64_t memory;
    uint64_t mem_table;
    struct config_trace trace;
    uint64_t trace_min_ns;
    uint64_t gpu_in_flight;
    const char *report; /* view for the exit report; NULL = none */
    const char *output;
    const char *filter;
    const char *file;
    const char *capture;
    const char *driver_lib;
    const char *tracer_lib;
    const char *gpu_peak;
    const char *counters;
    const char *label;
};

/* Written under the registry's lock; readers on other threads see int-sized values whole. */
extern struct stint_config config;

static inline int config_recording(void) {
    return config.enable && !config.closed;
}

#endif
