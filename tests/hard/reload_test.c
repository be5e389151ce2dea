/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instrumented modules that come and go in a program that knows nothing of the library: it is
 * loaded with the first of them, late, and stays.
 */
#include <dirent.h>
#include <dlfcn.h>

#include "harness_threads.h"
#include "reload_plugin.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* they keep books of every module */
#else
#define SANITIZED 0
#endif
#define LOADS (SANITIZED ? 1000 : 20000)

struct plugin {
    void *module;
    int (*run)(int);
    uint64_t (*calls)(void);
    int (*leaves_open)(void);
    int (*report)(const char *);
};

static void *symbol_of(void *module, const char *name) {
    void *found = dlsym(module, name);
    CHECK(found != NULL);
    return found;
}

static struct plugin load(const char *path) {
    struct plugin p = {.module = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!p.module) {
        dprintf(harness_fd, "%s\n", dlerror());
        CHECK(p.module);
        exit(1);
    }
    *(void **)&p.run = symbol_of(p.module, "plugin_run");
    *(void **)&p.calls = symbol_of(p.module, "plugin_calls");
    *(void **)&p.leaves_open = symbol_of(p.module, "plugin_leaves_open");
    *(void **)&p.report = symbol_of(p.module, "plugin_report");
    return p;
}

static void run_once(const char *path, int times) {
    struct plugin p = load(path);
    CHECK(p.run(times) == times);
    CHECK(!dlclose(p.module));
}

static int is_loaded(const char *path) {
    void *module = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (module) {
        dlclose(module);
    }
    return module != NULL;
}

static uint64_t calls_of(const char *path) {
    struct plugin p = load(path);
    uint64_t calls = p.calls();
    CHECK(!dlclose(p.module));
    return calls;
}

/* Resident memory, KiB. */
static long resident(void) {
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (!strncmp(line, "VmRSS:", 6)) {
            kib = atol(line + 6);
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

TEST(reload, twenty_thousand_times) {
    long before = 0;
    for (int i = 0; i < LOADS; ++i) {
        run_once(PLUGIN_A, 3);
        if (i == LOADS / 10) {
            before = resident();
            CHECK(!is_loaded(PLUGIN_A));
        }
    }
    CHECK(SANITIZED || resident() - before < 256);
    CHECK_EQ_U64(calls_of(PLUGIN_A), 3 * LOADS);
}

TEST(reload, same_address_under_another_name) {
    unsigned same = 0;
    for (int i = 0; i < LOADS / 4; ++i) {
        struct plugin a = load(PLUGIN_A);
        void *was = *(void **)&a.run;
        CHECK(a.run(2) == 2 && !dlclose(a.module));
        struct plugin b = load(PLUGIN_B);
        same += was == *(void **)&b.run;
        CHECK(b.run(3) == 3 && !dlclose(b.module));
    }
    CHECK_EQ_U64(calls_of(PLUGIN_A), 2 * (LOADS / 4));
    CHECK_EQ_U64(calls_of(PLUGIN_B), 3 * (LOADS / 4));
    if (!same) {
        SKIP("the loader put none where the other one had been");
    }
}

static int done; /* of two */

/* The thread sanitizer does not see the loader's lock, and takes its memory for full of races. */
static pthread_mutex_t loader = PTHREAD_MUTEX_INITIALIZER;

static void loads(int begins) {
    if (SANITIZED) {
        (void)(begins ? pthread_mutex_lock(&loader) : pthread_mutex_unlock(&loader));
    }
}

static void *reloads(void *path) {
    for (int i = 0; i < LOADS / 10; ++i) {
        loads(1);
        struct plugin p = load(path);
        loads(0);
        CHECK(p.run(5) == 5);
        loads(1);
        CHECK(!dlclose(p.module));
        loads(0);
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST(reload, a_thread_inside_while_reporting) {
    const char *paths[] = {PLUGIN_A, PLUGIN_B};
    pthread_t t[2];
    int (*report)(const char *);
    setenv("STINT_OUTPUT", "/dev/null", 1);
    void *runtime = dlopen(RUNTIME, RTLD_NOW | RTLD_LOCAL);
    *(void **)&report = symbol_of(runtime, "stint_report");
    run_once(PLUGIN_A, 1);
    for (int i = 0; i < 2; ++i) {
        CHECK(!pthread_create(&t[i], NULL, reloads, (void *)(uintptr_t)paths[i]));
    }
    for (int i = 0; __atomic_load_n(&done, __ATOMIC_RELAXED) < 2; ++i) {
        CHECK(!report(i % 2 ? "tree" : "table,threads"));
    }
    threads_join(t, 2);
    CHECK_EQ_U64(calls_of(PLUGIN_A), 5 * (LOADS / 10) + 1);
    CHECK_EQ_U64(calls_of(PLUGIN_B), 5 * (LOADS / 10));
}

static void report_of_a(NO_ARG) {
    struct plugin p = load(PLUGIN_B); /* what A wrote, A being gone */
    CHECK(!p.report("table"));
    dlclose(p.module);
}

TEST(reload, gone_with_a_scope_open) {
    struct plugin p = load(PLUGIN_A);
    CHECK(p.run(1) == 1 && !p.leaves_open());
    CHECK(!dlclose(p.module) && !is_loaded(PLUGIN_A));
    char *said = harness_capture(2, report_of_a, NULL);
    CHECK_CONTAINS(said, "open: plugin a.left open");
    CHECK_CONTAINS(said, "\nplugin a.dynamic ");
}

static pthread_barrier_t loaded;
static struct plugin late;

static void *was_here_before(void *unused) {
    pthread_barrier_wait(&loaded);
    CHECK(late.run(100) == 100);
    return unused;
}

TEST(reload, loaded_late_among_threads) {
    pthread_t t[8];
    CHECK(!is_loaded(RUNTIME));
    pthread_barrier_init(&loaded, NULL, 9);
    threads_start(t, 8, was_here_before, NULL, 0);
    late = load(PLUGIN_A);
    pthread_barrier_wait(&loaded);
    threads_join(t, 8);
    CHECK_EQ_U64(late.calls(), 800);
}

/* ---- The library several times in one process. */

static const char *const copies[] = {PLUGIN_A, PLUGIN_STATIC_C, PLUGIN_STATIC_D};

static void reports(void *p) {
    CHECK(!((struct plugin *)p)->report("table"));
}

static void check_copy(struct plugin *p, int i) {
    char *said = harness_capture(2, reports, p);
    CHECK_EQ_U64(p->calls(), (uint64_t)(i + 1) * 10);
    CHECK(!strstr(said, ".so)") == !i);
    if (i) { /* says whose it is */
        CHECK_CONTAINS(said, i == 1 ? " (libreload_c.so), " : " (libreload_d.so), ");
        CHECK(!strstr(said, "plugin a"));
    }
}

TEST(reload, two_static_copies_and_a_shared_one) {
    struct plugin p[3];
    for (int i = 0; i < 3; ++i) {
        p[i] = load(copies[i]);
    }
    for (int i = 0; i < 3; ++i) {
        CHECK(p[i].run((i + 1) * 10) == (i + 1) * 10);
    }
    for (int i = 0; i < 3; ++i) {
        check_copy(&p[i], i);
    }
}

static void *runs_all(void *unused) {
    for (int i = 0; i < 3; ++i) {
        run_once(copies[i], 4);
    }
    return unused;
}

/* Threads that end after the module was unloaded must still find what their end calls. */
TEST(reload, static_copies_stay) {
    for (int i = 0; i < 300; ++i) { /* 214 once used up the loader's room for thread-local data */
        thread_run(runs_all, NULL);
    }
    for (int i = 0; i < 3; ++i) {
        CHECK_EQ_U64(calls_of(copies[i]), 1200);
    }
}

static void exits_with_three(NO_ARG) {
    pid_t child = fork();
    if (!child) {
        runs_all(NULL);
        exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static unsigned entries_in(const char *folder) {
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        n += *e->d_name != '.';
    }
    if (d) {
        closedir(d);
    }
    return n;
}

TEST(reload, three_copies_write_three_files_and_reports) {
    char folder[] = "/tmp/stint-reload-XXXXXX", path[64], command[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/run", folder);
    setenv("STINT_FILE", path, 1);
    setenv("STINT_REPORT", "table", 1);
    char *said = harness_capture(2, exits_with_three, NULL);
    CHECK_EQ_U64(entries_in(folder), 3);
    CHECK_CONTAINS(said, "is being written by a running program; this run goes to ");
    CHECK_CONTAINS(said, " (libreload_c.so), ");
    CHECK_CONTAINS(said, " (libreload_d.so), ");
    CHECK_CONTAINS(said, "\nplugin a ");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(!system(command));
}

/* ---- Another layout. */

TEST(reload, another_abi_fails_at_load) {
    const int how[] = {RTLD_NOW, RTLD_LAZY};
    run_once(PLUGIN_A, 1); /* the runtime is there, and is not what it wants */
    for (int i = 0; i < 2; ++i) {
        CHECK(!dlopen(PLUGIN_OTHER_ABI, how[i] | RTLD_LOCAL));
        CHECK_CONTAINS(dlerror(), "undefined symbol: stint_impl_");
    }
    CHECK_EQ_U64(calls_of(PLUGIN_A), 1);
}

/* Each namespace has its own copy, and all of them share what the loader keeps for thread-local
 * data of late modules: the C library's own copies leave room for some hundred bytes each. */
TEST(reload, in_four_namespaces_at_once) {
    if (SANITIZED) {
        SKIP("a sanitizer has one namespace");
    }
    for (int i = 0; i < 4; ++i) {
        void *module = dlmopen(LM_ID_NEWLM, PLUGIN_A, RTLD_NOW | RTLD_LOCAL);
        if (!CHECK(module != NULL)) {
            dprintf(harness_fd, "namespace %d: %s\n", i, dlerror());
            return;
        }
        int (*run)(int);
        *(void **)&run = symbol_of(module, "plugin_run");
        CHECK(run(3) == 3);
    }
}
