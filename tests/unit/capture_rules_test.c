/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of STINT_CAPTURE: which entries and steps they select, the messages for invalid text,
 * and random text, which the parser must survive.
 */
#include "capture/capture_rules.h"

#include "support.h"

static struct capture_rules rules;

static int parse(const char *text) {
    struct capture_fault fault;
    return capture_rules_parse(text, &rules, &fault);
}

/* One letter an entry: x taken, s slow just before and not taken, S slow and taken. */
static void expect(const char *text, const char *slow, const char *taken) {
    char have[128] = "";
    if (!CHECK(!parse(text))) {
        return;
    }
    CHECK_EQ_U64(rules.count, 1);
    for (size_t i = 0; taken[i]; ++i) {
        uint64_t first;
        int is = slow[0] && slow[i] == 's';
        have[i] = capture_rule_at(&rules.rule[0], i, is, &first) ? 'x' : '.';
    }
    CHECK_STR_EQ(have, taken);
}

TEST(capture_rules, which_entries) {
    expect("train", "", "xxxxxx");
    expect("train:skip=2", "", "..xxxx");
    expect("train:record=2", "", "xx....");
    expect("train:skip=1,record=2", "", ".xx.....");
    expect("train:every=3", "", "x..x..x..");
    expect("train:skip=2,record=2,every=4", "", "..xx..xx..xx");
    expect("train:record=2,every=2", "", "xxxxxx");
    expect(" \ttrain : skip=2 , record=1 ;; ", "", "..x...");
}

TEST(capture_rules, which_steps) {
    expect("steps 2-4", "", "..xxx...");
    expect("steps 3", "", "...x....");
    expect("steps 0", "", "x.......");
    expect("steps 3-", "", "...xxxxx");
    expect("steps 1-2,every=4", "", ".xx..xx..xx");
    expect("steps\t2 - 3", "", "..xx..");
    expect("steps 2,every=3", "", "..x..x..x");
}

TEST(capture_rules, waits_for_a_slow_scope) {
    expect("train:when=load>5ms", "..s...s...", "..x...x...");
    expect("train:when=load>5ms", "ssssssssss", "x.x.x.x.x."); /* its own slowness does not count */
    expect("train:when=load>5ms,record=2", "..s.......s", "..xx......x");
    expect("train:when=load>5ms,record=2", "..ss......", "..xx......");
    expect("train:skip=3,when=load>5ms", "sss.......", ".........."); /* warming up */
    expect("train:skip=3,when=load>5ms", "...s......", "..........");
    expect("train:skip=3,when=load>5ms", "....s.....", "....x.....");
    expect("train:when=load>5ms,every=5", "ss.s...s..", "x....x...."); /* at most one in five */
    expect("steps 2-3,when=load>5ms", "s...s....", "....xx...");
    expect("steps 2-,when=load>5ms", "s...s....", "....x....");
}

TEST(capture_rules, first_of_the_window) {
    uint64_t first = 0;
    CHECK(!parse("steps 10-12,every=100"));
    CHECK(capture_rule_at(&rules.rule[0], 12, 0, &first));
    CHECK_EQ_U64(first, 10);
    CHECK(capture_rule_at(&rules.rule[0], 211, 0, &first));
    CHECK_EQ_U64(first, 210);
    CHECK_EQ_U64(rules.rule[0].taken, 2);
}

TEST(capture_rules, several) {
    CHECK(!parse("train:skip=1; eval ;steps 5-6,every=7"));
    CHECK_EQ_U64(rules.count, 3);
    CHECK_STR_EQ(rules.rule[0].name, "train");
    CHECK_EQ_U64(rules.rule[0].skip, 1);
    CHECK_STR_EQ(rules.rule[1].name, "eval");
    CHECK_EQ_U64(rules.rule[1].record, 0);
    CHECK_STR_EQ(rules.rule[2].name, "");
    CHECK_EQ_U64(rules.rule[2].every, 7);
    CHECK(rules.by_steps);
    CHECK(!parse("train"));
    CHECK(!rules.by_steps);
}

TEST(capture_rules, names) {
    CHECK(!parse("a, b=c > d:record=3,when=f<int, char>::g>12us,skip=1;steps;steps x;a::b:skip=4"));
    CHECK_STR_EQ(rules.rule[0].name, "a, b=c > d");
    CHECK_STR_EQ(rules.rule[0].scope, "f<int, char>::g");
    CHECK_EQ_U64(rules.rule[0].over_ns, 12000);
    CHECK_EQ_U64(rules.rule[0].skip, 1);
    CHECK_STR_EQ(rules.rule[1].name, "steps");
    CHECK_STR_EQ(rules.rule[2].name, "steps x");
    CHECK_STR_EQ(rules.rule[3].name, "a::b");
    CHECK_EQ_U64(rules.rule[3].skip, 4);
}

static void durations_of(const char *text, uint64_t ns) {
    char rule[80];
    snprintf(rule, sizeof rule, "a:when=b>%s", text);
    CHECK(!parse(rule));
    CHECK_EQ_U64(rules.rule[0].over_ns, ns);
}

TEST(capture_rules, units) {
    durations_of("0ns", 0);
    durations_of("7ns", 7);
    durations_of("7us", 7000);
    durations_of("7ms", 7000000);
    durations_of(" 7s", 7000000000);
    durations_of("1000000000s", CAPTURE_NUMBER_MAX);
}

/* Refused, at the byte `at` and with those words. */
static void refused(const char *text, size_t at, const char *expected) {
    struct capture_fault fault = {NULL, NULL};
    CHECK(capture_rules_parse(text, &rules, &fault) == -1);
    CHECK_EQ_U64(rules.count, 0);
    if (CHECK(fault.at && fault.expected)) {
        CHECK_EQ_U64((uint64_t)(fault.at - text), at);
        CHECK_CONTAINS(fault.expected, expected);
    }
}

TEST(capture_rules, bad_text) {
    refused("", 0, "a range's name");
    refused(" ; ", 3, "a range's name");
    refused(":skip=1", 0, "a name of 1 to 200 bytes");
    refused("a:", 2, "skip=N");
    refused("a:skip", 2, "skip=N");
    refused("a:skip=", 7, "a number");
    refused("a:skip=-1", 7, "a number");
    refused("a:skip=1x", 8, "; or ,");
    refused("a:skip=1,skip=2", 9, "each once");
    refused("a:skip=1:record=2", 8, "; or ,");
    refused("a:record=0", 9, "above 0");
    refused("a:every=0", 8, "above 0");
    refused("a:record=3,every=2", 18, "at least a window");
    refused("b;a:when=x", 9, "SCOPE>DURATION");
    refused("a:when=x;b>1s", 7, "SCOPE>DURATION");
    refused("a:when=>1s", 7, "a name");
    refused("a:when=x>", 9, "a number");
    refused("a:when=x>5", 10, "ns, us, ms or s");
    refused("a:when=x>5m", 10, "ns, us, ms or s");
    refused("a:when=x>5sec", 11, "; or ,");
    refused("a:when=x>1000000001s", 19, "10^9 s");
    refused("steps 5-4", 8, "not before the first");
    refused("steps 5-6,record=2", 10, "every=N or when");
    refused("steps 5-6,every=1", 17, "at least a window");
    refused("steps 5 6", 8, "; or ,");
    refused("steps 1:every=2", 7, "; or ,");
}

TEST(capture_rules, numbers_do_not_overflow) {
    refused("a:skip=1000000000000000001", 7, "10^18");
    refused("a:skip=18446744073709551617", 7, "10^18");
    refused("steps 99999999999999999999999", 6, "10^18");
    expect("a:skip=1000000000000000000,record=1000000000000000000,every=1000000000000000000", "",
           ".....");
    uint64_t first;
    CHECK(capture_rule_at(&rules.rule[0], UINT64_MAX, 0, &first));
    expect("a:when=b>1ns,record=1000000000000000000", "s....", "xxxxx");
}

TEST(capture_rules, bounded) {
    char text[8192] = "";
    for (int i = 0; i < CAPTURE_RULES; ++i) {
        strcat(text, "a;");
    }
    CHECK(!parse(text));
    CHECK_EQ_U64(rules.count, CAPTURE_RULES);
    strcat(text, "a");
    refused(text, 32, "at most 16");
    memset(text, 'n', 201);
    text[201] = 0;
    refused(text, 0, "1 to 200 bytes");
    text[200] = 0;
    CHECK(!parse(text));
    strcpy(text, "a:when=");
    memset(text + 7, 'n', 201);
    strcpy(text + 208, ">1s");
    refused(text, 7, "1 to 200 bytes");
}

/* Reads random text. The parser stays inside the text and its table (run under the sanitizers), and
 * every accepted rule can be evaluated. */
TEST(capture_rules, noise) {
    static const char *const words[] = {
        "steps ", "train", "1",     "20",      "-",      ",", ":",  ";",    ">", "5",
        "ms",     "when=", "skip=", "record=", "every=", " ", "::", "\xff", "=", "99999999999"};
    uint64_t seed = 1, first, good = 0;
    for (int round = 0; round < 200000; ++round) {
        char text[256] = "";
        for (uint64_t n = random_next(&seed) % 12; n; --n) {
            strcat(text, words[random_next(&seed) % (sizeof words / sizeof *words)]);
        }
        char *copy = strdup(text); /* its end is the end of the memory */
        struct capture_fault fault;
        if (capture_rules_parse(copy, &rules, &fault)) {
            CHECK(fault.at >= copy && fault.at <= copy + strlen(copy) && fault.expected);
            CHECK_EQ_U64(rules.count, 0);
        } else {
            ++good;
        }
        for (unsigned i = 0; i < rules.count; ++i) {
            capture_rule_at(&rules.rule[i], random_next(&seed), (int)(seed & 1), &first);
        }
        free(copy);
    }
    CHECK(good > 1000);
}

TEST(capture_rules, restart_forgets) {
    CHECK(!parse("a:when=b>1ns"));
    uint64_t first;
    CHECK(capture_rule_at(&rules.rule[0], 0, 1, &first));
    rules.rule[0].entries = 5;
    capture_rules_restart(&rules);
    CHECK_EQ_U64(rules.rule[0].entries, 0);
    CHECK_EQ_U64(rules.rule[0].taken, 0);
    CHECK(!capture_rule_at(&rules.rule[0], 0, 0, &first));
}

static void say_unused(NO_ARG) {
    capture_rules_say_unused(&rules, 17);
}

TEST(capture_rules, unused_ones_are_named) {
    CHECK(!parse("a;b;steps 20-30;c"));
    rules.rule[1].entries = 3;
    rules.rule[3].taken = 1;
    char *text = harness_capture(2, say_unused, NULL);
    CHECK_STR_EQ(text, "stint: STINT_CAPTURE: range [a] was never entered\n"
                       "stint: STINT_CAPTURE: none of the 3 entries of range [b] was captured\n"
                       "stint: STINT_CAPTURE: nothing was captured from step 20 on: the program "
                       "ended in step 17\n");
}
