/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs against the reference recorder: model_test COUNT [FIRST_SEED]. A program that
 * differs, crashes or hangs is printed with its seed and then shrunk: operations are left out while
 * it still fails. Each program runs in a process of its own, as the library keeps what it recorded.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "record/node.h"
#include "runner.h"

#define SECONDS 20 /* a program; it takes under a millisecond */
#define FAILURES 5 /* programs printed */

/* Returns whether the program fails. */
static int fails(const struct program *p, int quiet) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        int differences = run_program(p, quiet);
        fflush(NULL);
        _exit(differences != 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("model_test");
        exit(2);
    }
    if (WIFSIGNALED(status) && !quiet) {
        printf("    ends by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return status != 0;
}

/* Returns the program without `count` operations from `at` on. */
static struct program without(const struct program *p, int at, int count) {
    struct program less = *p;
    memmove(less.op + at, less.op + at + count, (size_t)(p->count - at - count) * sizeof *less.op);
    less.count -= count;
    return less;
}

static void shrink(struct program *p) {
    for (int piece = p->count / 2; piece > 0; piece /= 2) {
        for (int at = 0; at + piece <= p->count;) {
            struct program less = without(p, at, piece);
            if (fails(&less, 1)) {
                *p = less;
            } else {
                at += piece;
            }
        }
        if (piece == 1) {
            break;
        }
    }
}

int main(int argc, char **argv) {
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    unsigned failed = 0;
    setenv("STINT_MEMORY", "16M", 1);
    unsetenv("STINT_FILE");
    for (uint64_t seed = first; seed < first + count && failed < FAILURES; ++seed) {
        static struct program p;
        static const uint32_t raw_samples[] = {0, 2, STINT_IMPL_RAW};
        node_raw_samples = raw_samples[seed % 3];
        program_make(&p, seed);
        if (fails(&p, 1)) {
            ++failed;
            printf("seed %" PRIu64 " of %d operations fails; shrunk:\n", seed, p.count);
            shrink(&p);
            program_print(&p);
            fails(&p, 0);
            printf("    again: model_test 1 %" PRIu64 "\n", seed);
        }
        if (count >= 100000 && seed % 10000 == 9999) {
            printf("%" PRIu64 " programs\n", seed + 1 - first);
            fflush(stdout);
        }
    }
    printf("%" PRIu64 " programs, %u failed\n", count, failed);
    return failed != 0;
}
