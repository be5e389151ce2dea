/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates as its argument says, in scopes; mem_test.py knows what must be counted. Run by itself
 * it prints nothing; the mode oracle prints what it counted itself. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stint/stint.h"

#define KEEP 64

static void *volatile kept[KEEP];

static void use(void *block, size_t size) {
    if (!block) {
        abort();
    }
    memset(block, 1, size);
}

/* ---- Every function. */

static void functions(void) {
    REGISTER_TIMER("functions");
    void *block = NULL;
    char *copy;
    use(kept[0] = malloc(10), 10);
    use(kept[1] = calloc(3, 20), 60);
    use(kept[2] = realloc(NULL, 100), 100);
    use(kept[2] = realloc(kept[2], 1000), 1000); /* + 1 malloc, 1 free */
    use(kept[3] = reallocarray(NULL, 5, 7), 35);
    if (posix_memalign(&block, 64, 200)) {
        abort();
    }
    use(kept[4] = block, 200);
    use(kept[5] = aligned_alloc(256, 512), 512);
    use(kept[6] = memalign(32, 40), 40);
    use(kept[7] = valloc(50), 50);
#ifdef __GLIBC__
    use(kept[8] = pvalloc(5000), 8192);
#else
    use(kept[8] = memalign(4096, 8192), 8192); /* the same */
#endif
    copy = strdup("eleven char");
    use(kept[9] = copy, 12);
    use(kept[10] = malloc(0), 0);
    use(kept[11] = malloc(1 << 20), 1 << 20);
    if (malloc((size_t)-1 / 4) != NULL) { /* fails: not counted */
        abort();
    }
    free(NULL);
}

static void free_functions(void) {
    REGISTER_TIMER("free");
    for (int i = 0; i < 12; ++i) {
        free(kept[i]);
    }
}

/* ---- Who frees. */

static void owners(void) {
    {
        REGISTER_TIMER("first");
        for (int i = 0; i < 40; ++i) {
            kept[i] = malloc(100);
        }
        for (int i = 0; i < 10; ++i) {
            free(kept[i]);
        }
    }
    {
        REGISTER_TIMER("second");
        for (int i = 10; i < 30; ++i) {
            free(kept[i]);
        }
    }
    free(kept[30]); /* no scope */
}

static size_t peak_size = 1000;

static void peaks(void) {
    REGISTER_TIMER("outer");
    for (int round = 0; round < 3; ++round) {
        void *volatile mine = malloc(peak_size);
        {
            REGISTER_TIMER("inner");
            void *volatile a = malloc(400);
            void *volatile b = malloc(600);
            free(a);
            free(b);
        }
        free(mine);
    }
}

static void peaks_more(void) {
    peak_size *= 2;
    peaks();
}

static void *recurse(int depth) {
    REGISTER_TIMER("again");
    void *volatile block = malloc(10);
    if (depth) {
        recurse(depth - 1);
    }
    free(block);
    return NULL;
}

/* ---- Threads. */

#define THREADS 4
#define BLOCKS 1000

static void *handed[THREADS][BLOCKS];

static void *hand_over(void *number) {
    void **out = handed[(size_t)number];
    REGISTER_TIMER("worker");
    for (int i = 0; i < BLOCKS; ++i) {
        void *volatile own = malloc(16);
        out[i] = malloc(48);
        free(own);
    }
    return NULL;
}

static void threads(void) {
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; ++i) {
        if (pthread_create(&thread[i], NULL, hand_over, (void *)i)) {
            abort();
        }
    }
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(thread[i], NULL);
    }
    REGISTER_TIMER("drain");
    for (size_t t = 0; t < THREADS; ++t) {
        for (int i = 0; i < BLOCKS - 1; ++i) {
            free(handed[t][i]);
        }
    }
}

/* A key whose destructor runs after the thread's recorder has ended, if the C library calls the
 * recorder's first. */
static pthread_key_t key;

static void at_thread_end(void *block) {
    static __thread int rounds;
    if (rounds++ < 3) {
        free(block);
        void *volatile next = malloc(77);
        pthread_setspecific(key, next);
    } else {
        free(block);
    }
}

static void *end_with_key(void *unused) {
    (void)unused;
    REGISTER_TIMER("thread");
    pthread_setspecific(key, malloc(77));
    return NULL;
}

static void destructors(void) {
    pthread_t thread;
    pthread_key_create(&key, at_thread_end);
    if (pthread_create(&thread, NULL, end_with_key, NULL)) {
        abort();
    }
    pthread_join(thread, NULL);
}

/* ---- Fork. */

static void fork_child(void) {
    REGISTER_TIMER("child");
    for (int i = 0; i < 5; ++i) {
        free(kept[i]); /* of the parent */
    }
    kept[5] = realloc(kept[5], 5000);
    void *volatile own = malloc(200);
    free(own);
}

static void forking(void) {
    {
        REGISTER_TIMER("parent");
        for (int i = 0; i < 10; ++i) {
            kept[i] = malloc(100);
        }
    }
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        alarm(120);
        fork_child();
        exit(0);
    }
    waitpid(child, NULL, 0);
    REGISTER_TIMER("after");
    for (int i = 0; i < 10; ++i) {
        free(kept[i]);
    }
}

/* ---- Mapped memory. */

#define MIB ((size_t)1 << 20)
#define RW (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static void mapped(void) {
    REGISTER_TIMER("mapped");
    char *a = mmap(NULL, 4 * MIB, RW, ANONYMOUS, -1, 0);
    char *b = mmap(NULL, MIB, RW, ANONYMOUS, -1, 0);
    mmap(NULL, 4096, RW, ANONYMOUS, -1, 0);       /* too small */
    mmap(NULL, MIB, PROT_NONE, ANONYMOUS, -1, 0); /* addresses only */
    munmap(a + MIB, MIB);                         /* from the middle */
    b = mremap(b, MIB, 2 * MIB, MREMAP_MAYMOVE);  /* 1 free, 1 malloc */
    munmap(a + 3 * MIB, MIB);                     /* from the end */
    if (b == MAP_FAILED) {
        abort();
    }
}

static char *map_one(void) {
    char *at = mmap(NULL, MIB, RW, ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        abort();
    }
    return at;
}

static void expect_failure(int failed) {
    if (!failed) {
        abort();
    }
}

static void failed_unmaps(void) {
    REGISTER_TIMER("failed unmaps");
    char *at = map_one();
    expect_failure(munmap(at + 1, MIB));
    expect_failure(munmap(at, 0));
    expect_failure(mmap(at, MIB, RW, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED); /* no file */
    expect_failure(mremap(at, MIB, (size_t)1 << 46, 0) == MAP_FAILED);
}

/* A file that cannot be mapped: older kernels have unmapped the addresses when they find out. */
static void failed_late(void) {
    char *at;
    {
        REGISTER_TIMER("failed late");
        int file = socket(AF_INET, SOCK_DGRAM, 0);
        at = map_one();
        expect_failure(mmap(at, MIB, RW, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED);
        close(file);
    }
    if (!msync(at, MIB, MS_ASYNC)) {
        REGISTER_TIMER("still mapped");
    }
}

static void whole_pages(void) {
    REGISTER_TIMER("whole pages");
    char *at = mmap(NULL, MIB + 5, RW, ANONYMOUS, -1, 0);
    munmap(at, MIB + 1);
    at = map_one();
    mmap(at, MIB - 1, RW, ANONYMOUS | MAP_FIXED, -1, 0); /* in its place */
    munmap(at, MIB - 2);
}

#ifndef MREMAP_DONTUNMAP /* glibc before 2.32 */
#define MREMAP_DONTUNMAP 4
#endif

static void moved(void) {
    {
        REGISTER_TIMER("moved");
        char *at = map_one(), *where = map_one();
        expect_failure(mremap(at, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, where) == where);
    }
    REGISTER_TIMER("moved and kept");
    char *at = map_one();
    mremap(at, MIB, MIB, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
}

static void remapped(void) {
    failed_unmaps();
    failed_late();
    whole_pages();
    moved();
}

/* ---- Mappings by a thread with a real-time priority, on the processor of another one. */

static int fifo_done; /* atomic */

static void *map_until_done(void *unused) {
    while (!__atomic_load_n(&fifo_done, __ATOMIC_RELAXED)) {
        munmap(map_one(), MIB);
    }
    return unused;
}

/* Prints the processor time that it took, in ms, or why it cannot be. */
static void *map_first(void *unused) {
    struct sched_param priority = {.sched_priority = 10};
    struct timespec wait = {0, 20000}, took;
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
    if (error) {
        printf("SCHED_FIFO: %s\n", strerror(error));
    }
    for (int i = 0; i < 2000 && !error; ++i) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
        munmap(map_one(), MIB);
    }
    if (!error && !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &took)) {
        printf("%ld\n", (long)took.tv_sec * 1000 + took.tv_nsec / 1000000);
    }
    return unused;
}

static void fifo(void) {
    pthread_t low, high;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (pthread_create(&low, NULL, map_until_done, NULL) ||
        pthread_create(&high, NULL, map_first, NULL)) {
        abort();
    }
    pthread_join(high, NULL);
    __atomic_store_n(&fifo_done, 1, __ATOMIC_RELAXED);
    pthread_join(low, NULL);
}

/* ---- Against its own count. */

struct count {
    unsigned long long mallocs, bytes, frees, live, peak;
};

static struct count oracle_count;

static void oracle_add(size_t size) {
    ++oracle_count.mallocs;
    oracle_count.bytes += size;
    oracle_count.live += size;
    if (oracle_count.live > oracle_count.peak) {
        oracle_count.peak = oracle_count.live;
    }
}

#define SLOTS 3000

static void oracle(void) {
    static void *block[SLOTS];
    static size_t size[SLOTS];
    unsigned random = 12345;
    {
        REGISTER_TIMER("oracle");
        for (int i = 0; i < 200000; ++i) {
            random = random * 1664525u + 1013904223u;
            unsigned at = (random >> 8) % SLOTS;
            size_t want = (random >> 20) % 5000;
            if (random >> 30 == 3 && block[at]) {
                block[at] = realloc(block[at], want + 1);
                ++oracle_count.frees;
                oracle_count.live -= size[at];
                oracle_add(size[at] = want + 1);
                continue;
            }
            if (block[at]) {
                free(block[at]);
                ++oracle_count.frees;
                oracle_count.live -= size[at];
            }
            block[at] = malloc(want);
            oracle_add(size[at] = want);
        }
    }
    char line[200];
    int n = snprintf(line, sizeof line, "%llu %llu %llu %llu %llu\n", oracle_count.mallocs,
                     oracle_count.bytes, oracle_count.frees, oracle_count.live, oracle_count.peak);
    if (write(STDOUT_FILENO, line, (size_t)n) != n) { /* printf would allocate */
        abort();
    }
}

/* ---- Nested scopes against a model, by threads in turn, of which each has the nodes of the one
 * before. The process ends inside the scopes, right after a block. */

#define NESTED 7 /* below each number the next level: 2 n + 1 and 2 n + 2 */
#define NESTED_CALLS 200

static const char *const nested_names[NESTED] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6"};
static struct nested {
    struct count own;
    unsigned long long elsewhere, live_with, peak_with;
} nested[NESTED];
static struct {
    void *block;
    size_t size;
    int owner;
} nested_blocks[SLOTS];
static unsigned nested_random;

static unsigned nested_number(unsigned below) {
    nested_random = nested_random * 1664525u + 1013904223u;
    return (nested_random >> 8) % below;
}

static void nested_change(int owner, long long bytes) {
    for (int at = owner;; at = (at - 1) / 2) {
        nested[at].live_with += (unsigned long long)bytes;
        if (nested[at].live_with > nested[at].peak_with) {
            nested[at].peak_with = nested[at].live_with;
        }
        if (!at) {
            return;
        }
    }
}

static void nested_freed(int here, unsigned at) {
    struct nested *owner = &nested[nested_blocks[at].owner];
    ++nested[here].own.frees;
    owner->own.live -= nested_blocks[at].size;
    if (owner != &nested[here]) {
        owner->elsewhere += nested_blocks[at].size;
    }
    nested_change(nested_blocks[at].owner, -(long long)nested_blocks[at].size);
}

static void nested_allocated(int here, unsigned at, size_t size) {
    struct count *own = &nested[here].own;
    nested_blocks[at].size = size;
    nested_blocks[at].owner = here;
    ++own->mallocs;
    own->bytes += size;
    own->live += size;
    if (own->live > own->peak) {
        own->peak = own->live;
    }
    nested_change(here, (long long)size);
}

/* Mostly a block of this scope, so that its own frees and those by others alternate. */
static void nested_block(int here) {
    unsigned at = (unsigned)here * (SLOTS / NESTED) + nested_number(SLOTS / NESTED);
    if (!nested_number(16)) {
        at = nested_number(SLOTS);
    }
    size_t size = nested_number(6000);
    if (nested_blocks[at].block && nested_number(4)) {
        free(nested_blocks[at].block);
        nested_blocks[at].block = NULL;
        nested_freed(here, at);
        return;
    }
    if (nested_blocks[at].block) {
        nested_freed(here, at);
        ++size;
    }
    nested_blocks[at].block = realloc(nested_blocks[at].block, size);
    nested_allocated(here, at, size);
}

static void nested_walk(int here, int ends) {
    STINT_TIMER_DYNAMIC(nested_names[here]);
    for (unsigned n = nested_number(30); n; --n) {
        nested_block(here);
        int below = 2 * here + 1 + (int)nested_number(2);
        if (below < NESTED && !nested_number(6)) {
            nested_walk(below, 0);
        }
    }
    if (ends) {
        for (unsigned i = 0; i < 40 && 2 * here + 2 >= NESTED; ++i) { /* a peak in the end */
            nested_blocks[i].block = malloc(100000);                  /* the other stays in use */
            nested_allocated(here, i, 100000);
        }
        if (2 * here + 2 < NESTED) {
            nested_walk(2 * here + 2, 1);
        }
        for (int i = 0; i < NESTED; ++i) {
            struct nested *n = &nested[i];
            char line[200];
            int length = snprintf(line, sizeof line, "%llu %llu %llu %llu %llu %llu %llu\n",
                                  n->own.mallocs, n->own.bytes, n->own.frees, n->elsewhere,
                                  n->own.live, n->own.peak, n->peak_with);
            if (write(STDOUT_FILENO, line, (size_t)length) != length) {
                abort();
            }
        }
        _exit(0);
    }
}

static void *nested_thread(void *ends) {
    for (int i = 0; i < NESTED_CALLS; ++i) {
        nested_walk(0, 0);
    }
    nested_walk(0, ends != NULL);
    return NULL;
}

static void oracle_nested(void) {
    for (int i = 0; i < 3; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nested_thread, i == 2 ? nested : NULL)) {
            abort();
        }
        pthread_join(thread, NULL);
    }
}

/* A thread has the nodes of one that ended before it began, after that one has freed a block. */
static void *take_turn(void *is_second) {
    REGISTER_TIMER("turn");
    void *volatile block;
    if (is_second) {
        block = malloc(1500);
    } else {
        REGISTER_TIMER("inside turn");
        block = malloc(1000);
        kept[0] = malloc(1000);
        free(block);
    }
    return NULL;
}

static void turns(void) {
    for (int i = 0; i < 2; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, take_turn, i ? nested : NULL)) {
            abort();
        }
        pthread_join(thread, NULL);
    }
}

/* More blocks than a small table has room for, in more MiB of addresses. */
static void many(void) {
    REGISTER_TIMER("many");
    for (int i = 0; i < 100000; ++i) {
        kept[i % KEEP] = malloc(100);
    }
}

#define SMALL 1000

static void small(void) {
    static void *blocks[SMALL];
    REGISTER_TIMER("small");
    for (int i = 0; i < SMALL; ++i) {
        blocks[i] = malloc(8);
    }
    for (int i = 0; i < SMALL; ++i) {
        free(blocks[i]);
    }
}

static void *volatile before_main;

__attribute__((constructor)) static void allocate_before_main(void) {
    before_main = malloc(123);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"owners", owners},
                 {"peaks", peaks},
                 {"peaks_more", peaks_more},
                 {"threads", threads},
                 {"destructors", destructors},
                 {"fork", forking},
                 {"mapped", mapped},
                 {"remapped", remapped},
                 {"fifo", fifo},
                 {"oracle", oracle},
                 {"oracle_nested", oracle_nested},
                 {"turns", turns},
                 {"small", small},
                 {"many", many}};
    const char *mode = argc > 1 ? argv[1] : "";
    nested_random = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    if (!strcmp(mode, "functions")) {
        functions();
        free_functions();
    } else if (!strcmp(mode, "recursive")) {
        recurse(4);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        if (!strcmp(mode, modes[i].name)) {
            modes[i].run();
        }
    }
    return 0;
}
