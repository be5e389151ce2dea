/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of counters of the calling thread, by perf_event_open(2). The counters of a group are
 * scheduled together, so that their ratios are right also where the kernel shares the processor's
 * counters among groups.
 */
#ifndef STINT_PERF_H
#define STINT_PERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "counter_ids.inc" /* enum counter_group, from gen/counters.ini */

#define PERF_NAMES 300 /* bytes for all names */

/* The values in a reading of a group: its counters, the nanoseconds for which they were requested,
 * and those for which they counted. */
#define PERF_VALUES (COUNTER_EVENTS + 2)

struct perf_event {
    int fd;
    uint64_t id; /* the kernel's, by which the descriptor is known to be still this event's */
    void *page;  /* struct perf_page, or NULL */
};

struct perf_group {
    uint32_t count; /* 0: closed */
    struct perf_event event[COUNTER_EVENTS];
};

/* The names of a list in the groups they are of, as bits: 1 << COUNTER_GROUP_CORE. A name that is
 * not known is ignored, with a line that names those that are. */
uint32_t perf_parse_names(const char *list);
/* The names of those groups with ", " between them; returns the length. */
size_t perf_list_names(char *out, size_t size, uint32_t groups);
uint32_t perf_events_of(enum counter_group group);

/* Opens the group for the calling thread. 0, or the errno. */
int perf_open(struct perf_group *g, enum counter_group group);
/* PERF_VALUES at most: perf_events_of(group) counters, then the two times. 0, or -1 where the
 * descriptor is another one's now. Async-signal-safe. */
int perf_read(const struct perf_group *g, uint64_t *values);
/* Any thread of the process that opened it. */
void perf_close(struct perf_group *g);
/* In the child of a fork; is_read: the fork may have interrupted perf_read. */
void perf_forget(struct perf_group *g, int is_read);

/* The system, which tests replace. Results as of the system calls: -1 with errno. */
struct perf_attr;
struct perf_system {
    int (*open)(struct perf_attr *attr, int group_fd);
    int (*get_id)(int fd, uint64_t *id);
    int (*enable)(int fd);
    ssize_t (*read)(int fd, void *data, size_t bytes);
    int (*close)(int fd);
    /* The page of an event, NULL without. */
    void *(*map)(int fd);
    void (*unmap)(void *page);
    /* The instructions that read a counter and the clock of the page. NULL: there are none. */
    uint64_t (*read_counter)(uint32_t number);
    uint64_t (*read_clock)(void);
    /* The setting kernel.perf_event_paranoid; where it cannot be read, the most that permits
     * all. */
    int (*get_paranoid)(void);
};
extern const struct perf_system perf_kernel;
void perf_set_system(const struct perf_system *s);
int perf_paranoid(void);

#endif
