/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's result codes; the driver's (CUresult) and the runtime API's (cudaError_t) have the same
 * numbers. For the back ends over the two. */
#ifndef STINT_CUDA_CODES_H
#define STINT_CUDA_CODES_H

/* "CUDA_ERROR_ILLEGAL_ADDRESS", or NULL. */
const char *cuda_code_name(int code);
/* As cuda.h says: the process must be ended, or the device is at fault. */
int cuda_code_is_fatal(int code);

#endif
