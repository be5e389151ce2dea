/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_names.h"

#include "base/hash.h"

#include "hand_test.h"

TEST(export_names, a_name_is_cut_where_no_recorder_would_go_on) {
    static char text[5000];
    memset(text, 'a', sizeof text);
    CHECK_EQ_U64(export_name(text, sizeof text).length, EXPORT_NAME_BYTES);
    CHECK_EQ_U64(export_field("ab\0cd", 5).length, 2);
    CHECK_EQ_U64(export_field("abcd", 2).length, 2);
}

TEST(export_names, a_site_that_is_not_there_has_a_name) {
    hand_start(&hand);
    uint32_t site = hand_named("here");
    CHECK_EQ_U64(export_site(&hand.run.snapshot, site).length, 4);
    CHECK(!memcmp(export_site(&hand.run.snapshot, 0).bytes, "?", 1));
    CHECK(!memcmp(export_site(&hand.run.snapshot, site + 1).bytes, "?", 1));
    CHECK(!memcmp(export_site(&hand.run.snapshot, UINT32_MAX).bytes, "?", 1));
    hand_end(&hand);
}

static int is_semicolon(uint32_t c) {
    return c == ';';
}

TEST(export_names, cleaned_is_four_times_as_long_at_most) {
    char in[EXPORT_NAME_BYTES], out[EXPORT_CLEAN_BYTES];
    memset(in, '\xff', sizeof in);
    CHECK_EQ_U64(export_clean(out, export_name(in, sizeof in)), sizeof out);
    memset(in, ';', sizeof in);
    CHECK_EQ_U64(export_clean_without(out, export_name(in, sizeof in), is_semicolon), sizeof out);
    CHECK_EQ_U64(export_clean(out, export_name("a\xc3\xa9\xc3", 4)), 7);
    CHECK(!memcmp(out, "a\xc3\xa9\\xc3", 7));
}

/* ---- No two names have one text. */

struct some_name {
    char bytes[16];
    size_t length;
};

/* Pieces that one rule or another could make equal, and their escapes. */
#define PIECE(bytes)                                                                               \
    { bytes, sizeof bytes - 1 }
static const struct some_name pieces[] = {
    PIECE("\xe8"), PIECE("\\xe8"),        PIECE("\\"),    PIECE("\\x5c"), PIECE("\xe9"),
    PIECE("\0"),   PIECE("\\x00"),        PIECE(";"),     PIECE(":"),     PIECE("\\x3b"),
    PIECE("\n"),   PIECE("\\n"),          PIECE("\\x0a"), PIECE(" "),     PIECE("="),
    PIECE("'"),    PIECE("\""),           PIECE("?"),     PIECE("<"),     PIECE("\x85"),
    PIECE("xe8"),  PIECE("\xef\xbf\xbd"), {"", 0}};
#define PIECES (sizeof pieces / sizeof *pieces)
#define NAMES (PIECES * PIECES)

/* All names of two pieces, then the same with any byte. */
static struct some_name name_make(uint64_t i) {
    struct some_name out = pieces[i % PIECES];
    const struct some_name *next = &pieces[i / PIECES % PIECES];
    memcpy(out.bytes + out.length, next->bytes, next->length);
    out.length += next->length;
    if (i >= NAMES) {
        out.bytes[out.length++] = (char)(i / NAMES);
    }
    return out;
}

/* Whether the escapes of a cleaned name, read from left to right, are the name again. */
static int is_read_as(const char *clean, size_t length, const struct some_name *name) {
    size_t n = 0;
    for (size_t i = 0; i < length; ++n) {
        unsigned byte = (unsigned char)clean[i];
        int escape = length - i >= UTF8_ESCAPE_BYTES && clean[i] == '\\' && clean[i + 1] == 'x' &&
                     utf8_is_digit(clean[i + 2]) && utf8_is_digit(clean[i + 3]);
        if (escape && sscanf(clean + i, "\\x%2x", &byte) == 1) {
            i += 4;
        } else {
            i += 1;
        }
        if (n >= name->length || byte != (unsigned char)name->bytes[n]) {
            return 0;
        }
    }
    return n == name->length;
}

TEST(export_names, a_cleaned_name_can_be_read_back) {
    for (uint64_t i = 0; i < 256 * NAMES; ++i) {
        struct some_name name = name_make(i);
        char clean[EXPORT_CLEAN_BYTES + 1];
        size_t n = export_clean(clean, export_name(name.bytes, name.length));
        clean[n] = '\0';
        CHECK(is_read_as(clean, n, &name));
        n = export_clean_without(clean, export_name(name.bytes, name.length), is_semicolon);
        clean[n] = '\0';
        CHECK(is_read_as(clean, n, &name));
        CHECK(!memchr(clean, ';', n));
    }
}

/* A run that has the name in one place: of a scope, of its set or of its thread. */
static uint64_t export_hash(const struct format *f, const struct some_name *name, int place) {
    hand_start(&hand);
    uint32_t site = hand_site(&hand, place == 0 ? name->bytes : "scope",
                              place == 0 ? name->length : strlen("scope"));
    uint32_t root = hand_thread(&hand, 7, place == 2 ? name->bytes : "thread");
    uint32_t set = hand_set(&hand, place == 1 ? name->bytes : "set");
    uint32_t node = hand_node(&hand, root, site, 1, 5, 1);
    hand.nodes[node].set = (uint16_t)set;
    hand_node(&hand, node, hand_named("inner"), 1, 5, 1);
    hand_lane(&hand, root, place == 2 ? name->bytes : "thread");
    hand_span(&hand, node, 0, 5, 0);
    char *text = exported(f->write);
    uint64_t hash = hash_bytes(text, exported_bytes);
    hand_end(&hand);
    return hash;
}

/* Some formats have no sets or no threads, and names of these have no NUL. */
static void check_names_differ(const struct format *f, int place) {
    static uint64_t hashes[NAMES];
    static struct some_name names[NAMES];
    const struct some_name a = {"a", 1}, b = {"b", 1};
    if (place && export_hash(f, &a, place) == export_hash(f, &b, place)) {
        return;
    }
    for (size_t i = 0, n = 0; n < NAMES; ++n) {
        names[i] = name_make(n);
        if (place && memchr(names[i].bytes, 0, names[i].length)) {
            continue;
        }
        hashes[i] = export_hash(f, &names[i], place);
        for (size_t k = 0; k < i; ++k) {
            int same = !memcmp(&names[i], &names[k], sizeof *names);
            if (!CHECK((hashes[i] == hashes[k]) == same)) {
                printf("%s, place %d: %s and %s\n", f->name, place, names[i].bytes, names[k].bytes);
                return;
            }
        }
        ++i;
    }
}

TEST(export_names, no_two_names_have_one_text_in_any_format) {
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); ++i) {
        for (int place = 0; place < 3 && f->write; ++place) {
            check_names_differ(f, place);
        }
    }
}

TEST(export_names, no_number_is_given_twice) {
    hand_start(&hand);
    uint32_t a = hand_thread(&hand, 100, "a");
    uint32_t again = hand_thread(&hand, 100, "a"); /* the kernel gave it out again */
    uint32_t none = hand_thread(&hand, 0, "b");
    uint32_t wild = hand_thread(&hand, UINT32_MAX, "c");
    const uint32_t roots[] = {a, a, again, none, wild, SNAPSHOT_NONE, SNAPSHOT_NONE};
    enum { LANES = sizeof roots / sizeof *roots };
    for (uint32_t i = 0; i < LANES; ++i) {
        hand_lane(&hand, roots[i], "lane");
    }
    uint32_t *tids = export_tids(hand_run(&hand));
    CHECK_EQ_U64(tids[0], 100);
    for (uint32_t i = 1; i < LANES; ++i) {
        CHECK(tids[i] >= EXPORT_TIDS && tids[i] < INT32_MAX);
        for (uint32_t k = 0; k < i; ++k) {
            CHECK(tids[i] != tids[k]);
        }
    }
    hand_end(&hand);
}

TEST(export_names, a_process_has_a_number) {
    hand_start(&hand);
    CHECK_EQ_U64(export_pid(&hand.run), 1);
    hand.run.pid = 4242;
    CHECK_EQ_U64(export_pid(&hand.run), 4242);
    hand.run.pid = UINT32_MAX;
    CHECK_EQ_U64(export_pid(&hand.run), 1);
}
