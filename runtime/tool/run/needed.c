/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic linker itself lists the libraries (`ld.so --list PROGRAM`): its search order is the
 * one that counts (RPATH, RUNPATH, LD_LIBRARY_PATH, the cache), and libraries of libraries are in
 * the list. glibc and musl have this option. It maps the files but runs no code of them. Only the
 * linker that the tool has itself is run, so that no file chooses what is executed. The callers are
 * run_mpi.c and run_ranges.c.
 */
#include "needed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/common/tool_process.h"

/* As execvp looks for it. The path has a slash. -1: not found. */
static int find_program(char path[PATH_MAX], const char *program) {
    const char *folders = strchr(program, '/') ? NULL : getenv("PATH");
    struct stat s;
    int n = snprintf(path, PATH_MAX, "%s", program);
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");
        n = snprintf(path, PATH_MAX, "%.*s/%s", length ? length : 1, length ? folders : ".",
                     program);
        if (!access(path, X_OK)) {
            break;
        }
        folders += length + (folders[length] == ':');
    }
    return n < PATH_MAX && strchr(path, '/') && !stat(path, &s) && S_ISREG(s.st_mode) ? 0 : -1;
}

/* Starts the linker with its output in a pipe, whose end for reading it returns. -1: it cannot. */
static int start_list(const char *linker, char *program, pid_t *pid) {
    char name[] = "ld.so", list[] = "--list";
    char *argv[] = {name, list, program, NULL};
    int ends[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) {
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC)) {
        close(nothing);
        return -1;
    }
    struct tool_child how = {.fd = {nothing, ends[1], nothing}};
    int failed = tool_process_spawn(pid, linker, argv, &how);
    close(nothing);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

void needed_read(struct text *names, const char *program) {
    char path[PATH_MAX], piece[4096];
    Dl_info linker;
    ssize_t got;
    pid_t pid;
    text_start(names);
    if (find_program(path, program) || !dladdr((void *)getauxval(AT_BASE), &linker)) {
        return;
    }
    int fd = start_list(linker.dli_fname, path, &pid);
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
    const char *at = names->failed ? NULL : names->data;
    while (at && (at = strstr(at, prefix)) != NULL) {
        if (at > names->data && (at[-1] == '\t' || at[-1] == '/')) {
            return 1;
        }
        ++at;
    }
    return 0;
}
