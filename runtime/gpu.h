/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU back end can do. There is always one: gpu_none.c when no other is usable, so that
 * nobody asks for its absence.
 */
#ifndef STINT_GPU_H
#define STINT_GPU_H

struct gpu_ops {
    const char *name;
    const char *reason;         /* why it can do nothing; NULL if it can */
    int (*capture_start)(void); /* as cuProfilerStart, Stop; 0 when the tools were told */
    int (*capture_stop)(void);
};

extern const struct gpu_ops gpu_none;

/* The back end of this process; never NULL. */
const struct gpu_ops *gpu_ops(void);

#endif
