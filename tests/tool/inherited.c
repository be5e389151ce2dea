/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherited FILE [COMMAND...]: writes to the file which run file it is to write and the state that
 * it was started in, and executes the command; without one it ends with 7.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define DESCRIPTORS 256

static void copy_file(FILE *to, const char *from) {
    char line[512];
    FILE *f = fopen(from, "re");
    while (f && fgets(line, sizeof line, f)) {
        fputs(line, to);
    }
    if (f) {
        fclose(f);
    }
}

int main(int argc, char **argv) {
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
    struct itimerval timer[3];
    getitimer(ITIMER_REAL, &timer[0]);
    getitimer(ITIMER_VIRTUAL, &timer[1]);
    getitimer(ITIMER_PROF, &timer[2]);
    for (int i = 0; i < 3; ++i) {
        fprintf(f, "timer %d: %s\n", i, timer[i].it_value.tv_sec ? "on" : "off");
    }
    fprintf(f, "nice %d\n", getpriority(PRIO_PROCESS, 0));
    copy_file(f, "/proc/self/status");
    copy_file(f, "/proc/self/limits");
    fclose(f);
    if (argc > 2) {
        execv(argv[2], argv + 2);
    }
    return 7;
}
