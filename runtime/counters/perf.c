/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of counters: opening, reading, closing. Called by counters.c on the thread that is
 * counted and by its signal handlers.
 * - A program may close descriptors that are not its own and open files under their numbers. So the
 *   number is asked for the event's id before it is read or closed.
 * - Where the kernel permits it, the counters of the processor are read by an instruction, by the
 *   protocol that perf_event_open(2) describes at cap_usr_rdpmc; else by read(2).
 * - Counters of the processor count the program alone, not the kernel in its name, so that a figure
 *   does not depend on the user's permissions; the kernel's own counters count everything.
 */
#include "perf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/print.h"
#include "base/scratch.h"
#include "perf_abi.h"
#include "system/log.h"

struct counter_name {
    const char *name;
    uint32_t type;
    uint64_t config;
};

struct counter_list {
    uint32_t count;
    struct counter_name event[COUNTER_EVENTS];
};

#include "counter_table.inc"

static const struct perf_system *perf_calls = &perf_kernel;

void perf_set_system(const struct perf_system *s) {
    perf_calls = s;
}

int perf_paranoid(void) {
    return perf_calls->get_paranoid();
}

/* ---- Names. */

/* The group of a name, COUNTER_GROUPS if there is none. */
static uint32_t group_of_name(const char *name, size_t length) {
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        for (uint32_t i = 0; i < counter_lists[group].count; ++i) {
            const char *known = counter_lists[group].event[i].name;
            if (strlen(known) == length && !strncmp(known, name, length)) {
                return group;
            }
        }
    }
    return COUNTER_GROUPS;
}

uint32_t perf_parse_names(const char *list) {
    uint32_t groups = 0;
    while (list && *list) {
        size_t length = strcspn(list, ",");
        uint32_t group = group_of_name(list, length);
        if (group < COUNTER_GROUPS) {
            groups |= 1u << group;
        } else {
            char known[PERF_NAMES];
            perf_list_names(known, sizeof known, (1u << COUNTER_GROUPS) - 1);
            log_warning("STINT_COUNTERS: unknown counter '%.*s', ignored; known are %s",
                        (int)length, list, known);
        }
        list += length;
        list += *list == ',';
    }
    return groups;
}

size_t perf_list_names(char *out, size_t size, uint32_t groups) {
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        for (uint32_t i = 0; groups >> group & 1 && i < counter_lists[group].count; ++i) {
            const char *separator = "";
            if (length) {
                separator = ", ";
            }
            length += print_text(out + length, size - length, "%s%s", separator,
                                 counter_lists[group].event[i].name);
        }
    }
    return length;
}

uint32_t perf_events_of(enum counter_group group) {
    return counter_lists[group].count;
}

/* ---- Opening and closing. */

static int event_is_ours(const struct perf_event *e) {
    uint64_t id = 0;
    return !perf_calls->get_id(e->fd, &id) && id == e->id;
}

static int event_open(struct perf_event *e, const struct counter_name *name, int group_fd) {
    struct perf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = name->type;
    attr.config = name->config;
    attr.read_format = PERF_ABI_FORMAT_GROUP | PERF_ABI_FORMAT_ENABLED | PERF_ABI_FORMAT_RUNNING;
    if (group_fd < 0) {
        attr.flags |= PERF_ABI_DISABLED;
    }
    if (name->type != PERF_ABI_TYPE_SOFTWARE) {
        attr.flags |= PERF_ABI_EXCLUDE_KERNEL;
    }
    e->page = NULL;
    e->fd = perf_calls->open(&attr, group_fd);
    if (e->fd < 0) {
        return errno;
    }
    if (perf_calls->get_id(e->fd, &e->id)) {
        perf_calls->close(e->fd);
        return ENOSYS; /* before Linux 3.12 */
    }
    if (perf_calls->read_counter && name->type != PERF_ABI_TYPE_SOFTWARE) {
        e->page = perf_calls->map(e->fd);
    }
    return 0;
}

static void event_close(struct perf_event *e) {
    if (event_is_ours(e)) {
        perf_calls->close(e->fd);
    }
    e->fd = -1;
}

/* All begin to count at once, when the leader is enabled: an event that joins a leader that counts
 * already may begin later. */
int perf_open(struct perf_group *g, enum counter_group group) {
    const struct counter_list *list = &counter_lists[group];
    struct perf_group opened = {0};
    int leader = -1;
    while (opened.count < list->count) {
        uint32_t i = opened.count;
        int error = event_open(&opened.event[i], &list->event[i], leader);
        if (error) {
            perf_close(&opened);
            return error;
        }
        leader = opened.event[0].fd;
        ++opened.count;
    }
    if (perf_calls->enable(leader)) {
        perf_close(&opened);
        return EINVAL;
    }
    *g = opened;
    return 0;
}

void perf_close(struct perf_group *g) {
    uint32_t count = g->count;
    g->count = 0; /* first, for a signal handler */
    for (uint32_t i = 0; i < count; ++i) {
        void *page = g->event[i].page;
        g->event[i].page = NULL;
        if (page) {
            perf_calls->unmap(page);
        }
        event_close(&g->event[i]);
    }
}

/* The kernel does not map the pages in a child. */
void perf_forget(struct perf_group *g, int is_read) {
    uint32_t count = g->count;
    g->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (g->event[i].page && is_read) {
            pages_renew(g->event[i].page, (size_t)sysconf(_SC_PAGESIZE));
        }
        event_close(&g->event[i]);
    }
}

/* ---- Reading. */

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)

/* Returns the time in nanoseconds according to a page, at the moment that its clock shows. */
static uint64_t page_ns_since(const struct perf_page *p, uint64_t clock) {
    uint32_t shift = p->time_shift, mult = p->time_mult;
    if (p->capabilities & PERF_ABI_USER_TIME_SHORT) {
        clock = p->time_cycles + ((clock - p->time_cycles) & p->time_mask);
    }
    uint64_t whole = clock >> shift;
    uint64_t rest = clock & (((uint64_t)1 << shift) - 1);
    return p->time_offset + whole * mult + (rest * mult >> shift);
}

/* The counter of that width, with its sign. */
static uint64_t sign_extend(uint64_t counter, uint32_t width) {
    uint64_t sign = (uint64_t)1 << (width - 1);
    counter &= sign * 2 - 1;
    return (counter ^ sign) - sign;
}

/* One event without a system call. -1: the page does not permit it. */
static int event_read_page(const struct perf_event *e, uint64_t *value, uint64_t *enabled,
                           uint64_t *running) {
    const struct perf_page *p = e->page;
    uint32_t lock;
    do {
        lock = LOAD(p->lock);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (~LOAD(p->capabilities) & (PERF_ABI_USER_RDPMC | PERF_ABI_USER_TIME)) {
            return -1;
        }
        uint32_t index = LOAD(p->index);
        uint64_t since = page_ns_since(p, perf_calls->read_clock());
        *value = (uint64_t)LOAD(p->offset);
        *enabled = LOAD(p->time_enabled) + since;
        *running = LOAD(p->time_running);
        if (index) {
            *running += since;
            *value += sign_extend(perf_calls->read_counter(index - 1), p->pmc_width);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (LOAD(p->lock) != lock);
    return 0;
}

static int read_pages(const struct perf_group *g, uint64_t *values) {
    for (uint32_t i = g->count; i--;) { /* the first has the times */
        if (!g->event[i].page ||
            event_read_page(&g->event[i], &values[i], &values[g->count], &values[g->count + 1])) {
            return -1;
        }
    }
    return 0;
}

/* Reads a group with its two times: number of counters, the times, the counters. */
static int read_descriptor(const struct perf_group *g, uint64_t *values) {
    uint64_t data[3 + COUNTER_EVENTS];
    size_t bytes = (3 + g->count) * sizeof *data;
    if (!event_is_ours(&g->event[0]) ||
        perf_calls->read(g->event[0].fd, data, bytes) != (ssize_t)bytes || data[0] != g->count) {
        return -1;
    }
    memcpy(values, &data[3], g->count * sizeof *data);
    values[g->count] = data[1];
    values[g->count + 1] = data[2];
    return 0;
}

int perf_read(const struct perf_group *g, uint64_t *values) {
    if (!g->count) {
        return -1;
    }
    if (!read_pages(g, values)) {
        return 0;
    }
    return read_descriptor(g, values);
}
