/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc and /sys.
 */
#ifndef STINT_READ_BEGINNING_H
#define STINT_READ_BEGINNING_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Reads the beginning of a file as text: "" if it cannot be read. Returns the bytes. */
static inline size_t read_beginning(const char *path, char *text, size_t size) {
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, size - 1);
        close(fd);
    }
    if (got < 0) {
        got = 0;
    }
    text[got] = '\0';
    return (size_t)got;
}

/* Another one after each start of the machine; "" if it is not known. */
static inline void read_boot_id(char *out, size_t size) {
    read_beginning("/proc/sys/kernel/random/boot_id", out, size);
    out[strcspn(out, "\n")] = '\0';
}

#endif
