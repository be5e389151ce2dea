/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a program gives back what its run file has reserved and does not use, while other
 * threads, late destructors and children go on. On a full disk: full_disk_test.c.
 */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "run_support.h"
#include "session/process.h"

#define PAGE ((uint64_t)4096)
#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* ---- The calls that give back: the program is killed before or after one of them, or something
 * happens before it. */

static unsigned calls, kill_at;
static void (*before_truncation)(void);
static void (*before_reservation)(void);

static void call_once(void (**what)(void)) {
    void (*call)(void) = *what;
    *what = NULL;
    if (call) {
        call();
    }
}

extern int __real_ftruncate(int fd, off_t bytes);
extern int __real_fallocate(int fd, int mode, off_t from, off_t bytes);
extern void *__real_mremap(void *from, size_t bytes, size_t to, int flags, void *at);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes);
void *__wrap_mremap(void *from, size_t bytes, size_t to, int flags, void *at);

static void count_call(void) {
    if (kill_at && ++calls == kill_at) {
        raise(SIGKILL);
    }
}

int __wrap_ftruncate(int fd, off_t bytes) {
    count_call();
    call_once(&before_truncation);
    int failed = __real_ftruncate(fd, bytes);
    count_call();
    return failed;
}

int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes) {
    count_call();
    call_once(&before_reservation);
    int failed = __real_fallocate(fd, mode, from, bytes);
    count_call();
    return failed;
}

void *__wrap_mremap(void *from, size_t bytes, size_t to, int flags, void *at) {
    count_call();
    void *moved = __real_mremap(from, bytes, to, flags, at);
    count_call();
    return moved;
}

/* ---- What is left. */

static struct stat stat_of_file(void) {
    struct stat s = {0};
    CHECK(!stat(run_path("run"), &s));
    return s;
}

static uint64_t round_up(uint64_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static const struct run_file *check_length(void) {
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64((uint64_t)stat_of_file().st_size, round_up(run_header(f)->used));
    CHECK_EQ_U64(run_header(f)->used % STINT_IMPL_UNIT, 0);
    CHECK(run_header(f)->end.ticks != 0);
    return f;
}

static void check_blocks(uint64_t bytes) {
    CHECK((uint64_t)stat_of_file().st_blocks * 512 <= bytes);
}

static void begin_trace(void) {
    struct statvfs s;
    run_begin("run");
    setenv("STINT_TRACE", "64M", 1);
    if (statvfs(run_folder, &s) || s.f_bavail * s.f_frsize < 128 * MIB) {
        SKIP("needs 128 MiB of disk");
    }
}

static void ranks_program(void) {
    for (int i = 0; i < 10; ++i) {
        run_names(20);
    }
}

/* 10 000 such ranks are 1.2 GB. */
TEST(give_back, a_rank_of_20_names_takes_120_kB) {
    run_begin("run");
    run_silent(ranks_program);
    CHECK_EQ_U64(run_calls(check_length(), "name 19"), 10);
    check_blocks(120000);
}

static void traced_program(void) {
    run_names(1);
    ranks_program(); /* its nodes lie after the ring */
}

TEST(give_back, a_ring_takes_what_was_traced) {
    begin_trace();
    run_silent(traced_program);
    const struct run_file *f = check_length();
    CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 201);
    CHECK_EQ_U64(traced_overwritten(&f->t), 0);
    CHECK_EQ_U64(run_calls(f, "name 19"), 10);
    CHECK((uint64_t)stat_of_file().st_size > 16 * MIB);
    check_blocks(160 * KIB);
}

static void small_rings(void) {
    for (int i = 0; i < 3000; ++i) {
        timed("scope", 1);
    }
}

/* No page of a ring that was written around, or is shorter than the room for open scopes, is given
 * back. */
TEST(give_back, full_rings_stay) {
    run_begin("run");
    setenv("STINT_TRACE", "64K", 1);
    run_silent(small_rings);
    const struct run_file *f = check_length();
    CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 1024);
    CHECK_EQ_U64(traced_overwritten(&f->t), 3000 - 1024);
}

/* ---- What goes on afterwards. */

static void goes_on(void) {
    run_names(3);
    process_ends();
    run_names(200); /* in the file, which gets longer again */
    CHECK_EQ_U64(lost_in_all(), 0);
    _exit(0);
}

TEST(give_back, new_names_afterwards_are_there) {
    run_begin("run");
    run_silent(goes_on);
    const struct run_file *f = check_length();
    CHECK_EQ_U64(run_calls(f, "name 2"), 2);
    CHECK_EQ_U64(run_calls(f, "name 199"), 1);
    check_blocks(1 * MIB);
}

static void goes_on_limited(void) {
    struct rlimit r = {64 * KIB, 64 * KIB};
    run_names(3);
    process_ends();
    CHECK(!setrlimit(RLIMIT_FSIZE, &r)); /* SIGXFSZ would end it */
    run_names(200);
    CHECK(lost(STINT_STATUS_FILE_FULL) > 0);
    _exit(0);
}

TEST(give_back, a_limit_afterwards_is_a_counted_loss) {
    run_begin("run");
    run_silent(goes_on_limited);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "name 2"), 2);
    CHECK(f->t.s.lost[STINT_STATUS_FILE_FULL] > 0);
    CHECK(stat_of_file().st_size <= (off_t)(64 * KIB));
}

/* More spans than there is room for before the hole. */
static void traces_on(void) {
    timed("scope", 1);
    process_ends();
    for (int i = 0; i < 3000; ++i) {
        timed("scope", 1);
    }
    _exit(0);
}

TEST(give_back, spans_afterwards_are_counted) {
    begin_trace();
    run_silent(traces_on);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "scope"), 3001);
    uint64_t spans = traced_count(&f->t, TRACE_SPAN, NULL);
    CHECK(spans > 256 && spans < 3001);
    CHECK_EQ_U64(spans + traced_overwritten(&f->t), 3001);
}

/* ---- Threads. */

static int stop;
static unsigned named; /* names so far; any thread */

static void wait_for_names(unsigned more) {
    unsigned first = __atomic_load_n(&named, __ATOMIC_RELAXED);
    while (__atomic_load_n(&named, __ATOMIC_RELAXED) - first < more) {
        sched_yield();
    }
}

static void *names_on(void *number) {
    char name[64];
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i) {
        snprintf(name, sizeof name, "thread %u, name %u", (unsigned)(uintptr_t)number, i);
        timed(name, 1);
        timed("known", 1);
        __atomic_fetch_add(&named, 1, __ATOMIC_RELAXED);
    }
    return number;
}

static void ends_among_threads(void) {
    pthread_t t[3];
    for (uintptr_t i = 0; i < 3; ++i) {
        CHECK(!pthread_create(&t[i], NULL, names_on, (void *)i)); /* NOLINT */
    }
    wait_for_names(200);
    process_ends();
    wait_for_names(1000);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i) {
        CHECK(!pthread_join(t[i], NULL));
    }
    run_names(1);
    CHECK_EQ_U64(calls_of("name 0"), 1);
    _exit(0);
}

TEST(give_back, threads_that_make_names) {
    for (int i = 0; i < 40; ++i) {
        run_begin("run");
        if (i % 2) {
            setenv("STINT_TRACE", "8M", 1);
        }
        run_silent(ends_among_threads);
        const struct run_file *f = run_loaded(run_path("run"));
        CHECK(run_header(f)->end.ticks != 0);
        CHECK_EQ_U64(run_calls(f, "name 0"), 1);
        CHECK((uint64_t)stat_of_file().st_size >= run_header(f)->used);
    }
}

/* The end without its own allocations. */
static void close_arena(void) {
    struct clock_stamp now;
    clock_stamp(&now);
    arena_close(&now);
}

static void ends_within_an_allocation(void) {
    run_names(1);
    before_reservation = close_arena;
    run_names(5000);
    CHECK(!before_reservation);
    CHECK_EQ_U64(lost_in_all(), 0);
    _exit(0);
}

/* Its bytes were reserved before the file was cut, and are claimed afterwards. */
TEST(give_back, within_an_allocation) {
    run_begin("run");
    run_silent(ends_within_an_allocation);
    CHECK_EQ_U64(run_calls(check_length(), "name 4999"), 1);
}

static void make_names(void) {
    run_names(100);
}

static pthread_t other;

static void *names_of_another_thread(void *unused) {
    make_names();
    return unused;
}

/* The other thread has time to come to its first name. */
static void start_another_thread(void) {
    CHECK(!pthread_create(&other, NULL, names_of_another_thread, NULL));
    usleep(2000);
}

static void ends_while_another_thread_allocates(void) {
    run_names(1);
    before_truncation = start_another_thread;
    process_ends();
    pthread_join(other, NULL);
    CHECK_EQ_U64(lost_in_all(), 0);
    _exit(0);
}

/* It waits until the file is cut. */
TEST(give_back, another_thread_allocates_within_the_end) {
    run_begin("run");
    run_silent(ends_while_another_thread_allocates);
    CHECK_EQ_U64(run_calls(check_length(), "name 99"), 1);
}

static void allocates_within_the_end(void) {
    run_names(1);
    before_truncation = make_names; /* as a signal handler may */
    process_ends();
    CHECK(lost(STINT_STATUS_FILE_FULL) > 0);
    _exit(0);
}

/* While the file is cut, what the thread that cuts it needs is refused and counted. */
TEST(give_back, allocations_within_the_end) {
    run_begin("run");
    run_silent(allocates_within_the_end);
    const struct run_file *f = check_length();
    CHECK_EQ_U64(run_calls(f, "name 0"), 2);
    CHECK(f->t.s.lost[STINT_STATUS_NO_NAME] + f->t.s.lost[STINT_STATUS_NO_NODE] > 0);
}

/* ---- Children. */

static void child_of_vfork(void) {
    timed("scope", 1);
    pid_t child = vfork();
    if (!child) {
        process_ends(); /* as exit does, which it must not call */
        _exit(0);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    CHECK((uint64_t)stat_of_file().st_size >= 64 * MIB);
    for (int i = 0; i < 3000; ++i) {
        timed("scope", 1);
    }
}

/* It has the parent's memory, and the parent goes on. */
TEST(give_back, a_child_of_vfork_leaves_the_file_alone) {
    begin_trace();
    run_silent(child_of_vfork);
    const struct run_file *f = check_length();
    CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 3001);
}

static void ends_before_its_child(void) {
    int done[2];
    char byte;
    CHECK(!pipe(done));
    timed("parent", 1);
    pid_t child = fork();
    if (!child) {
        close(done[1]);
        CHECK(read(done[0], &byte, 1) == 0);
        ranks_program();
        exit(0);
    }
    process_ends();
    close(done[1]);
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    _exit(0);
}

TEST(give_back, a_child_has_its_own_file) {
    run_begin("run-%p");
    setenv("STINT_TRACE", "4M", 1);
    run_body(ends_before_its_child);
    CHECK_EQ_U64(run_sum("parent").calls, 1);
    CHECK_EQ_U64(run_sum("name 19").calls, 10);
    CHECK_EQ_U64(run_sum("name 19").ended, 10);
    CHECK_EQ_U64(run_sum("parent").ended, 1);
}

/* ---- Without the descriptor. */

static void closes_all(void) {
    timed("scope", 1);
    for (int fd = 3; fd < 1024; ++fd) {
        if (fd != harness_fd) {
            close(fd);
        }
    }
    timed("scope", 1);
}

static void check_not_cut(void (*body)(void)) {
    run_begin("run");
    run_silent(body);
    CHECK_EQ_U64((uint64_t)stat_of_file().st_size, 64 * MIB);
    CHECK_EQ_U64(run_calls(run_loaded(run_path("run")), "scope"), 2);
}

TEST(give_back, not_without_the_descriptor) {
    check_not_cut(closes_all);
}

static void has_few_descriptors(void) {
    struct rlimit r = {100, 100};
    CHECK(!setrlimit(RLIMIT_NOFILE, &r));
    timed("scope", 1);
    timed("scope", 1);
}

/* A file of the program may get its number at any time. */
TEST(give_back, not_by_a_low_descriptor) {
    check_not_cut(has_few_descriptors);
}

/* ---- Killed, and read, in the middle. */

static void dies_giving_back(void) {
    traced_program();
    kill_at = calls + 1;
    calls = 0;
    process_ends();
    _exit(7); /* all calls were made */
}

TEST(give_back, killed_in_the_middle) {
    unsigned deaths = 0;
    for (unsigned n = 0; n < 20; ++n) {
        begin_trace();
        calls = n;
        int status = run_wait(run_start(dies_giving_back));
        const struct run_file *f = run_loaded(run_path("run"));
        CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 201);
        CHECK_EQ_U64(run_calls(f, "name 19"), 10);
        if (WIFEXITED(status)) {
            CHECK_EQ_U64((uint64_t)WEXITSTATUS(status), 7);
            break;
        }
        CHECK_EQ_U64((uint64_t)WTERMSIG(status), SIGKILL);
        ++deaths;
    }
    CHECK_EQ_U64(deaths, 6);
}

TEST(give_back, read_in_the_middle) {
    begin_trace();
    for (int i = 0; i < 30; ++i) {
        pid_t child = run_start(traced_program);
        for (int status = 0; waitpid(child, &status, WNOHANG) == 0;) {
            struct run_file f;
            if (!run_load(&f, run_path("run"))) {
                /* As it was at its end, if nothing was used since its length was read. */
                int ended = run_header(&f)->end.ticks && f.size == run_header(&f)->used;
                CHECK(!ended || run_calls(&f, "name 19") == 10);
                run_unload(&f);
            }
        }
        CHECK_EQ_U64(run_calls(check_length(), "name 19"), 10);
    }
}
