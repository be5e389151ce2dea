/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

struct stint_config config = {
    .enable = 1,
    .percentiles = 1,
    .waits = 1,
    .unit = CONFIG_UNIT_AUTO,
    .log = CONFIG_LOG_ALL,
    .gpu = CONFIG_GPU_EVENTS,
    .memory = (uint64_t)1 << 30,
    .mem_table = (uint64_t)1 << 30,
    .gpu_in_flight = 1024,
};
