/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that is recorded, under a filter that ends the process (SECCOMP_RET_KILL_PROCESS in
 * seccomp(2)) at all system calls but those named, from its first scope on; for sandbox_test.py.
 *
 *     sandbox_program ,NAME,NAME..., [long,line,report]
 *
 * Exit: 3 at its end, 77 there are no filters here.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stint/stint.h"

#define SCOPES 40 /* the first calls of a scope are not measured */

static void open_long_scopes(void) {
    for (int i = 0; i < SCOPES; ++i) {
        STINT_TIMER("long");
        struct timespec left = {0, 2000000};
        while (nanosleep(&left, &left)) {
        }
    }
}

#define CALL(name)                                                                                 \
    { "," #name ",", SYS_##name }
static const struct {
    const char *name;
    uint32_t number;
} calls[] = {
    CALL(brk),           CALL(clock_gettime),  CALL(clock_nanosleep), CALL(clone),
    CALL(close),         CALL(exit),           CALL(exit_group),      CALL(fallocate),
    CALL(fstat),         CALL(futex),          CALL(getpid),          CALL(getrusage),
    CALL(gettid),        CALL(ioctl),          CALL(madvise),         CALL(mmap),
    CALL(mprotect),      CALL(mremap),         CALL(munmap),          CALL(nanosleep),
    CALL(openat),        CALL(prctl),          CALL(prlimit64),       CALL(read),
    CALL(rt_sigpending), CALL(rt_sigprocmask), CALL(set_robust_list), CALL(sched_getaffinity),
    CALL(tgkill),        CALL(uname),          CALL(write),           CALL(ftruncate),
#ifdef SYS_clone3
    CALL(clone3),
#endif
#ifdef SYS_newfstatat
    CALL(newfstatat),
#endif
#ifdef SYS_rseq
    CALL(rseq),
#endif
};
#define CALLS (sizeof calls / sizeof *calls)

/* For all threads. list: ",NAME,NAME,". */
static long filter_all_but(const char *list) {
    struct sock_filter code[2 * CALLS + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter end = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {1, code};
    for (size_t i = 0; i < CALLS; ++i) {
        struct sock_filter is = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
        if (strstr(list, calls[i].name)) {
            code[program.len++] = is;
            code[program.len++] = allow;
        }
    }
    code[program.len++] = end;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        return -1;
    }
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void open_deep(int depth) {
    char name[24];
    snprintf(name, sizeof name, "deep %d", depth);
    STINT_TIMER_DYNAMIC(name);
    if (depth) {
        open_deep(depth - 1);
    }
}

static void record_all_kinds(void) {
    char name[24];
    stint_timer interval;
    STINT_TIMER_BEGIN(interval, "interval");
    stint_scope_begin("named");
    for (int i = 0; i < 100; ++i) { /* its samples get a histogram */
        STINT_TIMER("often");
        STINT_TIMER("inside");
    }
    stint_scope_end("named");
    STINT_TIMER_END(interval);
    stint_sample_add("sample", 5);
    STINT_TIMER_MARK("mark");
    STINT_TIMER_VALUE("value", 1.0);
    stint_step();
    open_deep(300);
    for (int i = 0; i < 5000; ++i) { /* tables and the arena grow */
        snprintf(name, sizeof name, "name %d", i);
        STINT_TIMER_DYNAMIC(name);
    }
}

static pthread_barrier_t barrier;

static void *record_on_thread(void *unused) {
    pthread_barrier_wait(&barrier);
    record_all_kinds();
    pthread_barrier_wait(&barrier); /* no thread takes over the recorder of another one */
    return unused;
}

int main(int argc, char **argv) {
    const struct rlimit no_core = {0, 0};
    const char *more = argc > 2 ? argv[2] : "";
    pthread_t t[2];
    setrlimit(RLIMIT_CORE, &no_core);
    pthread_barrier_init(&barrier, NULL, 3);
    { STINT_TIMER("first"); }
    pthread_create(&t[0], NULL, record_on_thread, NULL);
    if (argc < 2 || filter_all_but(argv[1])) {
        fprintf(stderr, "skipped: no filters of system calls here\n");
        return 77;
    }
    pthread_create(&t[1], NULL, record_on_thread, NULL);
    record_on_thread(NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    if (strstr(more, "long")) {
        open_long_scopes();
    }
    if (strstr(more, "line")) {
        STINT_TIMER("slow", 0);
    }
    if (strstr(more, "report")) {
        stint_report("table");
    }
    return 3;
}
