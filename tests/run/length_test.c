/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of the run file: while the program runs, that of a short run is short for programs
 * that copy holes, and a long one has all the room that a run without a file has. At the end it is
 * what is used.
 */
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "run_support.h"

#define MIB ((uint64_t)1 << 20)

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
    run_begin("run");
    setenv("STINT_TRACE", "512M", 1);
    if (statvfs(run_folder, &s) || s.f_bavail * s.f_frsize < 512 * MIB) {
        SKIP("needs half a gigabyte of disk");
    }
}

static void program(void) {
    run_names(1);
    run_names(100); /* their nodes lie after the ring */
    timed("last", 1);
}

static void program_that_is_killed(void) {
    program();
    raise(SIGKILL);
}

static void run_killed(void) {
    CHECK_EQ_U64((uint64_t)WTERMSIG(run_wait(run_start(program_that_is_killed))), SIGKILL);
}

TEST(length, of_a_short_run_is_64_MiB) {
    run_begin("run");
    run_killed();
    CHECK_EQ_U64(length_of_file(), 64 * MIB);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "last"), 1);
    CHECK(run_header(f)->size >= 64 * MIB);
}

TEST(length, is_no_more_than_the_memory) {
    run_begin("run");
    setenv("STINT_MEMORY", "5M", 1);
    run_killed();
    CHECK_EQ_U64(length_of_file(), 5 * MIB);
}

TEST(length, doubles_until_all_has_room) {
    begin_large();
    run_killed();
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK(f->size > 128 * MIB);
    CHECK_EQ_U64(length_of_file(), 256 * MIB);
    CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 102);
    CHECK_EQ_U64(run_calls(f, "name 99"), 1);
    CHECK_EQ_U64(run_calls(f, "last"), 1);
    CHECK_EQ_U64(f->t.s.lost[STINT_STATUS_FILE_FULL], 0);
}

static void limited(void) {
    struct rlimit r = {100 * MIB, 100 * MIB};
    CHECK(!setrlimit(RLIMIT_FSIZE, &r));
    program();
    CHECK_EQ_U64(length_of_file(), 64 * MIB);
}

/* A ring that is smaller fits; SIGXFSZ would have ended the program. */
TEST(length, ends_at_a_limit_on_the_size_of_files) {
    begin_large();
    run_silent(limited);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "last"), 1);
    CHECK(f->t.s.lost[STINT_STATUS_FILE_FULL] > 0);
}

/* Runs the program with 600 MiB of addresses more than are mapped now. */
static void limited_addresses(void) {
    struct rlimit r = {harness_mapped() + 600 * MIB, RLIM_INFINITY};
    CHECK(!setrlimit(RLIMIT_AS, &r));
    program();
}

TEST(length, of_a_program_with_few_addresses) {
    if (SANITIZED) {
        SKIP("a sanitizer maps terabytes");
    }
    run_begin("run");
    run_silent(limited_addresses);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_header(f)->size, 128 * MIB); /* a quarter, halved from 1 GiB */
    CHECK_EQ_U64(run_calls(f, "last"), 1);
}
