/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation point in turn: the n-th call that asks the system or the arena for something
 * fails, alone or with all calls after it, for every n there is. The linker's --wrap puts the
 * refusing functions in their place. Whatever fails, the program computes what it computes without
 * it, errno stays, and every scope is either recorded or counted as lost.
 */
#include <pthread.h>
#include <stdarg.h>

#include "interval/interval.h"
#include "model/snapshot.h"
#include "record/node.h"
#include "recorded.h"

/* The kinds of calls that may fail. */
#define POINTS_MEMORY 1u /* mmap, mprotect */
#define POINTS_ARENA 2u  /* arena_get */
#define POINTS_SYSTEM 4u /* descriptors, room on the disk, thread keys */

static unsigned kind;   /* POINTS_*; 0 = nothing fails */
static uint64_t fail_n; /* the call that fails, from 1; 0 = none */
static int fail_on;     /* and all after it */
static uint64_t points; /* calls so far; any thread */

static int refused(unsigned of) {
    if (!(__atomic_load_n(&kind, __ATOMIC_RELAXED) & of)) {
        return 0;
    }
    uint64_t n = __atomic_add_fetch(&points, 1, __ATOMIC_RELAXED);
    return fail_n && (n == fail_n || (fail_on && n > fail_n));
}

extern void *__real_mmap(void *at, size_t bytes, int access, int flags, int fd, off_t from);
extern int __real_mprotect(void *at, size_t bytes, int access);
extern int __real_open(const char *path, int flags, mode_t mode);
extern int __real_ftruncate(int fd, off_t bytes);
extern int __real_fallocate(int fd, int mode, off_t from, off_t bytes);
extern int __real_pthread_key_create(pthread_key_t *key, void (*end)(void *));
extern int __real_pthread_setspecific(pthread_key_t key, const void *value);
extern uint32_t __real_arena_get(size_t bytes, enum arena_class use);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int fd, off_t from);
int __wrap_mprotect(void *at, size_t bytes, int access);
int __wrap_open(const char *path, int flags, ...);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes);
int __wrap_pthread_key_create(pthread_key_t *key, void (*end)(void *));
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
uint32_t __wrap_arena_get(size_t bytes, enum arena_class use);

static int failed(int why) {
    errno = why;
    return -1;
}

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int fd, off_t from) {
    if (refused(POINTS_MEMORY)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, access, flags, fd, from);
}

int __wrap_mprotect(void *at, size_t bytes, int access) {
    return refused(POINTS_MEMORY) ? failed(ENOMEM) : __real_mprotect(at, bytes, access);
}

int __wrap_open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(args, unsigned) : 0;
    va_end(args);
    return refused(POINTS_SYSTEM) ? failed(EMFILE) : __real_open(path, flags, mode);
}

int __wrap_ftruncate(int fd, off_t bytes) {
    return refused(POINTS_SYSTEM) ? failed(ENOSPC) : __real_ftruncate(fd, bytes);
}

int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes) {
    return refused(POINTS_SYSTEM) ? failed(ENOSPC) : __real_fallocate(fd, mode, from, bytes);
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*end)(void *)) {
    return refused(POINTS_SYSTEM) ? EAGAIN : __real_pthread_key_create(key, end);
}

/* The kernel alone reports the end of a thread without its key, and the thread sanitizer does not
 * see that. So the call is never refused under it. */
int __wrap_pthread_setspecific(pthread_key_t key, const void *value) {
#if defined(__SANITIZE_THREAD__)
    return __real_pthread_setspecific(key, value);
#endif
    return refused(POINTS_SYSTEM) ? ENOMEM : __real_pthread_setspecific(key, value);
}

uint32_t __wrap_arena_get(size_t bytes, enum arena_class use) {
    return refused(POINTS_ARENA) ? 0 : __real_arena_get(bytes, use);
}

/* ---- The program: one of everything. */

static uint64_t opened; /* scopes and intervals; any thread */
static unsigned names;  /* run-time names it makes */
static char directory[64];

static uint64_t mix(uint64_t x) {
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
    fake_advance(1);
    return (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t recursive(int depth, uint64_t x) {
    REGISTER_TIMER("recursive");
    x = mix(x);
    return depth ? recursive(depth - 1, x) : x;
}

static uint64_t run_time_names(uint64_t x) {
    char name[32];
    for (unsigned i = 0; i < names; ++i) {
        snprintf(name, sizeof name, "name %u", i);
        REGISTER_TIMER_DYNAMIC(name);
        x = mix(x);
    }
    return x;
}

static uint64_t by_hand(uint64_t x) {
    static stint_timer h;
    TIMER_BEGIN(h, "handle");
    x = mix(x);
    TIMER_END(h);
    if (!stint_scope_begin("by name")) {
        x = mix(x);
        stint_scope_end("by name");
    }
    stint_sample_add("added", 3);
    return mix(x);
}

static void *on_a_thread(void *arg) {
    uint64_t *x = (uint64_t *)arg;
    REGISTER_TIMER("thread");
    *x = mix(*x);
    REGISTER_TIMER_INFO("thread.info", "some information");
    *x = mix(*x);
    TIMER_BYTES(100);
    return NULL;
}

/* A mark that gets no recorder is counted as a scope that gets none. */
static void marks(void) {
    uint64_t before = lost(STINT_STATUS_NO_THREAD);
    TIMER_MARK("mark");
    TIMER_VALUE("value", 1.5);
    opened += lost(STINT_STATUS_NO_THREAD) - before;
}

static uint64_t threads(uint64_t x) {
    pthread_t thread[3];
    uint64_t result[3];
    for (int i = 0; i < 3; ++i) {
        result[i] = x + (uint64_t)i;
        CHECK(!pthread_create(&thread[i], NULL, on_a_thread, &result[i]));
    }
    for (int i = 0; i < 3; ++i) {
        pthread_join(thread[i], NULL);
        x ^= result[i];
    }
    return x;
}

static void reports(void) {
    stint_stat s;
    char path[80];
    static const char *const format[] = {"text", "csv", "json"};
    for (int i = 0; i < 3; ++i) {
        snprintf(path, sizeof path, "%s/out.%s", directory, format[i]);
        stint_export(path, format[i]);
    }
    stint_report("tree,threads");
    stint_report("legacy");
    stint_report_and_reset();
    stint_stat_get("thread", &s, sizeof s);
    stint_set_print(NULL, "thread");
}

static uint64_t program(void) {
    uint64_t x = 42;
    stint_set *set = stint_set_get("set");
    for (int i = 0; i < 2; ++i) {
        {
            REGISTER_TIMER("outer", -1, set);
            x = recursive(5, mix(x));
        }
        x = threads(by_hand(run_time_names(x)));
        marks();
        stint_filter_set(i ? NULL : "-skipped");
        if (!i) {
            reports();
        }
    }
    return x;
}

/* ---- What must hold afterwards. */

static uint64_t recorded_calls(const struct snapshot *s) {
    uint64_t calls = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        calls += s->nodes[i].count + s->nodes[i].recursions;
    }
    return calls;
}

static void print_report(NO_ARG) {
    CHECK(!stint_report("table"));
}

/* Checks that every loss is in the report's footer. */
static void check_footer(void) {
    char *text = harness_capture(2, print_report, NULL);
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (lost((enum stint_status)i)) {
            CHECK_CONTAINS(text, status_text(i)->text);
        }
    }
}

static void check_ledger(void) {
    struct snapshot s;
    if (!arena.base) {
        CHECK(stint_report("table") == STINT_ERROR_NO_MEMORY); /* says that there is no memory */
        return;
    }
    if (!CHECK(!snapshot_take(&s))) {
        return;
    }
    uint64_t counted = recorded_calls(&s) + lost(STINT_STATUS_NO_NODE) +
                       lost(STINT_STATUS_NO_THREAD) + lost(STINT_STATUS_TOO_DEEP);
    if (lost(STINT_STATUS_NO_NAME)) {
        CHECK(counted <= opened); /* of a name without a number nothing is counted but the name */
    } else {
        CHECK_EQ_U64(counted, opened);
    }
    snapshot_free(&s);
    check_footer();
}

static uint64_t expected;

static void quiet(void *result) {
    *(uint64_t *)result = program();
}

/* A process of its own. */
static void run(unsigned of, uint64_t n, int on, uint64_t *had) {
    uint64_t *shared =
        (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    IN_CHILD() {
        uint64_t result = 0;
        unsigned before = harness_result->failures;
        fail_n = n;
        fail_on = on;
        __atomic_store_n(&kind, of, __ATOMIC_RELAXED);
        errno = 1234;
        harness_capture(2, quiet, &result);
        __atomic_store_n(&kind, 0, __ATOMIC_RELAXED);
        shared[0] = result;
        shared[1] = points;
        check_ledger();
        if (harness_result->failures != before) {
            dprintf(harness_fd, "    call %" PRIu64 "%s\n", n, on ? " and all after it" : "");
        }
    }
    if (n) {
        CHECK_EQ_U64(shared[0], expected);
    }
    expected = shared[0];
    *had = shared[1];
    munmap(shared, 4096);
}

/* A sanitizer makes each of them a hundred times as long. */
#if defined(__SANITIZE_THREAD__)
#define STEP 19u
#elif SANITIZED
#define STEP 5u
#else
#define STEP 1u
#endif

static void fail_each(unsigned of, unsigned how_many_names, uint64_t least) {
    uint64_t all = 0, had = 0;
    char file[96];
    names = how_many_names;
    snprintf(directory, sizeof directory, "/tmp/stint-alloc-XXXXXX");
    if (!CHECK(mkdtemp(directory) != NULL)) {
        return;
    }
    snprintf(file, sizeof file, "%s/%%p.stint", directory);
    node_raw_samples = 0; /* a histogram for each name */
    setenv("STINT_MEMORY", "4M", 1);
    setenv("STINT_TRACE", "64K", 1);
    setenv("STINT_FILE", file, 1);
    run(of, 0, 0, &all);
    printf("# %" PRIu64 " points\n", all);
    CHECK(all >= least); /* else the refusing functions are not in their places */
    for (uint64_t n = 1; n <= all; n += STEP) {
        run(of, n, 0, &had);
        run(of, n, 1, &had);
    }
    snprintf(file, sizeof file, "rm -r '%s'", directory);
    CHECK(system(file) == 0);
}

TEST(resources_alloc, memory) {
    fail_each(POINTS_MEMORY, 520, 40);
}

TEST(resources_alloc, memory_of_the_arena) {
    fail_each(POINTS_ARENA, 90, 90);
}

TEST(resources_alloc, descriptors_and_disk_and_keys) {
    fail_each(POINTS_SYSTEM, 10, 12);
}
