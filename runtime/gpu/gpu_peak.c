/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "system/config.h"
#include "system/log.h"

struct gpu_lanes {
    uint32_t major;
    uint32_t minor;
    uint32_t fp32;
};

#include "gpu_peak_table.inc"

static uint32_t peak_find_lanes(const struct gpu_device *d) {
    for (size_t i = 0; i < sizeof gpu_lanes / sizeof *gpu_lanes; ++i) {
        if (gpu_lanes[i].major == d->major && gpu_lanes[i].minor == d->minor) {
            return gpu_lanes[i].fp32;
        }
    }
    return 0;
}

/* Reads one rate: a decimal number, then possibly K, M, G, T or P (powers of 1000). An empty text
 * leaves *rate as it is. Returns the text after the rate, NULL if it is not a rate. */
static const char *peak_read_rate(const char *text, uint64_t *rate) {
    static const char units[] = "KMGTP";
    double value = 0;
    const char *start = text;
    text = number_parse(start, &value);
    if (!text) {
        return start;
    }
    const char *unit = *text ? strchr(units, *text) : NULL;
    if (unit) {
        ++text;
        for (const char *u = units; u <= unit; ++u) {
            value *= 1000;
        }
    }
    if (!(value >= 1 && value < 1e19)) { /* 1e19: below 2^64 */
        return NULL;
    }
    *rate = (uint64_t)(value + 0.5);
    return text;
}

/* 0, or -1 if the text is not "BYTES_PER_S[,FLOP_PER_S]". */
static int peak_read_setting(const char *text, uint64_t *bytes_per_s, uint64_t *flops_per_s) {
    text = peak_read_rate(text, bytes_per_s);
    if (text && *text == ',') {
        text = peak_read_rate(text + 1, flops_per_s);
    }
    if (!text || *text) {
        return -1;
    }
    return 0;
}

static void peak_override(uint64_t *bytes_per_s, uint64_t *flops_per_s) {
    static int said;
    uint64_t bytes = *bytes_per_s, flops = *flops_per_s;
    if (!peak_read_setting(config.gpu_peak, &bytes, &flops)) {
        *bytes_per_s = bytes;
        *flops_per_s = flops;
    } else if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        log_warning("STINT_GPU_PEAK=%s: expected BYTES_PER_S[,FLOP_PER_S], as 4.8T,67T; ignored",
                    config.gpu_peak);
    }
}

void gpu_peak(const struct gpu_device *d, uint64_t *bytes_per_s, uint64_t *flops_per_s) {
    /* Memory moves two words a clock; a lane does a multiply-add, two operations, a clock. */
    *bytes_per_s = (uint64_t)d->memory_clock_khz * 1000 * 2 * d->memory_bus_bits / 8;
    *flops_per_s = (uint64_t)d->clock_khz * 1000 * 2 * d->multiprocessors * peak_find_lanes(d);
    if (config.gpu_peak && *config.gpu_peak) {
        peak_override(bytes_per_s, flops_per_s);
    }
}
