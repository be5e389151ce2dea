/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks with run files: every process has its own, with its parent's number, and the parent's file
 * is what it would be without them.
 */
#include <pthread.h>

#include "../run/run_support.h"
#include "recorded.h"

/* Calls of one name over all files of the folder; files are counted too. */
struct sum {
    uint64_t calls, files, orphans;
};

static struct sum sum_of(const char *name) {
    struct sum sum = {0, 0, 0};
    DIR *d = opendir(run_folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct run_file f;
        int is_published = *e->d_name != '.' && !strstr(e->d_name, ".tmp");
        if (is_published && CHECK(!run_load(&f, run_path(e->d_name)))) {
            uint64_t calls = run_calls(&f, name);
            sum.calls += calls;
            sum.files += calls != 0;
            sum.orphans += run_header(&f)->parent_pid == 1;
            run_unload(&f);
        }
    }
    if (d) {
        closedir(d);
    }
    return sum;
}

static void begin(void) {
    run_folder_make();
    setenv("STINT_FILE", run_path("run-%p"), 1);
}

static void work(const char *name, int n) {
    for (int i = 0; i < n; ++i) {
        timed(name, 1);
    }
}

/* ---- Children of children. */

#define DEPTH 6

/* Each but the last forks the next one, waits for it and goes on. */
static void generations(void) {
    pid_t child = 0;
    for (int i = 0; i <= DEPTH && !child; ++i) {
        work("generation", 3);
        child = i < DEPTH ? fork() : 0;
    }
    if (child) {
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
    work("generation", 4);
    CHECK_EQ_U64(calls_of("generation"), 7);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(fork_file, seven_generations) {
    begin();
    run_body((void *)(uintptr_t)generations);
    struct sum sum = sum_of("generation");
    CHECK_EQ_U64(sum.files, DEPTH + 1);
    CHECK_EQ_U64(sum.calls, 7 * (DEPTH + 1));
    run_folder_drop();
}

/* ---- A parent that is gone when the child records first. */

static pid_t grandparent;

static void daemonises(void) {
    int told[2];
    char byte;
    work("parent", 1);
    grandparent = getpid();
    CHECK(!pipe(told));
    pid_t child = fork();
    if (!child) {
        if (!fork()) {
            close(told[1]);
            CHECK(read(told[0], &byte, 1) == 0); /* all who could write have ended */
            work("daemon", 2);
            CHECK(arena_header()->parent_pid != 1 &&
                  arena_header()->parent_pid != (uint32_t)grandparent);
            _exit(0);
        }
        _exit(0);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    close(told[1]);
}

TEST(fork_file, an_orphan_knows_who_forked_it) {
    begin();
    run_body((void *)(uintptr_t)daemonises);
    while (sum_of("daemon").calls < 2) { /* a child of init now */
        usleep(10000);
    }
    struct sum sum = sum_of("daemon");
    CHECK_EQ_U64(sum.calls, 2);
    CHECK_EQ_U64(sum.orphans, 0);
    CHECK_EQ_U64(sum_of("parent").calls, 1);
    run_folder_drop();
}

/* ---- From a program in full swing. */

#define THREADS 3
#define CHILDREN 40
static int stop;

static void *busy(void *count) {
    char name[32];
    uint64_t n = 0;
    for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++n) {
        timed("busy", 1);
        if (n % 64 == 0) {
            snprintf(name, sizeof name, "name %u", (unsigned)(n / 64 % 100));
            timed(name, 1);
        }
    }
    *(uint64_t *)count = n;
    return NULL;
}

/* Switches off LeakSanitizer in children. At exit, LeakSanitizer takes the locks of malloc. Locks
 * that another thread of the parent held at the fork are never released in the child, so that its
 * leak check would block without end. LeakSanitizer calls this function before a check
 * (sanitizer/lsan_interface.h); other builds ignore it. */
static int is_child;

__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return is_child;
}

static void full_swing(void) {
    pthread_t t[THREADS];
    uint64_t count[THREADS], sum = 0;
    for (int i = 0; i < THREADS; ++i) {
        CHECK(!pthread_create(&t[i], NULL, busy, &count[i]));
    }
    for (int i = 0; i < CHILDREN; ++i) {
        REGISTER_TIMER("forking");
        pid_t child = fork();
        if (!child) {
            is_child = 1;
            alarm(harness_child_seconds());
            work("child", 5);
            CHECK_EQ_U64(calls_of("busy"), 0);
            exit(0);
        }
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(t[i], NULL);
        sum += count[i];
    }
    CHECK_EQ_U64(calls_of("busy"), sum);
    CHECK_EQ_U64(calls_of("forking"), CHILDREN);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(fork_file, from_a_program_in_full_swing) {
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer does not support threads after a fork from many");
#endif
    begin();
    run_body((void *)(uintptr_t)full_swing);
    struct sum sum = sum_of("child");
    CHECK_EQ_U64(sum.files, CHILDREN);
    CHECK_EQ_U64(sum.calls, 5 * CHILDREN);
    CHECK_EQ_U64(sum_of("busy").files, 1);
    CHECK_EQ_U64(sum_of("forking").calls, CHILDREN);
    run_folder_drop();
}

HARNESS_MAIN()
