/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges: domain "stint", one registered string per site, the set as category.
 */
#ifndef STINT_NVTX_H
#define STINT_NVTX_H

#include "ranges.h"

extern const struct range_ops nvtx_ranges;

#endif
