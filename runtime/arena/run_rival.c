/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The lock belongs to the open file description, not to the process (F_OFD_SETLK): another copy
 * of the library in this process respects it, closing another descriptor of the file does not
 * release it, and the mapping keeps it when the program closes all its descriptors.
 * - A process that replaces the file of an exited writer holds that file's lock until the name
 * leads to its own file, which is locked too. Of two that do so at once, one replaces the file and
 * the other finds one that is being written.
 */
#include "run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "base/errno_keep.h"
#include "system/replace_file.h"

#define ATTEMPTS 100 /* each finds the file replaced; more of them are not by chance */

static enum rival classify_file(const char *path, int fd) {
    struct stat of_fd, of_name;
    if (fstat(fd, &of_fd) || !S_ISREG(of_fd.st_mode) || !replace_file_is_run(fd)) {
        errno = EEXIST;
        return RIVAL_FOREIGN;
    }
    if (replace_file_lock(fd)) {
        return RIVAL_ALIVE;
    }
    if (lstat(path, &of_name) || of_name.st_ino != of_fd.st_ino || of_name.st_dev != of_fd.st_dev) {
        return RIVAL_NONE; /* it was replaced: look again */
    }
    return RIVAL_DEAD;
}

/* After a failed call. */
static enum rival classify_missing(void) {
    if (errno == ENOENT) {
        return RIVAL_NONE;
    }
    return RIVAL_FOREIGN;
}

static void close_rival(int fd) {
    ERRNO_KEEP;
    close(fd);
}

enum rival run_rival(const char *path, int *fd) {
    enum rival found = RIVAL_NONE;
    struct stat s;
    *fd = -1;
    for (int i = 0; i < ATTEMPTS && found == RIVAL_NONE; ++i) {
        if (lstat(path, &s)) {
            return classify_missing();
        }
        if (!S_ISREG(s.st_mode)) { /* to open a FIFO or a device would do something to it */
            errno = EEXIST;
            return RIVAL_FOREIGN;
        }
        /* For writing, as the lock needs it; that also fails for files of other users. */
        *fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (*fd < 0) {
            return classify_missing();
        }
        found = classify_file(path, *fd);
        if (found != RIVAL_DEAD) {
            close_rival(*fd);
            *fd = -1;
        }
    }
    if (found == RIVAL_NONE) {
        return RIVAL_ALIVE;
    }
    return found;
}
