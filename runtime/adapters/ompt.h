/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of OMPT, the tools interface of OpenMP 5, that the adapter uses: numbers and layouts as
 * its specification has them. The test ranges.layout compares them with omp-tools.h where it is
 * installed.
 */
#ifndef STINT_OMPT_H
#define STINT_OMPT_H

#include <stdint.h>

/* The word that the runtime keeps for the tool with a region or task. */
union ompt_data {
    uint64_t value;
    void *pointer;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_call)(int number, ompt_function function);

struct ompt_tool {
    int (*initialize)(ompt_lookup look, int device, union ompt_data *tool);
    void (*finish)(union ompt_data *tool);
    union ompt_data tool;
};

enum { OMPT_BEGIN = 1, OMPT_END = 2 };
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4, OMPT_TASK_UNTIED = 0x10000000 };
enum {
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_CANCEL = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_FULFILLED = 6
};

/* Kinds of barriers at which a worker's part of a region may end. */
enum { OMPT_SYNC_IMPLICIT = 2, OMPT_SYNC_PARALLEL = 9 };

/* In the data of an implicit task. */
#define OMPT_IMPLICIT ((uint64_t)1 << 63)

/* ompt_regions.c */
void ompt_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *region,
                         unsigned threads, int flags, const void *address);
void ompt_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                       const void *address);
void ompt_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                        unsigned threads, unsigned index, int flags);
/* Whether it is the last barrier of a worker in its region, and that the worker arrives there. */
int ompt_is_last_barrier(int kind, const union ompt_data *region, const union ompt_data *task,
                         const void *address);
void ompt_worker_arrives(union ompt_data *region, const union ompt_data *task);

/* ompt_tasks.c */
void ompt_task_created(union ompt_data *by, const void *frame, union ompt_data *task, int flags,
                       int dependent, const void *address);
void ompt_task_scheduled(union ompt_data *left, int status, union ompt_data *entered);

#endif
