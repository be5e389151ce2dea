/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems that a run file cannot be mapped on: it is written at the end. fallocate and fstatfs
 * are the program's own here.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "run_support.h"

static int no_fallocate;
static long type;

int fallocate(int fd, int mode, off_t from, off_t length) {
    if (no_fallocate) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, from, length);
}

int fstatfs(int fd, struct statfs *out) {
    int failed = (int)syscall(SYS_fstatfs, fd, out);
    if (type) {
        out->f_type = (__typeof__(out->f_type))type;
    }
    return failed;
}

static void begin(void) {
    run_begin("run");
    setenv("STINT_TRACE", "64K", 1);
}

static unsigned there; /* before the program */

static void program(void) {
    run_names(5000);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(run_entries(NULL), there); /* nothing before the end */
}

static void check_written(void) {
    struct stat s;
    if (there) {
        run_silent(program); /* children of one process write the line once */
    } else {
        run_says(program, 1, "it is written at the end of the program", run_path("run"));
    }
    CHECK_EQ_U64(run_entries(NULL), 1);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK(!stat(run_path("run"), &s) && (s.st_mode & 07777) == 0600);
    CHECK_EQ_U64((uint64_t)s.st_size, run_header(f)->used);
    CHECK_EQ_U64(f->t.s.site_count, 5000);
    CHECK_EQ_U64(run_calls(f, "name 4999"), 1);
    CHECK(run_header(f)->end.ticks != 0);
}

TEST(remote, without_reservation) {
    begin();
    no_fallocate = 1;
    check_written();
    there = 1;
    check_written(); /* the first one's writer is gone */
}

TEST(remote, on_a_network) {
    begin();
    type = 0x6969;
    check_written();
}

static void goes_elsewhere(void) {
    timed("one", 1);
    CHECK(!chdir("/"));
}

TEST(remote, a_relative_name_is_where_the_program_began) {
    begin();
    no_fallocate = 1;
    CHECK(!chdir(run_folder));
    setenv("STINT_FILE", "run", 1);
    run_said(goes_elsewhere);
    CHECK_EQ_U64(run_calls_in("run", "one"), 1);
}

static void is_limited(void) {
    struct rlimit r = {4096, 4096};
    timed("one", 1);
    CHECK(!setrlimit(RLIMIT_FSIZE, &r));
}

TEST(remote, no_signal_beyond_the_limit) {
    begin();
    no_fallocate = 1;
    run_says(is_limited, 2, "File too large", "");
    CHECK_EQ_U64(run_entries(NULL), 0);
}

static void is_killed(void) {
    timed("one", 1);
    if (!fork()) {
        kill(getpid(), SIGKILL);
    }
    _exit(0);
}

TEST(remote, nothing_of_a_program_that_never_ended) {
    begin();
    no_fallocate = 1;
    run_said(is_killed);
    CHECK_EQ_U64(run_entries(NULL), 0);
}

static void in_the_way(void) {
    timed("one", 1);
    CHECK(!mkdir(run_path("run"), 0700));
}

TEST(remote, what_came_meanwhile_stays) {
    begin();
    no_fallocate = 1;
    run_says(in_the_way, 2, "file exists and is not a stint run file", "");
    CHECK_EQ_U64(run_entries(NULL), 1);
}
