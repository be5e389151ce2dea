/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX' names as timers of stint (docs/migrate.md). nvtxRangePop has no name, so the names of the
 * open ranges of a thread are kept. A range must be closed in the source file that opened it, and
 * its name must live until then. */
#ifndef NVTX_BY_STINT_H
#define NVTX_BY_STINT_H
#include <stint/stint.h>

enum { NVTX_BY_STINT_DEPTH = 64 };
static __thread const char *nvtx_open[NVTX_BY_STINT_DEPTH];
static __thread int nvtx_depth;

static inline int nvtxRangePushA(const char *name) {
    if (nvtx_depth < NVTX_BY_STINT_DEPTH) {
        nvtx_open[nvtx_depth] = name;
        stint_scope_begin(name);
    }
    return nvtx_depth++;
}

static inline int nvtxRangePop(void) {
    if (nvtx_depth == 0) {
        return -1;
    }
    if (--nvtx_depth < NVTX_BY_STINT_DEPTH) {
        stint_scope_end(nvtx_open[nvtx_depth]);
    }
    return nvtx_depth;
}

#define nvtxMarkA(text) STINT_TIMER_MARK(text)
#endif
