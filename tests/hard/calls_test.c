/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No call that can wait, allocate or run code of the program while a lock of the runtime is held,
 * nor in a scope of a signal handler. This program defines those functions itself; each notes where
 * it is called and goes on to the C library's.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <time.h>

#include "activity/activity.h"
#include "harness_threads.h"
#include "recorded.h"
#include "stint/stint.h"
#include "system/lock.h"
#include "system/module.h"

#if SANITIZED || !defined(__GLIBC__)
#define NEEDS_OWN_FUNCTIONS() SKIP("needs glibc and no sanitizer in between")
#else
#define NEEDS_OWN_FUNCTIONS()

#define KEYS_IN_PLACE 32 /* glibc allocates for the others */

static int watching;
static __thread int in_handler;
static const char *forbidden; /* the last one */
static unsigned writes;       /* to stderr that have begun; atomic */

static void note(const char *name, int allowed_in_handler) {
    if (watching && (lock_any_held() || (in_handler && !allowed_in_handler))) {
        forbidden = name;
    }
}

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
extern void __libc_free(void *p);

void *malloc(size_t bytes) {
    note("malloc", 0);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    note("calloc", 0);
    return __libc_calloc(count, bytes);
}

void *realloc(void *p, size_t bytes) {
    note("realloc", 0);
    return __libc_realloc(p, bytes);
}

void free(void *p) {
    if (p) {
        note("free", 0);
    }
    __libc_free(p);
}

/* The function of that name which comes after the program's own. */
static void find_next(const char *name, void *out) {
    void *at = dlsym(RTLD_NEXT, name);
    memcpy(out, &at, sizeof at);
}

#define NEXT(result, name, ...)                                                                    \
    static result (*next)(__VA_ARGS__);                                                            \
    if (!next) {                                                                                   \
        find_next(#name, &next);                                                                   \
    }

ssize_t write(int fd, const void *bytes, size_t length) {
    NEXT(ssize_t, write, int, const void *, size_t)
    note("write", 1);
    if (fd == STDERR_FILENO) {
        __atomic_fetch_add(&writes, 1, __ATOMIC_SEQ_CST);
    }
    return next(fd, bytes, length);
}

int poll(struct pollfd *fds, nfds_t count, int timeout) {
    NEXT(int, poll, struct pollfd *, nfds_t, int)
    note("poll", 1);
    return next(fds, count, timeout);
}

int dladdr(const void *address, Dl_info *out) {
    NEXT(int, dladdr, const void *, Dl_info *)
    note("dladdr", 0);
    return next(address, out);
}

void *dlopen(const char *file, int mode) {
    NEXT(void *, dlopen, const char *, int)
    note("dlopen", 0);
    return next(file, mode);
}

struct tm *localtime_r(const time_t *when, struct tm *out) {
    NEXT(struct tm *, localtime_r, const time_t *, struct tm *)
    note("localtime_r", 0);
    return next(when, out);
}

FILE *fopen(const char *path, const char *mode) {
    NEXT(FILE *, fopen, const char *, const char *)
    note("fopen", 0);
    return next(path, mode);
}

DIR *opendir(const char *path) {
    NEXT(DIR *, opendir, const char *)
    note("opendir", 0);
    return next(path);
}

int fflush(FILE *file) {
    NEXT(int, fflush, FILE *)
    note("fflush", 0);
    return next(file);
}

int pthread_setspecific(pthread_key_t key, const void *value) {
    NEXT(int, pthread_setspecific, pthread_key_t, const void *)
    if (key >= KEYS_IN_PLACE) {
        note("pthread_setspecific", 0);
    }
    return next(key, value);
}
#endif

#if SANITIZED || !defined(__GLIBC__)
static int watching;
static const char *forbidden;
static __thread int in_handler;
static unsigned writes;
#endif

static void expect_no_call(void (*work)(void)) {
    forbidden = NULL;
    watching = 1;
    work();
    watching = 0;
    CHECK_STR_EQ(forbidden ? forbidden : "", "");
}

TEST(calls, are_seen) {
    NEEDS_OWN_FUNCTIONS();
    watching = 1;
    lock_take(LOCK_REGISTRY);
    void *volatile block = malloc(1);
    CHECK(forbidden && !strcmp(forbidden, "malloc"));
    free(block);
    CHECK(forbidden && !strcmp(forbidden, "free"));
    Dl_info info;
    dladdr((void *)&watching, &info);
    CHECK(forbidden && !strcmp(forbidden, "dladdr"));
    lock_release(LOCK_REGISTRY);
    forbidden = NULL;
    block = malloc(1);
    free(block);
    CHECK(!forbidden);
    watching = 0;
}

/* ---- Lines. */

static void scope(void) {
    REGISTER_TIMER("scope");
    fake_advance(1000);
}

static void make_bad_settings(void) {
    setenv("STINT_MISSPELT", "1", 1);
    setenv("STINT_UNIT", "parsecs", 1);
    setenv("STINT_FILTER", "no glob", 1);
    setenv("STINT_FILE", "/nowhere/at/all", 1);
    setenv("STINT_REPORT", "nonsense", 1);
    setenv("STINT_MEMORY", "4000M", 1);
    setenv("STINT_TRACE", "4000M", 1);
    setenv("STINT_CAPTURE", "nonsense:", 1);
}

static void first_scope(NO_ARG) {
    expect_no_call(scope);
}

TEST(calls, lines_about_settings_wait_for_the_lock) {
    NEEDS_OWN_FUNCTIONS();
    make_bad_settings();
    char *said = harness_capture(STDERR_FILENO, first_scope, NULL);
    CHECK_CONTAINS(said, "STINT_MISSPELT is not a variable of stint");
    CHECK_CONTAINS(said, "STINT_UNIT=parsecs");
    CHECK_CONTAINS(said, "STINT_FILE: cannot write /nowhere/at/all");
}

static void *run_scope(void *unused) {
    scope();
    return unused;
}

static unsigned writes_begun(void) {
    return __atomic_load_n(&writes, __ATOMIC_SEQ_CST);
}

/* A stderr that no process reads holds up the thread that writes, and no other. */
TEST(calls, a_full_pipe_holds_up_one_thread) {
    NEEDS_OWN_FUNCTIONS();
    int ends[2], saved = dup(STDERR_FILENO);
    static char filler[65536];
    pthread_t t;
    CHECK(!pipe(ends));
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (size_t n = sizeof filler; n; n /= 2) {
        while (write(ends[1], filler, n) > 0) {
        }
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
    setenv("STINT_MISSPELT", "1", 1);
    unsigned before = writes_begun();
    CHECK(!pthread_create(&t, NULL, run_scope, NULL));
    while (writes_begun() == before) {
        usleep(1000);
    }
    scope(); /* neither waits */
    IN_CHILD() {
        scope();
    }
    dup2(saved, STDERR_FILENO);
    close(ends[1]);
    while (read(ends[0], filler, sizeof filler) > 0) {
    }
    pthread_join(t, NULL);
    CHECK_EQ_U64(calls_of("scope"), 2);
}

/* ---- Everything that takes a lock. */

static void use_everything(void) {
    static const stint_schedule schedule = {.record = 1, .repeat = 2};
    stint_stat stat;
    scope();
    stint_set *set = stint_set_get("a set");
    { REGISTER_TIMER_SET("in a set", UINT64_MAX, -1, set); }
    { REGISTER_TIMER_DYNAMIC("by name"); }
    { REGISTER_GPU_TIMER("gpu", NULL); }
    stint_level_set(2);
    stint_filter_set("+*");
    stint_report("table");
    stint_report("tree");
    stint_report("legacy");
    stint_report("gpu");
    stint_stat_get("scope", &stat, sizeof stat);
    printStatus("no such name");
    stint_timers_schedule(&schedule, sizeof schedule, NULL, NULL);
    for (int i = 0; i < 4; ++i) {
        REGISTER_GPU_PROFILER("range");
        scope();
        stint_step();
    }
    stint_profiler_start("All", "OpDetail");
    scope();
    stint_profiler_stop("total", NULL);
    stint_report_and_reset();
    resetStatus();
    stint_gpu_flush();
}

static void use_all(NO_ARG) {
    expect_no_call(use_everything);
}

TEST(calls, none_with_a_lock_held) {
    NEEDS_OWN_FUNCTIONS();
    CHECK_CONTAINS(harness_capture(STDERR_FILENO, use_all, NULL), "by name");
}

/* Adds kernels with mangled names: demangling a name allocates memory. */
static void add_kernels(void) {
    static const char *const names[] = {"_Z5scalePff", "_ZN3one3twoEv", "_Z5scalePff", "plain"};
    activity_begin();
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        struct activity_record r = {
            .kind = ACTIVITY_KERNEL, .start = 100, .end = 200, .name = names[i]};
        activity_add(&r);
    }
    activity_end();
}

TEST(calls, none_with_the_lock_of_the_activities) {
    NEEDS_OWN_FUNCTIONS();
    CHECK(!activity_open());
    expect_no_call(add_kernels);
}

static void fork_and_record(void) {
    IN_CHILD() {
        scope();
        CHECK(!forbidden);
    }
}

TEST(calls, none_of_ours_around_a_fork) {
    NEEDS_OWN_FUNCTIONS();
    scope();
    expect_no_call(fork_and_record);
}

/* ---- Signal handlers. */

static void record_in_handler(int number) {
    (void)number;
    char name[64];
    in_handler = 1;
    scope();
    {
        REGISTER_TIMER("slow", 0);
        fake_advance(1000000);
    }
    { REGISTER_TIMER_DYNAMIC("by name"); }
    { REGISTER_GPU_TIMER("gpu", NULL); }
    module_name(name, sizeof name);
    in_handler = 0;
}

static void raise_it(void) {
    raise(SIGUSR1);
}

static void *first_of_thread(void *unused) {
    expect_no_call(raise_it);
    return unused;
}

static void record_in_handlers(NO_ARG) {
    expect_no_call(raise_it); /* the process's first scope */
    thread_run(first_of_thread, NULL);
}

TEST(calls, none_in_a_signal_handler) {
    NEEDS_OWN_FUNCTIONS();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = record_in_handler;
    setenv("STINT_LOG_PREFIX", "glog", 1);
    CHECK(!sigaction(SIGUSR1, &action, NULL));
    char *said = harness_capture(STDERR_FILENO, record_in_handlers, NULL);
    CHECK_CONTAINS(said, " stint] Stat: [slow]");
    CHECK_EQ_U64(calls_of("scope"), 2);
    CHECK_EQ_U64(calls_of("gpu"), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 2);
}
