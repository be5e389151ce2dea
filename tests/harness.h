/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test harness: C11 (and C++11), one header, libc only.
 *
 *     #include "harness.h"
 *     TEST(clock, never_steps_back) {
 *         CHECK(later >= earlier);
 *     }
 *
 * Each case runs in a process of its own, so that a crash, a hang or a destroyed library state
 * stays its own. Failures are counted in memory shared with that process: a CHECK counts from any
 * thread and from any process the case forks. A case that ends without returning (exit in the code
 * under test) has failed, whatever its exit status.
 *
 *     program [--no-fork] [--list] [case | prefix*] ...
 *
 * Exit status: 0 all passed, 1 a case failed, 2 nothing matched, 77 all that ran were skipped.
 */
#ifndef STINT_TESTS_HARNESS_H
#define STINT_TESTS_HARNESS_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef HARNESS_SECONDS
#define HARNESS_SECONDS 300 /* a case; more means it hangs, on whatever machine */
#endif
#define HARNESS_SHOWN 20   /* failures printed a case; the rest, as in a hot loop, is counted */
#define HARNESS_SKIPPED 77 /* what CTest and automake take for "skipped" */

struct harness_case {
    const char *name;
    void (*run)(void);
    struct harness_case *next;
};

/* Shared with the process of the case. */
struct harness_result {
    unsigned failures; /* any thread, any process; atomic */
    int skipped;
    int finished;
    char why[200];
};

struct harness_text {
    char *text;
    struct harness_text *next;
};

/* Weak: one copy for all files of a program. */
__attribute__((weak)) struct harness_case *harness_cases;
__attribute__((weak)) struct harness_case *harness_last;
__attribute__((weak)) struct harness_result *harness_result;
__attribute__((weak)) struct harness_text *harness_texts;
__attribute__((weak)) int harness_fd = 2; /* the real stderr, also while fd 2 is captured */

#define HARNESS_FN static inline __attribute__((unused))

#define TEST(suite, case_name)                                                                     \
    static void harness_run_##suite##_##case_name(void);                                           \
    __attribute__((constructor)) static void harness_add_##suite##_##case_name(void) {             \
        static struct harness_case self = {#suite "." #case_name,                                  \
                                           harness_run_##suite##_##case_name, NULL};               \
        harness_add(&self);                                                                        \
    }                                                                                              \
    static void harness_run_##suite##_##case_name(void)

/* All of them go on after a failure; all return whether the check held. */
#define CHECK(condition) harness_check(!!(condition), __FILE__, __LINE__, "CHECK(" #condition ")")
/* Numbers of 64 bits, or sums of 128. */
#define CHECK_EQ_U64(a, b)                                                                         \
    harness_check_u64((harness_u128)(a), (harness_u128)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR_EQ(a, b) harness_check_text((a), (b), 0, __FILE__, __LINE__, #a " == " #b)
#define CHECK_CONTAINS(haystack, needle)                                                           \
    harness_check_text((haystack), (needle), 1, __FILE__, __LINE__, #haystack " contains " #needle)

/* Leaves the function that calls it: meant for the case itself. */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        harness_skip(reason);                                                                      \
        return;                                                                                    \
    } while (0)

/* The parameter of a function that is started with an argument and needs none. */
#define NO_ARG void *unused __attribute__((unused))

/* Runs the block after it in a child, whose checks count here, and waits for the child's end. If
 * something failed in it, the text names what it was about. */
#define IN_CHILD() IN_CHILD_ABOUT(NULL)
#define IN_CHILD_ABOUT(text) for (; harness_child(text); _exit(0))

HARNESS_FN void harness_add(struct harness_case *c) {
    if (harness_last) {
        harness_last->next = c;
    } else {
        harness_cases = c;
    }
    harness_last = c;
}

/* Returns whether there is something to print: failures beyond HARNESS_SHOWN are only counted. */
HARNESS_FN int harness_fail(const char *file, int line, const char *what) {
    unsigned count = __atomic_add_fetch(&harness_result->failures, 1, __ATOMIC_RELAXED);
    if (count <= HARNESS_SHOWN) {
        dprintf(harness_fd, "%s:%d: failed: %s\n", file, line, what);
    } else if (count == HARNESS_SHOWN + 1) {
        dprintf(harness_fd, "further failures are only counted\n");
    }
    return count <= HARNESS_SHOWN;
}

HARNESS_FN int harness_check(int held, const char *file, int line, const char *what) {
    if (!held) {
        harness_fail(file, line, what);
    }
    return held;
}

__extension__ typedef unsigned __int128 harness_u128;

HARNESS_FN int harness_check_u64(harness_u128 a, harness_u128 b, const char *file, int line,
                                 const char *what) {
    uint64_t low_a = (uint64_t)a, low_b = (uint64_t)b;
    if (a == b || !harness_fail(file, line, what)) {
        return a == b;
    }
    if (a > UINT64_MAX || b > UINT64_MAX) {
        dprintf(harness_fd, "    0x%" PRIx64 "%016" PRIx64 " != 0x%" PRIx64 "%016" PRIx64 "\n",
                (uint64_t)(a >> 64), low_a, (uint64_t)(b >> 64), low_b);
    } else {
        dprintf(harness_fd, "    %" PRIu64 " (0x%" PRIx64 ") != %" PRIu64 " (0x%" PRIx64 ")\n",
                low_a, low_a, low_b, low_b);
    }
    return 0;
}

/* NULL equals NULL only, and contains nothing. */
HARNESS_FN int harness_check_text(const char *a, const char *b, int inside, const char *file,
                                  int line, const char *what) {
    int held = a && b ? (inside ? strstr(a, b) != NULL : strcmp(a, b) == 0) : !inside && a == b;
    if (!held && harness_fail(file, line, what)) {
        dprintf(harness_fd, "---- have\n%s\n---- want%s\n%s\n----\n", a ? a : "(null)",
                inside ? " in it" : "", b ? b : "(null)");
    }
    return held;
}

HARNESS_FN void harness_skip(const char *reason) {
    harness_result->skipped = 1;
    snprintf(harness_result->why, sizeof harness_result->why, "%s", reason);
}

/* Returns the bytes of the address space that are mapped. */
HARNESS_FN uint64_t harness_mapped(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    if (file) {
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns an allocated text, which lives as long as the process: no test frees it. */
HARNESS_FN char *harness_keep(char *text) {
    struct harness_text *kept = (struct harness_text *)malloc(sizeof *kept);
    if (kept) {
        kept->text = text;
        kept->next = harness_texts;
        harness_texts = kept;
    }
    return text;
}

/* Returns the bytes that `fn` writes to the descriptor, NUL-terminated and kept. NULL if there is
 * no temporary file. */
HARNESS_FN char *harness_capture(int fd, void (*fn)(void *), void *arg) {
    char *text = NULL;
    FILE *file = tmpfile();
    int saved = dup(fd);
    if (!file || saved < 0) {
        goto done;
    }
    fflush(NULL);
    dup2(fileno(file), fd);
    fn(arg);
    fflush(NULL);
    dup2(saved, fd);
    {
        off_t size = lseek(fileno(file), 0, SEEK_END);
        text = (char *)calloc((size_t)size + 1, 1);
        if (text && pread(fileno(file), text, (size_t)size, 0) != (ssize_t)size) {
            free(text);
            text = NULL;
        }
    }
done:
    if (file) {
        fclose(file);
    }
    if (saved >= 0) {
        close(saved);
    }
    return harness_keep(text);
}

HARNESS_FN void harness_run(const struct harness_case *c) {
    c->run();
    harness_result->finished = 1;
}

/* Returns the time limit of a case. Tools that run a program much more slowly, such as valgrind,
 * set a longer one in the environment. */
HARNESS_FN unsigned harness_seconds(void) {
    const char *asked = getenv("HARNESS_SECONDS");
    return asked ? (unsigned)strtoul(asked, NULL, 10) : HARNESS_SECONDS;
}

/* The time limit of a child that a case forks: the child ends, and its failure is reported, before
 * the case ends. */
HARNESS_FN unsigned harness_child_seconds(void) {
    return harness_seconds() / 2;
}

/* Checks that the child ends, and with status 0. */
HARNESS_FN int harness_ends_well(pid_t child) {
    int status = 1;
    return CHECK(child > 0 && waitpid(child, &status, 0) == child) &
           CHECK_EQ_U64((uint64_t)status, 0);
}

/* Returns 1 in a child, and 0 here after the child's end. */
HARNESS_FN int harness_child(const char *about) {
    unsigned before = harness_result->failures;
    pid_t child = fork();
    if (child == 0) {
        alarm(harness_child_seconds());
        return 1;
    }
    harness_ends_well(child);
    if (about && harness_result->failures != before) {
        dprintf(harness_fd, "    with %s\n", about);
    }
    return 0;
}

/* Runs `body` in a child and waits for it; its checks count here. */
HARNESS_FN void harness_in_child(void (*body)(void)) {
    IN_CHILD() {
        body();
    }
}

/* Returns the wait status of the case's process. */
HARNESS_FN int harness_fork(const struct harness_case *c) {
    int status = -1;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(harness_seconds());
        harness_run(c);
        exit(0); /* not _exit: leak and race checkers report from here, by their exit status */
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* Prints the line of one case; returns 0 passed, 1 failed, HARNESS_SKIPPED. */
HARNESS_FN int harness_judge(const char *name, int number, int status) {
    const struct harness_result *r = harness_result;
    char why[80] = "";
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(why, sizeof why, "no end within %u s", harness_seconds());
    } else if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (r->failures) {
        snprintf(why, sizeof why, "%u failed", r->failures);
    } else if (!r->finished || status != 0) {
        snprintf(why, sizeof why, "%s, exit status %d",
                 r->finished ? "after its end" : "left early", WEXITSTATUS(status));
    } else if (r->skipped) {
        printf("ok %d - %s # SKIP %s\n", number, name, r->why);
        return HARNESS_SKIPPED;
    }
    if (why[0]) {
        printf("not ok %d - %s # %s\n", number, name, why);
        return 1;
    }
    printf("ok %d - %s\n", number, name);
    return 0;
}

/* No filter takes all; "clock.*" takes what starts with "clock.". */
HARNESS_FN int harness_match(const char *name, int argc, char **argv) {
    int i;
    int filters = 0;
    for (i = 1; i < argc; ++i) {
        size_t length = strlen(argv[i]);
        if (strncmp(argv[i], "--", 2) == 0) {
            continue;
        }
        filters = 1;
        if (strcmp(name, argv[i]) == 0 ||
            (length > 0 && argv[i][length - 1] == '*' && strncmp(name, argv[i], length - 1) == 0)) {
            return 1;
        }
    }
    return !filters;
}

/* Runs or lists the case. */
HARNESS_FN int harness_case_main(const struct harness_case *c, int number, int forks, int list) {
    int status = 0;
    if (list) {
        puts(c->name);
        return 0;
    }
    memset(harness_result, 0, sizeof *harness_result);
    if (forks) {
        status = harness_fork(c);
    } else {
        harness_run(c);
    }
    return harness_judge(c->name, number, status);
}

HARNESS_FN int harness_prepare(void) {
    void *shared = mmap(NULL, sizeof(struct harness_result), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("harness: mmap");
        return 2;
    }
    harness_result = (struct harness_result *)shared;
    harness_fd = fcntl(2, F_DUPFD_CLOEXEC, 3);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return 0;
}

HARNESS_FN int harness_main(int argc, char **argv) {
    int i, forks = 1, list = 0, passed = 0, failed = 0, skipped = 0;
    struct harness_case *c;
    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--no-fork") == 0) {
            forks = 0;
        } else if (strcmp(argv[i], "--list") == 0) {
            list = 1;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            fprintf(stderr, "usage: %s [--no-fork] [--list] [case | prefix*] ...\n", argv[0]);
            return 2;
        }
    }
    if (harness_prepare() != 0) {
        return 2;
    }
    for (c = harness_cases; c; c = c->next) {
        if (harness_match(c->name, argc, argv)) {
            int status = harness_case_main(c, passed + failed + skipped + 1, forks, list);
            *(status == 0 ? &passed : status == 1 ? &failed : &skipped) += 1;
        }
    }
    if (passed + failed + skipped == 0) {
        fprintf(stderr, "harness: no case matches\n");
        return 2;
    }
    if (!list) {
        printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    }
    return failed ? 1 : passed ? 0 : HARNESS_SKIPPED;
}

#endif
