/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <float.h>
#include <math.h>

#include "support.h"

TEST(number, fixed) {
    CHECK_STR_EQ(number_fixed(0, 0).text, "0");
    CHECK_STR_EQ(number_fixed(1.5, 3).text, "1.500");
    CHECK_STR_EQ(number_fixed(-0.06, 1).text, "-0.1");
    CHECK_STR_EQ(number_fixed(18446744073709551615.0, 3).text, "18446744073709551616.000");
    CHECK_STR_EQ(number_fixed(INFINITY, 2).text, "inf");
    CHECK_STR_EQ(number_fixed(-INFINITY, 2).text, "-inf");
}

/* Never the first digits of a longer number. */
TEST(number, too_long_for_the_text) {
    CHECK_STR_EQ(number_fixed(1e30, 0).text, "1000000000000000019884624838656");
    CHECK_STR_EQ(number_fixed(1e30, 1).text, "1e+30");
    CHECK_STR_EQ(number_fixed(-DBL_MAX, 6).text, "-1.7976931348623157e+308");
}

TEST(number, decimal) {
    CHECK_STR_EQ(number_decimal(0, 9).text, "0.000000000");
    CHECK_STR_EQ(number_decimal(1234567, 3).text, "1234.567");
    CHECK_STR_EQ(number_decimal(UINT64_MAX, 12).text, "18446744.073709551615");
    CHECK_STR_EQ(number_decimal(UINT64_MAX, 1).text, "1844674407370955161.5");
}

#define WORD ((u128)1 << 64)

TEST(number, sums) {
    CHECK_STR_EQ(number_whole(0).text, "0");
    CHECK_STR_EQ(number_whole(10).text, "10");
    CHECK_STR_EQ(number_whole(UINT64_MAX).text, "18446744073709551615");
    CHECK_STR_EQ(number_whole(WORD).text, "18446744073709551616");
    CHECK_STR_EQ(number_whole(~(u128)0).text, "340282366920938463463374607431768211455");
    CHECK_STR_EQ(number_decimal(WORD, 9).text, "18446744073.709551616");
    CHECK_STR_EQ(number_decimal(~(u128)0, 19).text, "34028236692093846346.3374607431768211455");
}

TEST(number, short_form) {
    CHECK_STR_EQ(number_short(0, 6).text, "0");
    CHECK_STR_EQ(number_short(12.5, 6).text, "12.5");
    CHECK_STR_EQ(number_short(1234567, 6).text, "1.23457e+06");
    CHECK_STR_EQ(number_short(0.00001, 3).text, "1e-05");
    CHECK_STR_EQ(number_short(-DBL_MIN, 17).text, "-2.2250738585072014e-308");
}

TEST(number, exact_reads_back) {
    uint64_t state = 88172645463325252u;
    CHECK_STR_EQ(number_exact(0.1).text, "0.1");
    CHECK_STR_EQ(number_exact(1.0 / 3).text, "0.33333333333333331");
    CHECK_STR_EQ(number_exact(1e300).text, "1e+300");
    CHECK_CONTAINS(number_exact(nan("")).text, "nan");
    for (int i = 0; i < 1000; ++i) {
        double value = (double)random_next(&state) / 3;
        double back = strtod(number_exact(value).text, NULL);
        CHECK(back >= value && back <= value);
    }
}

static double parsed(const char *text, const char *rest) {
    double value = -1;
    const char *end = number_parse(text, &value);
    CHECK_STR_EQ(end, rest);
    return value;
}

/* Compared as the compiler reads them. */
#define PARSES(literal, rest)                                                                      \
    do {                                                                                           \
        double value = parsed(#literal rest, rest);                                                \
        CHECK(value >= literal && value <= literal);                                               \
    } while (0)

TEST(number, parses) {
    PARSES(0., "");
    PARSES(5., "%");
    PARSES(.5, "M");
    PARSES(4.8, "T,67T");
    PARSES(0.1, ".2");
    PARSES(336.5, "e3");
    PARSES(1.979, " ");
    PARSES(9007199254740993., "");
    PARSES(18446744073709551616., "");
    CHECK(fabs(parsed("123456789012345678901234567890", "") / 123456789012345678901234567890. - 1) <
          1e-15);
    PARSES(0.000000000000000001, "");
}

TEST(number, refuses) {
    static const char *const texts[] = {"", ".", "x1", "-1", "+1", " 1", "inf", "nan", ",5", "%"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        double value = 42;
        CHECK(!number_parse(texts[i], &value));
        CHECK(value >= 42 && value <= 42);
    }
}

TEST(number, whole) {
    uint64_t n = 7;
    const char *text = "0012ms";
    CHECK(number_parse_whole(text, UINT64_MAX, &n) == text + 4 && n == 12);
    CHECK(!number_read_whole("18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX);
    CHECK(!number_read_whole("10", 10, 10, &n) && n == 10);
    CHECK(!number_read_whole("0", 0, 0, &n) && n == 0);
}

TEST(number, not_whole) {
    static const char *const wrong[] = {
        "", " 1", "+1", "-1", "1 ", "1.0", "0x1", "9", "12", "123", "99999999999999999999999999"};
    uint64_t n = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        CHECK(number_read_whole(wrong[i], 10, 11, &n) == -1);
    }
    CHECK(!number_parse_whole("18446744073709551616", UINT64_MAX, &n));
    CHECK(n == 7);
}
