/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes of 2 ms, then a report, under a filter that ends the process at getrusage and where the
 * CPU time of the thread is read (SECCOMP_RET_KILL_PROCESS in seccomp(2)), for sandbox_test.py.
 *
 *     sandbox_program [getrusage | clock_gettime]   at that one only
 *
 * Exit: 3 at its end, 77 there are no filters here.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "stint/stint.h"

#define SCOPES 40 /* the first calls of a scope are not measured */

#define NO_CALL UINT32_MAX /* no system call has this number */

/* The lower half of an argument: these processors are little-endian. */
#define ARGUMENT(n) offsetof(struct seccomp_data, args[n])

static uint32_t choose_call(const char *only, const char *name, uint32_t number) {
    return only && strcmp(only, name) != 0 ? NO_CALL : number;
}

static int filter_install(const char *only) {
    const uint32_t usage = choose_call(only, "getrusage", SYS_getrusage);
    const uint32_t clock = choose_call(only, "clock_gettime", SYS_clock_gettime);
    struct sock_filter list[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, usage, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, clock, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_THREAD_CPUTIME_ID, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof list / sizeof *list, list};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        return -1;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (filter_install(argc > 1 ? argv[1] : NULL)) {
        fprintf(stderr, "skipped: no filters of system calls here\n");
        return 77;
    }
    for (int i = 0; i < SCOPES; ++i) {
        STINT_TIMER("long");
        struct timespec left = {0, 2000000};
        while (nanosleep(&left, &left)) {
        }
    }
    printf("scopes end\n");
    fflush(stdout);
    return 3;
}
