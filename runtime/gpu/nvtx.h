/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every scope as an NVTX range, when STINT_NVTX asks for it: domain "stint", one registered string a
 * site, the set as category. Two files: nvtx.c where NVTX's headers were there at build time,
 * nvtx_none.c where not.
 *
 * All of these call into a tool, or may: from any thread, with no lock of ours held, and marked as
 * inside the slow path, so that a scope of the tool's, or of a signal handler that interrupts it, is
 * refused instead of entering it again.
 */
#ifndef STINT_NVTX_H
#define STINT_NVTX_H

#include <stdint.h>

/* Whether this build can; else STINT_NVTX=1 gets a line. */
extern const int nvtx_built;

/* Finds out once whether scopes are to be ranges: settings are read, and a tool is loaded if there
 * is one. Threads that come meanwhile wait. */
void nvtx_start(void);
/* What it found; does not change once nvtx_start has returned. */
int nvtx_on(void);

/* Around every open scope of the calling thread, balanced; only with nvtx_on(). */
void nvtx_push(uint32_t site, uint32_t set);
void nvtx_pop(void);

/* In the child of a fork, under the lock: the numbers of sites begin anew. */
void nvtx_forget_all(void);

#endif
