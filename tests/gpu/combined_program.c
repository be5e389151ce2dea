/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of number at once, on several threads, in calls that can be counted exactly:
 * combined_test.py knows how many. The GPU is the driver's and CUPTI's double; NVTX ranges come
 * from NVTX's own header, where there is one (COMBINED_NVTX).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef COMBINED_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "cuda_double.h"
#include "cupti_double.h"
#include "stint/stint.h"

#define THREADS 4
#define ROUNDS 200
#define LONG_CALLS 2
#define LONG_CPU_NS 20000000 /* of one long call: a hundred times what makes it be measured */
#define FRESH_PAGES 300
#define KERNEL_NS 5000

static const struct cupti_double_kernel kernel = {.name = "_Z3addPf", .ns = KERNEL_NS};

struct worker {
    pthread_t thread;
    void *context;
    stint_sender sender;
    void *handed[ROUNDS]; /* freed by the main thread */
};
static struct worker workers[THREADS];

static void *allocate(size_t size) {
    void *volatile block = malloc(size);
    if (!block) {
        abort();
    }
    return block;
}

/* ---- Parts of a round. */

static void run_blocks(struct worker *w, int round) {
    REGISTER_TIMER("blocks");
    void *own = allocate(16);
    w->handed[round] = allocate(48);
    free(own);
}

static void run_short(void) {
    REGISTER_TIMER("short");
    void *volatile block = calloc(2, 12);
    free(block);
}

static void run_dynamic(int round) {
    static const char *const names[] = {"dynamic a", "dynamic b"};
    REGISTER_TIMER_DYNAMIC(names[round % 2]);
    void *volatile block = allocate(32);
    block = realloc(block, 64);
    free(block);
}

/* Allocates in the range and frees after it. */
static void run_range(void) {
    void *block;
    {
#ifdef COMBINED_NVTX
        nvtxRangePushA("range");
#else
        REGISTER_TIMER_DYNAMIC("range");
#endif
        block = allocate(8);
#ifdef COMBINED_NVTX
        nvtxRangePop();
#endif
    }
    free(block);
}

static void run_gpu(void *stream) {
    REGISTER_GPU_TIMER("gpu", stream);
    double_launch(stream, KERNEL_NS);
    {
        REGISTER_TIMER("gpu part");
        free(allocate(40));
    }
    REGISTER_TIMER("launch");
    cupti_double_launch(&kernel);
}

static void run_round(struct worker *w, int round, void *stream) {
    REGISTER_TIMER("round");
    run_blocks(w, round);
    run_short();
    run_dynamic(round);
    run_range();
    run_gpu(stream);
    TIMER_VALUE("rounds", round);
}

/* ---- A scope that is long enough to be measured. */

static uint64_t thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void run_long(void) {
    REGISTER_TIMER("long");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t start = thread_cpu_ns();
    char *fresh =
        mmap(NULL, FRESH_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
        abort();
    }
    madvise(fresh, FRESH_PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < FRESH_PAGES; ++i) {
        ((volatile char *)fresh)[i * page] = 1;
    }
    munmap(fresh, FRESH_PAGES * page);
    while (thread_cpu_ns() - start < LONG_CPU_NS) {
    }
}

/* ---- Threads. */

static void *run_worker(void *worker) {
    struct worker *w = worker;
    double_context_make_current(w->context);
    void *stream = double_stream_new(NULL);
    REGISTER_TIMER_UNDER("job", w->sender);
    for (int i = 0; i < LONG_CALLS; ++i) {
        run_long();
    }
    for (int i = 0; i < ROUNDS; ++i) {
        run_round(w, i, stream);
    }
    TIMER_MARK("job ends");
    return NULL;
}

static stint_sender send_jobs(void) {
    REGISTER_TIMER("send");
    free(allocate(100));
    return stint_sender_here();
}

static void drain(void) {
    REGISTER_TIMER("drain");
    for (int t = 0; t < THREADS; ++t) {
        for (int i = 0; i < ROUNDS; ++i) {
            free(workers[t].handed[i]);
        }
    }
}

/* A child of all that has only its own numbers. */
static void run_child(void *inherited) {
    {
        REGISTER_TIMER("child");
        run_short();
        run_range();
        run_long();
        free(inherited);
    }
    exit(0);
}

/* Initialises NVTX on one thread: NVIDIA's header reads the state of its first use without an
 * atomic operation, which ThreadSanitizer reports if two threads are the first. */
static void start_ranges(void) {
#ifdef COMBINED_NVTX
    nvtxInitialize(NULL);
#endif
}

int main(void) {
    double_init();
    cupti_double_reset(NULL, NULL);
    start_ranges();
    stint_sender sender = send_jobs();
    void *context = double_context_current();
    for (int i = 0; i < THREADS; ++i) {
        workers[i].sender = sender;
        workers[i].context = context;
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i])) {
            abort();
        }
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    drain();
    double_advance((uint64_t)10 * THREADS * ROUNDS * KERNEL_NS);
    cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);
    stint_gpu_flush();
    void *inherited = allocate(500);
    pid_t child = fork();
    if (!child) {
        alarm(300);
        run_child(inherited);
    }
    int status = -1;
    waitpid(child, &status, 0);
    free(inherited);
    return status != 0;
}
