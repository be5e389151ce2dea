/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/statvfs.h>

#include "harness_threads.h"
#include "recorded.h"

enum { NAMES = 20000, THREADS = 16 };

static pthread_barrier_t all_recorded;

static void *work(void *table_bytes) {
    char name[16];
    for (int i = 0; i < NAMES; ++i) {
        snprintf(name, sizeof name, "name%05d", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
    uint64_t places = (uint64_t)1 << (64 - stint_impl_thread_here->edge_shift);
    *(uint64_t *)table_bytes = places * sizeof *stint_impl_thread_here->edges;
    pthread_barrier_wait(&all_recorded); /* each has a recorder of its own */
    return NULL;
}

/* Records with the default settings. */
static void record_all(void) {
    static uint64_t table_bytes[THREADS];
    pthread_t t[THREADS];
    CHECK(!pthread_barrier_init(&all_recorded, NULL, THREADS));
    threads_start(t, THREADS, work, table_bytes, sizeof *table_bytes);
    uint64_t bytes = 0;
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(t[i], NULL);
        bytes += table_bytes[i];
    }
    bytes += arena_used();
    printf("%.1f bytes each\n", (double)bytes / (NAMES * THREADS));
    CHECK(bytes <= (uint64_t)350 * NAMES * THREADS);
    CHECK_EQ_U64(arena_header()->thread_count, THREADS);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK(calls_of("name00000") == THREADS && calls_of("name19999") == THREADS);
}

TEST(scale, twenty_thousand_names_on_sixteen_threads_take_350_bytes_each) {
    record_all();
}

TEST(scale, as_many_fit_into_the_default_run_file) {
    char folder[] = "/tmp/stint-scale-XXXXXX", path[sizeof folder + 8];
    struct statvfs s;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/run", folder);
    if (statvfs(folder, &s) || (uint64_t)s.f_bavail * s.f_frsize < (uint64_t)256 << 20) {
        rmdir(folder);
        SKIP("needs a quarter of a gigabyte of disk");
    }
    setenv("STINT_FILE", path, 1);
    record_all();
    CHECK(!unlink(path) && !rmdir(folder));
}
