/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers and layouts of the OpenMP adapter beside those of omp-tools.h. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <omp-tools.h>

#include "adapters/ompt.h"

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)

SAME(sizeof(union ompt_data), sizeof(ompt_data_t));
SAME(sizeof(struct ompt_tool), sizeof(ompt_start_tool_result_t));
SAME(offsetof(struct ompt_tool, finish), offsetof(ompt_start_tool_result_t, finalize));
SAME(offsetof(struct ompt_tool, tool), offsetof(ompt_start_tool_result_t, tool_data));
SAME(OMPT_BEGIN, ompt_scope_begin);
SAME(OMPT_END, ompt_scope_end);
SAME(OMPT_TASK_INITIAL, ompt_task_initial);
SAME(OMPT_TASK_EXPLICIT, ompt_task_explicit);
SAME(OMPT_TASK_UNTIED, ompt_task_untied);
SAME(OMPT_TASK_COMPLETE, ompt_task_complete);
SAME(OMPT_TASK_CANCEL, ompt_task_cancel);
SAME(OMPT_TASK_DETACH, ompt_task_detach);
SAME(OMPT_TASK_FULFILLED, ompt_task_late_fulfill);
SAME(3, ompt_callback_parallel_begin);
SAME(4, ompt_callback_parallel_end);
SAME(5, ompt_callback_task_create);
SAME(6, ompt_callback_task_schedule);
SAME(7, ompt_callback_implicit_task);
SAME(16, ompt_callback_sync_region_wait);
SAME(17, ompt_callback_mutex_released);
SAME(20, ompt_callback_work);
SAME(21, ompt_callback_master);
SAME(26, ompt_callback_mutex_acquire);
SAME(27, ompt_callback_mutex_acquired);
SAME(28, ompt_callback_nest_lock);
SAME(1, ompt_work_loop);
SAME(3, ompt_work_single_executor);
SAME(4, ompt_work_single_other);
SAME(7, ompt_work_taskloop);
SAME(2, ompt_sync_region_barrier_implicit);
SAME(5, ompt_sync_region_taskwait);
SAME(6, ompt_sync_region_taskgroup);
SAME(7, ompt_sync_region_reduction);
SAME(1, ompt_mutex_lock);
SAME(2, ompt_mutex_test_lock);
SAME(4, ompt_mutex_test_nest_lock);
SAME(5, ompt_mutex_critical);
SAME(7, ompt_mutex_ordered);
