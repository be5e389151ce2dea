/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is an OMPT tool itself, which the runtime asks first: it counts its regions. */
#include <omp-tools.h>
#include <stdio.h>

static int regions;

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region,
                              unsigned threads, int flags, const void *address) {
    ++regions;
}

static int begin(ompt_function_lookup_t look, int device, ompt_data_t *tool) {
    ompt_set_callback_t set = (ompt_set_callback_t)look("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    return 1;
}

static void end(ompt_data_t *tool) {
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    return &tool;
}

int main(void) {
    for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(2)
        {}
    }
    printf("%d\n", regions);
    return 0;
}
