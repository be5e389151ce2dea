/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a command under limits: limited [LETTER VALUE]... -- COMMAND [ARGUMENT]... The letters are
 * those of the shell's ulimit, values are bytes or counts; g is a control group to join, U a user
 * to become. They are set in the order given. Exit status 125: one of them could not be set.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
typedef __rlimit_resource_t limit_resource;
#else
typedef int limit_resource;
#endif

static const char letters[] = "dfnsuv";
static const limit_resource resources[] = {RLIMIT_DATA,  RLIMIT_FSIZE, RLIMIT_NOFILE,
                                           RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_AS};

static int join_group(const char *group) {
    char path[512];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    FILE *processes = fopen(path, "w");
    return !processes || fputs("0", processes) < 0 || fclose(processes);
}

/* Returns 0, or nonzero with errno. */
static int set_one(char letter, const char *value) {
    const char *known = strchr(letters, letter);
    unsigned long number = strtoul(value, NULL, 10);
    uid_t user = (uid_t)number;
    if (letter == 'g') {
        return join_group(value);
    }
    if (letter == 'U') {
        return setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
    }
    return !known || setrlimit(resources[known - letters], &(struct rlimit){number, number});
}

int main(int argc, char **argv) {
    int next = 1, failed = 0;
    for (; next + 1 < argc && !failed && strcmp(argv[next], "--"); next += 2) {
        failed = set_one(*argv[next], argv[next + 1]);
    }
    if (!failed && next + 1 < argc) {
        execv(argv[next + 1], argv + next + 1);
    }
    perror("limited");
    return 125;
}
