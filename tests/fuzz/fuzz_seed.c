/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes inputs for the targets that read run files: small arenas as the runtime makes them.
 * fuzz_seed FOLDER
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stint/stint.h"

#include "activity/activity.h"
#include "arena/arena.h"
#include "fake_clock.h"
#include "fuzz_image.h"
#include "gpu_activities.h"
#include "report/report_options.h"

static void leaf(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

static void *worker(void *set) {
    REGISTER_TIMER("worker", -1, set);
    leaf("leaf", 70);
    return NULL;
}

static void tree(void) {
    REGISTER_TIMER_INFO("outer", "batch=1");
    leaf("leaf", 50);
    leaf("two\nlines \xff \x1b[31m</script>=1+1", 60);
    fake_advance(10);
}

static void threads(void) {
    pthread_t thread;
    tree();
    pthread_create(&thread, NULL, worker, stint_set_get("other set"));
    pthread_join(thread, NULL);
}

static void trace(void) {
    tree();
    TIMER_MARK("mark");
    TIMER_VALUE("value", 0.5);
    tree();
    stint_step();
}

static void interval(void) {
    stint_timer t;
    TIMER_BEGIN(t, "interval");
    tree();
    TIMER_END(t);
    stint_sample_add("sample", 1234);
}

static void recursive(int depth) {
    REGISTER_TIMER("recursive");
    fake_advance(3);
    if (depth) {
        recursive(depth - 1);
    }
}

static void gpu(void) {
    REGISTER_TIMER("gpu");
    uint32_t device = gpu_sums_device("Example GPU", 1000000, 0);
    gpu_took(device, 100);
    gpu_took(device, 300);
    gpu_does(1000, 2000);
    fake_advance(500);
}

/* Every kind, of two devices and scopes. */
static void activities(void) {
    static const struct gpu_shape shape = {{64, 2, 1}, {256, 1, 1}, 32, 1024, 48};
    static const char *const names[ACTIVITY_KINDS] = {[ACTIVITY_KERNEL] = "void cudnn::f<4>(int)",
                                                      [ACTIVITY_API] = "cudaMemcpy",
                                                      [ACTIVITY_DRIVER] = "cuInit"};
    REGISTER_TIMER("activities");
    for (uint32_t number = 0; number < 2; ++number) {
        uint32_t device = gpu_activities_device(number);
        REGISTER_TIMER("inside");
        for (uint32_t kind = ACTIVITY_KERNEL; kind < ACTIVITY_KINDS; ++kind) {
            uint32_t detail = kind == ACTIVITY_COPY ? ACTIVITY_COPY_DETAIL(1, 2, 3, number) : 1;
            config.percentiles = !number && kind <= ACTIVITY_API; /* 40 lines each */
            int host = kind == ACTIVITY_API || kind == ACTIVITY_DRIVER || kind == ACTIVITY_SYNC;
            struct arena_activity *a =
                gpu_activity(kind, detail, names[kind], host ? 0 : device, kind);
            gpu_activity_shape(a, &shape);
            gpu_activity_took(a, 100 + kind, 4096);
            gpu_activity_took(a, 300, 64);
            gpu_activity_launched(a, 1, 20, 10);
        }
    }
    fake_advance(500);
}

/* A call of the API and, half a microsecond later, a kernel or copy of two streams. */
static void launch(uint32_t number) {
    struct activity_record call = {.kind = ACTIVITY_API,
                                   .device = ACTIVITY_NO_DEVICE,
                                   .correlation = number,
                                   .name = "cudaLaunchKernel",
                                   .thread = 1,
                                   .start = activity_clock(),
                                   .end = activity_clock() + 200};
    struct activity_record ran = {.kind = number % 2 ? ACTIVITY_KERNEL : ACTIVITY_COPY,
                                  .detail = number % 2 ? 0 : ACTIVITY_COPY_DETAIL(1, 1, 3, 0),
                                  .correlation = number,
                                  .context = 1,
                                  .stream = 7 + number % 2,
                                  .bytes = 64,
                                  .name = number % 2 ? "kernel" : NULL,
                                  .start = activity_clock() + 700,
                                  .end = activity_clock() + 900};
    activity_launch(number);
    activity_begin();
    activity_add(&call);
    activity_add(&ran);
    activity_end();
    fake_advance(300); /* so that some overlap */
}

static void lanes(void) {
    REGISTER_TIMER("launches");
    config.percentiles = 0;
    activity_open();
    for (uint32_t i = 1; i <= 8; ++i) {
        launch(i);
    }
    stint_step();
    fake_advance(2000);
    activity_settle();
}

static void nothing(void) {
}

static void recursion(void) {
    recursive(5);
}

static const struct {
    const char *name;
    void (*run)(void);
    const char *trace;
    int open;
} stories[] = {
    {"nothing", nothing, NULL, 0},
    {"tree", tree, NULL, 0},
    {"open", tree, NULL, 1},
    {"threads", threads, NULL, 0},
    {"trace", trace, "16K", 0},
    {"interval", interval, "16K", 0},
    {"recursion", recursion, NULL, 1},
    {"gpu", gpu, NULL, 0},
    {"activities", activities, NULL, 0},
    {"lanes", lanes, "16K", 0},
};

/* A thread's closed frames name its root, 128 lines of them: nothing to read, nothing to change. */
static void forget_frames(void) {
    for (uint32_t unit = arena_header()->first_thread; unit;) {
        const struct arena_thread *t = arena_at(unit);
        struct stint_impl_frame *frames = arena_at(t->frames);
        for (uint32_t i = 0; i < STINT_IMPL_FRAMES; ++i) {
            frames[i].node = frames[i].guard ? frames[i].node : 0;
        }
        unit = t->next;
    }
}

static int write_seed(const char *folder, const char *name, uint8_t option, size_t part) {
    char path[4096];
    struct fuzz_image image = {.base = arena.base,
                               .size = arena_header()->used,
                               .option = {option, 0xff, 5, option, (uint8_t)part}};
    forget_frames();
    clock_stamp(&image.now);
    arena_close(&image.now);
    snprintf(path, sizeof path, "%s/%s-%u", folder, name, option);
    FILE *out = fopen(path, "wb");
    if (!out) {
        perror(path);
        return 1;
    }
    fuzz_image_write(out, &image);
    return fclose(out) != 0;
}

/* The target's option for the line of the legacy view: the first from 64 on of that rest. */
#define LEGACY_WITH_LINE (64 + (REPORT_LEGACY + REPORT_VIEWS - 64 % REPORT_VIEWS) % REPORT_VIEWS)

/* Writes a seed for each view. Its number also selects the part of the reader that a target runs
 * (option[4]): 3 parts in fuzz_run, 12 in fuzz_tool. */
static int write_seeds(const char *folder, size_t i) {
    const char *name = stories[i].name;
    for (uint8_t view = 1; view < REPORT_VIEWS; ++view) {
        if (write_seed(folder, name, view, REPORT_VIEWS * i + view)) {
            return 1;
        }
    }
    return write_seed(folder, name, LEGACY_WITH_LINE, REPORT_VIEWS * i);
}

static int tell(size_t i, const char *folder) {
    setenv("STINT_MEMORY", "1M", 1);
    if (stories[i].trace) {
        setenv("STINT_TRACE", stories[i].trace, 1);
    }
    leaf("first", 1); /* so that there is an arena */
    if (stories[i].open) {
        REGISTER_TIMER("still open");
        stories[i].run();
        fake_advance(5);
        return write_seeds(folder, i);
    }
    stories[i].run();
    return write_seeds(folder, i);
}

/* An arena a process: each story in a child. */
int main(int argc, char **argv) {
    int failed = argc != 2;
    for (size_t i = 0; !failed && i < sizeof stories / sizeof *stories; ++i) {
        int status = -1;
        pid_t child = fork();
        if (!child) {
            exit(tell(i, argv[1]));
        }
        failed = child < 0 || waitpid(child, &status, 0) != child || status;
    }
    return failed;
}
