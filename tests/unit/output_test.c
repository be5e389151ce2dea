/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The destination of reports (STINT_OUTPUT): stderr, stdout, files, patterns, and destinations that
 * fail. A report must arrive whole or go to stderr with one line that says why.
 */
#include "system/output.h"

#include <sys/stat.h>

#include "support.h"
#include "system/config.h"

static char folder[64];

/* A path in a folder of its own. */
static const char *path_of(const char *name) {
    static char path[256];
    if (!folder[0]) {
        strcpy(folder, "/tmp/stint_output_XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *content(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = harness_keep(calloc(65536, 1));
    if (!CHECK(file != NULL)) {
        return text;
    }
    fread(text, 1, 65535, file);
    fclose(file);
    return text;
}

static void clean(const char *path) {
    unlink(path);
    rmdir(folder);
}

static int result;
static void put(void *text) {
    result = output_write(text, strlen(text));
}

/* Writes once and returns the bytes that arrive at fd. */
static char *put_to(const char *where, int fd) {
    config.output = where;
    return harness_capture(fd, put, (void *)(uintptr_t) "report\n");
}

TEST(output, stderr_is_the_default) {
    const char *const where[] = {NULL, "stderr"};
    for (int i = 0; i < 2; ++i) {
        char *said = put_to(where[i], 2);
        CHECK_STR_EQ(said, "report\n");
        CHECK(!result);
    }
}

static void print_and_put(NO_ARG) {
    setvbuf(stdout, NULL, _IOFBF, 4096);
    printf("before\n");
    put((void *)(uintptr_t) "report\n");
    printf("after\n");
}

TEST(output, stdout_in_the_order_of_the_program) {
    config.output = "stdout";
    CHECK_STR_EQ(harness_capture(1, print_and_put, NULL), "before\nreport\nafter\n");
}

TEST(output, a_file_is_replaced_first_and_added_to_then) {
    const char *path = path_of("run.txt");
    FILE *old = fopen(path, "w");
    fputs("of an earlier run, much longer than the report\n", old);
    fclose(old);
    for (int i = 0; i < 2; ++i) {
        char *said = put_to(path, 2);
        CHECK_STR_EQ(said, "");
        CHECK(!result);
    }
    CHECK_STR_EQ(content(path), "report\nreport\n");
    clean(path);
}

TEST(output, a_bad_path_is_said_and_the_report_goes_to_stderr) {
    char *said = put_to("/nonexistent/folder/x", 2);
    CHECK_STR_EQ(said, "stint: cannot write the report to /nonexistent/folder/x: "
                       "No such file or directory; it goes to stderr\nreport\n");
    CHECK(!result);
    said = put_to("/tmp/%q", 2);
    CHECK_CONTAINS(said, "stint: STINT_OUTPUT=/tmp/%q: ");
    CHECK_CONTAINS(said, "\nreport\n");
    CHECK_EQ_U64(lines_of(said), 2);
}

/* ---- Files that are not ours. */

/* It stays even if it is the program's own run file: truncating a mapped file causes SIGBUS. */
TEST(output, a_run_file_that_is_being_written_stays) {
    const char *path = path_of("run");
    setenv("STINT_FILE", path, 1);
    setenv("STINT_OUTPUT", path, 1);
    timed("a", 1000);
    char *said = report_of("table");
    CHECK_CONTAINS(said, ": a running program is writing it; it goes to stderr\n");
    CHECK_CONTAINS(said, "\nstint table: testprog");
    timed("b", 1000);
    clean(path);
}

TEST(output, a_device_is_written_to) {
    char *said = put_to("/dev/null", 2);
    CHECK_STR_EQ(said, "");
    CHECK(!result);
    said = put_to("/dev/stderr", 2);
    CHECK_STR_EQ(said, "report\n");
}

/* ---- Readers that are slow. */

#define LONG ((size_t)1 << 20)

static char *long_report(void) {
    char *text = harness_keep(malloc(LONG + 1));
    for (size_t i = 0; i < LONG; ++i) {
        text[i] = (char)(i % 64 == 63 ? '\n' : 'a' + i % 26);
    }
    text[LONG] = '\0';
    return text;
}

TEST(output, a_stderr_that_does_not_wait_gets_the_whole_report) {
    int ends[2], status = -1;
    char *text = long_report();
    CHECK(!pipe(ends));
    pid_t reader = fork();
    if (!reader) {
        char piece[4096];
        size_t at = 0;
        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0; at += (size_t)n) {
            if (at + (size_t)n > LONG || memcmp(piece, text + at, (size_t)n)) {
                _exit(1);
            }
        }
        _exit(at == LONG ? 0 : 2);
    }
    close(ends[0]);
    CHECK(!fcntl(ends[1], F_SETFL, O_NONBLOCK) && dup2(ends[1], 2) == 2);
    close(ends[1]);
    config.output = NULL;
    put(text);
    CHECK(!result);
    close(2);
    CHECK(waitpid(reader, &status, 0) == reader);
    CHECK_EQ_U64((uint64_t)status, 0);
}

TEST(output, a_reader_that_takes_nothing_is_given_up) {
    int ends[2];
    char *text = long_report();
    CHECK(!pipe(ends));
    CHECK(!fcntl(ends[1], F_SETFL, O_NONBLOCK) && dup2(ends[1], 2) == 2);
    config.output = NULL;
    errno = 77;
    put(text);
    CHECK_EQ_U64((uint64_t)errno, 77);
    CHECK(result == -1);
}

#define PATH(pattern, want)                                                                        \
    do {                                                                                           \
        char out[512];                                                                             \
        CHECK(!output_path(out, sizeof out, pattern));                                             \
        CHECK_STR_EQ(out, want);                                                                   \
    } while (0)

TEST(output, patterns) {
    char host[256] = "", want[512];
    gethostname(host, sizeof host - 1);
    snprintf(want, sizeof want, "a-%ld-%s.txt", (long)getpid(), host);
    PATH("a-%p-%h.txt", want);
    PATH("100%%", "100%");
    PATH("", "");
    char out[512];
    CHECK(output_path(out, sizeof out, "%") == -1);
    CHECK(output_path(out, sizeof out, "a%d") == -1);
    CHECK(output_path(out, sizeof out, "a%%%") == -1);
}

TEST(output, ranks_of_the_common_launchers) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < 4; ++i) {
        unsetenv(names[i]);
    }
    unsetenv("STINT_RANK");
    PATH("r%r", "r0");
    for (size_t i = 4; i-- > 0;) {
        char value[8], want[16];
        snprintf(value, sizeof value, "%zu", 10 + i);
        snprintf(want, sizeof want, "r%zu", 10 + i);
        setenv(names[i], value, 1); /* an earlier name wins */
        PATH("r%r", want);
    }
    setenv(names[0], "../../etc", 1); /* no number: no part of a path */
    PATH("r%r", "r11");
}

TEST(output, ranks_share_a_place_without_their_rank_in_it) {
    static const char *const shared[] = {"a", "a%%r", "a%h", "a%"};
    static const char *const own[] = {"%r", "a-%p", "%h-%%%r"};
    config.output = NULL;
    CHECK(output_is_shared());
    for (size_t i = 0; i < sizeof shared / sizeof *shared; ++i) {
        config.output = shared[i];
        CHECK(output_is_shared());
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i) {
        config.output = own[i];
        CHECK(!output_is_shared());
    }
    config.output = NULL;
}

TEST(output, too_long_for_the_buffer) {
    char out[8];
    CHECK(!output_path(out, sizeof out, "1234567"));
    CHECK(output_path(out, sizeof out, "12345678") == -1);
    CHECK(output_path(out, sizeof out, "123456%p") == -1);
    static char pattern[6000];
    memset(pattern, 'x', sizeof pattern - 1);
    char *said = put_to(pattern, 2);
    CHECK_EQ_U64(lines_of(said), 2);
    CHECK(said && strlen(said) < 1000);
}

TEST(output, errno_is_kept) {
    errno = 77;
    put_to("/nonexistent/x", 2);
    CHECK_EQ_U64((uint64_t)errno, 77);
}

TEST(output, reports_go_where_the_environment_says) {
    const char *path = path_of("report.txt");
    setenv("STINT_OUTPUT", path, 1);
    timed("a", 1000);
    CHECK_STR_EQ(report_of("legacy"), "");
    report_of("table");
    char *text = content(path);
    CHECK_CONTAINS(text, "======= StatSet: [GlobalStatInfo] status ======\n");
    CHECK_CONTAINS(text, "\nstint table: testprog");
    clean(path);
}
