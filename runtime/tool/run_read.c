/* SPDX-License-Identifier: Apache-2.0 */
#include "run_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/log.h"
#include "base/scratch.h"

#define MOST ((uint64_t)8 << 30) /* twice what a runtime can make */
#define ROUNDS 16                /* after which a writer that fast has its way */
#define AGAIN 100000 /* texts looked at twice, at most: a hostile file has no end of them */

struct source {
    const char *path;
    int fd;
    uint64_t bytes; /* of the file */
    char *base;
    uint64_t room;
    uint32_t again;
};

/* Where the next bytes are that are not a hole: zero is what our pages are already. */
static uint64_t past_hole(const struct source *f, uint64_t at, uint64_t to) {
    off_t data = lseek(f->fd, (off_t)at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
        return f->bytes < to ? f->bytes > at ? f->bytes : at : to;
    }
    return data < 0 ? at : (uint64_t)data < to ? (uint64_t)data : to;
}

static uint64_t to_hole(const struct source *f, uint64_t at, uint64_t to) {
    off_t hole = lseek(f->fd, (off_t)at, SEEK_HOLE);
    return hole > (off_t)at && (uint64_t)hole < to ? (uint64_t)hole : to;
}

/* Bytes that were there; fewer at the end of the file. */
static uint64_t pull(const struct source *f, uint64_t from, uint64_t to) {
    uint64_t at = from;
    while ((at = past_hole(f, at, to)) < to) {
        ssize_t n = pread(f->fd, f->base + at, to_hole(f, at, to) - at, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        at += (uint64_t)n;
    }
    return at - from;
}

static int refuse(const struct source *f, const char *why) {
    log_line("%.500s: %s", f->path, why);
    return -1;
}

static int open_file(struct source *f) {
    struct stat s;
    f->fd = open(f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (f->fd < 0) {
        return refuse(f, strerror(errno));
    }
    if (fstat(f->fd, &s)) {
        return refuse(f, strerror(errno));
    }
    if (S_ISDIR(s.st_mode)) {
        return refuse(f, "a directory; give a run file in it");
    }
    if (!S_ISREG(s.st_mode)) {
        return refuse(f, "not a regular file; a run file is read at any place of it");
    }
    f->bytes = (uint64_t)s.st_size;
    /* Large folios from a read-ahead past its reservation could cost the writer a SIGBUS: see
     * run_file.c. */
    posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
    return 0;
}

/* What no writer of this version leaves: cannot be read at all. */
static int check_header(const struct source *f, const struct arena_header *h, uint64_t got) {
    size_t known = offsetof(struct arena_header, header_bytes);
    if (!f->bytes) {
        return refuse(f, "empty; not a run file of stint");
    }
    if (got < known || memcmp(h->magic, ARENA_MAGIC, sizeof h->magic)) {
        return refuse(f, "not a run file of stint");
    }
    if (h->abi != STINT_ABI) {
        log_line("%.500s: a run file of format %u, this stint reads format %u: use the stint that "
                 "came with the library that wrote it",
                 f->path, h->abi, (unsigned)STINT_ABI);
        return -1;
    }
    if (got < sizeof *h) {
        return refuse(f, "cut off within its header: nothing of it can be read");
    }
    if (h->header_bytes != sizeof *h) {
        return refuse(f, "a run file whose header is damaged: nothing of it can be read");
    }
    return 0;
}

/* Bytes to read, from a header that may say anything. */
static uint64_t extent(const struct source *f, const struct arena_header *h, char *warning,
                       size_t size) {
    uint64_t used = h->used;
    if (used < sizeof *h || used > h->size || used > MOST) {
        snprintf(warning, size,
                 "damaged: its header says that %llu of %llu bytes are in use; what "
                 "can be read is shown",
                 (unsigned long long)used, (unsigned long long)h->size);
        used = f->bytes;
    } else if (used > f->bytes) {
        snprintf(warning, size, "cut off: %llu of %llu bytes are there; what can be read is shown",
                 (unsigned long long)f->bytes, (unsigned long long)used);
    }
    used = used < f->bytes ? used : f->bytes;
    used = used < MOST ? used : MOST;
    return used;
}

static int make_room(struct source *f, uint64_t bytes) {
    char *more = bytes > f->room ? pages_get(bytes) : f->base;
    if (!more) {
        return -1;
    }
    if (more != f->base) {
        memcpy(more, f->base, f->room);
        pages_put(f->base, f->room);
        f->base = more;
        f->room = bytes;
    }
    return 0;
}

/* Up to what is in use once all that was read; the first read is nearly all of it. */
static int read_body(struct source *f, uint64_t used, uint64_t *done) {
    struct arena_header now;
    *done = sizeof now;
    for (int round = 0; round < ROUNDS && used > *done; ++round) {
        if (make_room(f, used)) {
            return -1;
        }
        uint64_t got = pull(f, *done, used);
        *done += got;
        if (pread(f->fd, &now, sizeof now, 0) != (ssize_t)sizeof now || *done < used) {
            break;
        }
        struct stat s;
        f->bytes = fstat(f->fd, &s) ? f->bytes : (uint64_t)s.st_size;
        used = now.used > used && now.used <= now.size && now.used <= MOST && now.used <= f->bytes
                   ? now.used
                   : used;
    }
    return 0;
}

/* ---- Names, once more. */

static void pull_again(const struct source *f, uint64_t at, uint64_t bytes, uint64_t done) {
    if (at >= sizeof(struct arena_header) && bytes <= done && at <= done - bytes) {
        pull(f, at, at + bytes);
    }
}

static void pull_text(struct source *f, uint32_t text, uint64_t done) {
    uint64_t at = (uint64_t)text * 8;
    if (at < sizeof(struct arena_header) || at + sizeof(struct arena_text) > done) {
        return;
    }
    const struct arena_text *t = (const struct arena_text *)(const void *)(f->base + at);
    if (!t->length && f->again < AGAIN) { /* no name is empty: it was not there yet */
        ++f->again;
        pull_again(f, at, sizeof *t, done);
        pull_again(f, at, sizeof *t + t->length + 1, done);
    }
}

static uint64_t at_unit(uint32_t unit) {
    return (uint64_t)unit * STINT_IMPL_UNIT;
}

static void refresh_sites(struct source *f, const struct arena_header *h, uint64_t done) {
    for (uint32_t i = 0; i < h->site_count && i < ARENA_SITES; i += ARENA_SITES_PER_CHUNK) {
        uint64_t at = at_unit(h->site_chunk[i / ARENA_SITES_PER_CHUNK]);
        uint64_t bytes = ARENA_SITES_PER_CHUNK * sizeof(struct arena_site);
        if (at < sizeof *h || bytes > done || at > done - bytes) {
            continue;
        }
        pull(f, at, at + bytes);
        const struct arena_site *site = (const struct arena_site *)(const void *)(f->base + at);
        for (uint32_t k = 0; k < ARENA_SITES_PER_CHUNK; ++k) {
            pull_text(f, site[k].name, done);
            pull_text(f, site[k].file, done);
        }
    }
}

static void refresh_sets(struct source *f, const struct arena_header *h, uint64_t done) {
    for (uint32_t i = 0; i < h->set_count && i < ARENA_SETS; i += ARENA_SETS_PER_CHUNK) {
        uint64_t at = at_unit(h->set_chunk[i / ARENA_SETS_PER_CHUNK]);
        uint64_t bytes = ARENA_SETS_PER_CHUNK * sizeof(struct arena_set);
        if (at < sizeof *h || bytes > done || at > done - bytes) {
            continue;
        }
        pull(f, at, at + bytes);
        const struct arena_set *set = (const struct arena_set *)(const void *)(f->base + at);
        for (uint32_t k = 0; k < ARENA_SETS_PER_CHUNK; ++k) {
            pull_text(f, set[k].name, done);
        }
    }
}

/* Lists as they began before the body was read, all else as it is now. */
static void refresh(struct source *f, uint64_t done) {
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

static int read_all(struct source *f, char *warning, size_t size) {
    uint64_t done, start = sizeof(struct arena_header);
    f->base = pages_get(start);
    if (!f->base) {
        return refuse(f, "not enough memory");
    }
    f->room = start;
    const struct arena_header *h = (const struct arena_header *)(const void *)f->base;
    uint64_t got = pull(f, 0, start);
    if (check_header(f, h, got)) {
        return -1;
    }
    uint64_t used = extent(f, h, warning, size);
    if (read_body(f, used, &done)) {
        return refuse(f, "not enough memory to read it");
    }
    if (done < used && !*warning) {
        snprintf(warning, size, "cut off: %llu of %llu bytes are there; what can be read is shown",
                 (unsigned long long)done, (unsigned long long)used);
    }
    refresh(f, done);
    return 0;
}

int run_read(struct run_bytes *out, const char *path, char *warning, size_t size) {
    struct source f = {.path = path, .fd = -1};
    *warning = '\0';
    if (open_file(&f) || read_all(&f, warning, size)) {
        if (f.fd >= 0) {
            close(f.fd);
        }
        pages_put(f.base, f.room);
        return -1;
    }
    out->base = f.base;
    out->size = f.room;
    return f.fd;
}
