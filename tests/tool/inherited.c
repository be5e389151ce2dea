/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherited FILE [COMMAND...]: writes to the file which run file it is to write and the state that
 * it was started in, and executes the command; without one it ends with 7.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define DESCRIPTORS 256

/* Copies the lines that begin with one of the words; all: NULL. */
static void copy_lines(FILE *to, const char *from, const char *const *words) {
    char line[512];
    FILE *f = fopen(from, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *const *word = words;
        while (word && *word && strncmp(line, *word, strlen(*word)) != 0) {
            ++word;
        }
        if (!word || *word) {
            fputs(line, to);
        }
    }
    if (f) {
        fclose(f);
    }
}

int main(int argc, char **argv) {
    static const char *const words[] = {"SigBlk", "SigIgn", "Umask", "Uid", "Groups", NULL};
    int flags[DESCRIPTORS];
    for (int fd = 0; fd < DESCRIPTORS; ++fd) {
        flags[fd] = fcntl(fd, F_GETFL); /* before a file is opened */
    }
    FILE *f = argc > 1 ? fopen(argv[1], "we") : NULL;
    const char *run_file = getenv("STINT_FILE");
    if (!f) {
        return 1;
    }
    fchmod(fileno(f), 0644);
    fprintf(f, "%s\n", run_file ? run_file : "");
    for (int fd = 0; fd < DESCRIPTORS; ++fd) {
        if (flags[fd] >= 0) {
            fprintf(f, "descriptor %d, O_NONBLOCK %d\n", fd, (flags[fd] & O_NONBLOCK) != 0);
        }
    }
    for (int i = 0; i < 3; ++i) {
        struct itimerval timer;
        getitimer(i, &timer);
        fprintf(f, "timer %d: %s\n", i, timer.it_value.tv_sec ? "on" : "off");
    }
    fprintf(f, "nice %d\n", getpriority(PRIO_PROCESS, 0));
    copy_lines(f, "/proc/self/status", words);
    copy_lines(f, "/proc/self/limits", NULL);
    fclose(f);
    if (argc > 2) {
        execv(argv[2], argv + 2);
    }
    return 7;
}
