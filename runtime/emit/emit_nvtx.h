/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges: domain "stint", one registered string per site, the set as category.
 */
#ifndef STINT_NVTX_H
#define STINT_NVTX_H

#include "emit.h"

extern const struct emit_ops emit_nvtx;

#endif
