/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on stderr: prefix, length, escapes, and their delay while a lock is held. The expected
 * texts are in this file; a name must not be able to control a terminal.
 */
#include "system/log.h"

#include "recorded.h"
#include "support.h"
#include "system/config.h"
#include "system/lock.h"

static void write_lines(void *text) {
    errno = 1234;
    log_warning("%s is %d", (const char *)text, 7);
    log_legacy("%s is %d", (const char *)text, 8);
    CHECK(errno == 1234);
}

static char *lines_with(const char *text) {
    return harness_capture(2, write_lines, (void *)(uintptr_t)text);
}

TEST(log, lines) {
    char *have = lines_with("text");
    CHECK_STR_EQ(have, "stint: text is 7\ntext is 8\n");
}

TEST(log, a_line_stays_one_line) {
    char *have = lines_with("a\nb\x1b[0m\r\\");
    CHECK(have && !strchr(have, '\x1b') && !strchr(have, '\r'));
    char *end = have ? strchr(have, '\n') : NULL;
    CHECK(end && !strncmp(end + 1, "a\\nb\\x1b[0m\\x0d\\\\ is 8\n", 22));
}

/* U+009B is to a terminal what ESC [ is; so is the byte alone, where the terminal is not UTF-8. */
TEST(log, c1_controls_are_escaped) {
    static const char *const locales[] = {"C", "C.UTF-8"};
    for (int i = 0; i < 2; ++i) {
        setenv("LC_ALL", locales[i], 1);
        char *have = lines_with("\xc2\x9b"
                                "31m \x9b"
                                "5m");
        CHECK_STR_EQ(have, "stint: \\xc2\\x9b31m \\x9b5m is 7\n\\xc2\\x9b31m \\x9b5m is 8\n");
    }
    char *have = lines_with("caf\xc3\xa9");
    CHECK_CONTAINS(have, "stint: caf\xc3\xa9 is 7\n");
}

/* Lines that hold what the program named: a slow scope, an unknown name, an unknown view. */
static void lines_of_names(NO_ARG) {
    {
        REGISTER_TIMER_DYNAMIC("\xc2\x9b"
                               "31mslow",
                               0);
    }
    printStatus("\x9b"
                "2Junknown");
    stint_report("\xc2\x9b"
                 "2Jview");
}

TEST(log, names_do_nothing_to_a_terminal) {
    char *have = harness_capture(2, lines_of_names, NULL);
    CHECK_EQ_U64(lines_of(have), 3);
    CHECK(have && !strchr(have, '\x9b'));
}

TEST(log, bounded) {
    static char text[100000];
    memset(text, 'x', sizeof text - 1);
    char *have = lines_with(text);
    CHECK(have && strlen(have) > 1000 && strlen(have) < 10000);
    CHECK(have && have[strlen(have) - 1] == '\n');
    memset(text, '\n', sizeof text - 1); /* each byte becomes four */
    have = lines_with(text);
    CHECK(have && strlen(have) < 20000);
}

TEST(log, glog_prefix) {
    char prefix[96] = "unchanged";
    CHECK_EQ_U64(log_prefix(prefix, sizeof prefix), 0);
    CHECK_STR_EQ(prefix, "");
    config.log_prefix = 1;
    size_t length = log_prefix(prefix, sizeof prefix);
    CHECK_EQ_U64(length, strlen(prefix));
    CHECK_CONTAINS(prefix, " stint] ");
    char *have = lines_with("text");
    CHECK(have && !strncmp(have, "stint: text is 7\nI", 18)); /* our own lines never have it */
    CHECK_CONTAINS(have, " stint] text is 8\n");
}

static void write_with_lock(NO_ARG) {
    lock_take(LOCK_STEP);
    log_warning("first");
    lock_take(LOCK_REGISTRY);
    log_warning("second");
    lock_release(LOCK_REGISTRY);
    dprintf(STDERR_FILENO, "still held\n");
    lock_release(LOCK_STEP);
    log_warning("third");
}

TEST(log, with_a_lock_held_lines_wait) {
    char *have = harness_capture(STDERR_FILENO, write_with_lock, NULL);
    CHECK_STR_EQ(have, "still held\nstint: first\nstint: second\nstint: third\n");
}

#if !SANITIZED
static void fork_with_line(NO_ARG) {
    lock_take(LOCK_STEP);
    log_warning("of the parent");
    IN_CHILD() { /* as in a signal handler */
        lock_release(LOCK_STEP);
        lock_take(LOCK_STEP);
        log_warning("of the child");
        lock_release(LOCK_STEP);
    }
    lock_release(LOCK_STEP);
}
#endif

TEST(log, with_a_lock_held_each_process_writes_its_own) {
#if SANITIZED
    SKIP("the thread sanitizer knows no lock that is made anew while held");
#else
    char *have = harness_capture(STDERR_FILENO, fork_with_line, NULL);
    CHECK_STR_EQ(have, "stint: of the child\nstint: of the parent\n");
#endif
}

TEST(log, closed_stderr_does_no_harm) {
    int saved = dup(2);
    close(2);
    errno = 1234;
    log_warning("this line is not shown");
    log_legacy("nor this");
    CHECK(errno == 1234);
    dup2(saved, 2);
}
