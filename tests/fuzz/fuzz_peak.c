/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_GPU_PEAK: a rate that is taken is one.
 */
#include "fuzz.h"
#include "gpu/gpu.h"
#include "system/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct gpu_device device = {.name = "fuzz"};
    uint64_t bytes = 1, flops = 1;
    char *text = fuzz_text(data, size);
    config.gpu_peak = text;
    gpu_peak(&device, &bytes, &flops);
    config.gpu_peak = NULL;
    FUZZ_NEED(bytes <= 10000000000000000000u && flops <= 10000000000000000000u);
    free(text);
    return 0;
}
