/* SPDX-License-Identifier: Apache-2.0 */
#include "base/write_all.h"

#include <sys/time.h>

#include "harness.h"

#define BYTES ((size_t)1 << 20)

static char bytes[BYTES];
static int ends[2];

static void make_pipe(void) {
    CHECK(!pipe(ends) && !fcntl(ends[1], F_SETFL, O_NONBLOCK));
    for (size_t i = 0; i < BYTES; ++i) {
        bytes[i] = (char)(i * 7 >> 3);
    }
}

static void ignore_signal(int number) {
    (void)number;
}

/* Reads all, in pieces that are smaller than a pipe; every now and then the writer is
 * interrupted. */
static pid_t start_reader(void) {
    pid_t writer = getpid(), reader = fork();
    if (!reader) {
        char piece[5000];
        size_t at = 0;
        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0; at += (size_t)n) {
            if (at + (size_t)n > BYTES || memcmp(piece, bytes + at, (size_t)n)) {
                _exit(1);
            }
            kill(writer, SIGUSR1);
        }
        _exit(at == BYTES ? 0 : 2);
    }
    return reader;
}

TEST(write_all, waits_for_a_reader_of_a_non_blocking_pipe) {
    const int waits[] = {WRITE_WAIT_FOR_EVER, 100000};
    struct sigaction on = {.sa_handler = ignore_signal}; /* no SA_RESTART */
    sigaction(SIGUSR1, &on, NULL);
    for (int i = 0; i < 2; ++i) {
        int status = -1;
        make_pipe();
        pid_t reader = start_reader();
        close(ends[0]);
        CHECK_EQ_U64(write_all(ends[1], bytes, BYTES, waits[i]), BYTES);
        close(ends[1]);
        while (waitpid(reader, &status, 0) < 0 && errno == EINTR) {
        }
        CHECK_EQ_U64((uint64_t)status, 0);
    }
}

TEST(write_all, gives_up_a_reader_that_takes_nothing) {
    const int waits[] = {WRITE_NO_WAIT, 1};
    for (int i = 0; i < 2; ++i) {
        make_pipe();
        errno = 0;
        size_t done = write_all(ends[1], bytes, BYTES, waits[i]);
        CHECK(done > 0 && done < BYTES);
        CHECK_EQ_U64((uint64_t)errno, EAGAIN);
        CHECK_EQ_U64(write_all(ends[1], bytes, BYTES, waits[i]), 0);
        close(ends[0]);
        close(ends[1]);
    }
}

/* A timer of the program interrupts every wait: they are counted. */
TEST(write_all, gives_up_among_signals) {
    struct sigaction on = {.sa_handler = ignore_signal};
    struct itimerval each = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &on, NULL);
    make_pipe();
    CHECK(!setitimer(ITIMER_REAL, &each, NULL));
    size_t done = write_all(ends[1], bytes, BYTES, 100000);
    CHECK(done < BYTES && errno == EAGAIN);
}

TEST(write_all, errors_end_it) {
    signal(SIGPIPE, SIG_IGN);
    make_pipe();
    close(ends[0]);
    CHECK_EQ_U64(write_all(ends[1], bytes, BYTES, WRITE_WAIT_FOR_EVER), 0);
    CHECK_EQ_U64((uint64_t)errno, EPIPE);
    CHECK_EQ_U64(write_all(-1, bytes, BYTES, WRITE_WAIT_FOR_EVER), 0);
    CHECK_EQ_U64((uint64_t)errno, EBADF);
    CHECK_EQ_U64(write_all(-1, bytes, 0, WRITE_WAIT_FOR_EVER), 0);
}
