/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a profile writes: a run file of the run so far, or a Chrome trace of the profile.
 * It is read back with the reader of run files, and compared with what the program did.
 */
#include <sys/resource.h>

#include "harness_threads.h"
#include "run_support.h"

struct stop {
    const char *path;
    int result;
};

static void stop_it(void *arg) {
    struct stop *s = arg;
    s->result = stint_profiler_stop("total", s->path);
}

/* Stops the profiler and returns its output. The report is printed whatever
 * happens to the file. */
static char *stop(const char *path, int result) {
    struct stop s = {path, 7};
    char *said = harness_capture(2, stop_it, &s);
    CHECK(s.result == result);
    CHECK_CONTAINS(said, "Profiling Report");
    return said;
}

static void profile(const char *path, int result) {
    CHECK(!stint_profiler_start("CPU", NULL));
    timed("inside", 5000);
    stop(path, result);
}

static char *content(const char *name) {
    static char text[65536];
    FILE *f = fopen(run_path(name), "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
        fclose(f);
    }
    text[n] = '\0';
    return text;
}

TEST(profiler_file, is_the_run_so_far) {
    struct run_file f;
    struct stat s;
    run_folder_make();
    umask(0);
    timed("before", 1000);
    errno = 42;
    profile(run_path("a.stint"), 0);
    CHECK(errno == 42);
    CHECK(!stat(run_path("a.stint"), &s) && (s.st_mode & 07777) == 0600);
    CHECK_EQ_U64(run_entries(NULL), 1); /* nothing was left beside it */
    if (CHECK(!run_load(&f, run_path("a.stint")))) {
        CHECK_EQ_U64(f.size, (uint64_t)s.st_size);
        CHECK_EQ_U64(run_header(&f)->end.ticks, fake_now); /* it ends here, for readers */
        CHECK_EQ_U64(run_calls(&f, "before"), 1);
        CHECK_EQ_U64(run_calls(&f, "inside"), 1);
        run_unload(&f);
    }
    profile(run_path("a.stint"), 0);
    CHECK_EQ_U64(run_calls_in("a.stint", "inside"), 2);
    CHECK_EQ_U64(arena_header()->end.ticks, 0);
}

TEST(profiler_file, takes_the_pattern_of_reports) {
    char name[40];
    run_folder_make();
    profile(run_path("%p-%%.run"), 0);
    snprintf(name, sizeof name, "%ld-%%.run", (long)getpid());
    CHECK_EQ_U64(run_calls_in(name, "inside"), 1);
}

static void both(void) {
    setenv("STINT_FILE", run_path("live.stint"), 1);
    timed("before", 1000);
    profile(run_path("copy.stint"), 0);
    CHECK(!access(run_path("live.stint"), F_OK));
    timed("after", 1000);
}

TEST(profiler_file, beside_a_run_file) {
    run_folder_make();
    run_silent(both);
    CHECK_EQ_U64(run_calls_in("copy.stint", "inside"), 1);
    CHECK_EQ_U64(run_calls_in("copy.stint", "after"), 0);
    CHECK_EQ_U64(run_calls_in("live.stint", "after"), 1);
    CHECK_EQ_U64(run_entries(NULL), 2);
}

static void refused(const char *path, int result, const char *why) {
    CHECK(!stint_profiler_start("CPU", NULL));
    timed("inside", 5000);
    char *said = stop(path, result);
    const char *line = strstr(said, "stint: stint_profiler_stop: ");
    CHECK(line && lines_of(line) == 1);
    CHECK_CONTAINS(said, why);
}

TEST(profiler_file, refuses_with_one_line_and_stops) {
    run_folder_make();
    refused(run_path("no/a"), STINT_ERROR_CANNOT_WRITE, "No such file");
    refused(run_path("%q"), STINT_ERROR_CANNOT_WRITE, "that is not %p %h %r");
    refused(run_folder, STINT_ERROR_CANNOT_WRITE, "not a regular file");
    refused("/dev/null", STINT_ERROR_CANNOT_WRITE, "not a regular file");
    refused(run_path("a.json"), STINT_ERROR_NOT_AVAILABLE, "STINT_TRACE=16M");
    CHECK_EQ_U64(run_entries(NULL), 0);
    CHECK(!stint_profiler_stop(NULL, run_path("a"))); /* none runs: no file either */
    CHECK_EQ_U64(run_entries(NULL), 0);
}

TEST(profiler_file, a_full_disk_leaves_the_old_one) {
    struct rlimit none = {20000, 20000}; /* enough for the report */
    run_folder_make();
    profile(run_path("a"), 0);
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    refused(run_path("a"), STINT_ERROR_CANNOT_WRITE, "File too large");
    CHECK_EQ_U64(run_calls_in("a", "inside"), 1);
    CHECK_EQ_U64(run_entries(NULL), 1);
}

/* ---- Chrome. */

TEST(profiler_file, json_is_a_trace_of_the_profile) {
    run_folder_make();
    setenv("STINT_TRACE", "1M", 1);
    timed("before", 1000);
    fake_advance(1000);
    profile(run_path("a.json"), 0);
    timed("after", 1000);
    const char *text = content("a.json");
    CHECK(!strncmp(text, "{\"displayTimeUnit\":\"ns\"", 23));
    CHECK_CONTAINS(text, "\"program\":\"testprog\"");
    CHECK_CONTAINS(text, "\"ts\":2.000,\"dur\":5.000,\"name\":\"inside\"}");
    CHECK(!strstr(text, "\"before\"") && !strstr(text, "\"after\""));
    CHECK_EQ_U64(strlen(text) - 4, (uint64_t)(strstr(text, "\n]}\n") - text));
    CHECK_EQ_U64(run_entries(NULL), 1);
}

/* A scope that was open when the profile began and ended inside it is of both. */
TEST(profiler_file, json_has_what_ended_inside) {
    run_folder_make();
    setenv("STINT_TRACE", "1M", 1);
    {
        REGISTER_TIMER("across");
        fake_advance(100);
        CHECK(!stint_profiler_start("CPU", NULL));
        fake_advance(100);
    }
    stop(run_path("a.json"), 0);
    CHECK_CONTAINS(content("a.json"), "\"dur\":0.200,\"name\":\"across\"");
}

/* ---- From the block and at the end. */

static void block(void) {
    REGISTER_PROFILER("CPU", NULL, NULL, run_path("block.run"));
    timed("inside", 10);
}

static void at_end(void) {
    char path[400];
    snprintf(path, sizeof path, "%s", run_path("end.run"));
    CHECK(!stint_profiler_at_exit("CPU", NULL, NULL, path));
    memset(path, 'x', sizeof path - 1); /* it was copied */
    timed("inside", 10);
}

TEST(profiler_file, of_a_block_and_of_a_program) {
    run_folder_make();
    run_said(block);
    run_said(at_end);
    CHECK_EQ_U64(run_calls_in("block.run", "inside"), 1);
    CHECK_EQ_U64(run_calls_in("end.run", "inside"), 1);
    CHECK_EQ_U64(run_entries(NULL), 2);
}

/* ---- While others record: whatever is in the copy is whole. */

static int goes_on = 1;

static void *record(void *unused) {
    char name[40];
    for (unsigned i = 0; __atomic_load_n(&goes_on, __ATOMIC_RELAXED); ++i) {
        snprintf(name, sizeof name, "name %u", i % 300);
        REGISTER_TIMER_DYNAMIC(name);
        timed("nested", 1);
    }
    return unused;
}

TEST(profiler_file, of_a_program_that_goes_on) {
    pthread_t threads[2];
    struct run_file f;
    run_folder_make();
    threads_start(threads, 2, record, NULL, 0);
    for (int i = 0; i < 5; ++i) {
        profile(run_path("a"), 0);
        if (CHECK(!run_load(&f, run_path("a")))) {
            CHECK_EQ_U64(run_calls(&f, "inside"), (uint64_t)i + 1);
            run_unload(&f);
        }
    }
    __atomic_store_n(&goes_on, 0, __ATOMIC_RELAXED);
    threads_join(threads, 2);
}
