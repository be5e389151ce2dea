/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes and clocks of the files of a merge, from their headers.
 */
#ifndef STINT_TOOL_MERGE_INPUTS_H
#define STINT_TOOL_MERGE_INPUTS_H

#include "tool/common/run_inputs.h"

/* Whether not all runs are of one boot with one kind of clock. */
int merge_inputs_several_clocks(const struct run_inputs *in);
/* The bytes that hold the contents of all. */
uint64_t merge_inputs_bytes(const struct run_inputs *in);
/* The bytes that their merge may need besides: histograms of nodes that kept their samples, and the
 * numbers of each run for each name of all runs. At least as many as it needs, unless a run was
 * merged itself and its ranks lack many names of the others. */
uint64_t merge_inputs_growth(const struct run_inputs *in);

#endif
