/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that end in another order than the reverse of that in which they began, as ranges of two
 * libraries may.
 */
#include "base/api.h"
#include "record/crossing.h"
#include "record/recorder.h"
#include "recorded.h"
#include "support.h"

static void open_scope(stint_impl_opened *guard, struct stint_impl_site *site) {
    recorder_begin_slow(guard, site, 0);
}

static void end_crossing(stint_impl_opened *guard) {
    CHECK(recorder_end_crossing((uint64_t)(uintptr_t)guard, *guard) == 0);
}

#define SITE(variable, name)                                                                       \
    static struct stint_impl_site variable = {name, "crossing", "", 1, 0, 0, 0, 0}

/* a and b in around: 10 of a alone, 20 of both, 40 of b alone, 80 of neither. */
TEST(crossing, both_have_their_whole_time_and_it_is_own_time_once) {
    SITE(around, "around");
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened guards[3];
    open_scope(&guards[0], &around);
    open_scope(&guards[1], &a);
    fake_advance(10);
    open_scope(&guards[2], &b);
    fake_advance(20);
    end_crossing(&guards[1]);
    fake_advance(40);
    end_crossing(&guards[2]);
    fake_advance(80);
    end_crossing(&guards[0]);
    CHECK_EQ_U64(stat_of("a").total_ns, 30);
    CHECK_EQ_U64(stat_of("a").self_ns, 10);
    CHECK_EQ_U64(stat_of("b").total_ns, 60);
    CHECK_EQ_U64(stat_of("b").self_ns, 60);
    CHECK_EQ_U64(stat_of("around").total_ns, 150);
    CHECK_EQ_U64(stat_of("around").self_ns, 80);
    CHECK_EQ_U64(calls_of("a") + calls_of("b"), 2);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* Time of a scope that ended inside b before the crossing is not self time of b. */
TEST(crossing, what_was_nested_stays_so) {
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened outer, inner;
    open_scope(&outer, &a);
    open_scope(&inner, &b);
    timed("c", 5);
    fake_advance(1);
    end_crossing(&outer);
    timed("d", 7);
    end_crossing(&inner);
    CHECK_EQ_U64(stat_of("a").total_ns, 6);
    CHECK_EQ_U64(stat_of("a").self_ns, 0);
    CHECK_EQ_U64(stat_of("b").total_ns, 13);
    CHECK_EQ_U64(stat_of("b").self_ns, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(crossing, several_that_end_as_they_began) {
    static struct stint_impl_site sites[8];
    static char names[8][16];
    stint_impl_opened guards[8];
    for (int i = 0; i < 8; ++i) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        sites[i] = (struct stint_impl_site){names[i], "crossing", "", 1, 0, 0, 0, 0};
        open_scope(&guards[i], &sites[i]);
        fake_advance(1);
    }
    uint64_t self = 0;
    for (int i = 0; i < 8; ++i) {
        end_crossing(&guards[i]);
        fake_advance(1);
        CHECK_EQ_U64(stat_of(names[i]).total_ns, 8);
        self += stat_of(names[i]).self_ns;
    }
    CHECK_EQ_U64(self, 15); /* from the first begin to the last end */
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(crossing, a_recursive_call_among_them) {
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened guards[3];
    open_scope(&guards[0], &a);
    fake_advance(1);
    open_scope(&guards[1], &b);
    fake_advance(2);
    open_scope(&guards[2], &a);
    fake_advance(4);
    end_crossing(&guards[1]);
    fake_advance(8);
    end_crossing(&guards[2]);
    fake_advance(16);
    end_crossing(&guards[0]);
    CHECK_EQ_U64(stat_of("a").total_ns, 31);
    CHECK_EQ_U64(calls_of("a"), 2);
    CHECK_EQ_U64(stat_of("b").total_ns, 6);
    CHECK_EQ_U64(stat_of("a").self_ns, 29);
    CHECK_EQ_U64(stat_of("b").self_ns, 2);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* All that can be open at a time, ended as they began. */
TEST(crossing, as_many_as_can_be_open) {
    static struct stint_impl_site sites[STINT_IMPL_DEPTH];
    static char names[STINT_IMPL_DEPTH][16];
    static stint_impl_opened guards[STINT_IMPL_DEPTH];
    for (uint32_t i = 0; i < STINT_IMPL_DEPTH; ++i) {
        snprintf(names[i], sizeof names[i], "s%u", i);
        sites[i] = (struct stint_impl_site){names[i], "crossing", "", 1, 0, 0, 0, 0};
        open_scope(&guards[i], &sites[i]);
        fake_advance(1);
    }
    for (uint32_t i = 0; i < STINT_IMPL_DEPTH; ++i) {
        end_crossing(&guards[i]);
        fake_advance(1);
    }
    for (uint32_t i = 0; i < STINT_IMPL_DEPTH; i += 51) { /* each takes a look at all nodes */
        CHECK_EQ_U64(stat_of(names[i]).total_ns, STINT_IMPL_DEPTH);
        CHECK_EQ_U64(stat_of(names[i]).self_ns, i + 1 == STINT_IMPL_DEPTH ? STINT_IMPL_DEPTH : 1);
    }
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* A scope that ends, or that is left by longjmp and opened again, does not end a range in it. */
TEST(crossing, scopes_do_not_abandon_ranges) {
    static stint_impl_opened range_memory[2];
    stint_impl_opened own[3];
    SITE(outer, "outer");
    SITE(left, "left");
    SITE(range, "range");
    crossing_set_range_guards(range_memory, sizeof range_memory);
    open_scope(&own[2], &outer);
    open_scope(&range_memory[0], &range);
    open_scope(&own[1], &left);
    fake_advance(1);
    recorder_end((uint64_t)(uintptr_t)&own[2], own[2], 0, NULL);
    CHECK_EQ_U64(calls_of("outer"), 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
    fake_advance(2);
    end_crossing(&range_memory[0]);
    CHECK_EQ_U64(stat_of("range").total_ns, 3);
    open_scope(&own[1], &left);
    open_scope(&range_memory[1], &range);
    open_scope(&own[0], &outer);
    fake_advance(4);
    open_scope(&own[1], &left); /* its guard again */
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 3);
    fake_advance(8);
    end_crossing(&own[1]);
    CHECK_EQ_U64(stat_of("left").total_ns, 8);
    end_crossing(&range_memory[1]);
    CHECK_EQ_U64(stat_of("range").total_ns, 15);
    crossing_set_range_guards(NULL, 0);
    timed("next", 1);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(lost_in_all(), 3);
}

/* ---- Random ranges and scopes against a model. */

#define MODEL_NAMES 24u
#define MODEL_OPEN 40u

/* The open scopes and ranges, in the order in which they began. */
struct model_open {
    uint32_t name;
    int is_range;
    stint_impl_opened *guard;
    uint64_t start;
    uint64_t own; /* time while it was the one that began last */
};
static struct model {
    struct model_open open[MODEL_OPEN];
    uint32_t count;
    uint64_t calls[MODEL_NAMES], total[MODEL_NAMES], own[MODEL_NAMES], abandoned, now;
    uint64_t random;
    int has_recursion; /* names may be open more than once */
} model;

static struct stint_impl_site model_sites[MODEL_NAMES];
static stint_impl_opened model_ranges[MODEL_OPEN], model_stack[MODEL_OPEN];

static uint32_t model_below(uint64_t bound) {
    return (uint32_t)(random_next(&model.random) % bound);
}

static int model_is_open(uint32_t name, uint32_t before) {
    for (uint32_t i = 0; i < before; ++i) {
        if (model.open[i].name == name) {
            return 1;
        }
    }
    return 0;
}

static void model_advance(void) {
    uint64_t by = model_below(10);
    fake_advance(by);
    model.now += by;
    if (model.count) {
        model.open[model.count - 1].own += by;
    }
}

static void model_remove(uint32_t at) {
    --model.count;
    memmove(&model.open[at], &model.open[at + 1], (model.count - at) * sizeof model.open[0]);
}

/* A scope's guard is below those that are open, as on a stack. */
static stint_impl_opened *model_guard(int is_range) {
    stint_impl_opened *all = is_range ? model_ranges : model_stack;
    for (uint32_t i = MODEL_OPEN; i--;) {
        uint32_t at = 0;
        while (at < model.count && model.open[at].guard != &all[i]) {
            ++at;
        }
        if (at == model.count) {
            return &all[i];
        }
    }
    return NULL;
}

static void model_begin(void) {
    int is_range = model_below(2) == 0;
    uint32_t name = model_below(MODEL_NAMES);
    if (model.count == MODEL_OPEN || (!model.has_recursion && model_is_open(name, model.count))) {
        return;
    }
    struct model_open o = {name, is_range, model_guard(is_range), model.now, 0};
    model.open[model.count++] = o;
    open_scope(o.guard, &model_sites[name]);
}

static void model_end(uint32_t at) {
    struct model_open o = model.open[at];
    for (uint32_t i = model.count; !o.is_range && --i > at;) {
        if (!model.open[i].is_range) { /* its time is that of what is around it */
            model.open[i - 1].own += model.open[i].own;
            ++model.abandoned;
            ++model.calls[model.open[i].name];
            model_remove(i);
        }
    }
    o = model.open[at];
    ++model.calls[o.name];
    if (!model_is_open(o.name, at)) {
        model.total[o.name] += model.now - o.start;
    }
    if (at && model.open[at - 1].name == o.name) { /* both have their time together */
        model.open[at - 1].own += o.own;
    } else {
        model.own[o.name] += o.own;
    }
    model_remove(at);
    if (o.is_range) {
        end_crossing(o.guard);
    } else {
        CHECK(!recorder_end((uint64_t)(uintptr_t)o.guard, *o.guard, 0, NULL));
    }
}

static void model_run(uint64_t seed, int has_recursion, char names[MODEL_NAMES][16]) {
    memset(&model, 0, sizeof model);
    model.random = seed;
    model.has_recursion = has_recursion;
    uint64_t lost_before = lost(STINT_STATUS_ABANDONED);
    stint_reset();
    for (int step = 0; step < 300; ++step) {
        model_advance();
        if (model_below(100) < 52) {
            model_begin();
        } else if (model.count) {
            model_end(model_below(model.count));
        }
    }
    while (model.count) {
        model_advance();
        model_end(model_below(model.count));
    }
    for (uint32_t i = 0; i < MODEL_NAMES; ++i) {
        stint_stat s = stat_of(names[i]);
        CHECK_EQ_U64(s.calls, model.calls[i]);
        CHECK_EQ_U64(s.total_ns, model.total[i]);
        CHECK_EQ_U64(s.self_ns, model.own[i]);
    }
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED) - lost_before, model.abandoned);
}

TEST(crossing, random_ranges_and_scopes_against_a_model) {
    static char names[MODEL_NAMES][16];
    crossing_set_range_guards(model_ranges, sizeof model_ranges);
    for (uint32_t i = 0; i < MODEL_NAMES; ++i) {
        snprintf(names[i], sizeof names[i], "name %u", i);
        model_sites[i] = (struct stint_impl_site){names[i], "crossing", "", 1, 0, 0, 0, 0};
    }
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        model_run(seed, seed % 2 == 0, names);
    }
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_ABANDONED));
}

TEST(crossing, without_a_crossing_it_is_an_ordinary_end) {
    SITE(a, "a");
    stint_impl_opened guard;
    open_scope(&guard, &a);
    fake_advance(3);
    end_crossing(&guard);
    CHECK_EQ_U64(stat_of("a").total_ns, 3);
    CHECK(recorder_end_crossing((uint64_t)(uintptr_t)&guard, guard) == -1);
    CHECK_EQ_U64(lost_in_all(), 0);
}
