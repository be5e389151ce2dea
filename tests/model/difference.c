/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the library's rows with the sums of the reference's calls: the rows of all threads and
 * of each thread, and the tree. The comparison is exact, except for values that the documents say
 * come from the histogram: percentiles, and after a reset the bounds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "interval/interval.h"
#include "known.h"
#include "model/rows.h"
#include "reference.h"
#include "runner.h"
#include "stint/stint.h"

/* The values that a row must have. */
struct expected {
    uint64_t calls, left, samples, total, self, min, max, first, first_at, open, bytes, flops;
    uint64_t threads;
    int loose;                   /* a node of it had calls before the reset */
    uint64_t site_min, site_max; /* then: of all paths of its sites */
    int firsts;                  /* first calls that began at the same time */
    uint64_t ticks[REFERENCE_CALLS];
};
static struct expected want;
static const char *which;

struct key {
    int name, set;
    int recorder; /* REFERENCE_NONE: all */
    int node;     /* of the tree: its path; else NONE */
};

static int by_size(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Returns whether the node is inside a scope of the same name and set, whose time has its calls. */
static int node_is_inner(int node) {
    const struct reference_node *n = &reference.node[node];
    for (int p = n->parent; p != REFERENCE_NONE; p = reference.node[p].parent) {
        const struct reference_node *a = &reference.node[p];
        if (a->set == n->set && a->name == n->name) {
            return 1;
        }
    }
    return 0;
}

static int node_is_of(int node, const struct key *k) {
    const struct reference_node *n = &reference.node[node];
    if (k->node != REFERENCE_NONE) {
        return n->path == reference.node[k->node].path;
    }
    return n->set == k->set && n->name == k->name &&
           (k->recorder == REFERENCE_NONE || n->recorder == k->recorder);
}

/* The time that the node's outermost open call has been open, in the interval. */
static uint64_t open_time(int node) {
    const struct reference_node *n = &reference.node[node];
    for (int t = 0; t < PROGRAM_THREADS; ++t) {
        const struct reference_thread *r = &reference.thread[t];
        for (int i = 0; i < r->depth; ++i) {
            const struct reference_frame *f = &r->frame[i];
            if (f->node == node && !f->moved && f->start <= reference.now) {
                uint64_t open = reference.now - f->start;
                uint64_t since = reference.now - n->reset_at;
                return n->reset && n->reset_at < reference.now && open > since ? since : open;
            }
        }
    }
    return 0;
}

static void expect_calls(int node, int outer) {
    uint64_t total = 0, nested = 0;
    for (int i = 0; i < reference.calls; ++i) {
        const struct reference_call *c = &reference.call[i];
        if (c->node != node || c->old) {
            continue;
        }
        ++want.calls;
        total += c->ticks;
        nested += c->nested;
        if (outer) {
            want.ticks[want.samples++] = c->ticks;
        }
    }
    want.total += outer ? total : 0;
    uint64_t inner = reference.node[node].inner - reference.node[node].old_inner;
    if (inner > INT64_MAX) { /* below 0, as calls in it took longer: the clock went back */
        nested -= inner;
    } else {
        total += inner;
    }
    want.self += total > nested ? total - nested : 0;
}

/* The first call of a node, while no reset forgot it. */
static void expect_first(int node) {
    for (int i = 0; i < reference.calls; ++i) {
        const struct reference_call *c = &reference.call[i];
        if (c->node == node) {
            if (c->old || !c->ticks || (want.firsts && c->start > want.first_at)) {
                return;
            }
            want.firsts = want.firsts && c->start == want.first_at ? want.firsts + 1 : 1;
            want.first_at = c->start;
            want.first = c->ticks;
            return;
        }
    }
}

/* The bounds of the calls of the same site, set and recorder, in all places of the tree. */
static void expect_site(int node) {
    const struct reference_node *n = &reference.node[node];
    for (int i = 0; i < reference.calls; ++i) {
        const struct reference_call *c = &reference.call[i];
        const struct reference_node *m = &reference.node[c->node];
        if (!c->old && m->site == n->site && m->set == n->set && m->recorder == n->recorder) {
            want.site_min = c->ticks < want.site_min ? c->ticks : want.site_min;
            want.site_max = c->ticks > want.site_max ? c->ticks : want.site_max;
        }
    }
}

static void expect(const struct key *k) {
    uint64_t recorders = 0;
    memset(&want, 0, offsetof(struct expected, ticks));
    want.site_min = UINT64_MAX;
    for (int i = 0; i < reference.nodes; ++i) {
        const struct reference_node *n = &reference.node[i];
        if (!node_is_of(i, k)) {
            continue;
        }
        int outer = k->node != REFERENCE_NONE || !node_is_inner(i);
        uint64_t before = want.samples, open = open_time(i);
        expect_calls(i, outer);
        want.left += n->left - n->old_left;
        want.calls += n->recursions - n->old_recursions + n->left - n->old_left;
        want.bytes += n->bytes - n->old_bytes;
        want.flops += n->flops - n->old_flops;
        want.open = open > want.open ? open : want.open;
        if (want.samples > before) {
            recorders |= (uint64_t)1 << n->recorder;
            want.loose |= n->had_calls;
            expect_site(i);
            expect_first(i);
        }
    }
    want.threads = (uint64_t)__builtin_popcountll(recorders);
    qsort(want.ticks, want.samples, sizeof *want.ticks, by_size);
    want.min = want.samples ? want.ticks[0] : 0;
    want.max = want.samples ? want.ticks[want.samples - 1] : 0;
}

static void same(const struct stint_row *r, const char *column, u128 have, u128 should) {
    if (have != should) {
        run_differs("%s %.20s set %u thread %d: %s is %s, should be %s", which, r->name, r->set,
                    (int)r->thread, column, number_whole(have).text, number_whole(should).text);
    }
}

/* A bucket is a sixteenth of its value wide. */
static void close_to(const struct stint_row *r, const char *column, uint64_t have,
                     uint64_t should) {
    uint64_t off = have > should ? have - should : should - have;
    if (off > should / 16 + 1) {
        run_differs("%s %.20s set %u thread %d: %s is %" PRIu64 ", should be about %" PRIu64, which,
                    r->name, r->set, (int)r->thread, column, have, should);
    }
}

static uint64_t rank(uint64_t permille) {
    return want.ticks[(want.samples * permille + 999) / 1000 - 1];
}

/* Compares bounds from a histogram. A row of the tree has the histogram of its site, in all its
 * places. */
static void compare_bounds(const struct stint_row *r) {
    if (r->min_ns > want.min || r->min_ns + want.site_min / 16 + 1 < want.site_min ||
        r->max_ns < want.max || r->max_ns > want.site_max + want.site_max / 16 + 1) {
        run_differs("%s %.20s set %u: %" PRIu64 " to %" PRIu64 ", should be %" PRIu64
                    " to %" PRIu64,
                    which, r->name, r->set, r->min_ns, r->max_ns, want.min, want.max);
    }
}

static void compare_times(const struct stint_row *r, int percentiles) {
    if (want.loose && KNOWN_SELF) {
        return;
    }
    if (want.loose && !percentiles) {
        compare_bounds(r);
    } else if (want.loose) {
        close_to(r, "min", r->min_ns, want.min);
        close_to(r, "max", r->max_ns, want.max);
    } else {
        same(r, "min", r->min_ns, want.min);
        same(r, "max", r->max_ns, want.max);
    }
    same(r, "avg", r->avg_ns, want.samples ? want.total / want.samples : 0);
    if (want.firsts < 2) {
        same(r, "first", r->first_ns, want.first);
        same(r, "has first", (r->has & ROW_FIRST) != 0, want.first != 0);
    }
    if (percentiles && want.samples && !KNOWN_SELF) {
        close_to(r, "p50", r->percentile_ns[PERCENTILE_P50], rank(500));
        close_to(r, "p90", r->percentile_ns[PERCENTILE_P90], rank(900));
        close_to(r, "p99", r->percentile_ns[PERCENTILE_P99], rank(990));
        same(r, "has percentiles", (r->has & ROW_HISTOGRAM) != 0, 1);
    }
}

static const char *info_of_max(const struct key *k, const char *have) {
    const char *one = "";
    for (int i = 0; i < reference.calls; ++i) {
        const struct reference_call *c = &reference.call[i];
        if (!c->old && node_is_of(c->node, k) && c->ticks == want.max &&
            (k->node != REFERENCE_NONE || !node_is_inner(c->node))) {
            one = c->info ? c->info : "";
            if (!strcmp(one, have)) {
                return one;
            }
        }
    }
    return one;
}

/* A sum of intervals that certainly overlapped has no share; only an interval can make a row's
 * total longer than all its threads' time. */
static uint64_t share_expected(const struct snapshot *s, const struct stint_row *r) {
    double most = (double)s->wall_ns * (double)u64_max(want.threads, 1);
    if (r->share_ppm == ROW_UNKNOWN && (double)want.total > most) {
        return ROW_UNKNOWN;
    }
    if (!s->wall_ns) {
        return 0;
    }
    return snapshot_whole((double)want.total * 1e6 / (double)s->wall_ns);
}

static void compare_row(const struct snapshot *s, const struct stint_row *r, const struct key *k,
                        int percentiles) {
    expect(k);
    same(r, "calls", r->calls, want.calls);
    same(r, "left", r->extra->measure[MEASURE_LEFT_CALLS], want.left);
    same(r, "samples", r->samples, want.samples);
    same(r, "total", r->total_ns, want.total);
    if (!KNOWN_SELF) {
        same(r, "self", r->self_ns, want.self);
    }
    same(r, "bytes", r->extra->bytes, want.bytes);
    same(r, "flops", r->extra->flops, want.flops);
    same(r, "open", r->extra->open_ns, want.open);
    same(r, "threads", r->threads, want.threads);
    same(r, "has samples", (uint64_t)((r->has & ROW_SAMPLES) != 0), want.samples != 0);
    same(r, "share", r->share_ppm, share_expected(s, r));
    compare_times(r, percentiles);
    const char *info = info_of_max(k, r->info);
    if (!want.loose && strcmp(info, r->info)) {
        run_differs("%s %.20s: info is \"%s\", should be \"%s\"", which, r->name, r->info, info);
    }
}

/* A site of that name, or NONE. */
static int site_named(const char *name, size_t length) {
    for (int i = 0; i < REFERENCE_SITES; ++i) {
        struct program_name n = reference_site(i).name;
        if (n.bytes && n.length == length && !memcmp(n.bytes, name, length)) {
            return i;
        }
    }
    return REFERENCE_NONE;
}

static void compare_stat(const struct stint_row *r, int site) {
    stint_stat st;
    char name[1001];
    struct program_name n = reference_site(site).name;
    memcpy(name, n.bytes, n.length);
    name[n.length] = '\0';
    if (memchr(n.bytes, '\0', n.length)) {
        return;
    }
    if (stint_stat_get(name, &st, sizeof st)) {
        if (r->calls) {
            run_differs("stint_stat_get(\"%.20s\") finds none", name);
        }
        return;
    }
    which = "getter";
    same(r, "calls", st.calls, r->calls);
    same(r, "samples", st.samples, r->samples);
    same(r, "total", st.total_ns, r->total_ns);
    same(r, "self", st.self_ns, r->self_ns);
    same(r, "min", st.min_ns, r->min_ns);
    same(r, "max", st.max_ns, r->max_ns);
    same(r, "p50", st.p50_ns, r->percentile_ns[PERCENTILE_P50]);
    same(r, "p99", st.p99_ns, r->percentile_ns[PERCENTILE_P99]);
    same(r, "first", st.first_ns, r->first_ns);
    same(r, "threads", st.threads, r->threads);
}

/* Each name and set that has something to show has one row. */
static void expect_rows(const struct rows *rows, int each) {
    for (int i = 0; i < reference.nodes; ++i) {
        const struct reference_node *n = &reference.node[i];
        struct key k = {n->name, n->set, each ? n->recorder : REFERENCE_NONE, REFERENCE_NONE};
        struct program_name name = reference_site(n->site).name;
        int found = 0;
        expect(&k);
        for (uint32_t row = 0; row < rows->count; ++row) {
            const struct stint_row *r = &rows->row[row];
            found += (int)r->set == n->set && r->name_length == name.length &&
                     !memcmp(r->name, name.bytes, name.length) &&
                     (!each || (int)r->thread == n->recorder);
        }
        if (found > 1 || (!found && (want.calls || want.open))) {
            run_differs("%s %.20s set %d recorder %d: %d rows", which, name.bytes, n->set,
                        n->recorder, found);
        }
    }
}

static void compare_flat(struct snapshot *s, int each) {
    struct rows rows;
    which = each ? "thread's row" : "row";
    if (rows_flat(&rows, s, each)) {
        run_differs("no rows");
        return;
    }
    expect_rows(&rows, each);
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        struct key k = {site_named(r->name, r->name_length), (int)r->set,
                        each ? (int)r->thread : REFERENCE_NONE, REFERENCE_NONE};
        if (k.name == REFERENCE_NONE) {
            run_differs("%s %.20s: a name that the program has not", which, r->name);
        } else {
            compare_row(s, r, &k, 1);
        }
    }
}

/* A node of that row's path, or NONE; above is that of the row around. */
static int node_at(const struct stint_row *r, int above) {
    int name = site_named(r->name, r->name_length);
    for (int i = 0; i < reference.nodes; ++i) {
        const struct reference_node *n = &reference.node[i];
        int path = n->parent == REFERENCE_NONE ? REFERENCE_NONE : reference.node[n->parent].path;
        if (path == above && n->name == name && n->set == (int)r->set &&
            n->interval == (r->kind == STINT_IMPL_INTERVAL_NODE)) {
            return n->path;
        }
    }
    return REFERENCE_NONE;
}

static void compare_tree(struct snapshot *s) {
    struct rows rows;
    which = "path";
    if (rows_tree(&rows, s)) {
        run_differs("no tree");
        return;
    }
    u128 calls = 0, should = 0;
    static int path[REFERENCE_NODES];
    for (uint32_t i = 0; i < rows.count && i < REFERENCE_NODES; ++i) {
        const struct stint_row *r = &rows.row[i];
        int above = r->parent == SNAPSHOT_NONE ? REFERENCE_NONE : path[r->parent];
        struct key k = {0, 0, REFERENCE_NONE, node_at(r, above)};
        path[i] = k.node;
        calls += rows.row[i].calls;
        if (k.node == REFERENCE_NONE) {
            run_differs("path to %.20s: the program has none", rows.row[i].name);
        } else {
            compare_row(s, &rows.row[i], &k, 0);
        }
    }
    for (int i = 0; i < reference.calls; ++i) {
        should += !reference.call[i].old;
    }
    for (int i = 0; i < reference.nodes; ++i) {
        should += reference.node[i].recursions - reference.node[i].old_recursions;
        should += reference.node[i].left - reference.node[i].old_left;
    }
    if (calls != should) {
        run_differs("the tree has %s calls, should have %s", number_whole(calls).text,
                    number_whole(should).text);
    }
}

static int loss_of(uint32_t status) {
    switch (status) {
    case STINT_STATUS_ABANDONED:
        return LOSS_ABANDONED;
#if !KNOWN_GUARD
    case STINT_STATUS_OTHER_THREAD:
        return LOSS_OTHER_THREAD;
#endif
    case STINT_STATUS_STRAY_END:
        return LOSS_STRAY_END;
    case STINT_STATUS_TOO_DEEP:
        return LOSS_TOO_DEEP;
    case STINT_STATUS_CLOCK_BACK:
        return LOSS_CLOCK_BACK;
    case STINT_STATUS_BAD_SAMPLE:
        return LOSS_BAD_SAMPLE;
    case STINT_STATUS_NO_SCOPE:
        return LOSS_NO_SCOPE;
    default:
        return REFERENCE_NONE;
    }
}

static void compare_losses(const struct snapshot *s) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        int loss = loss_of(i);
        uint64_t should = loss == REFERENCE_NONE ? 0 : reference.lost[loss];
        if (i != STINT_STATUS_NAME_CUT && s->lost[i] != should) {
            run_differs("lost, %s: %" PRIu64 ", should be %" PRIu64, status_text(i)->key,
                        s->lost[i], should);
        }
    }
}

void compare_all(void) {
    struct snapshot s;
    struct rows rows;
    if (interval_open(&s, 0)) {
        run_differs("no snapshot");
        return;
    }
    uint64_t wall = reference.now > reference.interval ? reference.now - reference.interval : 0;
    if (s.wall_ns != wall) {
        run_differs("wall time is %" PRIu64 ", should be %" PRIu64, s.wall_ns, wall);
    }
    compare_losses(&s);
    compare_flat(&s, 0);
    compare_flat(&s, 1);
    compare_tree(&s);
    interval_close(&s);
    if (interval_open(&s, 0)) {
        return;
    }
    uint32_t count = rows_flat(&rows, &s, 0) ? 0 : rows.count;
    struct stint_row *row = calloc(count + 1, sizeof *row);
    for (uint32_t i = 0; row && i < count; ++i) {
        row[i] = rows.row[i]; /* but for the texts: those go with the snapshot */
        int site = site_named(row[i].name, row[i].name_length);
        row[i].name = site == REFERENCE_NONE ? "" : reference_site(site).name.bytes;
        row[i].name_id = (uint32_t)site;
    }
    interval_close(&s);
    for (uint32_t i = 0; row && i < count; ++i) {
        int site = (int)row[i].name_id;
        if (!row[i].set && site != REFERENCE_NONE && site < REFERENCE_DEEP) {
            compare_stat(&row[i], site);
        }
    }
    free(row);
}

void compare_ledger(void) {
    struct snapshot s;
    uint64_t calls = 0, lost = 0, open = 0;
    if (snapshot_take(&s)) {
        return;
    }
    for (uint32_t i = 0; i < s.node_count; ++i) {
        calls += s.nodes[i].count + s.nodes[i].recursions;
    }
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        int loss = loss_of(i);
        lost += loss != REFERENCE_NONE && loss <= LOSS_LAST_OF_SCOPES ? s.lost[i] : 0;
    }
    for (int i = 0; i < PROGRAM_THREADS; ++i) {
        for (int k = 0; k < reference.thread[i].depth; ++k) {
            open += !reference.thread[i].frame[k].moved;
        }
    }
    if (calls + lost + open != reference.opened) {
        run_differs("opened %" PRIu64 ", recorded %" PRIu64 " + lost %" PRIu64 " + open %" PRIu64,
                    reference.opened, calls, lost, open);
    }
    snapshot_free(&s);
}
