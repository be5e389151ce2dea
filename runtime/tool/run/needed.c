/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic linker itself lists the libraries (`ld.so --list PROGRAM`): its search order is the
 * one that counts (RPATH, RUNPATH, LD_LIBRARY_PATH, the cache), and libraries of libraries are in
 * the list. glibc and musl have this option. It maps the files but runs no code of them. Only the
 * linker that the tool has itself is run, so that no file chooses what is executed. The callers are
 * run_mpi.c and run_ranges.c.
 */
#include "needed.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define MOST_SEGMENTS 128

/* As execvp looks for it. The path has a slash. -1: not found. */
static int find_program(char path[PATH_MAX], const char *program) {
    const char *folders = strchr(program, '/') ? "" : getenv("PATH");
    if (strchr(program, '/')) {
        int n = snprintf(path, PATH_MAX, "%s", program);
        return n < PATH_MAX && !access(path, X_OK) ? 0 : -1;
    }
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");
        int n = length ? snprintf(path, PATH_MAX, "%.*s/%s", length, folders, program)
                       : snprintf(path, PATH_MAX, "./%s", program);
        if (n > 0 && n < PATH_MAX && !access(path, X_OK)) {
            return 0;
        }
        folders += length + (folders[length] == ':');
    }
    return -1;
}

/* The dynamic linker that an executable names. 0; -1: it names none. */
static int read_linker_of(int fd, char linker[PATH_MAX]) {
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_phentsize != sizeof segment || head.e_phnum > MOST_SEGMENTS) {
        return -1;
    }
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        off_t at = (off_t)(head.e_phoff + i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment) {
            return -1;
        }
        if (segment.p_type == PT_INTERP && segment.p_filesz > 1 && segment.p_filesz < PATH_MAX) {
            ssize_t size = (ssize_t)segment.p_filesz;
            linker[size - 1] = '\0';
            return pread(fd, linker, (size_t)size, (off_t)segment.p_offset) == size ? 0 : -1;
        }
    }
    return -1;
}

static int find_linker(const char *program, char linker[PATH_MAX]) {
    struct stat s;
    int failed = -1, fd = open(program, OPEN_FLAGS);
    if (fd < 0) {
        return -1;
    }
    if (!fstat(fd, &s) && S_ISREG(s.st_mode)) {
        failed = read_linker_of(fd, linker);
    }
    close(fd);
    return failed || !memchr(linker, '\0', PATH_MAX) ? -1 : 0;
}

/* Starts the linker with its output in a pipe, whose end for reading it returns. -1: it cannot. */
static int start_list(char *linker, char *program, pid_t *pid) {
    char list[] = "--list";
    char *argv[] = {linker, list, program, NULL};
    posix_spawn_file_actions_t files;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        return -1;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(pid, linker, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

void needed_read(struct text *names, const char *program) {
    char path[PATH_MAX], linker[PATH_MAX], own[PATH_MAX], piece[4096];
    ssize_t got;
    pid_t pid;
    text_start(names);
    if (find_program(path, program) || find_linker(path, linker) ||
        find_linker("/proc/self/exe", own) || strcmp(linker, own)) {
        return;
    }
    int fd = start_list(linker, path, &pid);
    if (fd < 0) {
        return;
    }
    while ((got = read(fd, piece, sizeof piece)) > 0) {
        text_put(names, piece, (size_t)got);
    }
    close(fd);
    waitpid(pid, NULL, 0);
    text_put(names, "", 1);
}

/* A line is "\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x0000...)", or has a path for a name. */
int needed_has(const struct text *names, const char *prefix) {
    const char *line = names->data;
    size_t length = strlen(prefix);
    while (line && *line && !names->failed) {
        line += *line == '\t';
        size_t name = strcspn(line, " \n");
        const char *slash = memrchr(line, '/', name);
        const char *last = slash ? slash + 1 : line;
        if (length <= (size_t)(line + name - last) && !memcmp(last, prefix, length)) {
            return 1;
        }
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return 0;
}
