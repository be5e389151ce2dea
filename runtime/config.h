/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings. Order of authority: call > environment > default. The environment is read once, at
 * first use; gen/env.ini lists the variables.
 */
#ifndef STINT_CONFIG_H
#define STINT_CONFIG_H

#include <stdint.h>

enum config_unit { CONFIG_UNIT_MS, CONFIG_UNIT_US, CONFIG_UNIT_NS, CONFIG_UNIT_AUTO };
enum config_clock { CONFIG_CLOCK_AUTO, CONFIG_CLOCK_COUNTER, CONFIG_CLOCK_MONOTONIC };

struct stint_config {
    int enable;
    int percentiles;
    int unit;
    int level;
    int clock;
    int log_prefix; /* 1 = glog */
    int threads;    /* one row a thread */
    uint64_t memory;
    const char *report; /* view for the exit report; NULL = none */
    const char *output;
    const char *filter;
};

/* Written under the registry's lock; readers on other threads see int-sized values whole. */
extern struct stint_config config;

void config_read_environment(void);

#endif
