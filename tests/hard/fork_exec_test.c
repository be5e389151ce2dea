/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that start others, also instrumented ones, by all the ways there are, inside a scope and
 * with threads at work; one that becomes a daemon by daemon(3); a child of vfork that opens
 * scopes, which are its parent's; and children in strict seccomp mode or with a filter.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../run/run_support.h"
#include "harness_threads.h"
#include "recorded.h"

#define OTHER "fork_exec.other_program"

static char *text(const char *constant) {
    return (char *)(uintptr_t)constant;
}

static char *other[] = {NULL, NULL, NULL, NULL};

static void begin(void) {
    other[0] = text("other");
    other[1] = text("--no-fork");
    other[2] = text(OTHER);
    run_begin("run-%p");
}

TEST(fork_exec, other_program) {
    if (!getenv("OTHER_PROGRAM")) {
        SKIP("what others start");
    }
    CHECK_EQ_U64(calls_of("parent"), 0);
    timed("other program", 1);
}

/* ---- Each is a process that becomes this program again; a status as of wait. */

static int by_fork(void) {
    pid_t child = fork();
    if (!child) {
        execv("/proc/self/exe", other);
        _exit(9);
    }
    return run_wait(child);
}

static int by_fork_with_scopes(void) {
    pid_t child = fork();
    if (!child) {
        timed("between fork and exec", 1);
        execv("/proc/self/exe", other);
        _exit(9);
    }
    return run_wait(child);
}

static int by_vfork(void) {
    pid_t child = vfork();
    if (!child) {
        execv("/proc/self/exe", other);
        _exit(9);
    }
    return run_wait(child);
}

static int by_spawn(void) {
    pid_t child = 0;
    CHECK(!posix_spawn(&child, "/proc/self/exe", NULL, NULL, other, environ));
    return run_wait(child);
}

static void command(char *out, size_t size) {
    char self[300] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(out, size, "exec '%s' --no-fork " OTHER, self);
}

static int by_system(void) {
    char line[400];
    command(line, sizeof line);
    return system(line);
}

static int by_popen(void) {
    char line[400];
    command(line, sizeof line);
    FILE *f = popen(line, "r");
    while (f && fgets(line, sizeof line, f)) {
    }
    return f ? pclose(f) : -1;
}

static int (*const ways[])(void) = {by_fork,  by_fork_with_scopes, by_vfork,
                                    by_spawn, by_system,           by_popen};
#define WAYS (sizeof ways / sizeof *ways)

static int stop;

static void *busy(void *count) {
    uint64_t n = 0;
    for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++n) {
        timed("busy", 1);
    }
    *(uint64_t *)count = n;
    return NULL;
}

static void starts_others(void) {
    pthread_t t[2];
    uint64_t count[2];
    threads_start(t, 2, busy, count, sizeof *count);
    for (size_t i = 0; i < WAYS; ++i) {
        REGISTER_TIMER("parent");
        setenv("OTHER_PROGRAM", "1", 1);
        CHECK_EQ_U64((uint64_t)ways[i](), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(t, 2);
    CHECK_EQ_U64(calls_of("busy"), count[0] + count[1]);
    CHECK_EQ_U64(calls_of("parent"), WAYS);
    CHECK_EQ_U64(calls_of("between fork and exec"), 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void check_others(const char *parents) {
    unsigned others = 0;
    struct run_file f;
    DIR *d = opendir(run_folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (*e->d_name == '.' || !strcmp(e->d_name, parents) ||
            !CHECK(!run_load(&f, run_path(e->d_name)))) {
            continue;
        }
        ++others;
        CHECK_EQ_U64(run_calls(&f, "other program"), 1);
        CHECK_EQ_U64(run_calls(&f, "parent") + run_calls(&f, "busy"), 0);
        CHECK_EQ_U64(run_header(&f)->parent_pid, strtoull(parents + 4, NULL, 10));
        run_unload(&f);
    }
    closedir(d);
    CHECK_EQ_U64(others, WAYS);
}

TEST(fork_exec, each_other_program_has_a_file_of_its_own) {
    char parents[32];
    begin();
    pid_t parent = run_start(starts_others);
    CHECK_EQ_U64((uint64_t)run_wait(parent), 0);
    snprintf(parents, sizeof parents, "run-%ld", (long)parent);
    CHECK_EQ_U64(run_calls_in(parents, "parent"), WAYS);
    check_others(parents);
}

/* ---- daemon(3). */

static void becomes_a_daemon(void) {
    REGISTER_TIMER("open in the parent");
    timed("parent", 1);
    CHECK(!daemon(0, 0));
    alarm(harness_child_seconds());
    timed("daemon", 1);
    CHECK_EQ_U64(calls_of("daemon"), 1);
    CHECK_EQ_U64(calls_of("parent"), 0);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(lost_in_all(), 0);
    exit(0);
}

TEST(fork_exec, daemon_of_the_c_library) {
    begin();
    pid_t parent = run_start(becomes_a_daemon);
    CHECK_EQ_U64((uint64_t)run_wait(parent), 0);
    while (!run_sum("daemon").ended) { /* a child of init now */
        usleep(10000);
    }
    CHECK_EQ_U64(run_sum("daemon").ended, 1);
    CHECK_EQ_U64(run_entries(NULL), 2);
}

/* ---- vfork: in the parent's memory, on the parent's stack, while the parent waits. */

__attribute__((noinline)) static void scope_and_exec(void) {
    char *arguments[] = {text("true"), NULL};
    REGISTER_TIMER("left open by exec");
    execv("/bin/true", arguments);
    _exit(9);
}

__attribute__((noinline)) static void scope_and_more(void) {
    { REGISTER_TIMER("in the child of vfork"); }
    timed("a name of it", 1);
    scope_and_exec();
}

static void scope_around_vfork(void) {
    REGISTER_TIMER("around");
    pid_t child = vfork();
    if (!child) {
        scope_and_more();
        _exit(9);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
}

TEST(fork_exec, scopes_of_a_child_of_vfork_are_its_parents) {
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer makes a fork of it");
#endif
    for (int i = 0; i < 3; ++i) {
        scope_around_vfork();
    }
    CHECK_EQ_U64(stat_of("around").samples, 3);
    CHECK_EQ_U64(calls_of("in the child of vfork"), 3);
    CHECK_EQ_U64(calls_of("a name of it"), 3);
    CHECK_EQ_U64(calls_of("left open by exec"), 3);
    CHECK_EQ_U64(stat_of("left open by exec").samples, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 3);
    CHECK_EQ_U64(lost_in_all(), 3);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* ---- Strict seccomp mode: read, write, _exit and sigreturn are allowed, the counter is not
 * (prctl(2), PR_SET_TSC; the kernel's disable_TSC at the change to that mode). */

#define SANDBOXED 7

/* A child that opens scopes in that mode. The status, as of wait. */
static int run_sandboxed(int is_on) {
    pid_t child = fork();
    if (!child) {
        timed("before", 1);
        stint_timers_enable(is_on);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) {
            _exit(1);
        }
        for (int i = 0; i < 3; ++i) {
            REGISTER_TIMER("in the sandbox");
        }
        syscall(SYS_exit, SANDBOXED); /* _exit calls exit_group */
    }
    return run_wait(child);
}

TEST(fork_exec, scopes_that_are_off_run_in_strict_seccomp_mode) {
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer has a thread of its own, which SYS_exit leaves running");
#endif
    int status = run_sandboxed(0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
        SKIP("no strict seccomp mode here");
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == SANDBOXED);
}

/* 0, or -1: filters are not allowed here. */
static int refuse_readings(void) {
    struct sock_filter list[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof list / sizeof *list, list};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        return -1;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* As SECCOMP_RET_ERRNO in seccomp(2). */
TEST(fork_exec, long_scopes_run_where_a_filter_refuses_their_readings) {
    setenv("STINT_WAITS", "1", 1);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 3; ++i) {
            timed("long", 10000000);
        }
        if (refuse_readings()) {
            _exit(1);
        }
        errno = ERANGE;
        for (int i = 0; i < 3; ++i) {
            timed("long", 10000000);
        }
        _exit(errno == ERANGE && calls_of("long") == 6 && !lost_in_all() ? SANDBOXED : 2);
    }
    int status = run_wait(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
        SKIP("no filters here");
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == SANDBOXED);
}
