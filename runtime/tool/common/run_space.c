/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does from outside what arena_close does in the process. The lock of a writer goes with its last
 * descriptor and its last mapping, also those of its children, and no process writes a file that
 * has lost its lock once: a new run replaces it. The file may have any content: nothing outside it
 * is touched, and nothing that is in use by what its header says.
 */
#include "run_space.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "runfile/run_open.h"

#define PAGE ((uint64_t)4096)
#define RINGS_MAX 65536u /* a list may be a circle */

struct run_space {
    int fd;
    uint64_t used;
};

static uint64_t round_to_page(uint64_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* 0 if all of it is in the used part. */
static int read_record(const struct run_space *s, uint32_t unit, void *to, size_t bytes) {
    uint64_t at = (uint64_t)unit * STINT_IMPL_UNIT;
    if (at < sizeof(struct arena_header) || at + bytes > s->used) {
        return -1;
    }
    return pread(s->fd, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

static void give_back_ring(const struct run_space *s, uint32_t unit) {
    struct stint_impl_ring ring;
    if (!unit || read_record(s, unit, &ring, sizeof ring) || ring.mask >= s->used ||
        ring.head > ring.mask) {
        return;
    }
    uint64_t events = (uint64_t)unit * STINT_IMPL_UNIT + sizeof ring;
    uint64_t from = round_to_page(events + ring.head * sizeof(struct stint_impl_event));
    uint64_t end = events + (ring.mask + 1) * sizeof(struct stint_impl_event);
    end = u64_min(end, s->used) / PAGE * PAGE;
    if (from < end) {
        (void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                         (off_t)(end - from));
    }
}

static void give_back_rings(const struct run_space *s, const struct arena_header *h) {
    struct arena_thread thread;
    struct arena_lane lane;
    uint32_t unit = h->first_thread;
    for (uint32_t i = 0; unit && i < RINGS_MAX; ++i, unit = thread.next) {
        if (read_record(s, unit, &thread, sizeof thread)) {
            break;
        }
        give_back_ring(s, thread.ring);
    }
    unit = h->first_lane;
    for (uint32_t i = 0; unit && i < RINGS_MAX; ++i, unit = lane.next) {
        if (read_record(s, unit, &lane, sizeof lane)) {
            break;
        }
        give_back_ring(s, lane.ring);
    }
}

/* Whether a process has it open or mapped. */
static int is_written(int fd, const struct arena_header *h, const struct stat *s) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &all) || all.l_type != F_UNLCK) {
        return 1;
    }
    return run_writer_maps(h->pid, s->st_ino);
}

static void cut_run_file(int fd) {
    struct arena_header h;
    struct stat s;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode) || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        memcmp(h.magic, ARENA_MAGIC, sizeof h.magic) != 0 || h.abi != ARENA_FORMAT ||
        h.header_bytes != sizeof h || h.used < sizeof h || h.used > h.size ||
        (uint64_t)s.st_size <= round_to_page(h.used) || is_written(fd, &h, &s)) {
        return;
    }
    struct run_space space = {fd, h.used};
    const struct timespec times[] = {s.st_atim, s.st_mtim};
    give_back_rings(&space, &h);
    (void)!ftruncate(fd, (off_t)round_to_page(h.used));
    futimens(fd, times);
}

void run_space_give_back(const char *path) {
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        cut_run_file(fd);
        close(fd);
    }
}
