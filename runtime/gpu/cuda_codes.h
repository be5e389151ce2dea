/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's words, and its result codes: the driver (CUresult) and the runtime API (cudaError_t) have
 * the same numbers. For the two event back ends and the tracer. */
#ifndef STINT_CUDA_CODES_H
#define STINT_CUDA_CODES_H

#include "arena/gpu_words.h"

extern const struct gpu_words cuda_words;

/* "CUDA_ERROR_ILLEGAL_ADDRESS", or NULL. */
const char *cuda_code_name(int code);
/* By cuda.h's description: the process must be ended, or the device has failed. */
int cuda_code_is_fatal(int code);

/* A part of the path of the driver's library: the one that is set, or the usual one, whose name
 * continues with a version. */
const char *cuda_get_library_part(void);

#endif
