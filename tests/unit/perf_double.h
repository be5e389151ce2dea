/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A double of perf_event_open(2), for machines whose processor counts nothing. What it assumes,
 * with its source:
 * - An event of a group is opened with the leader's descriptor, the leader with -1; a read of the
 *   leader with PERF_FORMAT_GROUP and both times gives the number of events, the times, and the
 *   counters in the order of opening (perf_event_open(2), "Reading results").
 * - The leader is opened disabled; PERF_EVENT_IOC_ENABLE on it starts the group
 *   (perf_event_open(2), "EXAMPLE" and "perf_event ioctl calls").
 * - PERF_EVENT_IOC_ID gives the event's number, which no other event has (perf_event_open(2)).
 * - An unsupported event is ENOENT; one that the setting perf_event_paranoid does not permit EACCES
 *   or EPERM (perf_event_open(2), "ERRORS").
 * - time_running is less than time_enabled where the kernel shares counters (perf_event_open(2),
 *   "PERF_FORMAT_TOTAL_TIME_RUNNING").
 * - The page of an event: struct perf_event_mmap_page in linux/perf_event.h, with the protocol that
 *   is described there.
 */
#ifndef STINT_TESTS_PERF_DOUBLE_H
#define STINT_TESTS_PERF_DOUBLE_H

#include "counters/perf.h"
#include "counters/perf_abi.h"
#include "harness.h"

#define DOUBLE_EVENTS 64
#define DOUBLE_FIRST_FD 1000

struct double_event {
    struct perf_attr attr;
    int is_open;
    int is_enabled;
    int leader; /* a descriptor */
    uint64_t id;
    uint64_t value;
    struct perf_page page;
};

static struct double_event double_events[DOUBLE_EVENTS];
static unsigned double_opened, double_open_now, double_reads, double_maps;
static uint64_t double_enabled, double_running, double_clock;
static uint64_t double_counter[8];
/* An errno for every event of that type, 0: they open; and how many events there may be. */
static int double_refuse[4];
static unsigned double_room = DOUBLE_EVENTS;
static int double_has_pages;

HARNESS_FN struct double_event *double_event_of(int fd) {
    if (fd < DOUBLE_FIRST_FD || fd >= DOUBLE_FIRST_FD + DOUBLE_EVENTS ||
        !double_events[fd - DOUBLE_FIRST_FD].is_open) {
        return NULL;
    }
    return &double_events[fd - DOUBLE_FIRST_FD];
}

HARNESS_FN int double_open(struct perf_attr *attr, int group_fd) {
    int error = double_refuse[attr->type];
    CHECK_EQ_U64(attr->size, sizeof *attr);
    CHECK(group_fd == -1 || double_event_of(group_fd));
    CHECK((group_fd == -1) == (attr->flags & PERF_ABI_DISABLED));
    if (!error && double_open_now == double_room) {
        error = EMFILE;
    }
    if (error) {
        errno = error;
        return -1;
    }
    int place = 0;
    while (double_events[place].is_open) {
        ++place;
    }
    struct double_event *e = &double_events[place];
    memset(e, 0, sizeof *e);
    e->attr = *attr;
    e->is_open = 1;
    e->leader = group_fd;
    e->id = 7000 + ++double_opened;
    __atomic_add_fetch(&double_open_now, 1, __ATOMIC_SEQ_CST);
    return DOUBLE_FIRST_FD + place;
}

HARNESS_FN int double_get_id(int fd, uint64_t *id) {
    const struct double_event *e = double_event_of(fd);
    if (!e) {
        errno = EBADF;
        return -1;
    }
    *id = e->id;
    return 0;
}

HARNESS_FN int double_enable(int fd) {
    struct double_event *e = double_event_of(fd);
    CHECK(e && e->leader == -1 && !e->is_enabled);
    e->is_enabled = 1;
    return 0;
}

HARNESS_FN ssize_t double_read(int fd, void *data, size_t bytes) {
    uint64_t *out = data;
    ++double_reads;
    if (!double_event_of(fd)) {
        errno = EBADF;
        return -1;
    }
    CHECK(double_event_of(fd)->is_enabled);
    out[0] = 0;
    out[1] = double_enabled;
    out[2] = double_running;
    for (int i = 0; i < DOUBLE_EVENTS; ++i) {
        const struct double_event *e = &double_events[i];
        if (e->is_open && (e->leader == fd || DOUBLE_FIRST_FD + i == fd)) {
            CHECK((out[0] + 4) * sizeof *out <= bytes);
            out[3 + out[0]++] = e->value;
        }
    }
    return (ssize_t)((3 + out[0]) * sizeof *out);
}

HARNESS_FN int double_close(int fd) {
    struct double_event *e = double_event_of(fd);
    CHECK(e);
    if (e) {
        e->is_open = 0;
        __atomic_sub_fetch(&double_open_now, 1, __ATOMIC_SEQ_CST); /* threads end at once */
    }
    return 0;
}

HARNESS_FN void *double_map(int fd) {
    struct double_event *e = double_event_of(fd);
    if (!e || !double_has_pages) {
        return NULL;
    }
    ++double_maps;
    return &e->page;
}

HARNESS_FN void double_unmap(void *page) {
    CHECK(page && double_maps);
    --double_maps;
}

HARNESS_FN uint64_t double_read_counter(uint32_t number) {
    return double_counter[number];
}

HARNESS_FN uint64_t double_read_clock(void) {
    return double_clock;
}

static int double_paranoid = 2;

HARNESS_FN int double_get_paranoid(void) {
    return double_paranoid;
}

static const struct perf_system perf_double = {
    double_open, double_get_id, double_enable,       double_read,       double_close,
    double_map,  double_unmap,  double_read_counter, double_read_clock, double_get_paranoid};

/* The event of that type and config that is open. */
HARNESS_FN struct double_event *double_find(uint32_t type, uint64_t config) {
    for (int i = 0; i < DOUBLE_EVENTS; ++i) {
        struct double_event *e = &double_events[i];
        if (e->is_open && e->attr.type == type && e->attr.config == config) {
            return e;
        }
    }
    return NULL;
}

#endif
