/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with the static library: one thread is in the constructor of a plugin, and so has the
 * loader's lock; another one is in a report. If that asked the loader while it holds a lock of the
 * library, each would wait for the other, and the test would not end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stint/stint.h>

#include "harness.h"
#include "reload_plugin.h"

#define LOADS 500
#define QUESTIONS 20 /* a load */

static unsigned answers;
static int loaded_all; /* atomic */

void plugin_is_constructed(void) {
    for (unsigned i = 0; i < QUESTIONS; ++i) {
        stint_stat s;
        answers += !stint_stat_get("scope", &s, sizeof s) && s.calls == 1;
    }
}

static void *load_repeatedly(void *unused) {
    for (unsigned i = 0; i < LOADS; ++i) {
        void *module = dlopen(PLUGIN_ASKING, RTLD_NOW | RTLD_LOCAL);
        CHECK(module && !dlclose(module));
    }
    __atomic_store_n(&loaded_all, 1, __ATOMIC_RELEASE);
    return unused;
}

static void report_meanwhile(NO_ARG) {
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, load_repeatedly, NULL));
    do {
        stint_report("table");
    } while (!__atomic_load_n(&loaded_all, __ATOMIC_ACQUIRE));
    pthread_join(t, NULL);
}

TEST(reload_static, a_constructor_asks_while_another_thread_reports) {
    { REGISTER_TIMER("scope"); }
    harness_capture(STDERR_FILENO, report_meanwhile, NULL);
    CHECK_EQ_U64(answers, LOADS * QUESTIONS);
}
