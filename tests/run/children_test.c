/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run files of programs that start others, by fork, exec, vfork, system and posix_spawn. Each
 * process that records has a file of its own, and no child may keep or break the file of its
 * parent.
 */
#include <spawn.h>

#include "run_support.h"

extern char **environ;

static void begin(const char *file) {
    run_begin(file);
    setenv("STINT_TRACE", "64K", 1);
}

static void child(void) {
    timed("child", 1);
}

static void nothing(void) {
}

static void forks(void) {
    REGISTER_TIMER("open in the parent");
    timed("parent", 1);
    TIMER_MARK("parent's mark");
    run_body(child);
    timed("parent", 1);
}

TEST(children, each_has_its_own_file) {
    char name[32];
    struct run_file f;
    begin("run-%p");
    pid_t parent = run_start(forks);
    CHECK_EQ_U64((uint64_t)run_wait(parent), 0);
    CHECK_EQ_U64(run_entries(NULL), 2);
    snprintf(name, sizeof name, "run-%ld", (long)parent);
    CHECK_EQ_U64(run_calls_in(name, "parent"), 2);
    CHECK_EQ_U64(run_calls_in(name, "child"), 0);
    DIR *d = opendir(run_folder);
    for (struct dirent *e; (e = readdir(d));) {
        if (!strncmp(e->d_name, "run-", 4) && strcmp(e->d_name, name)) {
            CHECK(!run_load(&f, run_path(e->d_name)));
            CHECK_EQ_U64(run_calls(&f, "parent"), 0);
            CHECK_EQ_U64(run_calls(&f, "child"), 1);
            CHECK_EQ_U64(run_header(&f)->parent_pid, (uint64_t)parent);
            CHECK_EQ_U64(traced_count(&f.t, TRACE_SPAN, NULL), 1);
            CHECK_EQ_U64(f.t.t.event_count, 1);
            CHECK_EQ_U64(f.t.s.thread_count, 1);
            run_unload(&f);
        }
    }
    closedir(d);
}

TEST(children, beside_the_parents_under_one_name) {
    begin("run");
    run_says(forks, 1, "", "");
    CHECK_EQ_U64(run_entries(NULL), 2);
    CHECK_EQ_U64(run_entries(".1"), 1);
    CHECK_EQ_U64(run_calls_in("run", "parent"), 2);
}

static void forks_idle(void) {
    timed("parent", 1);
    for (int i = 0; i < 20; ++i) {
        run_body(nothing);
    }
    timed("parent", 1);
}

TEST(children, without_a_scope_leave_nothing) {
    begin("run-%p");
    run_body(forks_idle);
    CHECK_EQ_U64(run_entries(NULL), 1);
}

/* The lock is the parent's still: it was not given up by the child that forgot it. */
static void forks_and_is_looked_at(void) {
    timed("parent", 1);
    run_body(nothing);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(run_path("run"), O_RDWR);
    CHECK(!fcntl(fd, F_OFD_GETLK, &all) && all.l_type == F_WRLCK);
    close(fd);
}

TEST(children, leave_the_lock_alone) {
    begin("run");
    run_body(forks_and_is_looked_at);
}

static int to_survivor[2], from_survivor[2];

static void leaves_a_child(void) {
    char c;
    timed("parent", 1);
    if (!fork()) {
        close(to_survivor[1]);
        (void)!write(from_survivor[1], "", 1); /* it has come out of its fork */
        (void)!read(to_survivor[0], &c, 1);
        _exit(0);
    }
    _exit(0);
}

static void next_run(void) {
    timed("next", 1);
}

/* The parent is gone; a child that outlives it does not write its file. */
TEST(children, that_live_on_hold_no_lock) {
    begin("run");
    char c;
    CHECK(!pipe(to_survivor) && !pipe(from_survivor));
    run_silent(leaves_a_child);
    CHECK(read(from_survivor[0], &c, 1) == 1);
    run_silent(next_run);
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK_EQ_U64(run_calls_in("run", "next"), 1);
    close(to_survivor[1]);
}

/* ---- exec: this program again, as another one. */

static void execs_itself(const char *life) {
    char *arguments[] = {(char *)(uintptr_t) "run", (char *)(uintptr_t) "--no-fork",
                         (char *)(uintptr_t) "children.second_life", NULL};
    setenv("SECOND_LIFE", life, 1);
    execv("/proc/self/exe", arguments);
    _exit(9);
}

static void execs(void) {
    timed("before exec", 1);
    execs_itself("");
}

#define MANY 20

TEST(children, second_life) {
    const char *life = getenv("SECOND_LIFE");
    if (!life) {
        SKIP("what others start");
    }
    if (strcmp(life, "many without a scope") != 0) {
        timed("after exec", 1);
    }
    for (int i = 0; i < MANY && *life; ++i) {
        run_body(child);
    }
}

TEST(children, exec_replaces_by_the_rule) {
    begin("run");
    char *said = run_said(execs);
    CHECK(said && !strstr(said, "STINT_FILE"));
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK_EQ_U64(run_calls_in("run", "before exec"), 0);
    CHECK_EQ_U64(run_calls_in("run", "after exec"), 1);
}

/* ---- A line that each of many forked processes would write: the first does, then their number. */

static void execs_many(void) {
    execs_itself("many");
}

static void execs_many_without_a_scope(void) {
    execs_itself("many without a scope");
}

TEST(children, where_many_find_the_file_taken_the_first_says_so) {
    begin("run");
    run_says(execs_many, 2, "is being written", "stint: 19 more lines");
    CHECK_EQ_U64(run_entries(NULL), MANY + 1);
}

TEST(children, where_many_have_a_bad_setting_the_first_says_so) {
    begin("run-%p");
    setenv("STINT_TRACE", "nonsense", 1);
    run_says(execs_many_without_a_scope, 2, "STINT_TRACE=nonsense", "stint: 19 more lines");
}

static void execs_true(void) {
    timed("before exec", 1);
    execl("/bin/true", "true", (char *)NULL);
    _exit(9);
}

TEST(children, exec_of_another_program_leaves_the_file) {
    begin("run");
    run_body(execs_true);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "before exec"), 1);
    CHECK_EQ_U64(run_header(f)->end.ticks, 0); /* it never said that it ends */
}

static void makes_others(void) {
    char *arguments[] = {(char *)(uintptr_t) "true", NULL};
    pid_t other;
    timed("parent", 1);
    CHECK(!system("true"));
    CHECK(!posix_spawn(&other, "/bin/true", NULL, NULL, arguments, environ));
    CHECK_EQ_U64((uint64_t)run_wait(other), 0);
    other = vfork();
    if (!other) {
        execv("/bin/true", arguments);
        _exit(9);
    }
    CHECK_EQ_U64((uint64_t)run_wait(other), 0);
    FILE *p = popen("cat /proc/self/maps; ls -l /proc/self/fd", "r");
    char line[512];
    while (p && fgets(line, sizeof line, p)) {
        CHECK(!strstr(line, run_folder)); /* neither mapping nor descriptor got there */
    }
    CHECK(p && !pclose(p));
    timed("parent", 1);
}

TEST(children, system_spawn_vfork_and_popen) {
    begin("run");
    run_silent(makes_others);
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK_EQ_U64(run_calls_in("run", "parent"), 2);
}
