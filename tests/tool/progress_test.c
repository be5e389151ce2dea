/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line on stderr while something takes long. The second that it waits for is not waited for
 * here: its signal is raised.
 */

#include "harness.h"
#include "tool/common/command.h"

/* stderr of the case becomes a terminal; what is written to it is read here. -1: there is none. */
static int terminal(void) {
    alarm(0); /* that of the harness: beside another timer there is no line */
    int ours = posix_openpt(O_RDWR | O_NOCTTY);
    int failed = ours < 0 || grantpt(ours) || unlockpt(ours);
    int theirs = failed ? -1 : open(ptsname(ours), O_RDWR | O_NOCTTY);
    if (theirs < 0) {
        return -1;
    }
    dup2(theirs, STDERR_FILENO);
    close(theirs);
    fcntl(ours, F_SETFL, O_NONBLOCK);
    return ours;
}

#define NEEDS_TERMINAL(from)                                                                       \
    int from = terminal();                                                                         \
    if (from < 0) {                                                                                \
        SKIP("no pseudo-terminal here");                                                           \
    }

static void expect(int from, const char *wanted) {
    char got[256];
    ssize_t length = read(from, got, sizeof got - 1);
    got[length < 0 ? 0 : length] = '\0';
    CHECK_STR_EQ(got, wanted);
}

TEST(progress, says_what_and_how_much_and_goes_away) {
    static struct sink bytes = {.written = (1000u << 20) + 1};
    NEEDS_TERMINAL(from)
    progress_start("writing", &bytes);
    raise(SIGALRM);
    expect(from, "\rstint: writing … 1000 MiB ");
    bytes.written = 0;
    raise(SIGALRM);
    expect(from, "\rstint: writing … 0 MiB ");
    progress_stop();
    expect(from, "\r\x1b[K");
}

TEST(progress, without_bytes) {
    NEEDS_TERMINAL(from)
    progress_start("reading", NULL);
    raise(SIGALRM);
    expect(from, "\rstint: reading … ");
    progress_stop();
    expect(from, "\r\x1b[K");
}

/* Work that ends within its first second leaves nothing on the screen. */
TEST(progress, nothing_to_take_away) {
    NEEDS_TERMINAL(from)
    progress_start("reading", NULL);
    progress_stop();
    expect(from, "");
}

TEST(progress, is_for_terminals) {
    int pipes[2];
    struct sigaction now;
    CHECK(!pipe(pipes) && dup2(pipes[1], STDERR_FILENO) == STDERR_FILENO);
    progress_start("reading", NULL);
    CHECK(!sigaction(SIGALRM, NULL, &now) && now.sa_handler == SIG_DFL);
    progress_stop();
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    expect(pipes[0], "");
}
