/* SPDX-License-Identifier: Apache-2.0 */
#include "base/print.h"

#include "harness.h"

/* The C library says what is right. */
#define SAME(...)                                                                                  \
    do {                                                                                           \
        char ours[100], theirs[100];                                                               \
        size_t n = print_text(ours, sizeof ours, __VA_ARGS__);                                     \
        CHECK_EQ_U64(n, (uint64_t)snprintf(theirs, sizeof theirs, __VA_ARGS__));                   \
        CHECK_STR_EQ(ours, theirs);                                                                \
    } while (0)

TEST(print, as_the_c_library_does_it) {
    const char *text = "text";
    SAME("plain");
    SAME("%s and %c and 100 %%", text, 'c');
    SAME("%.2s %.0s %.9s", text, text, text);
    SAME("%.*s, %.*s", 3, text, 10, text);
    SAME("%d %d %d %i", 0, INT32_MAX, INT32_MIN, -7);
    SAME("%ld %lld %lld", -5L, (long long)INT64_MAX, (long long)INT64_MIN);
    SAME("%u %lu %llu %zu", 7u, 8ul, (unsigned long long)UINT64_MAX, (size_t)9);
    SAME("%x %02x %04x %lx", 0xbeefu, 7u, 0x12345u, ~0ul);
    SAME("%02d%02d %06ld %5ld|%3d|%3d|%03d", 3, 12, 42L, 77L, -1, 12345, -1);
}

TEST(print, is_cut_to_its_room) {
    char out[8];
    memset(out, 'x', sizeof out);
    CHECK_EQ_U64(print_text(out, sizeof out, "%s", "0123456789"), 7);
    CHECK_STR_EQ(out, "0123456");
    CHECK_EQ_U64(print_text(out, sizeof out, "%012d", 5), 7);
    CHECK_STR_EQ(out, "0000000");
    CHECK_EQ_U64(print_text(out, 1, "%s%d", "a", 5), 0);
    CHECK_STR_EQ(out, "");
}

/* A text of a precision need not end with a NUL. */
TEST(print, reads_no_further_than_the_precision) {
    char out[8];
    const char text[2] = {'a', 'b'};
    CHECK_EQ_U64(print_text(out, sizeof out, "%.2s", text), 2);
    CHECK_STR_EQ(out, "ab");
}

TEST(print, null_is_a_text) {
    char out[16];
    const char *volatile none = NULL;
    print_text(out, sizeof out, "<%s>", none);
    CHECK_STR_EQ(out, "<(null)>");
}

/* The compiler checks formats as printf's: one that only printf knows is found here. */
TEST(print, ends_at_what_it_does_not_know) {
    char out[16];
    print_text(out, sizeof out, "a %d %g b", 1, 2.0);
    CHECK_STR_EQ(out, "a 1 ");
}
