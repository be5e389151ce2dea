/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs under one name, and a process that watches the file.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "run_support.h"

/* Slow, so that who replaces a file without holding it does so while another one does. */
int rename(const char *from, const char *to) {
    usleep(5000);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static void one(void) {
    timed("one", 5);
}

/* All files of an all_at_once but the one that others would replace. */
static void only_a_dead_one(void) {
    char command[200];
    snprintf(command, sizeof command, "rm -f %s/run.*", run_folder);
    CHECK(!system(command));
    CHECK_EQ_U64(run_entries(NULL), 1);
}

static int folder_gone(void) {
    return access(run_folder, F_OK) != 0;
}

/* Opens the name as fast as it can: a whole header, whenever there is one. */
static void watches(void) {
    unsigned found = 0;
    while (found < 1000000) {
        struct arena_header h;
        int fd = open(run_path("run"), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            if (folder_gone()) {
                break;
            }
            continue;
        }
        ++found;
        CHECK(pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
        CHECK(!memcmp(h.magic, ARENA_MAGIC, 8) && h.abi == ARENA_FORMAT && h.site_count <= 1);
        CHECK(h.set_count == 1 && h.about.program && h.pid && h.ticks_per_us);
        close(fd);
    }
    CHECK(found > 0);
}

TEST(together, nobody_sees_half_a_file) {
    run_begin("run");
    pid_t watcher = run_start(watches);
    for (int i = 0; i < 300; ++i) {
        CHECK_EQ_U64((uint64_t)run_wait(run_start(one)), 0);
        if (i % 3 == 0) {
            unlink(run_path("run"));
        }
    }
    run_folder_drop();
    CHECK_EQ_U64((uint64_t)run_wait(watcher), 0);
}

static pthread_barrier_t *together;

static void in_step(void) {
    pthread_barrier_wait(together);
    timed("one", 5);
    pthread_barrier_wait(together);
}

enum { MANY = 8 };

/* Starts the processes at the same time, with no file or the file of a dead process before them.
 * Each gets a file of its own; the first that finds the name taken prints a line about it. */
static void all_at_once(void) {
    pid_t child[MANY];
    for (int i = 0; i < MANY; ++i) {
        child[i] = run_start(in_step);
    }
    for (int i = 0; i < MANY; ++i) {
        CHECK_EQ_U64((uint64_t)run_wait(child[i]), 0);
    }
    CHECK_EQ_U64(run_entries(NULL), MANY);
    CHECK_EQ_U64(run_entries(".tmp"), 0);
}

TEST(together, many_at_once) {
    pthread_barrierattr_t shared;
    run_begin("run");
    together = (pthread_barrier_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    CHECK(!pthread_barrier_init(together, &shared, MANY));
    for (int i = 0; i < 20; ++i) {
        char *said = harness_capture(2, run_call, (void *)(uintptr_t)all_at_once);
        CHECK_EQ_U64(lines_of(said), i == 0);
        only_a_dead_one();
        if (i % 2) {
            unlink(run_path("run"));
        }
    }
}
