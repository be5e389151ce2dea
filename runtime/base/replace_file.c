/* SPDX-License-Identifier: Apache-2.0 */
#include "replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errno_keep.h"
#include "error_text.h"
#include "print.h"

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
    if (fd < 0) {
        temporary[0] = '\0';
    }
    return fd;
}

int replace_file_is_locked(const char *path) {
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    int failed = fcntl(fd, F_OFD_GETLK, &all);
    if (failed && errno == EINVAL) { /* before Linux 3.15, and some sandboxes */
        failed = fcntl(fd, F_GETLK, &all);
    }
    close(fd);
    return !failed && all.l_type != F_UNLCK;
}

int replace_file_lock(int fd) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = fcntl(fd, F_OFD_SETLK, &all);
    if (failed && errno == EINVAL) { /* before Linux 3.15, and some sandboxes */
        failed = fcntl(fd, F_SETLK, &all);
    }
    if (failed && (errno == EAGAIN || errno == EACCES)) {
        return -1;
    }
    return 0;
}

const char *replace_file_open(struct replace_file *f, const char *path, mode_t mode) {
    struct stat s;
    size_t length = strlen(path);
    f->fd = -1;
    f->path[0] = f->temporary[0] = '\0';
    if (length >= sizeof f->path) {
        return error_text(ENAMETOOLONG);
    }
    memcpy(f->path, path, length + 1);
    if (!lstat(path, &s) && !S_ISREG(s.st_mode)) {
        return REPLACE_FILE_IRREGULAR;
    }
    if (replace_file_is_locked(path)) {
        return REPLACE_FILE_LOCKED;
    }
    f->fd = replace_file_temporary(path, f->temporary, sizeof f->temporary, O_WRONLY, mode);
    return f->fd < 0 ? error_text(errno) : NULL;
}

const char *replace_file_commit(struct replace_file *f) {
    int failed = close(f->fd);
    f->fd = -1;
    if (!failed && replace_file_is_locked(f->path)) { /* it was not when we began */
        replace_file_abort(f);
        return REPLACE_FILE_LOCKED;
    }
    if (failed || rename(f->temporary, f->path)) {
        const char *why = error_text(errno);
        replace_file_abort(f);
        return why;
    }
    f->temporary[0] = '\0';
    return NULL;
}

void replace_file_abort(struct replace_file *f) {
    ERRNO_KEEP;
    if (f->fd >= 0) {
        close(f->fd);
    }
    if (*f->temporary) {
        unlink(f->temporary);
    }
    f->fd = -1;
    f->temporary[0] = '\0';
}
