/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of linux/perf_event.h that is used. That header belongs to the kernel's, which a
 * compiler for musl does not always have. tests/unit/perf_abi_test.c compares the two.
 */
#ifndef STINT_PERF_ABI_H
#define STINT_PERF_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>

/* struct perf_event_attr in its first version, of PERF_ATTR_SIZE_VER0 bytes. */
struct perf_attr {
    uint32_t type;
    uint32_t size;
    uint64_t config;
    uint64_t sample_period;
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t flags;
    uint32_t wakeup_events;
    uint32_t bp_type;
    uint64_t config1;
};
#define PERF_ABI_DISABLED ((uint64_t)1 << 0) /* of flags */
#define PERF_ABI_EXCLUDE_KERNEL ((uint64_t)1 << 5)

#define PERF_ABI_TYPE_HARDWARE 0u
#define PERF_ABI_TYPE_SOFTWARE 1u
#define PERF_ABI_TYPE_HW_CACHE 3u

#define PERF_ABI_FORMAT_ENABLED 1u
#define PERF_ABI_FORMAT_RUNNING 2u
#define PERF_ABI_FORMAT_GROUP 8u

#define PERF_ABI_CLOEXEC 8ul
#define PERF_ABI_ENABLE _IO('$', 0)
#define PERF_ABI_GET_ID _IOR('$', 7, uint64_t *)

/* The first part of struct perf_event_mmap_page, with its names. */
struct perf_page {
    uint32_t version;
    uint32_t compat_version;
    uint32_t lock;
    uint32_t index;
    int64_t offset;
    uint64_t time_enabled;
    uint64_t time_running;
    uint64_t capabilities;
    uint16_t pmc_width;
    uint16_t time_shift;
    uint32_t time_mult;
    uint64_t time_offset;
    uint64_t time_zero;
    uint32_t size;
    uint32_t reserved;
    uint64_t time_cycles;
    uint64_t time_mask;
};
#define PERF_ABI_USER_RDPMC ((uint64_t)1 << 2) /* of capabilities */
#define PERF_ABI_USER_TIME ((uint64_t)1 << 3)
#define PERF_ABI_USER_TIME_SHORT ((uint64_t)1 << 5)

#endif
