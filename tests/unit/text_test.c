/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of reports: escapes, UTF-8, columns of wide characters, and the formats of numbers, times,
 * shares and rates. The expected texts are in this file.
 */
#include "base/text.h"

#include "support.h"
#include "system/config.h"

static const char *const unset[] = {"LC_ALL", "LC_CTYPE", "LANG"};

static void locale(const char *all, const char *ctype, const char *lang) {
    const char *value[] = {all, ctype, lang};
    for (int i = 0; i < 3; ++i) {
        if (value[i]) {
            setenv(unset[i], value[i], 1);
        } else {
            unsetenv(unset[i]);
        }
    }
}

static char shown[8192];

/* The name as printed, in `shown`; returns the columns claimed. */
static size_t show(const char *locale_name, const char *name, size_t length, size_t columns) {
    struct text t;
    locale(locale_name, NULL, NULL);
    text_start(&t);
    size_t used = text_name(&t, name, length, columns);
    CHECK(!t.failed && t.length < sizeof shown);
    memcpy(shown, t.data ? t.data : "", t.length);
    shown[t.length] = '\0';
    text_free(&t);
    return used;
}

#define SHOWS(locale_name, name, columns, want, want_columns)                                      \
    do {                                                                                           \
        CHECK_EQ_U64(show(locale_name, name, sizeof name - 1, columns), want_columns);             \
        CHECK_STR_EQ(shown, want);                                                                 \
    } while (0)

TEST(text, control_bytes_are_escaped) {
    SHOWS("C", "a\nb\tc\\d", 0, "a\\nb\\tc\\\\d", 10);
    SHOWS("C", "\x1b[31mred\x7f\r", 0, "\\x1b[31mred\\x7f\\x0d", 19);
    SHOWS("C", "nul\0inside", 0, "nul\\x00inside", 13);
    SHOWS("C", "100 % \"quoted\" 'x' `y` $z", 0, "100 % \"quoted\" 'x' `y` $z", 25);
    SHOWS("C", "%s%n%p", 0, "%s%n%p", 6);
    SHOWS("C", "", 0, "", 0);
}

TEST(text, utf8_only_where_the_locale_has_it) {
    SHOWS("C", "caf\xc3\xa9", 0, "caf\\xc3\\xa9", 11);
    SHOWS("en_US.UTF-8", "caf\xc3\xa9", 0, "caf\xc3\xa9", 4);
    SHOWS("C.utf8", "caf\xc3\xa9", 0, "caf\xc3\xa9", 4);
    SHOWS("de_DE.ISO-8859-1", "caf\xc3\xa9", 0, "caf\\xc3\\xa9", 11);
}

TEST(text, locale_in_the_order_of_setlocale) {
    struct text t;
    locale(NULL, NULL, "en_US.UTF-8");
    text_start(&t);
    CHECK(t.utf8);
    locale(NULL, "C", "en_US.UTF-8");
    text_start(&t);
    CHECK(!t.utf8);
    locale("en_US.UTF-8", "C", NULL);
    text_start(&t);
    CHECK(t.utf8);
    locale("", "", "en_US.UTF-8"); /* empty is as unset */
    text_start(&t);
    CHECK(t.utf8);
    locale(NULL, NULL, NULL);
    text_start(&t);
    CHECK(!t.utf8);
}

TEST(text, broken_utf8_is_escaped) {
    const char *utf8 = "C.UTF-8";
    SHOWS(utf8, "\xff\xc3", 0, "\\xff\\xc3", 8);
    SHOWS(utf8, "\xc0\xaf", 0, "\\xc0\\xaf", 8);                    /* overlong */
    SHOWS(utf8, "\xe0\x80\xaf", 0, "\\xe0\\x80\\xaf", 12);          /* overlong */
    SHOWS(utf8, "\xed\xa0\x80", 0, "\\xed\\xa0\\x80", 12);          /* surrogate */
    SHOWS(utf8, "\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80", 16); /* past U+10FFFF */
    SHOWS(utf8, "\xe4\xbd", 0, "\\xe4\\xbd", 8);                    /* cut off */
    SHOWS(utf8,
          "\xc2\x9b"
          "31m",
          0,
          "\\xc2\\x9b"
          "31m",
          11);                                             /* C1 control sequence */
    SHOWS(utf8, "\xe2\x80\xa8", 0, "\\xe2\\x80\\xa8", 12); /* line separator */
    SHOWS(utf8,
          "a\xe2\x80\xae"
          "b",
          0,
          "a\\xe2\\x80\\xae"
          "b",
          14); /* right to left from here */
    SHOWS(utf8,
          "a\xe2\x81\xa6"
          "b",
          0,
          "a\\xe2\\x81\\xa6"
          "b",
          14); /* isolate */
}

TEST(text, columns_of_wide_characters) {
    const char *utf8 = "C.UTF-8";
    SHOWS(utf8, "\xe4\xbd\xa0\xe5\xa5\xbd", 0, "\xe4\xbd\xa0\xe5\xa5\xbd", 4);
    SHOWS(utf8, "\xed\x95\x9c", 0, "\xed\x95\x9c", 2);
    SHOWS(utf8, "\xf0\x9f\x9a\x80", 0, "\xf0\x9f\x9a\x80", 2); /* rocket */
    SHOWS(utf8, "e\xcc\x81", 0, "e\xcc\x81", 1);               /* combining acute */
    SHOWS(utf8, "\xef\xbc\xa1", 0, "\xef\xbc\xa1", 2);         /* fullwidth A */
    SHOWS(utf8, "\xce\xbb", 0, "\xce\xbb", 1);
}

TEST(text, long_names_are_cut_with_a_mark) {
    SHOWS("C", "abcdefghij", 10, "abcdefghij", 10);
    SHOWS("C", "abcdefghijk", 10, "abcdefg...", 10);
    SHOWS("C.UTF-8", "abcdefghijk", 10, "abcdefghi\xe2\x80\xa6", 10);
    /* Half a wide character does not fit: one column stays free. */
    SHOWS("C.UTF-8", "\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0", 6,
          "\xe4\xbd\xa0\xe4\xbd\xa0\xe2\x80\xa6", 5);
    SHOWS("C", "ab\n\n\n\n", 6, "ab...", 5); /* an escape is never cut in two */
}

TEST(text, four_kilobytes_of_utf8_stay_bounded) {
    static char name[4096];
    for (size_t i = 0; i + 3 < sizeof name; i += 3) {
        memcpy(name + i, "\xe4\xbd\xa0", 3);
    }
    CHECK_EQ_U64(show("C.UTF-8", name, 4095, 60), 59);
    CHECK_EQ_U64(show("C.UTF-8", name, 4095, 0), 2730);
    CHECK_EQ_U64(show("C", name, 1365, 0), 5460);
}

#define LEGACY(ns, want)                                                                           \
    do {                                                                                           \
        char out[TEXT_NUMBER];                                                                     \
        text_legacy_ms(out, ns);                                                                   \
        CHECK_STR_EQ(out, want);                                                                   \
    } while (0)

TEST(text, legacy_numbers_as_the_ancestor_prints_them) {
    LEGACY(136141000.0, "136.141");
    LEGACY(204500000.0, "204.5");
    LEGACY(12503000.0, "12.503");
    LEGACY(7000000.0, "7");
    LEGACY(0.0, "0");
    LEGACY(999999400000.0, "999999");
}

TEST(text, legacy_numbers_never_have_an_exponent) {
    LEGACY(1.0, "0.000001");
    LEGACY(10.0, "0.00001");
    LEGACY(12.34, "0.000012");
    LEGACY(100.0, "0.0001");
    LEGACY(0.4, "0");
    LEGACY(1234567000000.0, "1234567");
    LEGACY(999999500000.0, "1000000");
    LEGACY(1.8446744073709552e19, "18446744073710");
    uint64_t state = 42;
    for (int i = 0; i < 100000; ++i) {
        char out[TEXT_NUMBER];
        text_legacy_ms(out, (double)(random_next(&state) >> random_next(&state) % 64));
        CHECK(strspn(out, "0123456789.") == strlen(out));
        CHECK(!strchr(out, '.') || (out[strlen(out) - 1] != '0' && out[strlen(out) - 1] != '.'));
    }
}

#define TIME(ns, unit, want)                                                                       \
    do {                                                                                           \
        char out[TEXT_NUMBER];                                                                     \
        text_time(out, ns, CONFIG_UNIT_##unit);                                                    \
        CHECK_STR_EQ(out, want);                                                                   \
    } while (0)

TEST(text, times_have_four_digits_in_auto) {
    TIME(0, AUTO, "0 ns");
    TIME(999, AUTO, "999 ns");
    TIME(1000, AUTO, "1.000 us");
    TIME(9999, AUTO, "9.999 us");
    TIME(10000, AUTO, "10.00 us");
    TIME(99994, AUTO, "99.99 us");
    TIME(99995, AUTO, "100.0 us");
    TIME(999949, AUTO, "999.9 us");
    TIME(999950, AUTO, "1.000 ms");
    TIME(1000000, AUTO, "1.000 ms");
    TIME(999949999, AUTO, "999.9 ms");
    TIME(999950000, AUTO, "1.000 s");
    TIME(3600000000000, AUTO, "3600 s");
}

TEST(text, times_in_a_fixed_unit) {
    TIME(1234567, MS, "1.235");
    TIME(1234567, US, "1234.567");
    TIME(1234567, NS, "1234567");
    TIME(UINT64_MAX, NS, "18446744073709551615");
    TIME(UINT64_MAX, US, "18446744073709552.000");
}

TEST(text, shares_have_one_decimal) {
    char out[TEXT_NUMBER];
    text_share(out, 999999);
    CHECK_STR_EQ(out, "100.0");
    text_share(out, 400);
    CHECK_STR_EQ(out, "0.0");
    text_share(out, 12345678);
    CHECK_STR_EQ(out, "1234.6");
}

TEST(text, grows) {
    struct text t;
    text_start(&t);
    for (int i = 0; i < 30000; ++i) {
        text_add(&t, "%d\n", i);
    }
    text_spaces(&t, 100);
    CHECK(!t.failed);
    CHECK_EQ_U64(t.length, 168890 + 100);
    CHECK(!memcmp(t.data, "0\n1\n2\n", 6) && t.data[t.length - 1] == ' ');
    text_free(&t);
}

TEST(text, sums_of_more_than_64_bits) {
    static const char *const want[] = {"315360000000 s", "315360000000000000000", "315.4 EB"};
    const u128 sum = (u128)10000 * 31536000000000000;
    char number[TEXT_NUMBER];
    text_time(number, sum, CONFIG_UNIT_AUTO);
    CHECK_STR_EQ(number, want[0]);
    text_time(number, sum, CONFIG_UNIT_NS);
    CHECK_STR_EQ(number, want[1]);
    text_bytes(number, sum);
    CHECK_STR_EQ(number, want[2]);
    text_time(number, ~(u128)0, CONFIG_UNIT_AUTO);
    CHECK_STR_EQ(number, "340282366920938484656701964288 s");
}

TEST(text, rates_have_four_digits) {
    static const struct {
        uint64_t per_s;
        const char *want;
    } rates[] = {
        {0, "0.000"},
        {1, "<0.001"},
        {499999, "<0.001"},
        {500000, "0.001"},
        {1234499999, "1.234"},
        {9999500000, "10.00"},
        {99995000000, "100.0"},
        {4916736000000, "4917"},
        {66908160000000, "66908"},
        {UINT64_MAX, "18446744074"},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i) {
        char number[TEXT_NUMBER];
        text_rate(number, rates[i].per_s);
        CHECK_STR_EQ(number, rates[i].want);
    }
}
