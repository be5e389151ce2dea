/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffered output of exporters: numbers, escapes of JSON, buffers that are crossed, and errors.
 * The expected bytes are in this file.
 */
#include "base/sink.h"

#include "harness.h"

static struct sink s;
static char text[3 * SINK_BYTES + 64];

static void start(void) {
    FILE *file = tmpfile();
    CHECK(file != NULL);
    sink_start(&s, file ? fileno(file) : -1);
}

static const char *finish(void) {
    CHECK(!sink_close(&s));
    CHECK_EQ_U64((uint64_t)lseek(s.fd, 0, SEEK_END), s.written);
    ssize_t n = pread(s.fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

TEST(sink, numbers) {
    start();
    const uint64_t n[] = {0, 9, 10, 99, 100, 101, 12345, 1000000, UINT64_MAX};
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i) {
        sink_u64(&s, n[i]);
        sink_put(&s, " ", 1);
    }
    CHECK_STR_EQ(finish(), "0 9 10 99 100 101 12345 1000000 18446744073709551615 ");
}

TEST(sink, sums) {
    const u128 word = (u128)1 << 64, tens = UINT64_C(10000000000000000000);
    const u128 n[] = {0,
                      9,
                      UINT64_MAX,
                      word,
                      tens * 10 - 1,
                      tens * 10,
                      tens * 10 + 7,
                      tens * tens,
                      tens * tens * 10 + 5,
                      ~(u128)0};
    start();
    for (size_t i = 0; i < sizeof n / sizeof *n; ++i) {
        sink_u128(&s, n[i]);
        sink_put(&s, " ", 1);
    }
    CHECK_STR_EQ(finish(), "0 9 18446744073709551615 18446744073709551616 99999999999999999999 "
                           "100000000000000000000 100000000000000000007 "
                           "100000000000000000000000000000000000000 "
                           "319435266158123073073250785136463577093 "
                           "340282366920938463463374607431768211455 ");
}

TEST(sink, microseconds_have_three_decimals) {
    start();
    const uint64_t ns[] = {0, 1, 10, 999, 1000, 1001, 123456789, UINT64_MAX};
    for (size_t i = 0; i < sizeof ns / sizeof *ns; ++i) {
        sink_us(&s, ns[i]);
        sink_put(&s, " ", 1);
    }
    CHECK_STR_EQ(finish(), "0.000 0.001 0.010 0.999 1.000 1.001 123456.789 18446744073709551.615 ");
}

static const char *json(const char *bytes, size_t length) {
    start();
    sink_json(&s, bytes, length);
    return finish();
}

TEST(sink, json_escapes_what_json_html_and_javascript_mind) {
    CHECK_STR_EQ(json("", 0), "\"\"");
    CHECK_STR_EQ(json("plain >&'/", 10), "\"plain >&'/\"");
    CHECK_STR_EQ(json("a\"b\\c\nd\te\r\x01\x7f<", 13),
                 "\"a\\\"b\\\\c\\nd\\te\\u000d\\u0001\\u007f\\u003c\"");
    CHECK_STR_EQ(json("a\0b", 3), "\"a\\\\x00b\"");
    CHECK_STR_EQ(json("\\xff\\xF\\", 8), "\"\\\\x5cxff\\\\xF\\\\\"");
    CHECK_STR_EQ(json("\xe2\x80\xa8\xe2\x80\xa9\xc2\x85", 8), "\"\\u2028\\u2029\\u0085\"");
    CHECK_STR_EQ(json("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 9),
                 "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"");
}

TEST(sink, json_escapes_each_byte_that_is_no_utf8) {
    CHECK_STR_EQ(json("\xff"
                      "a\x80",
                      3),
                 "\"\\\\xffa\\\\x80\"");
    CHECK_STR_EQ(json("\xc0\xaf", 2), "\"\\\\xc0\\\\xaf\"");            /* "/" made too long */
    CHECK_STR_EQ(json("\xe0\x80\xaf", 3), "\"\\\\xe0\\\\x80\\\\xaf\""); /* and longer */
    CHECK_STR_EQ(json("\xed\xa0\x80", 3), "\"\\\\xed\\\\xa0\\\\x80\""); /* a surrogate */
    CHECK_STR_EQ(json("\xf4\x90\x80\x80", 4), "\"\\\\xf4\\\\x90\\\\x80\\\\x80\""); /* U+110000 */
    CHECK_STR_EQ(json("x\xe4\xb8\xad", 3), "\"x\\\\xe4\\\\xb8\""); /* cut off by the length */
}

TEST(sink, pieces_across_and_beyond_the_buffer) {
    static char piece[2 * SINK_BYTES];
    memset(piece, 'x', sizeof piece);
    start();
    sink_put(&s, piece, SINK_BYTES - 3);
    sink_put(&s, "abcdef", 6);
    sink_put(&s, piece, sizeof piece);
    sink_put(&s, "end", 3);
    const char *all = finish();
    CHECK_EQ_U64(strlen(all), 3 * SINK_BYTES + 6);
    CHECK(!strncmp(all + SINK_BYTES - 3, "abcdefx", 7));
    CHECK_STR_EQ(all + 3 * SINK_BYTES + 2, "xend");
}

TEST(sink, room_is_there_whatever_is_in_the_buffer) {
    start();
    for (int i = 0; i < 100; ++i) {
        char *at = sink_room(&s, SINK_PIECE);
        CHECK(at + SINK_PIECE <= s.data + SINK_BYTES);
        memset(at, 'a' + i % 26, 1000);
        s.length += 1000;
    }
    const char *all = finish();
    CHECK_EQ_U64(strlen(all), 100000);
    CHECK(all[99999] == 'a' + 99 % 26 && all[65999] == 'a' + 65 % 26);
}

TEST(sink, the_first_error_stays) {
    sink_start(&s, open("/dev/full", O_WRONLY));
    for (int i = 0; i < 10 * SINK_BYTES; ++i) {
        sink_put(&s, "0123456789", 10);
    }
    errno = 0;
    CHECK(sink_close(&s));
    CHECK_EQ_U64((uint64_t)errno, ENOSPC);
    CHECK(sink_close(&s));
}

static void interrupted(int signal) {
    (void)signal;
}

/* Writes 5 MB to a reader that is slow, and that sends signals before it begins. */
static void write_to_slow_reader(int flags) {
    struct sigaction action = {.sa_handler = interrupted}; /* no SA_RESTART */
    int ends[2], status = -1;
    sigaction(SIGUSR1, &action, NULL);
    CHECK(!pipe2(ends, flags));
    pid_t reader = fork();
    if (!reader) {
        static char some[65536];
        uint64_t sum = 0;
        close(ends[1]);
        fcntl(ends[0], F_SETFL, 0);
        for (int i = 0; i < 50; ++i) {
            usleep(2000);
            kill(getppid(), SIGUSR1);
        }
        for (ssize_t n; (n = read(ends[0], some, sizeof some)) > 0;) {
            sum += (uint64_t)n;
        }
        _exit(sum == 5000000 ? 0 : 1);
    }
    close(ends[0]);
    sink_start(&s, ends[1]);
    for (int i = 0; i < 500000; ++i) {
        sink_put(&s, "0123456789", 10);
    }
    CHECK(!sink_close(&s));
    close(ends[1]);
    waitpid(reader, &status, 0);
    CHECK(status == 0);
}

TEST(sink, a_signal_is_no_error) {
    write_to_slow_reader(0);
}

TEST(sink, waits_for_a_pipe_that_does_not_block) {
    write_to_slow_reader(O_NONBLOCK);
}
