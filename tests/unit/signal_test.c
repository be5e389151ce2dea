/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes inside signal handlers. The handler runs after every single instruction of what is tested
 * (the processor's trap flag), so that no window between two instructions is left to chance; a
 * timer storm does the same for whatever else the program runs into.
 */
#include <sys/time.h>

#include "base/histogram.h"
#include "interval/interval.h"
#include "model/rows.h"
#include "record/node.h"
#include "recorded.h"
#include "stepping.h"
#include "traced.h"

#define NAMES 5000 /* the table of edges grows under the interrupted code, seven times over */

static unsigned opened; /* in the handler */
static unsigned handled;
static unsigned names_used = NAMES;
static char names[NAMES][20];

static void shared_site(void) {
    REGISTER_TIMER("shared");
    fake_advance(1);
}

/* A known scope, one never seen before, or the very site that may be interrupted. */
static void handler(int number) {
    (void)number;
    unsigned kind = opened % 3;
    ++opened;
    if (kind == 0) {
        REGISTER_TIMER("handler.known");
        fake_advance(opened); /* ever longer: a new maximum closes on the slow path */
    } else if (kind == 1) {
        REGISTER_TIMER_DYNAMIC(names[opened / 3 % names_used]);
    } else {
        shared_site();
    }
}

__attribute__((constructor)) static void make_names(void) {
    for (int i = 0; i < NAMES; ++i) {
        snprintf(names[i], sizeof names[i], "name%d", i);
    }
}

static void first_use(void) {
    REGISTER_TIMER("first use");
}

/* One snapshot for all names. */
static uint64_t recorded_of_handler(void) {
    struct snapshot snap;
    struct rows rows;
    uint64_t calls = 0;
    if (!CHECK(!interval_open(&snap, 0) && !rows_flat(&rows, &snap, 0))) {
        return 0;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        const char *name = rows.row[i].name;
        if (!strncmp(name, "name", 4) || !strcmp(name, "handler.known") ||
            !strcmp(name, "shared")) {
            calls += u128_narrow(rows.row[i].calls);
        }
    }
    interval_close(&snap);
    return calls;
}

/* Nothing got lost unseen: each scope of the handler is recorded or counted. */
static void check_sum(unsigned main_shared) {
    uint64_t refused = lost(STINT_STATUS_IN_SLOW_PATH);
    CHECK(opened > 0);
    CHECK_EQ_U64(recorded_of_handler() + refused, opened + main_shared);
    CHECK_EQ_U64(lost_in_all(), refused);
    CHECK_EQ_U64(open_scopes(), 0);
    { REGISTER_TIMER("afterwards"); }
    CHECK_EQ_U64(calls_of("afterwards"), 1);
}

static void nested(void) {
    REGISTER_TIMER("main.outer");
    fake_advance(1);
    REGISTER_TIMER("main.inner");
    shared_site();
}

/* 21 calls of known scopes, 20 of which are interrupted. */
static void step_through_nested(void) {
    nested();
    stepping(1);
    for (int i = 0; i < 20; ++i) {
        nested();
    }
    stepping(0);
    CHECK_EQ_U64(calls_of("main.outer"), 21);
    CHECK_EQ_U64(calls_of("main.inner"), 21);
}

TEST(signal, at_every_instruction_of_known_scopes) {
    NEEDS_STEPPING(handler);
    step_through_nested();
    CHECK_EQ_U64(lost(STINT_STATUS_IN_SLOW_PATH), 0); /* the inline path is open throughout */
    check_sum(21);
}

/* The inline path from the second call of a site on. */
TEST(signal, at_every_instruction_of_scopes_with_histograms) {
    NEEDS_STEPPING(handler);
    node_raw_samples = 0;
    step_through_nested();
    check_sum(21);
}

static void bytes_handler(int number) {
    (void)number;
    ++opened;
    REGISTER_TIMER("handler.bytes");
    TIMER_BYTES(5);
}

static void opens_new_names(void) {
    for (int i = 0; i < 20; ++i) {
        REGISTER_TIMER("main.outer");
        REGISTER_TIMER_DYNAMIC(names[i]);
    }
}

/* A scope that is lost because its handler interrupted the recorder takes the bytes with it: they
 * are not the interrupted scope's. */
TEST(signal, declared_work_of_a_scope_lost_at_every_instruction) {
    NEEDS_STEPPING(bytes_handler);
    bytes_handler(0);
    stepping(1);
    opens_new_names();
    stepping(0);
    uint64_t refused = lost(STINT_STATUS_IN_SLOW_PATH);
    uint64_t recorded = calls_of("handler.bytes"), lost_scopes = opened - recorded;
    uint64_t lost_bytes = refused - lost_scopes;
    CHECK(lost_scopes > 0);
    CHECK(lost_bytes >=
          lost_scopes); /* also in an open scope, where the recorder is being entered */
    CHECK_EQ_U64(stat_of("handler.bytes").bytes, 5 * (opened - lost_bytes));
    CHECK_EQ_U64(stat_of("main.outer").bytes, 0);
    for (int i = 0; i < 20; ++i) {
        CHECK_EQ_U64(stat_of(names[i]).bytes, 0);
    }
}

/* Always as long: what it interrupts ends on the inline path, too. */
static void even_handler(int number) {
    (void)number;
    ++opened;
    shared_site();
}

/* Each scope of the handler takes a place of its own in the ring that it interrupts. */
TEST(signal, at_every_instruction_of_traced_scopes) {
    NEEDS_STEPPING(even_handler);
    setenv("STINT_TRACE", "16M", 1);
    node_raw_samples = 0;
    step_through_nested();
    const struct traced *t = traced_now();
    traced_check(t);
    CHECK_EQ_U64(traced_overwritten(t), 0);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "main.outer"), 21);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "main.inner"), 21);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, NULL), 2 * 21 + recorded_of_handler());
    CHECK_EQ_U64(thread_block_here()->hot.ring->head, t->t.event_count);
    check_sum(21);
}

static uint64_t percentile_samples(const char *name) {
    static struct histogram h;
    struct snapshot snap;
    struct rows rows;
    uint64_t count = 0;
    if (!CHECK(!interval_open(&snap, 0) && !rows_flat(&rows, &snap, 0))) {
        return 0;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        if (!strcmp(rows.row[i].name, name) && CHECK(!rows_histogram(&h, &rows, i, 0))) {
            count = histogram_count(&h);
        }
    }
    interval_close(&snap);
    return count;
}

/* Sites whose next sample is the first that needs a histogram. */
#define PRIMED 8
#define PRIMED_SITE(n)                                                                             \
    static void primed_##n(void) {                                                                 \
        REGISTER_TIMER("primed " #n);                                                              \
        fake_advance(5);                                                                           \
    }
PRIMED_SITE(0)
PRIMED_SITE(1)
PRIMED_SITE(2)
PRIMED_SITE(3)
PRIMED_SITE(4)
PRIMED_SITE(5)
PRIMED_SITE(6)
PRIMED_SITE(7)
static void (*const primed[PRIMED])(void) = {primed_0, primed_1, primed_2, primed_3,
                                             primed_4, primed_5, primed_6, primed_7};

/* Begins a scope inline while the interrupted thread has taken the tables; the primed scopes are
 * outside of others. */
static void primed_handler(int number) {
    struct thread_block *b = thread_block_here();
    (void)number;
    if (opened < PRIMED && b->busy && STINT_IMPL_LOAD(&b->hot.gate) != STINT_IMPL_SHUT &&
        !open_scopes()) {
        primed[opened++]();
    }
}

TEST(signal, first_histogram_with_the_tables_taken_at_every_instruction) {
    NEEDS_STEPPING(primed_handler);
    char name[20];
    node_raw_samples = 1;
    for (int i = 0; i < PRIMED; ++i) {
        primed[i]();
    }
    stepping(1);
    nested();
    first_use();
    stepping(0);
    CHECK(opened > 0);
    CHECK_EQ_U64(lost_in_all(), 0);
    for (unsigned i = 0; i < opened; ++i) {
        snprintf(name, sizeof name, "primed %u", i);
        CHECK_EQ_U64(calls_of(name), 2);
        CHECK_EQ_U64(percentile_samples(name), 2);
    }
}

/* Interrupts the main program's change from kept samples to a histogram. Its intervals have the
 * node of the interrupted ones. */
static void interval_handler(int number) {
    static unsigned instructions;
    (void)number;
    if (instructions++ % 13) { /* each time, a compare and exchange would never succeed */
        return;
    }
    ++opened;
    if (stint_sample_add("same interval", 7)) {
        ++handled;
    }
}

TEST(signal, at_every_instruction_of_a_first_histogram) {
    NEEDS_STEPPING(interval_handler);
    opened = handled = 0;
    for (uint32_t i = 0; i + 2 < STINT_IMPL_RAW; ++i) {
        shared_site();
        CHECK(stint_sample_add("same interval", 5) == 0);
    }
    stepping(1);
    for (int i = 0; i < 5; ++i) {
        shared_site();
        CHECK(stint_sample_add("same interval", 5) == 0);
    }
    stepping(0);
    CHECK(opened > 50 && handled < opened);
    CHECK_EQ_U64(percentile_samples("shared"), STINT_IMPL_RAW + 3);
    CHECK_EQ_U64(calls_of("same interval"), STINT_IMPL_RAW + 3 + opened - handled);
    CHECK_EQ_U64(percentile_samples("same interval"), calls_of("same interval"));
    CHECK_EQ_U64(lost_in_all(), handled);
}

TEST(signal, at_every_instruction_of_the_first_use) {
    NEEDS_STEPPING(handler);
    stepping(1);
    nested();
    stepping(0);
    CHECK_EQ_U64(calls_of("main.outer"), 1);
    check_sum(1);
}

TEST(signal, at_every_instruction_of_new_names) {
    NEEDS_STEPPING(handler);
    char name[24];
    names_used = 100; /* below each name of ours: more would fill the memory */
    first_use();
    for (int i = 0; i < 150; ++i) {
        snprintf(name, sizeof name, "main%d", i);
        stepping(1);
        {
            REGISTER_TIMER_DYNAMIC(name);
            REGISTER_TIMER_DYNAMIC("main.same");
        }
        stepping(0);
    }
    CHECK_EQ_U64(calls_of("main0"), 1);
    CHECK_EQ_U64(calls_of("main149"), 1);
    CHECK_EQ_U64(calls_of("main.same"), 150);
    check_sum(0);
}

/* ---- The same time everywhere, and not a histogram that is one off. */

static void alike_site(void) {
    REGISTER_TIMER("alike");
    fake_advance(1);
}

static void first_parent(void) {
    REGISTER_TIMER("first parent");
    shared_site();
}

static void second_parent(void) {
    REGISTER_TIMER("second parent");
    shared_site();
}

/* Other sites at the depth of the interrupted one, whose nodes the inline path finds in the same
 * place; and the clock does not move, so that all samples are in one bucket of their histogram. */
static void other_handler(int number) {
    (void)number;
    uint64_t now = fake_now;
    if (handled++ % 2) {
        first_parent();
    } else {
        alike_site();
    }
    fake_now = now;
}

/* Adds names from the site's own number up to that of `alike`, which has the same lowest bits. */
static void number_alike(void) {
    char name[24];
    shared_site();
    uint32_t until = arena_header()->site_count + STINT_IMPL_NEAR - 1;
    while (arena_header()->site_count < until) {
        snprintf(name, sizeof name, "between%u", arena_header()->site_count);
        REGISTER_TIMER_DYNAMIC(name);
    }
    alike_site();
    CHECK_EQ_U64(arena_header()->site_count, until + 1);
}

static int is_named(const struct snapshot *s, uint32_t node, const char *name) {
    return node != SNAPSHOT_NONE && s->nodes[node].site &&
           !strcmp(s->sites[s->nodes[node].site].name, name);
}

static uint64_t calls_below(const struct snapshot *s, const char *parent, const char *name) {
    uint64_t calls = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (is_named(s, i, name) && is_named(s, s->nodes[i].parent, parent)) {
            calls += s->nodes[i].count;
        }
    }
    return calls;
}

static void check_places(void) {
    static struct histogram h;
    struct snapshot snap;
    struct rows rows;
    if (!CHECK(!interval_open(&snap, 0) && !rows_flat(&rows, &snap, 0))) {
        return;
    }
    CHECK_EQ_U64(calls_below(&snap, "second parent", "shared"), 23);
    for (uint32_t i = 0; i < rows.count; ++i) {
        CHECK(!rows_histogram(&h, &rows, i, 0));
        CHECK_EQ_U64(histogram_count(&h), rows.row[i].samples);
    }
    interval_close(&snap);
}

TEST(signal, other_sites_at_the_same_depth_at_every_instruction) {
    NEEDS_STEPPING(other_handler);
    node_raw_samples = 0; /* the inline path */
    number_alike();
    for (int i = 0; i < 3; ++i) {
        first_parent();
        second_parent();
        alike_site();
    }
    stepping(1);
    for (int i = 0; i < 20; ++i) {
        first_parent();
        second_parent();
    }
    stepping(0);
    CHECK(handled > 100);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(calls_of("second parent"), 23);
    CHECK_EQ_U64(calls_of("alike"), 4 + (handled + 1) / 2);
    CHECK_EQ_U64(calls_of("first parent"), 23 + handled / 2);
    CHECK_EQ_U64(calls_of("shared"), 1 + 23 + 23 + handled / 2);
    CHECK_EQ_U64(stat_of("alike").total_ns, stat_of("alike").samples);
    check_places();
}

static void recursive(int depth) {
    REGISTER_TIMER("main.recursive");
    shared_site();
    if (depth > 1) {
        recursive(depth - 1);
    }
}

TEST(signal, at_every_instruction_of_a_recursion) {
    NEEDS_STEPPING(handler);
    first_use();
    stepping(1);
    recursive(10);
    stepping(0);
    CHECK_EQ_U64(calls_of("main.recursive"), 10);
    check_sum(10);
}

static void recursive_shared(int depth) {
    REGISTER_TIMER("main.around");
    shared_site();
    if (depth > 1) {
        REGISTER_TIMER_DYNAMIC("main.by name");
        recursive_shared(depth - 1);
    }
}

TEST(signal, at_every_instruction_of_a_full_stack) {
    static const unsigned depth = STINT_IMPL_DEPTH / 2 + 10; /* two scopes each */
    NEEDS_STEPPING(handler);
    first_use();
    stepping(1);
    recursive_shared((int)depth);
    stepping(0);
    CHECK_EQ_U64(calls_of("main.around"), depth);
    CHECK_EQ_U64(calls_of("main.by name"), depth - 1);
    uint64_t deep = lost(STINT_STATUS_TOO_DEEP), busy = lost(STINT_STATUS_IN_SLOW_PATH);
    CHECK(deep > 10);
    CHECK_EQ_U64(recorded_of_handler() + deep + busy, opened + depth);
}

TEST(signal, at_every_instruction_of_intervals) {
    NEEDS_STEPPING(handler);
    first_use();
    stepping(1);
    for (int i = 0; i < 5; ++i) {
        stint_timer t;
        TIMER_BEGIN(t, "main.interval");
        CHECK(stint_sample_add("main.sample", 5) == 0);
        CHECK(stint_scope_begin("main.begun") == 0);
        CHECK(stint_scope_end("main.begun") == 0);
        TIMER_END(t);
    }
    stepping(0);
    CHECK_EQ_U64(calls_of("main.interval"), 5);
    CHECK_EQ_U64(calls_of("main.sample"), 5);
    CHECK_EQ_U64(calls_of("main.begun"), 5);
    check_sum(0);
}

/* These take the registry's lock too: the handler must not wait for the code it interrupted. */
TEST(signal, at_every_instruction_of_settings) {
    NEEDS_STEPPING(handler);
    first_use();
    stepping(1);
    stint_filter_set("-nothing");
    stint_level_set(1);
    CHECK(stint_set_get("a set") != NULL);
    stint_threads_show(1);
    stepping(0);
    check_sum(0);
}

TEST(signal, at_every_instruction_of_a_report) {
    NEEDS_STEPPING(handler);
    stint_stat s;
    names_used = 3; /* or there would be ever more to report */
    first_use();
    stepping(1);
    CHECK(stint_stat_get("first use", &s, sizeof s) == 0);
    stepping(0);
    check_sum(0);
}

TEST(signal, at_every_instruction_of_a_capture_range) {
    NEEDS_STEPPING(handler);
    first_use();
    stepping(1);
    {
        REGISTER_GPU_PROFILER("range");
        shared_site();
    }
    stepping(0);
    check_sum(1);
}

/* A whole program under a storm: 10^5 scopes known, new and nested against a real timer. */
TEST(signal, timer_storm) {
    struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    char name[24];
    unsigned rounds = 0;
    stepping_install(SIGPROF, handler);
    first_use();
    CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
    while (rounds < 20000 ||
           (__atomic_load_n(&opened, __ATOMIC_RELAXED) < 20 && rounds < 5000000)) {
        snprintf(name, sizeof name, "main%u", rounds % 2000);
        REGISTER_TIMER_DYNAMIC(name);
        nested();
        ++rounds;
    }
    CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
    CHECK_EQ_U64(calls_of("main.outer"), rounds);
    CHECK_EQ_U64(calls_of("main.inner"), rounds);
    check_sum(rounds);
}
