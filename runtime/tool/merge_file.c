/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define CHUNK ((uint64_t)4 << 20)
#define TEXT_CHUNK ((uint64_t)4096)
#define NAMES 100

static int fail(struct merge_file *f, const char *why) {
    if (!f->failed) {
        log_line("merge: cannot write %.500s: %s", f->path, why);
    }
    f->failed = 1;
    return -1;
}

static int make_temporary(struct merge_file *f) {
    for (int n = 0; n < NAMES; ++n) {
        int length = snprintf(f->temporary, sizeof f->temporary, "%s.%ld.%d.tmp", f->path,
                              (long)getpid(), n);
        if (length < 0 || (size_t)length >= sizeof f->temporary) {
            errno = ENAMETOOLONG;
            break;
        }
        f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (f->fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    if (f->fd < 0) {
        f->temporary[0] = '\0';
        return fail(f, strerror(errno));
    }
    return 0;
}

/* Where the file system cannot reserve, writing does it. */
static int reserve(struct merge_file *f, uint64_t end) {
    static const char zeros[65536];
    uint64_t want = (end + CHUNK - 1) / CHUNK * CHUNK;
    want = want < f->size ? want : f->size;
    int failed;
    do {
        failed = fallocate(f->fd, 0, (off_t)f->reserved, (off_t)(want - f->reserved));
    } while (failed && errno == EINTR);
    while (failed && errno == EOPNOTSUPP && f->reserved < want) {
        uint64_t left = want - f->reserved;
        ssize_t n =
            pwrite(f->fd, zeros, left < sizeof zeros ? left : sizeof zeros, (off_t)f->reserved);
        if (n <= 0) {
            return fail(f, n ? strerror(errno) : "no space");
        }
        f->reserved += (uint64_t)n;
        failed = f->reserved < want;
        errno = EOPNOTSUPP;
    }
    if (failed) {
        return fail(f, strerror(errno));
    }
    f->reserved = want;
    return 0;
}

int merge_file_open(struct merge_file *f, const char *path, uint64_t bytes) {
    struct stat s;
    memset(f, 0, sizeof *f);
    f->path = path;
    f->fd = -1;
    f->size = bytes;
    if (!stat(path, &s) && !S_ISREG(s.st_mode)) {
        return fail(f, "it is there and is no regular file");
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error like others */
    if (make_temporary(f)) {
        return -1;
    }
    if (ftruncate(f->fd, (off_t)bytes)) {
        return fail(f, strerror(errno));
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED) {
        return fail(f, strerror(errno));
    }
    f->base = p;
    return merge_file_get(f, sizeof(struct arena_header)) || !f->failed ? 0 : -1;
}

uint32_t merge_file_get(struct merge_file *f, uint64_t bytes) {
    uint64_t want = (bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    uint64_t at = f->used;
    if (f->failed || want > f->size || at > f->size - want ||
        at / STINT_IMPL_UNIT > UINT32_MAX - 1) {
        fail(f, "the runs hold more than their files have room for");
        return 0;
    }
    if (at + want > f->reserved && reserve(f, at + want)) {
        return 0;
    }
    f->used += want;
    return (uint32_t)(at / STINT_IMPL_UNIT);
}

uint32_t merge_file_text(struct merge_file *f, const char *bytes, size_t length) {
    uint64_t want = (sizeof(struct arena_text) + length + 1 + 7) / 8 * 8;
    if (want > f->text_end - f->text_next) {
        uint64_t piece = want > TEXT_CHUNK ? want : TEXT_CHUNK;
        uint32_t unit = merge_file_get(f, piece);
        if (!unit) {
            return 0;
        }
        f->text_next = (uint64_t)unit * STINT_IMPL_UNIT;
        f->text_end = f->text_next + piece;
    }
    if (f->text_next / 8 > UINT32_MAX) {
        fail(f, "too many names");
        return 0;
    }
    struct arena_text *t = (struct arena_text *)(void *)(f->base + f->text_next);
    uint32_t text = (uint32_t)(f->text_next / 8);
    t->length = (uint32_t)length;
    memcpy(t->bytes, bytes, length);
    f->text_next += want;
    return text;
}

int merge_file_publish(struct merge_file *f) {
    struct arena_header *h = merge_file_header(f);
    h->size = h->used = f->used;
    if (f->failed) {
        return -1;
    }
    if (msync(f->base, f->used, MS_SYNC) || ftruncate(f->fd, (off_t)f->used) ||
        rename(f->temporary, f->path)) {
        return fail(f, strerror(errno));
    }
    f->temporary[0] = '\0';
    return 0;
}

void merge_file_close(struct merge_file *f) {
    if (f->base) {
        munmap(f->base, f->size);
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    if (f->temporary[0]) {
        unlink(f->temporary);
    }
    f->base = NULL;
    f->fd = -1;
    f->temporary[0] = '\0';
}
