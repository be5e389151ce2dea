/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roctx in libstint-ranges.so: the five functions of AMD's libroctx64.so, which the dynamic linker
 * finds here first where this library is preloaded. Push and pop are scopes of their thread, start
 * and stop intervals, marks go to the trace.
 */
#include <stdint.h>

#include "range_near.h"
#include "range_tables.h"

static const struct range_domain *const roctx = &range_default[RANGE_ROCTX];

RANGE_EXPORTED void roctxMarkA(const char *message) {
    stint_impl_mark_named(message, UINT64_MAX);
}

/* The level of the range, 0 for the outermost. */
RANGE_EXPORTED int roctxRangePushA(const char *message) {
    return range_near_push_name(RANGE_ROCTX, message, 1);
}

/* The level of the range that ends, negative: none is open. */
RANGE_EXPORTED int roctxRangePop(void) {
    return range_near_pop(RANGE_ROCTX);
}

RANGE_EXPORTED uint64_t roctxRangeStartA(const char *message) {
    struct range_name name = {message, UINT64_MAX};
    return range_start(roctx, name, NULL);
}

RANGE_EXPORTED void roctxRangeStop(uint64_t id) {
    range_finish(id);
}
