/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_codes.h"

#include <stddef.h>
#include <string.h>

#include "gpu.h"
#include "system/config.h"

struct cuda_code_row {
    int code;
    int fatal;
    const char *name;
};

#include "cuda_codes.inc"

/* The interface's numbers are CUDA's, so that neither back end translates. */
#define ASSERT_EQUAL(ours, number) _Static_assert((ours) == (number), #ours);
CUDA_NUMBERS(ASSERT_EQUAL)

const struct gpu_words cuda_words = {{[GPU_WORD_PLATFORM] = "CUDA",
                                      [GPU_WORD_PINNED] = "cudaMallocHost",
                                      [GPU_WORD_PREFETCH] = "cudaMemPrefetchAsync",
                                      [GPU_WORD_ADVISE] = "cudaMemAdvise",
                                      [GPU_WORD_COPY_ASYNC] = "cudaMemcpyAsync"}};

static const struct cuda_code_row *code_find_row(int code) {
    for (size_t i = 0; i < sizeof cuda_codes / sizeof *cuda_codes; ++i) {
        if (cuda_codes[i].code == code) {
            return &cuda_codes[i];
        }
    }
    return NULL;
}

const char *cuda_code_name(int code) {
    const struct cuda_code_row *row = code_find_row(code);
    return row ? row->name : NULL;
}

int cuda_code_is_fatal(int code) {
    const struct cuda_code_row *row = code_find_row(code);
    return row && row->fatal;
}

const char *cuda_get_library_part(void) {
    if (!config.driver_lib) {
        return "/libcuda.so";
    }
    const char *last = strrchr(config.driver_lib, '/');
    return last ? last : config.driver_lib;
}
