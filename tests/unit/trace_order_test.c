/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order and the lanes of a trace, compared with a plain sort of the same ring: of random trees,
 * on clocks of any resolution, with intervals, marks and values, wrapped, and damaged. And the same
 * ring read from a file, which may be written or cut meanwhile.
 */
#include "arena_copy.h"
#include "harness_threads.h"
#include "model/trace_rings.h"
#include "record/ring.h"
#include "traced.h"

enum { EVENTS = 1u << 14, LANES = 16, DEPTH = 1024 };

static struct stint_impl_ring *ring;
static uint32_t scopes[3], interval, site;
static uint64_t seed = 3;

static uint64_t below(uint64_t n) {
    return random_next(&seed) % n;
}

/* ---- A ring. */

/* A clock of any resolution; with a pace, no two events are so near each other that their order
 * depends on it. */
static uint64_t clock_now, grain, pace;

static void pass(uint64_t most) {
    clock_now += pace + below(most);
}

static uint64_t tick_of(uint64_t at) {
    return at / grain * grain;
}

static uint32_t unit_of(uint64_t number) {
    return (uint32_t)(stint_impl_ring_event(ring, number)->what >> STINT_IMPL_SPAN_BITS);
}

/* Takes the units of nodes from the events of calls. */
static void begin(void) {
    stint_timer t = {{0, 0}};
    setenv("STINT_TRACE", "1M", 1); /* a quarter is a ring of 2^14 places */
    timed("a", 1);
    timed("b", 1);
    timed("c", 1);
    TIMER_BEGIN(t, "interval");
    TIMER_END(t);
    TIMER_MARK("mark");
    ring = stint_impl_thread_here->ring;
    CHECK_EQ_U64(ring->mask + 1, EVENTS);
    for (unsigned i = 0; i < 3; ++i) {
        scopes[i] = unit_of(i);
    }
    interval = unit_of(3);
    site = (uint32_t)stint_impl_ring_event(ring, 4)->what;
}

static void ring_clear(void) {
    memset(ring + 1, 0, EVENTS * sizeof(struct stint_impl_event));
    ring->head = 0;
    clock_now = FAKE_START + below(1000);
    pace = below(2) * 16;
    grain = pace ? 1 : (uint64_t[]){1, 3, 40, 1000}[below(4)];
}

static void add_point(void) {
    double value = (double)below(100) / 8;
    uint64_t at = tick_of(clock_now), bits;
    if (below(2)) {
        stint_impl_ring_add(ring, (uint64_t)STINT_IMPL_EVENT_MARK << STINT_IMPL_EVENT_KIND | at,
                            site);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    ring_add_pair(ring, (uint64_t)STINT_IMPL_EVENT_VALUE << STINT_IMPL_EVENT_KIND | at, site, bits);
}

/* A span, and all that ended before it and began after it. */
static void add_tree(unsigned depth, unsigned intervals) {
    uint64_t start = clock_now;
    pass(1 + below(100));
    for (uint64_t n = depth < 30 ? below(5) : 0; n && ring->head < EVENTS * 3 / 2; --n) {
        add_tree(depth + 1 + (unsigned)below(12), intervals);
        pass(20);
        if (!below(8)) {
            add_point();
            pass(1);
        }
        if (below(100) < intervals) {
            uint64_t back = below(2) ? below(2000) : below(4) * grain;
            back = back < clock_now - FAKE_START ? back : clock_now - FAKE_START;
            ring_add_span(ring, interval, tick_of(clock_now - back), tick_of(back));
        }
    }
    pass(60);
    ring_add_span(ring, scopes[below(3)], tick_of(start), tick_of(clock_now) - tick_of(start));
}

static void add_trees(uint64_t events, unsigned intervals) {
    while (ring->head < events) {
        add_tree(0, intervals);
        pass(100);
    }
}

static void damage(void) {
    for (unsigned i = 0; i < 20; ++i) {
        struct stint_impl_event *e = stint_impl_ring_event(ring, below(EVENTS));
        switch (below(4)) {
        case 0:
            e->at = 0;
            break;
        case 1:
            e->at = random_next(&seed) >> below(64);
            break;
        case 2:
            e->what = random_next(&seed);
            break;
        default:
            *e = *stint_impl_ring_event(ring, below(EVENTS));
        }
    }
}

/* ---- What a plain sort makes of it. */

struct model {
    struct trace_event event;
    uint64_t number;
    unsigned lane;
};

static struct model models[EVENTS];
static unsigned model_count;
static struct {
    uint64_t end[DEPTH];
    uint64_t number[DEPTH];
    unsigned depth;
} open_in[LANES];

static uint64_t ns_of(const struct snapshot *s, uint64_t ticks) {
    double since = (double)(int64_t)(ticks - FAKE_START) * s->ns_per_tick;
    return since > 0 && since < 9e18 ? (uint64_t)(since + 0.5) : 0;
}

static int model_read(const struct snapshot *s, uint64_t number, struct model *m) {
    static const struct stint_impl_event none;
    uint64_t oldest = ring->head > EVENTS ? ring->head - EVENTS : 0;
    const struct stint_impl_event *e = stint_impl_ring_event(ring, number);
    const struct stint_impl_event *before =
        number > oldest ? stint_impl_ring_event(ring, number - 1) : &none;
    uint64_t kind = e->at >> STINT_IMPL_EVENT_KIND, ticks = e->at << 2 >> 2;
    int paid = before->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_PAYLOAD &&
               before->at << 2 == e->at << 2;
    memset(m, 0, sizeof *m);
    m->number = number;
    m->event.start_ns = ns_of(s, ticks);
    m->event.kind = kind == 0 ? TRACE_SPAN : kind == 1 ? TRACE_MARK : TRACE_VALUE;
    if (!e->at || kind == STINT_IMPL_EVENT_PAYLOAD) {
        return -1;
    }
    if (kind == STINT_IMPL_EVENT_SPAN) {
        uint64_t length = e->what & STINT_IMPL_SPAN_LONG;
        if (length == STINT_IMPL_SPAN_LONG && paid && before->what > length) {
            length = before->what;
        }
        m->event.node = snapshot_node_of(s, (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS));
        uint64_t end = ns_of(s, ticks + length);
        m->event.duration_ns = end > m->event.start_ns ? end - m->event.start_ns : 0;
        return m->event.node == SNAPSHOT_NONE ? -1 : 0;
    }
    if (kind == STINT_IMPL_EVENT_VALUE) {
        memcpy(&m->event.value, &before->what, sizeof m->event.value);
    }
    m->event.node = SNAPSHOT_NONE;
    return !e->what || e->what > s->site_count ||
                   (kind == STINT_IMPL_EVENT_VALUE && (!paid || !(m->event.value * 0 == 0)))
               ? -1
               : 0;
}

static int model_order(const void *a, const void *b) {
    const struct model *m = (const struct model *)a, *n = (const struct model *)b;
    if (m->event.start_ns != n->event.start_ns) {
        return m->event.start_ns < n->event.start_ns ? -1 : 1;
    }
    if (m->event.duration_ns != n->event.duration_ns) {
        return m->event.duration_ns > n->event.duration_ns ? -1 : 1;
    }
    return m->number > n->number ? -1 : 1;
}

static int model_fits(struct model *m, unsigned lane) {
    __typeof__(open_in[0]) *o = &open_in[lane];
    uint64_t start = m->event.start_ns, end = start + m->event.duration_ns;
    while (o->depth && (o->end[o->depth - 1] < start ||
                        (o->end[o->depth - 1] == start &&
                         (m->event.duration_ns || o->number[o->depth - 1] < m->number)))) {
        --o->depth;
    }
    if (o->depth && end > o->end[o->depth - 1]) {
        return 0;
    }
    m->event.depth = o->depth;
    if (o->depth < DEPTH) {
        o->end[o->depth] = end;
        o->number[o->depth++] = m->number;
    }
    return 1;
}

static void model_make(const struct snapshot *s) {
    model_count = 0;
    memset(open_in, 0, sizeof open_in);
    for (uint64_t i = ring->head > EVENTS ? ring->head - EVENTS : 0; i < ring->head; ++i) {
        model_count += !model_read(s, i, &models[model_count]);
    }
    qsort(models, model_count, sizeof *models, model_order);
    for (unsigned i = 0; i < model_count; ++i) {
        struct model *m = &models[i];
        if (m->event.kind != TRACE_SPAN) {
            continue;
        }
        m->lane = s->nodes[m->event.node].kind == STINT_IMPL_INTERVAL_NODE;
        while (m->lane < LANES && !model_fits(m, m->lane)) {
            ++m->lane;
        }
    }
}

/* ---- The comparison. */

static int is_same(const struct trace_event *a, const struct trace_event *b) {
    return a->start_ns == b->start_ns && a->duration_ns == b->duration_ns && a->kind == b->kind &&
           (a->kind != TRACE_SPAN || (a->node == b->node && a->depth == b->depth)) &&
           (a->kind != TRACE_VALUE || a->value == b->value);
}

static void check_as_sorted(const struct traced *t) {
    const struct trace_event *e = t->events;
    uint64_t told = 0;
    model_make(&t->s);
    for (unsigned lane = 0, at = 0; lane < LANES; ++lane) {
        uint64_t count = 0;
        for (unsigned i = 0; i < model_count; ++i) {
            if (models[i].lane != lane) {
                continue;
            }
            ++count;
            if (!CHECK(told < t->t.event_count) || !CHECK(is_same(&models[i].event, e + told))) {
                return;
            }
            ++told;
        }
        if (count) {
            CHECK_EQ_U64(t->t.lanes[at++].count, count);
        } else if (!lane && t->t.lane_count && !t->t.lanes[0].count) {
            ++at; /* it says what was lost */
        }
    }
    CHECK_EQ_U64(told, t->t.event_count);
}

static unsigned nested, sorted;

static void check_ring(double ns_per_tick) {
    struct traced t = {0};
    CHECK(!snapshot_take(&t.s));
    t.s.ns_per_tick = ns_per_tick;
    CHECK(!traced_read(&t));
    check_as_sorted(&t);
    nested += t.t.rings->source[0].nested_count > 0;
    sorted += t.t.rings->source[0].nested_count == 0;
    traced_free(&t);
}

static double any_rate(void) {
    return (double[]){1, 1, 0.3125, 0.4, 3, 40}[below(6)];
}

TEST(trace_order, of_nested_scopes) {
    begin();
    for (unsigned i = 0; i < 200; ++i) {
        ring_clear();
        add_trees(below(EVENTS), 0);
        check_ring(any_rate());
    }
    CHECK(nested > 50 && sorted > 50);
}

/* A mark that is recorded after a call without a length, and as far as the clock knows with it,
 * comes first. */
TEST(trace_order, of_points_and_calls_at_the_same_time) {
    begin();
    ring_clear();
    uint64_t at = FAKE_START + 5000;
    ring_add_span(ring, scopes[0], at, 0);
    stint_impl_ring_add(ring, (uint64_t)STINT_IMPL_EVENT_MARK << STINT_IMPL_EVENT_KIND | at, site);
    ring_add_span(ring, scopes[1], at - 1000, 2000);
    check_ring(1);
}

TEST(trace_order, of_intervals_beside_them) {
    begin();
    for (unsigned i = 0; i < 200; ++i) {
        ring_clear();
        add_trees(below(EVENTS), 1 + (unsigned)below(60));
        check_ring(any_rate());
    }
}

TEST(trace_order, of_a_ring_that_is_wrapped) {
    begin();
    for (unsigned i = 0; i < 50; ++i) {
        ring_clear();
        add_trees(EVENTS + below(EVENTS / 2), (unsigned)below(3));
        check_ring(any_rate());
    }
}

TEST(trace_order, of_a_damaged_ring) {
    begin();
    for (unsigned i = 0; i < 200; ++i) {
        ring_clear();
        add_trees(below(EVENTS * 5 / 4), (unsigned)below(3));
        damage();
        check_ring(any_rate());
    }
}

/* ---- From a file. */

static char *file_bytes;
static uint64_t file_length, pulls, spoilt_pull;

static uint64_t pull(int file, void *to, uint64_t bytes, uint64_t at) {
    (void)file;
    if (at >= file_length) {
        return 0;
    }
    bytes = bytes < file_length - at ? bytes : file_length - at;
    memcpy(to, file_bytes + at, bytes);
    if (++pulls == spoilt_pull) { /* half of an event that is being written */
        ((uint64_t *)to)[1] = stint_impl_span(scopes[1], 12345);
    }
    return bytes;
}

/* Reads the ring as of a file: the events are not in memory. */
static void take_file(struct traced *t, int is_written) {
    memset(t, 0, sizeof *t);
    free(file_bytes);
    free(copy);
    copy_arena();
    file_bytes = copy;
    file_length = used;
    copy_arena();
    char *events = copy + ((char *)(ring + 1) - arena.base);
    memset(events, 0, EVENTS * sizeof(struct stint_impl_event));
    CHECK(!snapshot_read(&t->s, copy, used, FAKE_START, &now));
    t->s.pull = pull;
    t->s.is_written = is_written;
    t->s.ns_per_tick = 1;
    pulls = spoilt_pull = 0;
}

TEST(trace_order, of_a_file) {
    struct traced t;
    begin();
    for (unsigned i = 0; i < 20; ++i) {
        ring_clear();
        add_trees(below(EVENTS * 5 / 4), (unsigned)below(4));
        take_file(&t, i % 2);
        CHECK(!traced_read(&t));
        CHECK(pulls > 0);
        check_as_sorted(&t);
        traced_free(&t);
    }
}

/* An event of which half is new is not told: it is another one when it is read again. */
TEST(trace_order, of_a_file_that_is_written) {
    struct traced t;
    begin();
    ring_clear();
    add_trees(EVENTS / 2, 0);
    take_file(&t, 1);
    spoilt_pull = 1;
    CHECK(!traced_read(&t));
    CHECK_EQ_U64(traced_overwritten(&t), 1);
    traced_free(&t);
    /* Places that were taken again. */
    take_file(&t, 1);
    struct stint_impl_ring *later =
        (struct stint_impl_ring *)(void *)(file_bytes + ((char *)ring - arena.base));
    later->head = EVENTS + 100;
    CHECK(!traced_read(&t));
    CHECK_EQ_U64(traced_overwritten(&t), 100);
    traced_free(&t);
}

TEST(trace_order, of_a_file_that_is_cut) {
    struct trace_walk walk;
    struct traced t;
    uint64_t told = 0;
    begin();
    ring_clear();
    add_trees(EVENTS / 2, 0);
    take_file(&t, 0);
    CHECK(!trace_read(&t.t, &t.s));
    file_length = (uint64_t)((char *)stint_impl_ring_event(ring, 1000) - arena.base);
    for (uint32_t i = 0; i < t.t.lane_count; ++i) {
        for (trace_walk_start(&walk, &t.t, i); trace_walk_next(&walk);) {
            ++told;
        }
    }
    CHECK(told < EVENTS / 4 && t.t.vanished > 0);
    CHECK_EQ_U64(told + t.t.vanished, t.t.event_count);
    traced_free(&t);
}

/* ---- Parts of it. */

static void check_part(struct traced *t) {
    const struct trace_event *whole = t->events, *e;
    for (uint32_t i = 0; i < t->t.lane_count; ++i) {
        struct trace_walk walk;
        trace_walk_start(&walk, &t->t, i);
        for (uint64_t k = 0; k < t->t.lanes[i].count; ++k, ++whole) {
            if (whole->start_ns < t->t.until_ns &&
                whole->start_ns + whole->duration_ns >= t->t.from_ns) {
                e = trace_walk_next(&walk);
                CHECK(e && is_same(e, whole));
            }
        }
        CHECK(!trace_walk_next(&walk));
    }
}

TEST(trace_order, a_part_has_what_touches_it) {
    struct traced t = {0};
    begin();
    for (unsigned i = 0; i < 100; ++i) {
        if (i % 10 == 0) {
            traced_free(&t);
            ring_clear();
            add_trees(EVENTS / 4, i % 20);
            CHECK(!snapshot_take(&t.s));
            CHECK(!traced_read(&t));
        }
        nested += t.t.rings->source[0].nested_count > 0;
        t.t.from_ns = t.events[below(t.t.event_count)].start_ns;
        t.t.until_ns = t.t.from_ns + below(500);
        check_part(&t);
    }
    CHECK(nested > 10 && nested < 90);
    traced_free(&t);
}
