/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for the tool to look at: tool_program STORY [ARGUMENT]. Stories that go on print
 * "ready" first.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stint/stint.h>

#ifdef STINT_IMPL_FAKE_CLOCK
#include "gpu_sums.h"
#endif

/* Spends time. Reports on the fake clock are exact to the digit. */
static void spend_us(long us) {
#ifdef STINT_IMPL_FAKE_CLOCK
    fake_advance((uint64_t)us * 1000);
#else
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
#endif
}

static void step(int number) {
    char info[32];
    snprintf(info, sizeof info, "batch=%d", number);
    REGISTER_TIMER_INFO("step", info);
    {
        REGISTER_TIMER("load");
        spend_us(200);
    }
    for (int i = 0; i < 50; ++i) {
        REGISTER_TIMER("matmul");
        spend_us(number);
    }
    TIMER_MARK("mark");
    TIMER_VALUE("value", number);
}

static void *worker(void *set) {
    for (int i = 0; i < 10; ++i) {
        REGISTER_TIMER("worker", -1, set);
        REGISTER_TIMER("matmul");
    }
    return NULL;
}

static void work(void) {
    pthread_t thread;
    for (int i = 0; i < 5; ++i) {
        step(i);
    }
    pthread_create(&thread, NULL, worker, stint_set_get("other set"));
    pthread_join(thread, NULL);
    stint_step();
    stint_step();
}

/* Steps of one rank of a job: it works so many us in each, and waits for the last one. */
static void step_as_rank(int steps, long work_us, long last_us) {
    for (int i = 0; i < steps; ++i) {
        {
            REGISTER_TIMER("solve");
            spend_us(work_us);
        }
        {
            REGISTER_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
            spend_us(last_us - work_us);
        }
        stint_step();
    }
}

static void *do_sent(void *sender) {
    REGISTER_TIMER("pool");
    REGISTER_TIMER_UNDER("sent", *(stint_sender *)sender);
    REGISTER_TIMER("part");
    spend_us(300);
    return NULL;
}

static void send_work(void) {
    pthread_t thread;
    REGISTER_TIMER("send");
    stint_sender sender = stint_sender_here();
    spend_us(200);
    pthread_create(&thread, NULL, do_sent, &sender);
    pthread_join(thread, NULL);
}

/* Longer than a trace's event has room for. On the fake clock only. */
static void long_scope(long s) {
    REGISTER_TIMER("long");
    spend_us(s * 1000000);
}

/* A thousand calls, each a microsecond longer than the one before. */
static void spread(void) {
    for (int i = 0; i < 1000; ++i) {
        REGISTER_TIMER("spread");
        spend_us(1000 + i);
    }
}

/* Three names in a cycle: the own time of inner calls is in numbers of its own. */
static void cycle(int depth) {
    static const char *const names[] = {"cycle.a", "cycle.b", "cycle.c"};
    REGISTER_TIMER_DYNAMIC(names[depth % 3]);
    spend_us(10 + depth);
    if (depth) {
        cycle(depth - 1);
    }
}

static void ready(void) {
    puts("ready");
    fflush(stdout);
}

/* An action whose time is a maximum only the first time. */
static void act(const char *what) {
    static stint_timer interval;
    if (!strcmp(what, "scope")) {
        REGISTER_TIMER("act");
    } else if (!strcmp(what, "interval")) {
        TIMER_BEGIN(interval, "act");
        TIMER_END(interval);
    } else if (!strcmp(what, "sample")) {
        stint_sample_add("act", 1);
    } else if (!strcmp(what, "step")) {
        stint_step();
    } else if (!strcmp(what, "report")) {
        stint_report("table");
    } else if (!strcmp(what, "long")) {
        REGISTER_TIMER("act");
        spend_us(1300000000); /* only its length says when it ended */
    }
}

/* Then the run is killed: its file shows the last action, or an end that is too early. On the fake
 * clock only. */
static void act_last(const char *what) {
    act(what);
    if (!strcmp(what, "long")) {
        raise(SIGKILL);
    }
    spend_us(700000000);
    act(what);
    spend_us(600000000);
    act(what);
    if (!strcmp(what, "exit")) {
        act("scope");
        _exit(0);
    }
    raise(SIGKILL);
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleeps(void) {
    REGISTER_TIMER("sleeps");
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static void spins(void) {
    REGISTER_TIMER("spins");
    uint64_t from = cpu_ns();
    while (cpu_ns() < from + 20000000) {
    }
}

/* Five calls of 20 ms each, with and without the processor, and short ones. 20 ms are long where a
 * reading takes 8 us or less. */
static void wait_and_work(void) {
    for (int i = 0; i < 5; ++i) {
        sleeps();
        spins();
    }
    for (int i = 0; i < 1000; ++i) {
        REGISTER_TIMER("short");
    }
}

static volatile sig_atomic_t told, times;

/* Scopes one after the other, on two threads; says how long the main thread has done so. */
static void *load(void *nothing) {
    for (;;) {
        REGISTER_TIMER("load");
        ++times;
    }
    return nothing;
}

static void tick(void) {
    pthread_t thread;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &start);
    pthread_create(&thread, NULL, load, NULL);
    ready();
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        {
            REGISTER_TIMER("tick");
            spend_us(200);
        }
        printf("%.9f\n",
               (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec));
        fflush(stdout);
    }
}

static void hang(void) {
    REGISTER_TIMER("outer");
    spend_us(2000);
    REGISTER_TIMER("inner");
    ready();
    for (;;) {
        pause();
    }
}

static void busy(void) {
    for (int i = 0;; ++i) {
        REGISTER_TIMER("loop");
        if (i == 3) {
            ready();
        }
        {
            REGISTER_TIMER("sleep");
            spend_us(1000);
        }
        REGISTER_TIMER("rare, and with a name that is longer than a narrow terminal has room for");
    }
}

static void tell(int number) {
    told = number;
    ++times;
}

/* Ends with the number of the signal that it was sent; 100 if it was sent more than one. */
static int wait_for_signal(void) {
    struct sigaction on = {.sa_handler = tell};
    sigaction(SIGTERM, &on, NULL);
    sigaction(SIGINT, &on, NULL);
    REGISTER_TIMER("waiting");
    ready();
    while (!told) {
        spend_us(1000);
    }
    spend_us(100000);
    spend_us(100000); /* a signal ends the one before */
    return times > 1 ? 100 : told;
}

/* Distinct names: a large file, to time its reading. */
static void many(long count) {
    char name[64];
    for (long i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "scope number %ld", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
}

/* Calls of one scope: as many spans of a trace. */
static void record_spans(long count) {
    for (long i = 0; i < count; ++i) {
        REGISTER_TIMER("span");
    }
}

/* Two calls with times on one GPU, one on another; on the fake clock only. */
static void on_gpus(long ns) {
#ifdef STINT_IMPL_FAKE_CLOCK
    REGISTER_TIMER("opens the ledger");
    uint32_t first = gpu_sums_device("one", 0, 0), second = gpu_sums_device("other", 0, 0);
    for (long i = 1; i <= 3; i += 2) {
        REGISTER_TIMER("kernel");
        spend_us(1);
        gpu_took(first, (uint64_t)(ns * i));
    }
    REGISTER_TIMER("copy");
    spend_us(1);
    gpu_took(second, 5);
#else
    (void)ns;
#endif
}

static int forks(int work_in_child) {
    if (work_in_child) {
        stint_step();
    } else {
        work();
    }
    pid_t child = fork();
    if (!child && work_in_child) {
        work();
        exit(0);
    }
    if (!child) {
        REGISTER_TIMER("in the child");
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

/*
 * Prints the peak memory of a command in KB. Linux hands the peak of the process that called exec
 * on to the command, and Python's is above that of many commands: this program's is not.
 */
static int print_peak(char **command) {
    struct rusage usage;
    int status = 1;
    pid_t child = fork();
    if (!child) {
        if (freopen("/dev/null", "w", stdout)) {
            execv(command[0], command);
        }
        _exit(127);
    }
    wait4(child, &status, 0, &usage);
    if (status) {
        fprintf(stderr, "%s: status %d\n", command[0], status);
        return 1;
    }
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}

int main(int argc, char **argv) {
    const char *story = argc > 1 ? argv[1] : "";
    long argument = argc > 2 ? atol(argv[2]) : 0;
    if (!strcmp(story, "nothing")) {
        return 0;
    }
    if (!strcmp(story, "peak") && argc > 2) {
        return print_peak(argv + 2);
    }
    if (!strcmp(story, "fork") || !strcmp(story, "child")) {
        return forks(*story == 'c');
    }
    if (!strcmp(story, "many")) {
        many(argument);
        return 0;
    }
    if (!strcmp(story, "spans")) {
        record_spans(argument);
        return 0;
    }
    if (!strcmp(story, "gpu")) {
        on_gpus(argument);
        return 0;
    }
    if (!strcmp(story, "busy")) {
        many(argument);
        busy();
    }
    if (!strcmp(story, "signal")) {
        return wait_for_signal();
    }
    if (!strcmp(story, "sent")) {
        send_work();
        return 0;
    }
    if (!strcmp(story, "rank") && argc > 5) { /* STEPS, us of work in each half, us of a step */
        step_as_rank((int)argument / 2, atol(argv[3]), atol(argv[5]));
        step_as_rank((int)argument / 2, atol(argv[4]), atol(argv[5]));
        return 0;
    }
    if (!strcmp(story, "waits")) {
        wait_and_work();
        return 0;
    }
    if (!strcmp(story, "tick")) {
        tick();
        return 0;
    }
    if (!strcmp(story, "spread")) {
        spread();
        return 0;
    }
    if (!strcmp(story, "reset")) {
        spread();
        stint_reset();
        spread();
        return 0;
    }
    work();
    if (!strcmp(story, "last")) {
        act_last(argv[2]);
    }
    if (!strcmp(story, "long")) { /* the second is not the longest: its end is in the trace alone */
        cycle(8);
        long_scope(500);
        long_scope(400);
        return raise((int)argument);
    }
    if (!strcmp(story, "hang")) {
        hang();
    }
    if (!strcmp(story, "raise")) { /* with scopes open */
        REGISTER_TIMER("outer");
        REGISTER_TIMER("inner");
        spend_us(3000);
        raise((int)argument);
    }
    return (int)argument;
}
