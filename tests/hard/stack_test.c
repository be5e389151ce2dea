/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack that the library takes of its caller, including the C library's part of it. It is
 * measured on a painted stack, for the first scope of a process and for each report. Then the same
 * work runs on the stacks that programs have: a signal handler's of 8 KB, and a thread's of the
 * least size.
 */
#include <limits.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include <stint/stint.h>

#include "harness.h"

#define PAINTED ((size_t)1 << 20)
#define PAINT 0xa5

#define SLOW_PATH 2048
#define REPORT 8192
#define LOADER 8192

#define NEEDS_PLAIN_FRAMES()                                                                       \
    do {                                                                                           \
        if (!PLAIN_FRAMES) {                                                                       \
            SKIP("frames are larger without optimisation and under sanitizers");                   \
        }                                                                                          \
    } while (0)

static ucontext_t here, there;
static void (*measured)(void);

static void call(void) {
    measured();
}

static void nothing(void) {
}

static size_t touched(void (*fn)(void)) {
    unsigned char *stack =
        mmap(NULL, PAINTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t clean = 0;
    if (!CHECK(stack != MAP_FAILED)) {
        return 0;
    }
    memset(stack, PAINT, PAINTED);
    measured = fn;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = PAINTED;
    there.uc_link = &here;
    makecontext(&there, call, 0);
    swapcontext(&here, &there);
    while (clean < PAINTED && stack[clean] == PAINT) {
        ++clean;
    }
    munmap(stack, PAINTED);
    return PAINTED - clean;
}

/* The stack that fn takes, without the part for entering a context. */
static size_t stack_of(void (*fn)(void)) {
    size_t none = touched(nothing);
    return touched(fn) - none;
}

static void check_at_most(const char *what, size_t limit, void (*fn)(void)) {
    size_t used = stack_of(fn);
    printf("%s: %zu bytes\n", what, used);
    CHECK(used <= limit);
}

/* ---- The slow path. */

static void scope(void) {
    REGISTER_TIMER("scope");
}

static void dynamic_name(void) {
    char name[] = "made at run time";
    REGISTER_TIMER_DYNAMIC(name);
}

static void handle(void) {
    stint_timer h;
    TIMER_BEGIN(h, "handle");
    TIMER_END(h);
}

static void by_name(void) {
    CHECK(!stint_scope_begin("by name") && !stint_scope_end("by name"));
}

static void in_a_set(void) {
    REGISTER_TIMER("of a set", -1, stint_set_get("set"));
}

static void mark(void) {
    TIMER_MARK("mark");
    TIMER_VALUE("value", 1.5);
}

static void bytes(void) {
    REGISTER_TIMER("bytes");
    TIMER_BYTES(1000);
    TIMER_FLOPS(1000);
}

static void slow_scope(void) {
    REGISTER_TIMER("slow \x1b scope", 0);
}

static void slow_scope_with_info(void) {
    REGISTER_TIMER_INFO("slow", "info");
}

static void gpu_scope(void) {
    REGISTER_GPU_TIMER("gpu", NULL);
}

/* Two of one site: the second is known, but reaches its end as a new maximum. */
static void scope_twice(void) {
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("twice");
    }
}

TEST(stack, first_scope) {
    NEEDS_PLAIN_FRAMES();
    check_at_most("first scope", SLOW_PATH, scope);
    check_at_most("a scope that is known", SLOW_PATH, scope);
}

TEST(stack, every_kind_of_scope) {
    static const struct {
        const char *what;
        void (*fn)(void);
    } kinds[] = {{"dynamic name", dynamic_name},
                 {"handle", handle},
                 {"by name", by_name},
                 {"in a set", in_a_set},
                 {"mark and value", mark},
                 {"bytes", bytes},
                 {"twice", scope_twice},
                 {"slow", slow_scope},
                 {"slow, with info", slow_scope_with_info}};
    NEEDS_PLAIN_FRAMES();
    CHECK(!setenv("STINT_TRACE", "1M", 1));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        check_at_most(kinds[i].what, SLOW_PATH, kinds[i].fn);
    }
}

/* The dynamic loader looks for the driver. */
TEST(stack, first_gpu_scope) {
    NEEDS_PLAIN_FRAMES();
    check_at_most("scope", SLOW_PATH, scope);
    check_at_most("gpu", LOADER, gpu_scope);
    check_at_most("gpu again", SLOW_PATH, gpu_scope);
}

TEST(stack, first_scope_with_a_file) {
    NEEDS_PLAIN_FRAMES();
    CHECK(!setenv("STINT_FILE", "stack_test-%p-%h-%r.stint", 1));
    check_at_most("first scope with a file", SLOW_PATH, scope);
}

TEST(stack, first_scope_with_bad_variables) {
    NEEDS_PLAIN_FRAMES();
    CHECK(!setenv("STINT_NONSENSE", "1", 1) && !setenv("STINT_MEMORY", "much", 1) &&
          !setenv("STINT_FILTER", "+", 1) && !setenv("STINT_REPORT", "?", 1) &&
          !setenv("STINT_FILE", "/nowhere/at/all", 1) && !setenv("STINT_LOG_PREFIX", "glog", 1));
    check_at_most("first scope with bad variables", SLOW_PATH, scope);
}

/* ---- Reports and getters. */

/* Each has a view, a format, a file or nothing for its argument. */
#define NO_TEXT const char *unused __attribute__((unused))

static void report(const char *view) {
    CHECK(!stint_report(view));
}
static void report_of_gpus(const char *view) {
    stint_report(view); /* some views have nothing to show */
}
static void report_bad(const char *view) {
    CHECK(stint_report(view));
}
static void report_and_reset(NO_TEXT) {
    stint_report_and_reset();
}
static void status(NO_TEXT) {
    printAllStatus();
    printStatus("scope");
    printStatus("no such name");
    printSegTimerStatus();
}
static void set_print(NO_TEXT) {
    stint_set_print(stint_set_get("set"), "of a set");
}
static void reset(NO_TEXT) {
    stint_reset();
}
static void stat_get(NO_TEXT) {
    stint_stat s;
    CHECK(!stint_stat_get("scope", &s, sizeof s));
}
static void stat_here(NO_TEXT) {
    stint_stat_here("scope", sizeof(stint_stat));
}
static void settings(NO_TEXT) {
    CHECK(!stint_filter_set("-zz,+a*") && !stint_filter_set(NULL));
    stint_level_set(1);
    stint_timers_enable(0);
    stint_timers_enable(1);
}
static void profile(const char *file) {
    stint_profiler_start("CPU", "Default");
    scope();
    stint_profiler_stop("total", file);
}
static void export_as(const char *format) {
    CHECK(!stint_export("stack_test.out", format));
}

static const struct {
    const char *what;
    void (*fn)(const char *argument);
    const char *argument;
} functions[] = {
    {"table", report, "table"},
    {"tree", report, "tree,sort=self,top=3"},
    {"legacy", report, "legacy"},
    {"threads", report, "table,threads"},
    {"gpu", report_of_gpus, "gpu"},
    {"fluid", report_of_gpus, "fluid"},
    {"bad view", report_bad, "no such view"},
    {"status", status, NULL},
    {"set_print", set_print, NULL},
    {"stat_get", stat_get, NULL},
    {"stat_here", stat_here, NULL},
    {"settings", settings, NULL},
    {"json", export_as, "json"},
    {"csv", export_as, "csv"},
    {"text", export_as, "text"},
    {"profiler", profile, "stack_test.profile"},
    {"profiler with a trace", profile, "stack_test.json"},
    {"reset", reset, NULL},
    {"report_and_reset", report_and_reset, NULL},
};

static size_t called;

static void call_function(void) {
    functions[called].fn(functions[called].argument);
}

static void prepare(void) {
    CHECK(!setenv("STINT_TRACE", "1M", 1));
    for (int i = 0; i < 20; ++i) {
        scope();
        dynamic_name();
        in_a_set();
        bytes();
        mark();
        gpu_scope();
        handle();
    }
}

TEST(stack, reports_and_getters) {
    NEEDS_PLAIN_FRAMES();
    prepare();
    for (called = 0; called < sizeof functions / sizeof *functions; ++called) {
        check_at_most(functions[called].what, REPORT, call_function);
    }
}

static void *on_a_small_thread(NO_ARG) {
    scope();
    dynamic_name();
    for (called = 0; called < sizeof functions / sizeof *functions; ++called) {
        call_function();
    }
    return NULL;
}

/* The least that the system has a thread with: some of it are its own data, some are kept for a
 * signal's frame. */
TEST(stack, reports_on_a_thread_of_the_least_size) {
    pthread_attr_t attr;
    pthread_t t;
    long least = sysconf(_SC_THREAD_STACK_MIN);
    NEEDS_PLAIN_FRAMES();
    prepare();
    CHECK(least > 0 && !pthread_attr_init(&attr));
    CHECK(!pthread_attr_setstacksize(&attr, (size_t)least));
    CHECK(!pthread_create(&t, &attr, on_a_small_thread, NULL) && !pthread_join(t, NULL));
}

/* ---- A signal handler. */

#define ALTERNATE 8192 /* SIGSTKSZ, as long as it was a constant */

static volatile sig_atomic_t handled;

static void on_signal(int unused) {
    (void)unused;
    scope();
    dynamic_name();
    ++handled;
}

TEST(stack, first_scope_in_a_handler_of_8_kb) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    NEEDS_PLAIN_FRAMES();
    if (getauxval(AT_MINSIGSTKSZ) > ALTERNATE / 2) {
        SKIP("the signal's own frame takes more than half of it on this processor");
    }
    char *area =
        mmap(NULL, page + ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area != MAP_FAILED && !mprotect(area, page, PROT_NONE));
    stack_t s = {.ss_sp = area + page, .ss_size = ALTERNATE};
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    CHECK(!sigaltstack(&s, NULL) && !sigaction(SIGUSR1, &a, NULL));
    CHECK(!raise(SIGUSR1) && handled == 1);
}
