/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system without hard links, with and without a rename that refuses to replace: a run file
 * still appears whole, and what has the name already is replaced only where it may be. link and
 * syscall are the program's own here.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "run_support.h"

static int link_error = EPERM;
static int renameat2_error; /* 0: it works */
static unsigned renameat2_calls;

int link(const char *from, const char *to) {
    (void)from, (void)to;
    errno = link_error;
    return -1;
}

long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");
        memcpy(&real, &symbol, sizeof real);
    }
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; ++i) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_renameat2) {
        ++renameat2_calls;
        if (renameat2_error) {
            errno = renameat2_error;
            return -1;
        }
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void one(void) {
    timed("one", 5);
    CHECK_EQ_U64(renameat2_calls, 1);
}

static void write_text(const char *path) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("x", f) >= 0 && !fclose(f));
}

/* A free name is taken; of another program's file nothing changes. */
static void check_both(void) {
    struct stat before, after;
    run_begin("run");
    run_silent(one);
    CHECK_EQ_U64(run_calls_in("run", "one"), 1);
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK(!unlink(run_path("run")));
    write_text(run_path("run"));
    CHECK(!stat(run_path("run"), &before));
    run_says(one, 1, run_path("run"), "");
    CHECK(!stat(run_path("run"), &after));
    CHECK(before.st_ino == after.st_ino && after.st_size == 1);
    CHECK_EQ_U64(run_entries(NULL), 1);
}

TEST(no_links, renames_where_that_does_not_replace) {
    static const int errors[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        link_error = errors[i];
        check_both();
    }
}

/* ENOSYS: a kernel before 3.15, a sandbox. EINVAL: a file system that knows no flags. */
TEST(no_links, renames_after_a_look_where_it_would_replace) {
    static const int errors[] = {ENOSYS, EINVAL};
    link_error = EPERM;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        renameat2_error = errors[i];
        check_both();
    }
}
