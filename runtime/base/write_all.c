/* SPDX-License-Identifier: Apache-2.0 */
#include "write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* Waits that may end without a byte written (signals, a descriptor that is ready and still takes
 * nothing): a bound that needs no clock, which may not advance. */
#define FRUITLESS_WAITS 100

/* 0 to try again, or -1 with errno. */
static int wait_until_ready(int fd, int wait_ms) {
    struct pollfd p = {fd, POLLOUT, 0};
    int ready = 0;
    if (wait_ms != WRITE_NO_WAIT) {
        ready = poll(&p, 1, wait_ms);
    }
    if (ready == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (ready < 0 && errno != EINTR) {
        return -1;
    }
    return 0;
}

size_t write_all(int fd, const void *bytes, size_t length, int wait_ms) {
    const char *from = bytes;
    size_t done = 0;
    int fruitless = 0;
    while (done < length) {
        ssize_t n = write(fd, from + done, length - done);
        if (n > 0) {
            done += (size_t)n;
            fruitless = 0;
            continue;
        }
        if (n == 0) {
            errno = ENOSPC;
            break;
        }
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            break;
        }
        if (wait_ms != WRITE_WAIT_FOR_EVER && ++fruitless > FRUITLESS_WAITS) {
            errno = EAGAIN;
            break;
        }
        if (wait_until_ready(fd, wait_ms)) {
            break;
        }
    }
    return done;
}

int descriptor_raise(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return higher;
}
