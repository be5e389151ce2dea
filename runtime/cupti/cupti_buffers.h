/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers for CUPTI to write records into: 8 of 1 MiB, and small ones when those are all out. Any
 * thread, no lock.
 */
#ifndef STINT_CUPTI_BUFFERS_H
#define STINT_CUPTI_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

/* 0, or -1 without memory; again is nothing. Not from two threads at once. */
int cupti_buffers_open(void);
/* NULL: none left. must: whoever gets NULL crashes, so that only the lack of memory is a reason. */
uint8_t *cupti_buffer_take(size_t *size, int must);
void cupti_buffer_give(uint8_t *buffer, size_t size);

#endif
