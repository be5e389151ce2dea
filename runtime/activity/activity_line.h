/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time line of the devices: what is swept (activity_sweep.h), and what comes of it in the
 * arena. Under the activity lock.
 */
#ifndef STINT_ACTIVITY_LINE_H
#define STINT_ACTIVITY_LINE_H

#include "activity_device.h"
#include "activity_launch.h"

struct activity_record;

/* 0, or -1 without memory. */
int activity_line_open(void);
void activity_line_forget(void);
/* A kernel, copy or fill. */
void activity_line_work(const struct activity_record *r, const struct activity_gpu *gpu,
                        const struct activity_origin *from);
/* A call that waits for the GPU, or that copies and waits. Thread 0: whoever made the call of that
 * number. */
void activity_line_wait(uint64_t start, uint64_t end, uint32_t thread, uint32_t correlation,
                        int copies);
void activity_line_step(uint64_t at);
void activity_line_settle(void);
/* Settles; nobody looks for a while. */
void activity_line_break(void);

#endif
