/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that a file of a few kilobytes may cause its reader. Lists that lead back to their
 * beginning, and more sets than a program fills, are read as often as the file has room for
 * entries, and no more. The test counts and takes no times: the linker's --wrap replaces the
 * functions that are called for each entry, and a second read of the nodes faults on their page.
 */
#include "arena/arena.h"
#include "harness.h"
#include "model/rows.h"
#include "model/trace.h"
#include "report/report.h"

/* ---- A list of streams with one entry, which is its own successor. */

enum { LANE = sizeof(struct arena_header) / STINT_IMPL_UNIT + 1 };

static _Alignas(STINT_IMPL_UNIT) struct {
    struct arena_header header;
    char rest[STINT_IMPL_UNIT - sizeof(struct arena_header) % STINT_IMPL_UNIT];
    struct arena_lane lane;
} file;

_Static_assert(offsetof(__typeof__(file), lane) == LANE * STINT_IMPL_UNIT, "at a unit");

static unsigned names;

void __wrap_trace_name_stream(struct trace_lane *out, const struct arena_lane *l,
                              const struct snapshot *s);
void __wrap_trace_name_stream(struct trace_lane *out, const struct arena_lane *l,
                              const struct snapshot *s) {
    (void)out, (void)s;
    CHECK(l == &file.lane);
    ++names;
}

TEST(circles, streams_are_as_many_as_the_file_has_room_for) {
    struct clock_stamp now = {2000, 2000, 2000};
    struct snapshot s;
    struct trace t;
    file.header = (struct arena_header){.abi = ARENA_FORMAT,
                                        .header_bytes = sizeof file.header,
                                        .size = sizeof file,
                                        .used = sizeof file,
                                        .start = {1000, 1000, 1000},
                                        .ticks_per_us = 1000 << 8,
                                        .first_lane = LANE};
    memcpy(file.header.magic, ARENA_MAGIC, sizeof file.header.magic);
    file.lane.next = LANE;
    if (CHECK(!snapshot_read(&s, (const char *)&file, sizeof file, 1000, &now))) {
        CHECK(!trace_read(&t, &s));
        CHECK_EQ_U64(names, sizeof file / STINT_IMPL_UNIT);
        CHECK_EQ_U64(t.lane_count, 0); /* none of them has a ring */
        snapshot_free(&s);
    }
}

/* ---- Sets of the legacy view. */

enum { NODES = 1000, SETS = 16384 };

static char *nodes_at, *open_page;
static size_t page;
static unsigned groupings, looks;

int __real_rows_flat(struct rows *out, struct snapshot *s, int each_thread);
int __wrap_rows_flat(struct rows *out, struct snapshot *s, int each_thread);
int __wrap_rows_flat(struct rows *out, struct snapshot *s, int each_thread) {
    ++groupings;
    return __real_rows_flat(out, s, each_thread);
}

/* One page of the nodes is open at a time. */
static void look(int number, siginfo_t *info, void *context) {
    char *at = (char *)info->si_addr;
    (void)number, (void)context;
    if (at < nodes_at || at >= nodes_at + NODES * sizeof(struct snapshot_node)) {
        signal(SIGSEGV, SIG_DFL);
        return;
    }
    if (open_page) {
        mprotect(open_page, page, PROT_NONE);
    }
    open_page = nodes_at + (size_t)(at - nodes_at) / page * page;
    mprotect(open_page, page, PROT_READ);
    ++looks;
}

static size_t headers_in(const struct text *t) {
    size_t found = 0;
    for (size_t i = 0; i + 8 < t->length; ++i) {
        found += !memcmp(t->data + i, "StatSet:", 8);
    }
    return found;
}

/* Each node is in a set of its own. Two looks: what has calls, and the rows. A node on two pages is
 * three faults. */
TEST(circles, sets_of_the_legacy_view_cost_two_looks_at_the_nodes) {
    static const char *set_names[SETS];
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
    struct report_options options = {.view = REPORT_LEGACY, .set = REPORT_ALL_SETS};
    struct snapshot s = {.node_count = NODES, .set_count = SETS, .sets = set_names};
    struct text out;
    struct report r = {.snapshot = &s, .options = &options, .out = &out};
    size_t bytes = NODES * sizeof *s.nodes;
    page = (size_t)sysconf(_SC_PAGESIZE);
    s.nodes = (struct snapshot_node *)mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint32_t i = 0; i < SETS; ++i) {
        set_names[i] = "set";
    }
    for (uint32_t i = 0; i < NODES; ++i) {
        s.nodes[i] = (struct snapshot_node){.count = 1,
                                            .set = (uint16_t)(SETS - 1 - i),
                                            .parent = SNAPSHOT_NONE,
                                            .sender = SNAPSHOT_NONE,
                                            .extra = &snapshot_no_extra,
                                            .measures = &snapshot_no_measures};
    }
    nodes_at = (char *)s.nodes;
    CHECK(!mprotect(nodes_at, bytes, PROT_NONE) && !sigaction(SIGSEGV, &action, NULL));
    text_start(&out);
    CHECK(!report_render(&r));
    CHECK_EQ_U64(headers_in(&out), 1 + NODES);
    CHECK_EQ_U64(groupings, 1);
    CHECK(looks >= 2 * (bytes / page) && looks <= 6 * (bytes / page + 1));
    text_free(&out);
    snapshot_free(&s);
}
