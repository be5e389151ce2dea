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
    run_folder_make();
    setenv("STINT_FILE", run_path(file), 1);
    setenv("STINT_TRACE", "64K", 1);
}

static pid_t parent_of(const char *file) {
    struct run_file f;
    pid_t parent = 0;
    if (CHECK(!run_load(&f, run_path(file)))) {
        parent = (pid_t)run_header(&f)->parent_pid;
        run_unload(&f);
    }
    return parent;
}

static void forks(void) {
    REGISTER_TIMER("open in the parent");
    timed("parent", 1);
    TIMER_MARK("parent's mark");
    pid_t child = fork();
    if (!child) {
        timed("child", 1);
        exit(0);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
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
            CHECK_EQ_U64(run_calls_in(e->d_name, "parent"), 0);
            CHECK_EQ_U64(run_calls_in(e->d_name, "child"), 1);
            CHECK(parent_of(e->d_name) == parent);
            CHECK(!run_load(&f, run_path(e->d_name)));
            CHECK_EQ_U64(traced_count(&f.t, TRACE_SPAN, NULL), 1);
            CHECK_EQ_U64(f.t.t.event_count, 1);
            CHECK_EQ_U64(f.t.s.thread_count, 1);
            run_unload(&f);
        }
    }
    closedir(d);
    run_folder_drop();
}

TEST(children, beside_the_parents_under_one_name) {
    begin("run");
    char *said = run_said(forks);
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK_EQ_U64(run_entries(NULL), 2);
    CHECK_EQ_U64(run_entries(".1"), 1);
    CHECK_EQ_U64(run_calls_in("run", "parent"), 2);
    free(said);
    run_folder_drop();
}

static void forks_idle(void) {
    timed("parent", 1);
    for (int i = 0; i < 20; ++i) {
        pid_t child = fork();
        if (!child) {
            exit(0);
        }
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
    timed("parent", 1);
}

TEST(children, without_a_scope_leave_nothing) {
    begin("run-%p");
    run_body((void *)(uintptr_t)forks_idle);
    CHECK_EQ_U64(run_entries(NULL), 1);
    run_folder_drop();
}

/* The lock is the parent's still: it was not given up by the child that forgot it. */
static void forks_and_is_looked_at(void) {
    timed("parent", 1);
    pid_t child = fork();
    if (!child) {
        exit(0);
    }
    run_wait(child);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(run_path("run"), O_RDWR);
    CHECK(!fcntl(fd, F_OFD_GETLK, &all) && all.l_type == F_WRLCK);
    close(fd);
}

TEST(children, leave_the_lock_alone) {
    begin("run");
    run_body((void *)(uintptr_t)forks_and_is_looked_at);
    run_folder_drop();
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
    run_folder_drop();
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

static void forks_many(void) {
    for (int i = 0; i < MANY; ++i) {
        pid_t child = fork();
        if (!child) {
            timed("child", 1);
            exit(0);
        }
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
}

TEST(children, second_life) {
    const char *life = getenv("SECOND_LIFE");
    if (!life) {
        SKIP("what others start");
    }
    if (strcmp(life, "many without a scope") != 0) {
        timed("after exec", 1);
    }
    if (*life) {
        forks_many();
    }
}

TEST(children, exec_replaces_by_the_rule) {
    begin("run");
    char *said = run_said(execs);
    CHECK(said && !strstr(said, "STINT_FILE"));
    CHECK_EQ_U64(run_entries(NULL), 1);
    CHECK_EQ_U64(run_calls_in("run", "before exec"), 0);
    CHECK_EQ_U64(run_calls_in("run", "after exec"), 1);
    free(said);
    run_folder_drop();
}

/* ---- A line that each of many forked processes would write: the first does, then their number. */

static void execs_many(void) {
    execs_itself("many");
}

static void execs_many_without_a_scope(void) {
    execs_itself("many without a scope");
}

static void check_lines(void (*body)(void), const char *line, const char *more) {
    char *said = run_said(body);
    CHECK_EQ_U64(lines_of(said), 2);
    CHECK(strstr(said, line) && strstr(said, more));
    free(said);
}

TEST(children, where_many_find_the_file_taken_the_first_says_so) {
    begin("run");
    check_lines(execs_many, "is being written", "stint: 19 more lines");
    CHECK_EQ_U64(run_entries(NULL), MANY + 1);
    run_folder_drop();
}

TEST(children, where_many_have_a_bad_setting_the_first_says_so) {
    begin("run-%p");
    setenv("STINT_TRACE", "nonsense", 1);
    check_lines(execs_many_without_a_scope, "STINT_TRACE=nonsense", "stint: 19 more lines");
    run_folder_drop();
}

static void execs_true(void) {
    timed("before exec", 1);
    execl("/bin/true", "true", (char *)NULL);
    _exit(9);
}

TEST(children, exec_of_another_program_leaves_the_file) {
    struct run_file f;
    begin("run");
    run_body((void *)(uintptr_t)execs_true);
    CHECK(!run_load(&f, run_path("run")));
    CHECK_EQ_U64(run_calls(&f, "before exec"), 1);
    CHECK_EQ_U64(run_header(&f)->end.ticks, 0); /* it never said that it ends */
    run_unload(&f);
    run_folder_drop();
}

static void makes_others(void) {
    char *arguments[] = {(char *)(uintptr_t) "true", NULL};
    pid_t child;
    timed("parent", 1);
    CHECK(!system("true"));
    CHECK(!posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ));
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    child = vfork();
    if (!child) {
        execv("/bin/true", arguments);
        _exit(9);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
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
    run_folder_drop();
}

HARNESS_MAIN()
