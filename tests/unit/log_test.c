/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "config/config.h"
#include "recorded.h"

static void write_lines(void *text) {
    errno = 1234;
    log_line("%s is %d", (const char *)text, 7);
    log_legacy("%s is %d", (const char *)text, 8);
    CHECK(errno == 1234);
}

static char *lines_with(const char *text) {
    return harness_capture(2, write_lines, (void *)(uintptr_t)text);
}

TEST(log, lines) {
    char *have = lines_with("text");
    CHECK_STR_EQ(have, "stint: text is 7\ntext is 8\n");
    free(have);
}

TEST(log, a_line_stays_one_line) {
    char *have = lines_with("a\nb\x1b[0m\r");
    CHECK(have && !strchr(have, '\x1b') && !strchr(have, '\r'));
    char *end = have ? strchr(have, '\n') : NULL;
    CHECK(end && !strncmp(end + 1, "a\\x0ab", 6));
    free(have);
}

TEST(log, bounded) {
    static char text[100000];
    memset(text, 'x', sizeof text - 1);
    char *have = lines_with(text);
    CHECK(have && strlen(have) > 1000 && strlen(have) < 10000);
    CHECK(have && have[strlen(have) - 1] == '\n');
    memset(text, '\n', sizeof text - 1); /* each byte becomes four */
    free(have);
    have = lines_with(text);
    CHECK(have && strlen(have) < 20000);
    free(have);
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
    free(have);
}

TEST(log, closed_stderr_does_no_harm) {
    int saved = dup(2);
    close(2);
    errno = 1234;
    log_line("nobody hears this");
    log_legacy("nor this");
    CHECK(errno == 1234);
    dup2(saved, 2);
}

HARNESS_MAIN()
