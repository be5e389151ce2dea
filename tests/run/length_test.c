/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of the run file: what a short run leaves is short for programs that copy holes, and a
 * long one has all the room that a run without a file has.
 */
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "run_support.h"

#define MIB ((uint64_t)1 << 20)

static void begin(void) {
    run_folder_make();
    setenv("STINT_FILE", run_path("run"), 1);
}

static uint64_t length_of_file(void) {
    struct stat s;
    if (!CHECK(!stat(run_path("run"), &s))) {
        return 0;
    }
    return (uint64_t)s.st_size;
}

/* The first ring gets a quarter of it, which is more than a short file has. */
static void begin_large(void) {
    struct statvfs s;
    begin();
    setenv("STINT_TRACE", "512M", 1);
    if (statvfs(run_folder, &s) || s.f_bavail * s.f_frsize < 512 * MIB) {
        SKIP("needs half a gigabyte of disk");
    }
}

static void names(unsigned count) {
    char name[32];
    for (unsigned i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "name %u", i);
        timed(name, 1);
    }
}

static void program(void) {
    names(1);
    names(100); /* their nodes lie after the ring */
    timed("last", 1);
}

TEST(length, of_a_short_run_is_64_MiB) {
    struct run_file f;
    begin();
    run_silent(program);
    CHECK_EQ_U64(length_of_file(), 64 * MIB);
    CHECK(!run_load(&f, run_path("run")));
    CHECK_EQ_U64(run_calls(&f, "last"), 1);
    CHECK(run_header(&f)->size >= 64 * MIB);
    run_unload(&f);
    run_folder_drop();
}

TEST(length, is_no_more_than_the_memory) {
    begin();
    setenv("STINT_MEMORY", "5M", 1);
    run_silent(program);
    CHECK_EQ_U64(length_of_file(), 5 * MIB);
    run_folder_drop();
}

static void program_that_is_killed(void) {
    program();
    raise(SIGKILL);
}

TEST(length, doubles_until_all_has_room) {
    struct run_file f;
    begin_large();
    CHECK_EQ_U64((uint64_t)WTERMSIG(run_wait(run_start(program_that_is_killed))), SIGKILL);
    CHECK(!run_load(&f, run_path("run")));
    CHECK(f.size > 128 * MIB);
    CHECK_EQ_U64(length_of_file(), 256 * MIB);
    CHECK_EQ_U64(traced_count(&f.t, TRACE_SPAN, NULL), 102);
    CHECK_EQ_U64(run_calls(&f, "name 99"), 1);
    CHECK_EQ_U64(run_calls(&f, "last"), 1);
    CHECK_EQ_U64(f.t.s.lost[STINT_STATUS_FILE_FULL], 0);
    run_unload(&f);
    run_folder_drop();
}

static void limited(void) {
    struct rlimit r = {100 * MIB, 100 * MIB};
    CHECK(!setrlimit(RLIMIT_FSIZE, &r));
    program();
}

/* A ring that is smaller fits; SIGXFSZ would have ended the program. */
TEST(length, ends_at_a_limit_on_the_size_of_files) {
    struct run_file f;
    begin_large();
    run_silent(limited);
    CHECK_EQ_U64(length_of_file(), 64 * MIB);
    CHECK(!run_load(&f, run_path("run")));
    CHECK_EQ_U64(run_calls(&f, "last"), 1);
    CHECK(f.t.s.lost[STINT_STATUS_FILE_FULL] > 0);
    run_unload(&f);
    run_folder_drop();
}

/* Runs the program with 600 MiB of addresses more than are mapped now. */
static void limited_addresses(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    CHECK(f && fscanf(f, "%lu", &pages) == 1);
    if (f) {
        fclose(f);
    }
    struct rlimit r = {pages * (size_t)getpagesize() + 600 * MIB, RLIM_INFINITY};
    CHECK(!setrlimit(RLIMIT_AS, &r));
    program();
}

TEST(length, of_a_program_with_few_addresses) {
    struct run_file f;
    if (SANITIZED) {
        SKIP("a sanitizer maps terabytes");
    }
    begin();
    run_silent(limited_addresses);
    CHECK(!run_load(&f, run_path("run")));
    CHECK_EQ_U64(run_header(&f)->size, 128 * MIB); /* a quarter, halved from 1 GiB */
    CHECK_EQ_U64(run_calls(&f, "last"), 1);
    run_unload(&f);
    run_folder_drop();
}

HARNESS_MAIN()
