/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the back end may be looked for: that asks the dynamic linker and allocates memory, which a
 * signal handler must not do.
 */
#ifndef STINT_GPU_SEEK_H
#define STINT_GPU_SEEK_H

/* Whether the calling thread may call gpu_ops() for the first time. 0: it may be in a signal handler,
 * and no driver is loaded, so that there is nothing to measure. */
int gpu_may_seek(void);

#endif
