/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU back ends and the tracer of this process, in words.
 */
#ifndef STINT_GPU_ABOUT_H
#define STINT_GPU_ABOUT_H

#include <stddef.h>

/* For reports: the names of the GPU back end and of the tracer, and why they do not work; "" if
 * neither was needed. Takes the tracer's lock: the caller must not hold a lock. */
void gpu_about_describe(char *out, size_t size);
/* Enters it in the arena. */
void gpu_about_record(void);

#endif
