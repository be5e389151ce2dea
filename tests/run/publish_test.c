/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a run file: it never names half a file, a file of another program is not touched, the
 * file of a living writer is not taken, and nothing is left beside it.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "arena/run_file.h"
#include "run_support.h"

static int to_child[2], to_parent[2];

static void begin(const char *file) {
    run_begin(file);
    CHECK(!pipe(to_child) && !pipe(to_parent));
}

static void say(int pipe_ends[2]) {
    CHECK(write(pipe_ends[1], "x", 1) == 1);
}

static void hear(int pipe_ends[2]) {
    char c;
    CHECK(read(pipe_ends[0], &c, 1) == 1);
}

static void one(void) {
    timed("one", 5);
}

static void no_scope(void) {
}

static void killed(void) {
    timed("lives", 5);
    kill(getpid(), SIGKILL);
}

static void until_killed(void) {
    CHECK(WIFSIGNALED(run_wait(run_start(killed))));
}

static void writes_to_fifo(void) {
    close(open(run_path("run"), O_WRONLY));
}

/* Runs as a daemon, whose parent may have closed these descriptors. Its own output must not go into
 * the file. */
static void without_descriptors(void) {
    close(0);
    close(1);
    close(2);
    timed("one", 5);
    CHECK(write(1, "spoilt", 6) == -1);
    CHECK(write(0, "spoilt", 6) == -1);
}

static void until_told(void) {
    timed("lives", 5);
    say(to_parent);
    hear(to_child);
    timed("lives", 5);
}

TEST(publish, a_run_leaves_one_file) {
    struct stat s;
    begin("run");
    umask(0);
    run_silent(one);
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK(!stat(run_path("run"), &s) && (s.st_mode & 07777) == 0600);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "one"), 1);
    CHECK(run_header(f)->end.ticks != 0);
    CHECK(run_header(f)->size >= (uint64_t)s.st_size);
}

TEST(publish, nothing_without_a_scope) {
    begin("run");
    run_wait(run_start(no_scope));
    CHECK_EQ_U64(run_entries(NULL), 0);
}

TEST(publish, a_dead_writers_file_is_replaced) {
    begin("run");
    run_body(until_killed);
    struct stat before, after;
    CHECK(!stat(run_path("run"), &before));
    run_silent(one);
    CHECK(!stat(run_path("run"), &after) && before.st_ino != after.st_ino);
    CHECK_EQ_U64(run_calls_in("run", "one"), 1);
    CHECK_EQ_U64(run_calls_in("run", "lives"), 0);
    CHECK_EQ_U64(run_entries(NULL), 1);
}

static void one_beside(void) {
    pid_t child = run_start(one);
    char name[32];
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    snprintf(name, sizeof name, "run.%ld.1", (long)child);
    CHECK_EQ_U64(run_calls_in(name, "one"), 1);
}

static void check_beside(void (*living)(void)) {
    pid_t child = run_start(living);
    hear(to_parent);
    char *said = harness_capture(2, run_call, (void *)(uintptr_t)one_beside);
    CHECK_CONTAINS(said, "is being written by a running program; this run goes to ");
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK_EQ_U64(run_entries(NULL), 2);
    say(to_child);
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    CHECK_EQ_U64(run_calls_in("run", "lives"), 2);
}

TEST(publish, a_living_writers_file_stays) {
    begin("run");
    check_beside(until_told);
}

static void closes_all(void) {
    timed("lives", 5);
    for (int fd = 3; fd < 100; ++fd) {
        if (fd != to_parent[1] && fd != to_child[0] && fd != harness_fd) {
            close(fd);
        }
    }
    say(to_parent);
    hear(to_child);
    timed("lives", 5);
}

/* The mapping keeps the lock. */
TEST(publish, a_living_writers_file_stays_without_a_descriptor) {
    begin("run");
    check_beside(closes_all);
}

static void reopens_its_file(void) {
    timed("lives", 5);
    close(open(run_path("run"), O_RDWR)); /* which would end a lock of the process's */
    say(to_parent);
    hear(to_child);
    timed("lives", 5);
}

TEST(publish, a_program_that_looks_at_its_own_file_keeps_the_lock) {
    begin("run");
    pid_t child = run_start(reopens_its_file);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    hear(to_parent);
    int fd = open(run_path("run"), O_RDWR);
    CHECK(!fcntl(fd, F_GETLK, &all) && all.l_type == F_WRLCK);
    close(fd);
    say(to_child);
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
}

/* ---- What is in the way. */

static void check_refused(const char *why) {
    unsigned before = run_entries(NULL);
    run_says(one, 1, "stint: STINT_FILE: cannot write ", why);
    CHECK_EQ_U64(run_entries(NULL), before);
}

static void file_with(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

TEST(publish, a_strangers_file_stays) {
    static const char *const texts[] = {"", "x", "STINTRU", "a letter to somebody, rather long"};
    struct stat before, after;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        char have[64] = "";
        begin("run");
        file_with(run_path("run"), texts[i]);
        CHECK(!stat(run_path("run"), &before));
        check_refused("file exists and is not a stint run file");
        CHECK(!stat(run_path("run"), &after));
        CHECK(before.st_ino == after.st_ino && before.st_size == after.st_size);
        CHECK(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
        FILE *f = fopen(run_path("run"), "r");
        CHECK(f && fread(have, 1, sizeof have - 1, f) == strlen(texts[i]) && !fclose(f));
        CHECK_STR_EQ(have, texts[i]);
    }
}

TEST(publish, a_folder_stays) {
    begin("run");
    CHECK(!mkdir(run_path("run"), 0700));
    check_refused("file exists and is not a stint run file");
}

TEST(publish, a_link_is_not_followed) {
    begin("run");
    file_with(run_path("target"), "target");
    CHECK(!symlink(run_path("target"), run_path("run")));
    check_refused("file exists and is not a stint run file");
    begin("run"); /* another folder: children of one process write a line once */
    CHECK(!symlink(run_path("nowhere"), run_path("run")));
    check_refused("file exists and is not a stint run file");
    CHECK_EQ_U64(run_entries("nowhere"), 0);
}

TEST(publish, a_link_to_a_run_file_is_not_followed) {
    begin("run");
    run_body(one);
    CHECK(!rename(run_path("run"), run_path("real")) && !symlink("real", run_path("run")));
    check_refused("file exists and is not a stint run file");
    CHECK_EQ_U64(run_calls_in("real", "one"), 1);
}

/* Opening the FIFO would wake the process that waits at its other end. */
TEST(publish, a_fifo_is_not_opened) {
    begin("run");
    CHECK(!mkfifo(run_path("run"), 0600));
    pid_t waits = run_start(writes_to_fifo);
    usleep(50000);
    check_refused("file exists and is not a stint run file");
    usleep(50000);
    CHECK(waitpid(waits, NULL, WNOHANG) == 0);
    kill(waits, SIGKILL);
    run_wait(waits);
}

TEST(publish, a_socket_stays) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    begin("run");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", run_path("run"));
    CHECK(!bind(fd, (struct sockaddr *)&a, sizeof a));
    check_refused("file exists and is not a stint run file");
    close(fd);
}

TEST(publish, a_missing_folder) {
    begin("no such folder/run");
    check_refused("No such file or directory");
}

TEST(publish, a_folder_that_may_not_be_written) {
    begin("run");
    CHECK(!chmod(run_folder, 0500));
    if (!access(run_folder, W_OK)) {
        SKIP("this user may write anywhere");
    }
    check_refused("Permission denied");
}

TEST(publish, a_pattern_of_nonsense) {
    begin("run-%x");
    check_refused("a % that is not %p %h %r");
    begin("run");
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    setenv("STINT_FILE", name, 1);
    check_refused("too long");
    CHECK_EQ_U64(run_entries(NULL), 0);
}

/* ---- Patterns. */

TEST(publish, process_host_and_rank) {
    char name[400], host[256] = "";
    begin("run-%p-%h-%r-%%");
    setenv("PMI_RANK", "17", 1);
    pid_t child = run_start(one);
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    CHECK(!gethostname(host, sizeof host - 1));
    snprintf(name, sizeof name, "run-%ld-%s-17-%%", (long)child, host);
    CHECK_EQ_U64(run_entries(name), 1);
    CHECK_EQ_U64(run_entries(NULL), 1);
}

TEST(publish, descriptors_of_the_program_are_not_taken) {
    begin("run");
    CHECK_EQ_U64((uint64_t)run_wait(run_start(without_descriptors)), 0);
    CHECK_EQ_U64(run_calls_in("run", "one"), 1);
}
