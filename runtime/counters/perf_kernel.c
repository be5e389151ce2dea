/* SPDX-License-Identifier: Apache-2.0 */
#include "perf.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"
#include "base/write_all.h"
#include "perf_abi.h"
#include "system/read_beginning.h"

/* A program that closed the standard descriptors would write its messages to the event. */
static int kernel_open(struct perf_attr *attr, int group_fd) {
    return descriptor_raise(
        (int)syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_ABI_CLOEXEC));
}

static int kernel_get_id(int fd, uint64_t *id) {
    return (int)syscall(SYS_ioctl, fd, PERF_ABI_GET_ID, id); /* musl's ioctl takes an int */
}

static int kernel_enable(int fd) {
    return (int)syscall(SYS_ioctl, fd, PERF_ABI_ENABLE, 0);
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *kernel_map(int fd) {
    void *page = mmap(NULL, page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    return page;
}

static void kernel_unmap(void *page) {
    munmap(page, page_bytes());
}

#ifdef __x86_64__

static uint64_t kernel_read_counter(uint32_t number) {
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}

static uint64_t kernel_read_clock(void) {
    return __builtin_ia32_rdtsc();
}

#define READ_COUNTER kernel_read_counter
#define READ_CLOCK kernel_read_clock
#else
#define READ_COUNTER NULL
#define READ_CLOCK NULL
#endif

/* A number, which may be negative: -1 permits all. */
static int kernel_get_paranoid(void) {
    char text[16];
    uint64_t number = 0;
    read_beginning("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    return number_parse_whole(text, 100, &number) ? (int)number : -1;
}

const struct perf_system perf_kernel = {
    kernel_open, kernel_get_id, kernel_enable, read,       close,
    kernel_map,  kernel_unmap,  READ_COUNTER,  READ_CLOCK, kernel_get_paranoid};
