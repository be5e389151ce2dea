/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends lines for `stint export --follow`. The file has whole lines at all times:
 * - The room for a line is reserved before the line is written, so a full disk refuses all of it;
 *   where the file system cannot reserve, the part that was written is cut off again.
 * - A write lock keeps other followers away, so no other line is cut off.
 * - Half a line that a follower has left, killed while it wrote, is cut off when the file is
 *   opened.
 * - The file is opened again when its name leads to another file or to none.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/write_all.h"
#include "system/replace_file.h"

/* How a line begins: otlp_put. */
static const char line_head[] = "{\"resourceMetrics\":";
#define HEAD_BYTES (sizeof line_head - 1)

/* ---- Opening. */

/* Where the last line begins: after the last end of a line, at `size` if the file ends in one. -1
 * with errno. */
static off_t find_last_line(int fd, off_t size) {
    char block[4096];
    off_t end = size;
    while (end > 0) {
        size_t n = end < (off_t)sizeof block ? (size_t)end : sizeof block;
        if (pread(fd, block, n, end - (off_t)n) != (ssize_t)n) {
            return -1;
        }
        const char *newline = memrchr(block, '\n', n);
        if (newline) {
            return end - (off_t)n + (newline - block) + 1;
        }
        end -= (off_t)n;
    }
    return 0;
}

/* Lets the file end in an end of a line. Half a line of metrics is cut off, another text stays.
 * 0, or -1 with errno. */
static int end_last_line(int fd, off_t size) {
    char head[HEAD_BYTES];
    off_t from = find_last_line(fd, size);
    if (from < 0 || from == size) {
        return from < 0 ? -1 : 0;
    }
    ssize_t n = pread(fd, head, HEAD_BYTES, from);
    if (n > 0 && !memcmp(head, line_head, (size_t)n)) {
        return ftruncate(fd, from);
    }
    return write_all(fd, "\n", 1, WRITE_NO_WAIT) == 1 ? 0 : -1;
}

/* A regular file is locked, and ends in an end of a line then. NULL, or why not. */
static const char *prepare_file(const struct line_file *f) {
    struct stat s;
    if (fstat(f->file.fd, &s)) {
        return error_text(errno);
    }
    if (!S_ISREG(s.st_mode)) {
        return NULL;
    }
    if (replace_file_lock(f->file.fd)) {
        return REPLACE_FILE_LOCKED;
    }
    return end_last_line(f->file.fd, s.st_size) ? error_text(errno) : NULL;
}

const char *line_file_open(struct line_file *f, const char *path) {
    f->path = path;
    f->over = 0;
    const char *why = replace_file_open(&f->file, f->path, REPLACE_NAMED | REPLACE_APPEND, 0666);
    if (!why && !f->file.borrowed) {
        why = prepare_file(f);
    }
    if (why) {
        line_file_close(f);
    }
    return why;
}

void line_file_close(struct line_file *f) {
    replace_file_abort(&f->file);
}

/* ---- Writing. */

/* Whether the name leads to the file. */
static int is_named(const struct line_file *f) {
    struct stat of_fd, of_name;
    return !fstat(f->file.fd, &of_fd) && !lstat(f->path, &of_name) &&
           of_fd.st_ino == of_name.st_ino && of_fd.st_dev == of_name.st_dev;
}

/* Whether the file was removed, and not only renamed. */
static int is_removed(const struct line_file *f) {
    struct stat s;
    return !is_named(f) && !fstat(f->file.fd, &s) && !s.st_nlink;
}

/* Where the next byte goes. -1: it is not a regular file. */
static off_t write_offset(const struct line_file *f) {
    struct stat s;
    if (fstat(f->file.fd, &s) || !S_ISREG(s.st_mode)) {
        return -1;
    }
    if (fcntl(f->file.fd, F_GETFL) & O_APPEND) {
        return s.st_size;
    }
    return lseek(f->file.fd, 0, SEEK_CUR);
}

/* 0, or -1 with errno: there is no room. */
static int reserve_room(int fd, off_t from, size_t length) {
    if (!fallocate(fd, FALLOC_FL_KEEP_SIZE, from, (off_t)length)) {
        return 0;
    }
    return errno == ENOSPC || errno == EDQUOT ? -1 : 0;
}

static void cut_back(int fd, off_t to) {
    ERRNO_KEEP;
    if (!ftruncate(fd, to)) {
        lseek(fd, to, SEEK_SET);
    }
}

const char *line_file_put(struct line_file *f, const char *line, size_t length) {
    if (!f->file.borrowed && f->file.fd >= 0 && !is_named(f)) {
        line_file_close(f);
    }
    const char *why = f->file.fd < 0 ? line_file_open(f, f->path) : NULL;
    if (why) {
        return why;
    }
    int fd = f->file.fd;
    off_t from = write_offset(f);
    if (from >= 0 && reserve_room(fd, from, length)) {
        return error_text(errno);
    }
    size_t written = write_all(fd, line, length, WRITE_WAIT_FOR_EVER);
    if (written < length) {
        if (from >= 0) {
            cut_back(fd, from);
        }
        f->over = from < 0;
        return error_text(errno);
    }
    if (!f->file.borrowed && is_removed(f)) {
        return error_text(ENOENT);
    }
    return NULL;
}
