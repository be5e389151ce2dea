/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The lock belongs to the open file, not to the process (F_OFD_SETLK): another copy of the library
 *   in this process respects it, nobody loses it by closing another descriptor of the file, and the
 *   mapping keeps it when the program closes all descriptors there are.
 * - Whoever replaces a dead file holds its lock until the name leads to his own, which is locked too:
 *   of two that come at once, one replaces and the other finds a live file.
 */
#include "run_rival.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"

#define ATTEMPTS 100 /* the file changed under us; more is no accident */

int run_rival_lock(int fd) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int failed = fcntl(fd, F_OFD_SETLK, &all);
    if (failed && errno == EINVAL) { /* before Linux 3.15, and some sandboxes */
        failed = fcntl(fd, F_SETLK, &all);
    }
    return failed && (errno == EAGAIN || errno == EACCES) ? -1 : 0;
}

static enum rival judge(const char *path, int fd) {
    char magic[sizeof ARENA_MAGIC - 1];
    struct stat of_fd, of_name;
    if (fstat(fd, &of_fd) || !S_ISREG(of_fd.st_mode) ||
        pread(fd, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
        memcmp(magic, ARENA_MAGIC, sizeof magic)) {
        errno = EEXIST;
        return RIVAL_STRANGER;
    }
    if (run_rival_lock(fd)) {
        return RIVAL_ALIVE;
    }
    if (lstat(path, &of_name) || of_name.st_ino != of_fd.st_ino || of_name.st_dev != of_fd.st_dev) {
        return RIVAL_NONE; /* replaced while we looked: look again */
    }
    return RIVAL_DEAD;
}

enum rival run_rival(const char *path, int *fd) {
    enum rival found = RIVAL_NONE;
    struct stat s;
    *fd = -1;
    for (int i = 0; i < ATTEMPTS && found == RIVAL_NONE; ++i) {
        if (lstat(path, &s)) {
            return errno == ENOENT ? RIVAL_NONE : RIVAL_STRANGER;
        }
        if (!S_ISREG(s.st_mode)) { /* to open a FIFO or a device would do something to it */
            errno = EEXIST;
            return RIVAL_STRANGER;
        }
        /* For writing, or there is no lock; that also keeps us from the files of others. */
        *fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (*fd < 0) {
            return errno == ENOENT ? RIVAL_NONE : RIVAL_STRANGER;
        }
        found = judge(path, *fd);
        if (found != RIVAL_DEAD) {
            int why = errno;
            close(*fd);
            *fd = -1;
            errno = why;
        }
    }
    return found == RIVAL_NONE ? RIVAL_ALIVE : found;
}
