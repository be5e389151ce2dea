/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of programs in which the true total of a scope is more than three standard errors away
 * from the estimate of STINT_SAMPLE. The programs have durations of many distributions, in short
 * and in long runs. The generators have the same numbers in every run, so the figures are the same,
 * too.
 */
#include "read/uncertainty.h"

#include <math.h>

#include "record/sample.h"
#include "recorded.h"
#include "support.h"

#define PROGRAMS 500

/* ---- Durations, in units of about one mean. */

/* Returns a number in ]0, 1[. */
static double draw(uint64_t *state) {
    return ((double)(random_next(state) >> 12) + 0.5) / 4503599627370496.0;
}

static double draw_normal(uint64_t *state) {
    double radius = sqrt(-2 * log(draw(state)));
    return radius * cos(6.283185307179586 * draw(state));
}

/* The parameters of one program. */
struct program {
    uint64_t state;
    double shape; /* 0 to 1 */
    double scale; /* ns */
    int calls;
    int slow_now;
};

/* Slow calls that come more often than one in a hundred or so. */
static double draw_bimodal(struct program *p, double share, double factor) {
    double slow = 1;
    if (draw(&p->state) < share) {
        slow = factor;
    }
    return slow * (1 + 0.1 * draw(&p->state));
}

static double draw_bursts(struct program *p) {
    if (draw(&p->state) < 0.005) {
        p->slow_now = !p->slow_now;
    }
    return 1 + 30 * p->shape * p->slow_now;
}

enum { FAMILIES = 10 };

static double draw_duration(struct program *p, int family, int call) {
    switch (family) {
    case 0:
        return 1 + draw(&p->state) * (1 + 9 * p->shape);
    case 1: /* exponential */
        return -log(draw(&p->state));
    case 2: /* log-normal, of a deviation of up to 2.9 means */
        return exp(draw_normal(&p->state) * (0.2 + 1.3 * p->shape));
    case 3: /* Pareto's: from an infinite variance on */
        return pow(draw(&p->state), -1 / (2 + 2 * p->shape));
    case 4:
        return draw_bimodal(p, 0.05 + 0.3 * p->shape, 2 + 20 * p->shape);
    case 5: /* one slow call in 1000 to one in 30 */
        return draw_bimodal(p, pow(10, -3 + 1.5 * p->shape), 2 + 10 * draw(&p->state));
    case 6: /* slower and slower */
        return (1 + 10 * p->shape * call / p->calls) * (1 + 0.3 * draw(&p->state));
    case 7:
        return draw_bursts(p);
    case 8: /* a period */
        return 1 + 20 * p->shape * (call % (2 + (int)(40 * p->shape)) == 1);
    default:
        return 1;
    }
}

/* ---- Programs. */

struct tally {
    unsigned rows;
    unsigned without; /* an error */
    unsigned beyond_three;
    unsigned within_one;
    unsigned wide; /* an error of more than a quarter of the time */
    double worst;  /* in errors */
};

static void tally_row(struct tally *t, uint64_t is, double should, uint64_t error) {
    double off = fabs((double)is - should);
    ++t->rows;
    if (error == ROW_UNKNOWN) {
        ++t->without;
        return;
    }
    t->beyond_three += off > 3 * (double)error + 1;
    t->wide += (double)error > should / 4;
    t->within_one += off <= (double)error + 1;
    if (off > 1) {
        t->worst = fmax(t->worst, off / (double)(error + 1));
    }
}

static void scope_within(const char *inner, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(inner);
    fake_advance(ns);
}

static void scope_around(const char *outer, const char *inner, uint64_t own, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(outer);
    fake_advance(own);
    scope_within(inner, ns);
}

static void run_program(struct tally *t, int number, int least, int most) {
    struct program p = {.state = (uint64_t)number * 0x9e3779b97f4a7c15u + 1};
    char outer[24], inner[24];
    double own = 0, below = 0;
    int family = number % FAMILIES;
    random_next(&p.state);
    snprintf(outer, sizeof outer, "outer %d", number);
    snprintf(inner, sizeof inner, "inner %d", number);
    p.shape = draw(&p.state);
    p.scale = 20 * exp(6 * draw(&p.state));
    p.calls = (int)(least * pow((double)most / least, draw(&p.state)));
    for (int i = 0; i < p.calls; ++i) {
        uint64_t ns = (uint64_t)(draw_duration(&p, family, i) * p.scale);
        uint64_t mine = (uint64_t)(draw_duration(&p, family, i) * p.scale / 4);
        own += (double)mine;
        below += (double)ns;
        scope_around(outer, inner, mine, ns);
    }
    stint_stat o = stat_of(outer), i = stat_of(inner);
    CHECK_EQ_U64(o.calls, (uint64_t)p.calls);
    tally_row(t, o.total_ns, own + below, o.total_error_ns);
    tally_row(t, o.self_ns, own, o.self_error_ns);
    tally_row(t, i.total_ns, below, i.total_error_ns);
}

/* Programs of `least` to `most` calls; docs/tuning.md has the figures. An error that is far too
 * large would say as little as one that is too small. */
static struct tally check_programs(const char *how, int least, int most) {
    struct tally t = {.rows = 0};
    CHECK(!setenv("STINT_SAMPLE", how, 1));
    for (int i = 0; i < PROGRAMS; ++i) {
        run_program(&t, i, least, most);
    }
    unsigned with = t.rows - t.without;
    printf(
        "# STINT_SAMPLE=%s, %d to %d calls: %u rows, %u of them without an error; of the others %u "
        "beyond three errors (worst %.1f), %u beyond one, %u errors over a quarter\n",
        how, least, most, t.rows, t.without, t.beyond_three, t.worst, with - t.within_one, t.wide);
    CHECK(t.beyond_three <= with * 5 / 1000);
    CHECK(t.without <= t.rows * 6 / 10);
    CHECK(t.within_one <= with * 99 / 100);
    return t;
}

TEST(uncertainty, short_runs) {
    check_programs("16", 100, 2000);
}

TEST(uncertainty, short_and_long_runs) {
    check_programs("16", 100, 20000);
}

TEST(uncertainty, few_timed_calls) {
    check_programs("100", 100, 20000);
}

TEST(uncertainty, many_timed_calls) {
    check_programs("4", 100, 10000);
}

static uint64_t cost_of_20_ns(void) {
    return 20000;
}

TEST(uncertainty, with_auto) {
    sample_set_cost(cost_of_20_ns);
    check_programs("auto:0.02%", 100, 20000);
}

/* In long runs the errors are small, too. */
TEST(uncertainty, long_runs) {
    struct tally t = check_programs("8", 10000, 20000);
    CHECK(t.without < t.rows / 50);
    CHECK(t.wide < t.rows / 10);
}

HARNESS_MAIN()
