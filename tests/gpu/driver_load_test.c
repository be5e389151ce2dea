/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading the CUDA driver: the library that is found, and the message about a library that is no
 * driver, is too old, or is the toolkit's stub. The libraries are the driver's double and copies of
 * it without some names.
 */
#include <dlfcn.h>

#include "driver_support.h"
#include "fake_clock.h"
#include "gpu/gpu.h"
#include "harness_threads.h"

/* A copy of a library, in the working folder, in which these names (up to NULL) are not found. */
struct copy {
    char path[64];
};

static struct copy copy_without(const char *library, const char *const *names) {
    struct copy c = {"./driver_copy_XXXXXX"};
    FILE *from = fopen(library, "rb");
    int to = mkstemp(c.path);
    if (!CHECK(from && to >= 0)) {
        exit(1);
    }
    fseek(from, 0, SEEK_END);
    size_t size = (size_t)ftell(from);
    char *bytes = malloc(size);
    rewind(from);
    CHECK(fread(bytes, 1, size, from) == size);
    for (; *names; ++names) {
        size_t n = strlen(*names) + 2, found = 0;
        char whole[80] = "";
        memcpy(whole + 1, *names, n - 1); /* between two NULs, not as a part of another name */
        for (char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), whole, n)); ++found) {
            at[1] = '?';
        }
        CHECK(found > 0);
    }
    CHECK(write(to, bytes, size) == (ssize_t)size);
    free(bytes);
    fclose(from);
    close(to);
    return c;
}

static const struct gpu_ops *open_copy(struct copy c) {
    const struct gpu_ops *ops = driver_open_as(c.path);
    unlink(c.path);
    return ops;
}

TEST(gpu_driver_load, each_required_function) {
    static const char *const required[] = {
        "cuCtxGetCurrent",    "cuStreamIsCapturing",
        "cuEventCreate",      "cuEventRecord",
        "cuEventQuery",       "cuEventDestroy_v2",
        "cuEventSynchronize", "cuThreadExchangeStreamCaptureMode",
        "cuProfilerStart",    "cuProfilerStop"};
    for (size_t i = 0; i < sizeof required / sizeof *required; ++i) {
        const char *const names[] = {required[i], NULL};
        char said[80];
        const struct gpu_ops *ops = open_copy(copy_without(DOUBLE_LIBRARY, names));
        snprintf(said, sizeof said, " lacks %s: too old", required[i]);
        CHECK_CONTAINS(ops->reason, said);
        CHECK_CONTAINS(ops->reason, "the CUDA driver ./driver_copy_");
        CHECK_EQ_U64((uint64_t)ops->event_query(NULL), GPU_NOT_INITIALIZED);
    }
}

TEST(gpu_driver_load, either_name_of_elapsed_time) {
    static const char *const new_one[] = {"cuEventElapsedTime_v2", NULL};
    static const char *const old_one[] = {"cuEventElapsedTime", NULL};
    static const char *const both[] = {"cuEventElapsedTime", "cuEventElapsedTime_v2", NULL};
    CHECK_STR_EQ(open_copy(copy_without(DOUBLE_LIBRARY, new_one))->reason, NULL);
    CHECK_STR_EQ(open_copy(copy_without(DOUBLE_LIBRARY, old_one))->reason, NULL);
    CHECK_CONTAINS(open_copy(copy_without(DOUBLE_LIBRARY, both))->reason,
                   "lacks cuEventElapsedTime_v2: too old");
}

TEST(gpu_driver_load, no_such_library) {
    CHECK_STR_EQ(driver_open_as("libcuda.so.0")->reason, "no CUDA driver: no libcuda.so.0");
    CHECK_STR_EQ(driver_open_as("/none/x.so")->reason, "no CUDA driver: no /none/x.so");
    CHECK_STR_EQ(driver_open_as("libcuda.so.0")->name, "none");
    CHECK_CONTAINS(driver_open_as("/")->reason, "no CUDA driver: ");
    CHECK_CONTAINS(driver_open_as("/")->reason,
                   "/: "); /* and why not, in the dynamic linker's words */
    CHECK_CONTAINS(driver_open_as(__FILE__)->reason, "no CUDA driver: ");
}

TEST(gpu_driver_load, a_reason_is_one_short_line) {
    static char path[2000] = "/"; /* its address stays in the configuration */
    memset(path + 1, 'x', sizeof path - 2);
    size_t length = strlen(driver_open_as(path)->reason);
    CHECK(length > 20 && length < 240);
}

TEST(gpu_driver_load, a_library_that_is_no_driver) {
    CHECK_CONTAINS(driver_open_as("libc.so.6")->reason, "the CUDA driver libc.so.6 lacks cu");
}

TEST(gpu_driver_load, the_real_one_is_missing) {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        SKIP("there is a CUDA driver");
    }
    CHECK_STR_EQ(driver_open_as("libcuda.so.1")->reason, "no CUDA driver: no libcuda.so.1");
}

TEST(gpu_driver_load, the_toolkits_stub) {
#ifdef CUDA_STUB
    CHECK_STR_EQ(driver_open_as(CUDA_STUB)->reason,
                 CUDA_STUB " is the toolkit's stub, not a driver");
#else
    SKIP("no CUDA toolkit with a stub of the driver was found");
#endif
}

TEST(gpu_driver_load, a_stub_without_the_version_function) {
    static const char *const names[] = {"cuDriverGetVersion", NULL};
    double_reset();
    setenv("STINT_DOUBLE_FAIL", "cuCtxGetCurrent:1=34", 1);
    CHECK_CONTAINS(open_copy(copy_without(DOUBLE_LIBRARY, names))->reason,
                   " is the toolkit's stub, not a driver");
}

TEST(gpu_driver_load, leaves_errno_and_dlerror_alone) {
    errno = 1234;
    dlerror();
    driver_open_as("libcuda.so.0");
    CHECK(errno == 1234);
    CHECK(!dlerror());
    CHECK_STR_EQ(driver_open_as(DOUBLE_OLD_LIBRARY)->reason, NULL);
    CHECK(errno == 1234);
    CHECK(!dlerror());
}

static const struct gpu_ops *thread_ops;

static void *context_of_this_thread(void *out) {
    return (void *)(uintptr_t)thread_ops->context(NULL, out);
}

TEST(gpu_driver_load, no_more_than_the_eleven) {
    setenv("STINT_DOUBLE_INIT", "1", 1);
    setenv("STINT_DOUBLE_TICK", "1000", 1);
    const struct gpu_ops *ops = thread_ops = driver_open_as(DOUBLE_OLD_LIBRARY);
    CHECK_STR_EQ(ops->reason, NULL);
    struct gpu_context c, other;
    CHECK(!ops->context(NULL, &c) && c.handle && c.id == 0 && c.device == -1);
    CHECK(on_a_thread(context_of_this_thread, &other) == GPU_INVALID_CONTEXT);
    other.handle = &c;
    CHECK(!ops->enter(&c));
    ops->leave(&c);
    CHECK(ops->enter(&other) == GPU_UNSUPPORTED); /* and then no leave */
    void *from = NULL, *to = NULL;
    uint64_t ns;
    CHECK(!ops->event_new(&from) && !ops->event_new(&to));
    CHECK(!ops->event_record(from, NULL) && !ops->event_record(to, NULL));
    CHECK(!ops->event_wait(to) && !ops->event_query(from));
    CHECK(!ops->event_elapsed(from, to, &ns));
    CHECK_EQ_U64(ns, 1000);
    CHECK(!ops->capture_start() && !ops->capture_stop());
    struct gpu_device d;
    CHECK(ops->device(0, &d) == GPU_UNSUPPORTED);
    CHECK_STR_EQ(d.name, "");
    CHECK_STR_EQ(ops->code_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_STR_EQ(ops->code_name(987), NULL); /* of no table, and it cannot be asked */
}

static void *ask_for_ops(void *barrier) {
    pthread_barrier_wait(barrier);
    const struct gpu_ops *ops = gpu_ops();
    struct gpu_context c;
    CHECK_STR_EQ(ops->reason, NULL);
    CHECK(ops->context(NULL, &c) == GPU_INVALID_CONTEXT);
    return (void *)(uintptr_t)ops;
}

TEST(gpu_driver_load, many_first_callers) {
    enum { THREADS = 16 };
    pthread_t thread[THREADS];
    pthread_barrier_t barrier;
    double_reset();
    double_init();
    config.driver_lib = DOUBLE_LIBRARY;
    pthread_barrier_init(&barrier, NULL, THREADS);
    threads_start(thread, THREADS, ask_for_ops, &barrier, 0);
    for (int i = 0; i < THREADS; ++i) {
        void *ops;
        pthread_join(thread[i], &ops);
        CHECK(ops == (void *)(uintptr_t)gpu_ops());
    }
}

TEST(gpu_driver_load, looked_for_once) {
    config.driver_lib = "libcuda.so.0";
    const struct gpu_ops *ops = gpu_ops();
    CHECK_STR_EQ(ops->reason, "no CUDA driver: no libcuda.so.0");
    config.driver_lib = DOUBLE_LIBRARY;
    CHECK(gpu_ops() == ops);
    CHECK_STR_EQ(ops->reason, "no CUDA driver: no libcuda.so.0");
}

/* ---- A thread that blocks signals may be in a handler of one. */

static void block(int how) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK(!pthread_sigmask(how, &one, NULL));
}

TEST(gpu_driver_load, not_in_what_may_be_a_signal_handler) {
    config.driver_lib = DOUBLE_OLD_LIBRARY;
    CHECK(gpu_may_seek());
    block(SIG_BLOCK);
    CHECK(!gpu_may_seek());
    block(SIG_UNBLOCK);
    CHECK(gpu_may_seek());
}

TEST(gpu_driver_load, but_where_the_program_has_loaded_it) {
    config.driver_lib = DOUBLE_OLD_LIBRARY;
    block(SIG_BLOCK);
    CHECK(!gpu_may_seek());
    CHECK(dlopen(DOUBLE_OLD_LIBRARY, RTLD_NOW | RTLD_LOCAL));
    fake_advance(9999999);
    CHECK(!gpu_may_seek()); /* it does not look again at once */
    fake_advance(1);
    CHECK(gpu_may_seek());
}

TEST(gpu_driver_load, at_whatever_place_of_the_list_of_mappings) {
    void *pages[3000];
    config.driver_lib = DOUBLE_OLD_LIBRARY;
    block(SIG_BLOCK);
    CHECK(dlopen(DOUBLE_OLD_LIBRARY, RTLD_NOW | RTLD_LOCAL));
    for (unsigned i = 0; i < sizeof pages / sizeof *pages; ++i) { /* each line moves it on */
        int protection = i % 2 ? PROT_READ : PROT_NONE;
        pages[i] = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (i % 50 == 0) {
            CHECK(gpu_may_seek());
        }
    }
}

static const struct gpu_ops *open_none(void) {
    return &gpu_none;
}

static const char *missing_library(void) {
    return "/libnosuchgpu.so";
}

static const char *loaded_library(void) {
    return "/libc";
}

/* Each back end says which library must be there, or that none must. */
TEST(gpu_driver_load, by_the_library_of_each_back_end) {
    static const struct gpu_backend other = {
        .name = "other", .library = missing_library, .open = open_none};
    static const struct gpu_backend libc = {
        .name = "libc", .library = loaded_library, .open = open_none};
    static const struct gpu_backend free = {.name = "free", .open = open_none};
    static const struct gpu_backend *const missing[] = {&other, NULL};
    static const struct gpu_backend *const second[] = {&other, &libc, NULL};
    static const struct gpu_backend *const needs_none[] = {&free, NULL};
    config.driver_lib = NULL;
    block(SIG_BLOCK);
    gpu_set_list(missing);
    CHECK(!gpu_may_seek());
    fake_advance(10000000);
    gpu_set_list(second);
    CHECK(gpu_may_seek());
    gpu_set_list(needs_none);
    CHECK(gpu_may_seek());
}
