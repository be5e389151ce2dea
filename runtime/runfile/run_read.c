/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of a run file, which may be written, cut or replaced during that, and may come
 * from an untrusted source: run.c calls run_read, which checks the header and reads as many bytes
 * as it says are used. Holes of a sparse file are not read, nor are the events of rings: commands
 * that show a trace read them from the descriptor, in pieces (run_pull). Where a ring is reserved
 * and not filled, the file system may call its pages data, so the lists of rings are read, not the
 * holes. The names are read again at the end, so that each name which the rest refers to is
 * complete.
 */
#include "run_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/order.h"
#include "base/scratch.h"
#include "base/write_all.h"
#include "run_open.h"
#include "system/log.h"

#define BYTES_MAX ((uint64_t)8 << 30) /* twice what the library writes */
#define ROUNDS_MAX 16                 /* a faster writer's newest bytes are not read */
#define AGAIN_MAX 100000              /* texts read twice; a hostile file may have any number */
#define PIECE ((uint64_t)256 << 10)   /* so much is read without looking for holes */
#define RINGS_MAX 65536u              /* of threads, and of streams; a circle ends here, too */

/* The events of a ring: bytes of the file that are not read. */
struct ring_bytes {
    uint64_t from;
    uint64_t to;
};

struct source {
    const char *path;
    int fd;
    uint64_t bytes; /* of the file */
    char *base;
    uint64_t room;
    uint32_t texts_again; /* texts that were read again */
    struct scratch memory;
    struct ring_bytes *ring;
    const uint32_t *ring_order; /* by their place in the file */
    uint32_t ring_count;
    uint32_t ring_room;
};

/* The next byte from `at` on that is not in a hole; the pages to read into are zero already. */
static uint64_t find_data(const struct source *f, uint64_t at, uint64_t to) {
    off_t data = lseek(f->fd, (off_t)at, SEEK_DATA);
    if (data >= 0) {
        return u64_min((uint64_t)data, to);
    }
    if (errno == ENXIO) { /* the rest of the file is a hole */
        return u64_clamp(f->bytes, at, to);
    }
    return at;
}

static uint64_t find_hole(const struct source *f, uint64_t at, uint64_t to) {
    off_t hole = lseek(f->fd, (off_t)at, SEEK_HOLE);
    if (hole <= (off_t)at) {
        return to;
    }
    return u64_min((uint64_t)hole, to);
}

uint64_t run_pull(int file, void *to, uint64_t bytes, uint64_t at) {
    uint64_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(file, (char *)to + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        done += (uint64_t)n;
    }
    return done;
}

/* Returns the bytes that were read; fewer at the end of the file. It does not look for holes: for
 * each of many small pieces that takes the kernel as long as it is from there to the next hole. */
static uint64_t pull_piece(const struct source *f, uint64_t from, uint64_t bytes) {
    return run_pull(f->fd, f->base + from, bytes, from);
}

/* The same without the holes, if it is not small. */
static uint64_t pull_bytes(const struct source *f, uint64_t from, uint64_t to) {
    uint64_t at = from, got = 1;
    if (to - from <= PIECE) {
        return pull_piece(f, from, to - from);
    }
    while (got && (at = find_data(f, at, to)) < to) {
        got = pull_piece(f, at, find_hole(f, at, to) - at);
        at += got;
    }
    return at - from;
}

static int refuse_source(const struct source *f, const char *why) {
    log_error("%.500s: %s", f->path, why);
    return RUN_REFUSED;
}

static int refuse_for(const struct source *f, int error) {
    refuse_source(f, error_text(error));
    return error_is_shortage(error) ? RUN_SHORTAGE : RUN_REFUSED;
}

/* The bytes of a pipe, in a file in memory: a run is read at any offset, some of it twice. -1 with
 * errno. */
static int copy_pipe(int from) {
    char piece[16384]; /* the stack may be small */
    uint64_t bytes = 0;
    ssize_t n;
    int fd = memfd_create("stint", MFD_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    while ((n = read(from, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        bytes += n < 0 ? 0 : (uint64_t)n;
        if (bytes > BYTES_MAX) {
            errno = EFBIG;
        }
        if (n < 0 || bytes > BYTES_MAX ||
            write_all(fd, piece, (size_t)n, WRITE_WAIT_FOR_EVER) < (size_t)n) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

/* Standard input: the file itself if it is one. */
static int open_input(void) {
    struct stat s;
    if (!fstat(STDIN_FILENO, &s) && S_ISREG(s.st_mode)) {
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    return copy_pipe(STDIN_FILENO);
}

static int source_open(struct source *f) {
    struct stat s;
    if (!strcmp(f->path, RUN_STDIN)) {
        f->path = RUN_STDIN_NAME;
        f->fd = open_input();
    } else {
        f->fd = open(f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (f->fd < 0 || fstat(f->fd, &s)) {
        return refuse_for(f, errno);
    }
    if (S_ISDIR(s.st_mode)) {
        return refuse_source(f, "a directory; give a run file in it");
    }
    if (!S_ISREG(s.st_mode)) {
        return refuse_source(f, "not a regular file, as a run file must be");
    }
    f->bytes = (uint64_t)s.st_size;
    /* Large folios from a read-ahead past its reservation could cost the writer a SIGBUS: see
     * run_file.c. */
    posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
    return 0;
}

/* A file without a valid header cannot be read at all. */
static int check_header(const struct source *f, const struct arena_header *h, uint64_t got) {
    size_t known = offsetof(struct arena_header, header_bytes);
    if (!f->bytes) {
        return refuse_source(f, "empty; not a run file of stint");
    }
    if (got < known || memcmp(h->magic, ARENA_MAGIC, sizeof h->magic)) {
        return refuse_source(f, "not a run file of stint");
    }
    if (!arena_format_is_known(h->abi)) {
        log_error("%.500s: a run file of format %u, but this stint reads formats %u to %u: use the "
                  "stint of the library that wrote it",
                  f->path, h->abi, ARENA_FORMAT_OLDEST, ARENA_FORMAT);
        return -1;
    }
    if (got < sizeof *h) {
        return refuse_source(f, "cut off within its header: nothing can be read");
    }
    if (h->header_bytes != sizeof *h) {
        return refuse_source(f, "the header is damaged: nothing can be read");
    }
    return 0;
}

/* The bytes to read, from a header that may be damaged. */
static uint64_t find_extent(const struct source *f, const struct arena_header *h, char *warning,
                            size_t size) {
    uint64_t used = h->used;
    if (used < sizeof *h || used > h->size || used > BYTES_MAX) {
        snprintf(warning, size,
                 "damaged: its header says that %llu of %llu bytes are in use; what "
                 "can be read is shown",
                 (unsigned long long)used, (unsigned long long)h->size);
        used = f->bytes;
    } else if (used > f->bytes) {
        snprintf(warning, size, "cut off: %llu of %llu bytes are there; what can be read is shown",
                 (unsigned long long)f->bytes, (unsigned long long)used);
    }
    return u64_min(u64_min(used, f->bytes), BYTES_MAX);
}

static int source_grow(struct source *f, uint64_t bytes) {
    if (bytes <= f->room) {
        return 0;
    }
    char *more = pages_grow(f->base, f->room, bytes);
    if (!more) {
        return -1;
    }
    f->base = more;
    f->room = bytes;
    return 0;
}

/* ---- Rings. */

/* The record at a unit, which is read if it is not among the first `done` bytes; NULL: it is not in
 * the first `used` bytes. */
static const void *pull_record(const struct source *f, uint32_t unit, uint64_t bytes, uint64_t done,
                               uint64_t used) {
    uint64_t at = (uint64_t)unit * STINT_IMPL_UNIT;
    if (at < sizeof(struct arena_header) || bytes > used || at > used - bytes) {
        return NULL;
    }
    if (at + bytes > done) {
        pull_piece(f, at, bytes);
    }
    return f->base + at;
}

/* 0, or -1 without memory. */
static int add_ring(struct source *f, uint32_t unit, uint64_t done, uint64_t used) {
    const struct stint_impl_ring *ring = NULL;
    if (unit) {
        ring = pull_record(f, unit, sizeof *ring, done, used);
    }
    if (!ring) {
        return 0;
    }
    uint64_t from = (uint64_t)unit * STINT_IMPL_UNIT + sizeof *ring;
    uint64_t most = (used - from) / sizeof(struct stint_impl_event);
    if (ring->mask & (ring->mask + 1) || ring->mask >= most) {
        return 0;
    }
    f->ring =
        scratch_array_grow(&f->memory, f->ring, f->ring_count, &f->ring_room, sizeof *f->ring);
    if (!f->ring) {
        return -1;
    }
    uint64_t bytes = (ring->mask + 1) * sizeof(struct stint_impl_event);
    f->ring[f->ring_count++] = (struct ring_bytes){from, from + bytes};
    return 0;
}

static int is_ring_before(const void *what, uint32_t a, uint32_t b) {
    const struct ring_bytes *ring = what;
    return ring[a].from < ring[b].from;
}

/* Finds the rings of threads and streams, whose records may be anywhere. 0, or -1 without memory.
 */
static int find_rings(struct source *f, uint64_t done, uint64_t used) {
    const struct arena_header *h = (const struct arena_header *)(const void *)f->base;
    const struct arena_thread *t;
    const struct arena_lane *l;
    int failed = 0;
    uint32_t i = 0;
    for (uint32_t unit = h->first_thread; i < RINGS_MAX && !failed; ++i, unit = t->next) {
        t = pull_record(f, unit, sizeof *t, done, used);
        if (!t) {
            break;
        }
        failed = add_ring(f, t->ring, done, used);
    }
    i = 0;
    for (uint32_t unit = h->first_lane; i < RINGS_MAX && !failed; ++i, unit = l->next) {
        l = pull_record(f, unit, sizeof *l, done, used);
        if (!l) {
            break;
        }
        failed = add_ring(f, l->ring, done, used);
    }
    f->ring_order = order_by(&f->memory, f->ring_count, is_ring_before, f->ring);
    return failed || !f->ring_order ? -1 : 0;
}

/* Reads the bytes but the events of rings. Returns where it ended, before `to` at the end of the
 * file. */
static uint64_t pull_records(const struct source *f, uint64_t from, uint64_t to) {
    for (uint32_t i = 0; i < f->ring_count && from < to; ++i) {
        const struct ring_bytes *ring = &f->ring[f->ring_order[i]];
        if (ring->to <= from) {
            continue;
        }
        uint64_t end = u64_clamp(ring->from, from, to);
        uint64_t got = pull_bytes(f, from, end);
        if (got < end - from) {
            return from + got;
        }
        from = ring->to;
    }
    return from < to ? from + pull_bytes(f, from, to) : to;
}

/* Reads up to the bytes that are in use when the rest was read; the first round reads nearly all.
 * 0, or -1 without memory. */
static int read_body(struct source *f, uint64_t used, uint64_t *done) {
    struct arena_header now;
    *done = sizeof now;
    for (int round = 0; round < ROUNDS_MAX && used > *done; ++round) {
        if (source_grow(f, used)) {
            return -1;
        }
        if (!round) {
            *done += pull_bytes(f, *done, u64_min(used, *done + PIECE));
            if (find_rings(f, *done, used)) {
                return -1;
            }
        }
        *done = pull_records(f, *done, used);
        struct stat s;
        if (!fstat(f->fd, &s)) {
            f->bytes = (uint64_t)s.st_size;
        }
        *done = u64_min(*done, f->bytes); /* it may end in a ring, which was not read */
        if (pread(f->fd, &now, sizeof now, 0) != (ssize_t)sizeof now || *done < used) {
            break;
        }
        if (now.used > used && now.used <= u64_min(now.size, u64_min(BYTES_MAX, f->bytes))) {
            used = now.used; /* the writer used more since, and the file has it */
        }
    }
    return 0;
}

/* ---- The names, read again. */

/* Whether `bytes` bytes at `at` lie in the part of the body that was read, which has `done`
 * bytes. */
static int is_in_body(uint64_t at, uint64_t bytes, uint64_t done) {
    return at >= sizeof(struct arena_header) && bytes <= done && at <= done - bytes;
}

/* Reads a text again that was not yet written when the body was read. No text is empty, so its
 * length was 0. The length is read first: it says how many bytes follow. */
static void pull_text(struct source *f, uint32_t text, uint64_t done) {
    uint64_t at = (uint64_t)text * 8;
    if (!is_in_body(at, sizeof(struct arena_text), done)) {
        return;
    }
    const struct arena_text *t = (const struct arena_text *)(const void *)(f->base + at);
    if (t->length || f->texts_again >= AGAIN_MAX) {
        return;
    }
    ++f->texts_again;
    pull_piece(f, at, sizeof *t);
    uint64_t bytes = sizeof *t + t->length + 1;
    if (is_in_body(at, bytes, done)) {
        pull_piece(f, at, bytes);
    }
}

static uint64_t unit_offset(uint32_t unit) {
    return (uint64_t)unit * STINT_IMPL_UNIT;
}

static void refresh_sites(struct source *f, const struct arena_header *h, uint64_t done) {
    for (uint32_t i = 0; i < h->site_count && i < ARENA_SITES; i += ARENA_SITES_PER_CHUNK) {
        uint64_t at = unit_offset(h->site_chunk[i / ARENA_SITES_PER_CHUNK]);
        uint64_t bytes = ARENA_SITES_PER_CHUNK * sizeof(struct arena_site);
        if (!is_in_body(at, bytes, done)) {
            continue;
        }
        pull_piece(f, at, bytes);
        const struct arena_site *site = (const struct arena_site *)(const void *)(f->base + at);
        for (uint32_t k = 0; k < ARENA_SITES_PER_CHUNK; ++k) {
            pull_text(f, site[k].name, done);
            pull_text(f, site[k].file, done);
        }
    }
}

static void refresh_sets(struct source *f, const struct arena_header *h, uint64_t done) {
    for (uint32_t i = 0; i < h->set_count && i < ARENA_SETS; i += ARENA_SETS_PER_CHUNK) {
        uint64_t at = unit_offset(h->set_chunk[i / ARENA_SETS_PER_CHUNK]);
        uint64_t bytes = ARENA_SETS_PER_CHUNK * sizeof(struct arena_set);
        if (!is_in_body(at, bytes, done)) {
            continue;
        }
        pull_piece(f, at, bytes);
        const struct arena_set *set = (const struct arena_set *)(const void *)(f->base + at);
        for (uint32_t k = 0; k < ARENA_SETS_PER_CHUNK; ++k) {
            pull_text(f, set[k].name, done);
        }
    }
}

/* Takes the header as it is now, but for the heads of lists: what these refer to was in the body.
 */
static void refresh_header(struct source *f, uint64_t done) {
    struct arena_header *h = (struct arena_header *)(void *)f->base;
    struct arena_header now;
    if (pread(f->fd, &now, sizeof now, 0) != (ssize_t)sizeof now || now.abi != h->abi ||
        memcmp(now.magic, h->magic, sizeof h->magic)) {
        return;
    }
    now.first_thread = h->first_thread;
    now.thread_count = h->thread_count;
    now.first_device = h->first_device;
    now.first_lane = h->first_lane;
    now.lane_count = h->lane_count;
    now.first_activity = h->first_activity;
    *h = now;
    refresh_sites(f, h, done);
    refresh_sets(f, h, done);
}

static int source_read(struct source *f, char *warning, size_t size) {
    uint64_t done, start = sizeof(struct arena_header);
    f->base = pages_get(start);
    if (!f->base) {
        return refuse_for(f, ENOMEM);
    }
    f->room = start;
    const struct arena_header *h = (const struct arena_header *)(const void *)f->base;
    uint64_t got = pull_bytes(f, 0, start);
    if (check_header(f, h, got)) {
        return RUN_REFUSED;
    }
    uint64_t used = find_extent(f, h, warning, size);
    if (read_body(f, used, &done)) {
        return refuse_for(f, ENOMEM);
    }
    if (done < used && !*warning) {
        snprintf(warning, size, "cut off: %llu of %llu bytes are there; what can be read is shown",
                 (unsigned long long)done, (unsigned long long)used);
    }
    refresh_header(f, done);
    return 0;
}

int run_read(struct run_bytes *out, const char *path, char *warning, size_t size) {
    struct source f = {.path = path, .fd = -1};
    *warning = '\0';
    int failed = source_open(&f);
    if (!failed) {
        failed = source_read(&f, warning, size);
    }
    out->has_rings = f.ring_count != 0;
    scratch_free(&f.memory);
    if (failed) {
        if (f.fd >= 0) {
            close(f.fd);
        }
        pages_put(f.base, f.room);
        return failed;
    }
    out->fd = f.fd;
    out->base = f.base;
    out->size = f.room;
    return 0;
}
