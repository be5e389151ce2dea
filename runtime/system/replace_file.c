/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by output.c and target.c, and by the tool for merges and lines. Another user may write to
 * the folder, so what was opened is looked at again, and nothing is opened through a link.
 */
#include "replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/number.h"
#include "base/print.h"
#include "base/write_all.h"

#define NAMES 1000 /* tried when a name is taken */

int replace_file_temporary(const char *path, char *temporary, size_t size, int flags, mode_t mode) {
    int fd = -1;
    for (int n = 0; n < NAMES && fd < 0; ++n) {
        size_t length = print_text(temporary, size, "%s.%ld.%d.tmp", path, (long)getpid(), n);
        if (length + 1 == size) { /* cut */
            errno = ENAMETOOLONG;
            break;
        }
        fd = open(temporary, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (fd >= 0) {
        fd = descriptor_raise(fd);
        if (fd < 0) {
            unlink(temporary);
        }
    }
    if (fd < 0) {
        temporary[0] = '\0';
    }
    return fd;
}

int replace_file_is_run(int fd) {
    char magic[sizeof RUN_FILE_MAGIC - 1];
    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           !memcmp(magic, RUN_FILE_MAGIC, sizeof magic);
}

static int lock_file(int fd, int command, int older, struct flock *all) {
    int failed = fcntl(fd, command, all);
    if (failed && errno == EINVAL) { /* before Linux 3.15, and some sandboxes */
        failed = fcntl(fd, older, all);
    }
    return failed;
}

/* Whether another program, or another part of this one, holds a write lock on the file. */
static int is_file_locked(int fd) {
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return !lock_file(fd, F_OFD_GETLK, F_GETLK, &all) && all.l_type != F_UNLCK;
}

/* Why a file stays as it is, which a link may lead to; NULL: it need not. */
static const char *find_why_kept(const char *path, int how) {
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    if (is_file_locked(fd)) {
        why = REPLACE_FILE_LOCKED;
    } else if (!(how & REPLACE_BY_RUN) && replace_file_is_run(fd)) {
        why = REPLACE_FILE_RUN;
    }
    close(fd);
    return why;
}

int replace_file_lock(int fd) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = lock_file(fd, F_OFD_SETLK, F_SETLK, &all);
    return failed && (errno == EAGAIN || errno == EACCES) ? -1 : 0;
}

/* ---- Opening. */

int replace_file_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t number;
    if (!strcmp(path, "/dev/stdout")) {
        return STDOUT_FILENO;
    }
    if (!strcmp(path, "/dev/stderr")) {
        return STDERR_FILENO;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        size_t length = strlen(folders[i]);
        if (!strncmp(path, folders[i], length) &&
            !number_read_whole(path + length, 0, INT_MAX, &number)) {
            return (int)number;
        }
    }
    return -1;
}

/* One that is closed by exec was not handed to this process, but may be the library's own. */
static const char *borrow_descriptor(struct replace_file *f, int fd) {
    struct stat s;
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || (fd > STDERR_FILENO && flags & FD_CLOEXEC)) {
        return error_text(EBADF);
    }
    if (f->how & REPLACE_NAMED && !fstat(fd, &s) && S_ISREG(s.st_mode)) {
        const char *why = find_why_kept(f->path, f->how);
        if (why) {
            return why;
        }
    }
    if (fd == STDOUT_FILENO) {
        fflush(stdout); /* what the program printed before comes before */
    }
    f->borrowed = 1;
    f->fd = fd;
    return NULL;
}

static int is_written_in_place(mode_t mode, int how) {
    if (S_ISCHR(mode)) {
        return how & (REPLACE_NAMED | REPLACE_APPEND);
    }
    return S_ISFIFO(mode) && how & REPLACE_NAMED;
}

/* A link into /proc leads to a file of the kernel or to a descriptor: /dev/stdin, /dev/core. */
static int is_link_to_file(const char *path) {
    static const char proc[] = "/proc/";
    char target[sizeof proc - 1];
    struct stat s;
    if (readlink(path, target, sizeof target) == (ssize_t)sizeof target &&
        !memcmp(target, proc, sizeof target)) {
        return 0;
    }
    return stat(path, &s) || S_ISREG(s.st_mode);
}

/* A FIFO that is appended to is not waited for, and needs a reader. */
static const char *open_in_place(struct replace_file *f, mode_t mode, int access) {
    struct stat s;
    int flags = access | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    if (f->how & REPLACE_APPEND) {
        flags |= O_CREAT | O_APPEND | O_NONBLOCK;
    }
    f->fd = descriptor_raise(open(f->path, flags, mode));
    if (f->fd < 0) {
        return error_text(errno);
    }
    int is_file = !fstat(f->fd, &s) && S_ISREG(s.st_mode);
    if (!(is_file && f->how & REPLACE_APPEND) && !is_written_in_place(s.st_mode, f->how)) {
        replace_file_abort(f);
        return REPLACE_FILE_IRREGULAR;
    }
    return NULL;
}

static const char *open_file(struct replace_file *f, mode_t mode) {
    struct stat s = {.st_mode = S_IFREG | mode}; /* there is none */
    int appends = f->how & REPLACE_APPEND;
    lstat(f->path, &s);
    if (is_written_in_place(s.st_mode, f->how)) {
        return open_in_place(f, mode, O_WRONLY);
    }
    if (!S_ISREG(s.st_mode) && (appends || !S_ISLNK(s.st_mode) || !is_link_to_file(f->path))) {
        return REPLACE_FILE_IRREGULAR;
    }
    const char *why = find_why_kept(f->path, f->how);
    if (why) {
        return why;
    }
    if (appends) {
        return open_in_place(f, mode, f->how & REPLACE_NAMED ? O_RDWR : O_WRONLY);
    }
    if (S_ISREG(s.st_mode)) {
        mode &= s.st_mode;
    }
    f->fd = replace_file_temporary(f->path, f->temporary, sizeof f->temporary, O_WRONLY, mode);
    return f->fd < 0 ? error_text(errno) : NULL;
}

const char *replace_file_open(struct replace_file *f, const char *path, int how, mode_t mode) {
    f->fd = -1;
    f->borrowed = 0;
    f->how = how;
    f->temporary[0] = '\0';
    if (how & REPLACE_NAMED && (!path || !strcmp(path, "-"))) {
        path = "/dev/stdout";
    }
    size_t length = strlen(path);
    if (length >= sizeof f->path) {
        return error_text(ENAMETOOLONG);
    }
    memmove(f->path, path, length + 1);
    int given = replace_file_descriptor(path);
    if (given >= 0) {
        return borrow_descriptor(f, given);
    }
    return open_file(f, mode);
}

/* ---- The end. */

static int close_replacement(struct replace_file *f) {
    int failed = f->fd >= 0 && !f->borrowed && close(f->fd);
    f->fd = -1;
    return failed;
}

const char *replace_file_commit(struct replace_file *f) {
    const char *why = NULL;
    if (close_replacement(f)) {
        why = error_text(errno);
    } else if (*f->temporary) {
        why = find_why_kept(f->path, f->how); /* it was not when we began */
        if (!why && rename(f->temporary, f->path)) {
            why = error_text(errno);
        }
    }
    if (!why) {
        f->temporary[0] = '\0';
    }
    replace_file_abort(f);
    return why;
}

void replace_file_abort(struct replace_file *f) {
    ERRNO_KEEP;
    close_replacement(f);
    if (*f->temporary) {
        unlink(f->temporary);
    }
    f->temporary[0] = '\0';
}
