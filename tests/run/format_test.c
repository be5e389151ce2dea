/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/format.md against the structs: every field of the tables there is where they say, and every
 * field of a struct is in them.
 */
#include <ctype.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "arena/measures.h"
#include "base/status.h"
#include "harness.h"
#include "stint/lines.h"

struct field {
    const char *record;
    const char *name;
    size_t offset;
    size_t size;
};

#define F(record, name)                                                                            \
    {#record, #name, offsetof(struct record, name), sizeof(((struct record *)0)->name)},
#define WHOLE(record) {#record, NULL, 0, sizeof(struct record)},

/* clang-format off */
static const struct field fields[] = {
    WHOLE(arena_header)
    F(arena_header, magic) F(arena_header, abi) F(arena_header, header_bytes) F(arena_header, size)
    F(arena_header, used) F(arena_header, pid) F(arena_header, parent_pid)
    F(arena_header, clock_kind) F(arena_header, first_thread) F(arena_header, thread_count)
    F(arena_header, site_count) F(arena_header, set_count) F(arena_header, first_device)
    F(arena_header, first_lane) F(arena_header, lane_count) F(arena_header, first_activity)
    F(arena_header, tracer_requested) F(arena_header, gpu_in_flight) F(arena_header, steps)
    F(arena_header, start) F(arena_header, end)
    F(arena_header, process_start_ns) F(arena_header, ticks_per_us) F(arena_header, about)
    F(arena_header, first_lines)
    F(arena_header, boot_id) F(arena_header, outside) F(arena_header, cost) F(arena_header, job)
    F(arena_header, lost) F(arena_header, set_chunk)
    F(arena_header, site_chunk)
    WHOLE(clock_stamp)
    F(clock_stamp, ticks) F(clock_stamp, monotonic_ns) F(clock_stamp, real_ns)
    WHOLE(arena_about)
    F(arena_about, program) F(arena_about, command) F(arena_about, host) F(arena_about, cpu)
    F(arena_about, compiler) F(arena_about, clock) F(arena_about, gpu) F(arena_about, cpus)
    F(arena_about, reference_ps) F(arena_about, rank)
    WHOLE(arena_job)
    F(arena_job, size) F(arena_job, local) F(arena_job, id) F(arena_job, ranks)
    F(arena_job, rank_count) F(arena_job, names) F(arena_job, name_count) F(arena_job, windows)
    F(arena_job, reserved) F(arena_job, clocks)
    WHOLE(arena_rank)
    F(arena_rank, start_real_ns) F(arena_rank, end_real_ns) F(arena_rank, rank)
    F(arena_rank, local) F(arena_rank, size) F(arena_rank, pid) F(arena_rank, host)
    F(arena_rank, job) F(arena_rank, killed) F(arena_rank, cells) F(arena_rank, cell_count)
    F(arena_rank, windows) F(arena_rank, parent_pid) F(arena_rank, helpers)
    WHOLE(arena_rank_name)
    F(arena_rank_name, site) F(arena_rank_name, set) F(arena_rank_name, threads)
    WHOLE(arena_rank_cell)
    F(arena_rank_cell, calls) F(arena_rank_cell, total_ns) F(arena_rank_cell, self_ns)
    WHOLE(arena_window) F(arena_window, ticks) F(arena_window, calls)
    WHOLE(arena_windows)
    F(arena_windows, next) F(arena_windows, site) F(arena_windows, set) F(arena_windows, seq)
    F(arena_windows, width) F(arena_windows, steps) F(arena_windows, room)
    F(arena_windows, lacks) F(arena_windows, by_calls) F(arena_windows, reserved)
    WHOLE(arena_cost)
    F(arena_cost, timed) F(arena_cost, recursive) F(arena_cost, dynamic) F(arena_cost, unused)
    F(arena_cost, reading) F(arena_cost, inner) F(arena_cost, outer)
    F(arena_cost, unused_inner) F(arena_cost, dense)
    F(arena_cost, gap) F(arena_cost, ranges) F(arena_cost, conditions)
    F(arena_cost, unused_share) F(arena_cost, cold) F(arena_cost, unused_cold)
    WHOLE(arena_lines)
    F(arena_lines, next) F(arena_lines, thread) F(arena_lines, file) F(arena_lines, count)
    F(arena_lines, content) F(arena_lines, reserved)
    WHOLE(stint_impl_line_cell)
    F(stint_impl_line_cell, hits) F(stint_impl_line_cell, self) F(stint_impl_line_cell, nested)
    F(stint_impl_line_cell, outer)
    WHOLE(arena_text) F(arena_text, length)
    WHOLE(arena_site)
    F(arena_site, name) F(arena_site, file) F(arena_site, function) F(arena_site, line)
    F(arena_site, level) F(arena_site, role) F(arena_site, dynamic) F(arena_site, watched)
    F(arena_site, plain) F(arena_site, reserved)
    WHOLE(arena_set) F(arena_set, name)
    WHOLE(arena_thread)
    F(arena_thread, next) F(arena_thread, tid) F(arena_thread, ordinal) F(arena_thread, alive)
    F(arena_thread, uses) F(arena_thread, root) F(arena_thread, frames) F(arena_thread, ring)
    F(arena_thread, start_ticks) F(arena_thread, end_ticks) F(arena_thread, name)
    F(arena_thread, lost)
    WHOLE(stint_impl_frame)
    F(stint_impl_frame, guard) F(stint_impl_frame, start) F(stint_impl_frame, low)
    F(stint_impl_frame, node) F(stint_impl_frame, recursive) F(stint_impl_frame, nested)
    F(stint_impl_frame, pending) F(stint_impl_frame, counted)
    WHOLE(stint_impl_node)
    F(stint_impl_node, seq) F(stint_impl_node, total) F(stint_impl_node, min)
    F(stint_impl_node, span) F(stint_impl_node, nested) F(stint_impl_node, histogram)
    F(stint_impl_node, site) F(stint_impl_node, parent) F(stint_impl_node, child)
    F(stint_impl_node, sibling) F(stint_impl_node, set) F(stint_impl_node, kind)
    F(stint_impl_node, measures)
    F(stint_impl_node, gpu) F(stint_impl_node, bytes) F(stint_impl_node, flops)
    F(stint_impl_node, first) F(stint_impl_node, first_at) F(stint_impl_node, max_at)
    F(stint_impl_node, max) F(stint_impl_node, recursions) F(stint_impl_node, info)
    F(stint_impl_node, raw)
    WHOLE(stint_impl_sent) F(stint_impl_sent, sender) F(stint_impl_sent, reserved)
    WHOLE(arena_partial) F(arena_partial, reserved) F(arena_partial, untimed)
    F(arena_partial, unused)
    WHOLE(arena_measures)
    F(arena_measures, next) F(arena_measures, range)
    WHOLE(stint_impl_histogram) F(stint_impl_histogram, bucket)
    F(stint_impl_histogram, open) F(stint_impl_histogram, reserved)
    WHOLE(arena_gpu)
    F(arena_gpu, seq) F(arena_gpu, total) F(arena_gpu, min) F(arena_gpu, max) F(arena_gpu, first)
    F(arena_gpu, histogram) F(arena_gpu, device) F(arena_gpu, reserved)
    WHOLE(arena_device)
    F(arena_device, next) F(arena_device, number) F(arena_device, name) F(arena_device, major)
    F(arena_device, minor) F(arena_device, bytes_per_s) F(arena_device, flops_per_s)
    F(arena_device, multiprocessors) F(arena_device, threads_per_mp)
    F(arena_device, blocks_per_mp) F(arena_device, registers_per_mp)
    F(arena_device, shared_per_mp) F(arena_device, reserved_shared) F(arena_device, words)
    F(arena_device, reserved)
    WHOLE(arena_lane)
    F(arena_lane, next) F(arena_lane, ring) F(arena_lane, device) F(arena_lane, number)
    F(arena_lane, stream) F(arena_lane, kind) F(arena_lane, context)
    F(arena_lane, rank) F(arena_lane, pid) F(arena_lane, ranked) F(arena_lane, reserved)
    WHOLE(arena_activity)
    F(arena_activity, seq) F(arena_activity, total) F(arena_activity, min) F(arena_activity, max)
    F(arena_activity, bytes) F(arena_activity, max_bytes) F(arena_activity, squares)
    F(arena_activity, first_at) F(arena_activity, last_at) F(arena_activity, launches)
    F(arena_activity, launch_total) F(arena_activity, delay_total) F(arena_activity, next)
    F(arena_activity, kind) F(arena_activity, detail) F(arena_activity, name)
    F(arena_activity, node) F(arena_activity, device) F(arena_activity, context)
    F(arena_activity, stream) F(arena_activity, histogram) F(arena_activity, varies)
    F(arena_activity, grid) F(arena_activity, block) F(arena_activity, registers)
    F(arena_activity, shared_static) F(arena_activity, shared_dynamic)
    F(arena_activity, samples) F(arena_activity, min_bytes) F(arena_activity, byte_squares)
    WHOLE(arena_samples) F(arena_samples, ns)
    WHOLE(arena_sizes)
    F(arena_sizes, times) F(arena_sizes, bytes) F(arena_sizes, histogram)
    WHOLE(stint_impl_ring)
    F(stint_impl_ring, head) F(stint_impl_ring, mask) F(stint_impl_ring, reserved)
    WHOLE(stint_impl_event) F(stint_impl_event, at) F(stint_impl_event, what)
};
/* clang-format on */
#define FIELDS (sizeof fields / sizeof *fields)

static unsigned seen[FIELDS];

static void check_field(const char *record, const char *name, size_t offset, size_t size) {
    for (size_t i = 0; i < FIELDS; ++i) {
        const struct field *f = &fields[i];
        if (!strcmp(f->record, record) && (name ? f->name && !strcmp(f->name, name) : !f->name)) {
            ++seen[i];
            if (!CHECK(f->offset == offset && f->size == size)) {
                dprintf(harness_fd, "%s.%s: at %zu, %zu bytes\n", record, name ? name : "",
                        f->offset, f->size);
            }
            return;
        }
    }
    harness_fail(__FILE__, __LINE__, "a field that there is not");
    dprintf(harness_fd, "%s.%s\n", record, name ? name : "");
}

/* "17 032 bytes, `struct x`.": the size of the record that the next table is of. */
static int parse_record(const char *line, char *record, size_t *bytes) {
    const char *of = strstr(line, "`struct ");
    const char *unit = strstr(line, " bytes");
    if (!of || !unit || unit > of || sscanf(of, "`struct %63[a-z_]`.", record) != 1) {
        return -1;
    }
    const char *from = unit;
    while (from > line &&
           (isdigit((unsigned char)from[-1]) ||
            (from[-1] == ' ' && from > line + 1 && isdigit((unsigned char)from[-2])))) {
        --from;
    }
    for (*bytes = 0; from < unit; ++from) {
        *bytes = isdigit((unsigned char)*from) ? *bytes * 10 + (size_t)(*from - '0') : *bytes;
    }
    return 0;
}

/* Fields of each record lie side by side, with no byte between them. */
TEST(format, every_byte_is_in_a_table) {
    for (size_t i = 0, end = 0; i < FIELDS; ++i) {
        if (!fields[i].name) {
            CHECK(i == 0 || end == 0);
            end = 0;
            size_t k = i + 1;
            for (; k < FIELDS && fields[k].name; ++k) {
                CHECK_EQ_U64(fields[k].offset, end);
                end += fields[k].size;
            }
            CHECK_EQ_U64(fields[i].size, end);
            end = 0;
        }
    }
}

/* The cells "INDEX KEY" of a line of the table of losses; *losses is their number so far. */
static void check_losses(const char *line, size_t *losses) {
    char key[64];
    size_t index;
    for (const char *cell = line; (cell = strstr(cell, "| ")); ++cell) {
        int end = 0;
        if (sscanf(cell, "| %zu %63[a-z_] |%n", &index, key, &end) == 2 && end) {
            const struct status_text *s = status_text((uint32_t)index);
            CHECK_EQ_U64(index, *losses);
            CHECK_STR_EQ(s ? s->key : NULL, key);
            ++*losses;
        }
    }
}

TEST(format, the_document_says_where_everything_is) {
    char line[1024], record[64] = "", name[64];
    size_t offset, size, bytes, losses = 0;
    FILE *f = fopen(FORMAT_DOCUMENT, "r");
    if (!CHECK(f != NULL)) {
        return;
    }
    while (fgets(line, sizeof line, f)) {
        if (!parse_record(line, record, &bytes)) {
            check_field(record, NULL, 0, bytes);
        } else if (sscanf(line, "| %zu | %zu | %63[a-z_] |", &offset, &size, name) == 3) {
            check_field(record, name, offset, size);
        } else {
            check_losses(line, &losses);
        }
    }
    fclose(f);
    CHECK_EQ_U64(losses, STINT_STATUS_COUNT);
    for (size_t i = 0; i < FIELDS; ++i) {
        if (!CHECK_EQ_U64(seen[i], 1)) {
            dprintf(harness_fd, "%s.%s\n", fields[i].record, fields[i].name ? fields[i].name : "");
        }
    }
}

TEST(format, numbers_it_names) {
    CHECK_EQ_U64(ARENA_FORMAT, 5);
    CHECK_EQ_U64(ARENA_FORMAT_OLDEST, 4);
    CHECK_EQ_U64(STINT_IMPL_UNIT, 64);
    CHECK_EQ_U64(STINT_IMPL_FRAMES, 257);
    CHECK_EQ_U64(STINT_IMPL_BUCKETS, 704);
    CHECK_EQ_U64(ARENA_BUCKETS_OF_4, 640);
    CHECK_EQ_U64(STINT_IMPL_NODE_BITS, 26);
    CHECK_EQ_U64(STINT_IMPL_SPAN_BITS, 38);
    CHECK_EQ_U64(STINT_IMPL_EVENT_KIND, 62);
    CHECK_EQ_U64(STINT_IMPL_EVENT_MARK, 1);
    CHECK_EQ_U64(STINT_IMPL_EVENT_VALUE, 2);
    CHECK_EQ_U64(STINT_IMPL_EVENT_PAYLOAD, 3);
    CHECK_EQ_U64(ARENA_SITES_PER_CHUNK, 256);
    CHECK_EQ_U64(ARENA_SETS_PER_CHUNK, 256);
    CHECK_EQ_U64(STINT_STATUS_COUNT, 33);
    CHECK_EQ_U64(MEASURE_COUNT, 69); /* from 63 on they lie outside of blocks */
    CHECK_EQ_U64(ARENA_LANE_ACTIVITIES, 1);
}

TEST(format, activities_it_names) {
    CHECK_EQ_U64(ACTIVITY_KERNEL, 1);
    CHECK_EQ_U64(ACTIVITY_SYNC, 6);
    CHECK_EQ_U64(ACTIVITY_OVERHEAD, 9);
    CHECK_EQ_U64(ACTIVITY_BUSY, 10);
    CHECK_EQ_U64(ACTIVITY_MEMORY, 13);
    CHECK_EQ_U64(ACTIVITY_UNIFIED, 14);
    CHECK_EQ_U64(ACTIVITY_TAKEN_BACK, 15);
    CHECK_EQ_U64(ACTIVITY_LINE, 16);
    CHECK_EQ_U64(ACTIVITY_KINDS, 17);
    CHECK_EQ_U64(ACTIVITY_COPY_HTOD, 1);
    CHECK_EQ_U64(ACTIVITY_COPY_PTOP, 10);
    CHECK_EQ_U64(ACTIVITY_MEMORY_PAGEABLE, 1);
    CHECK_EQ_U64(ACTIVITY_MEMORY_MANAGED_STATIC, 7);
    CHECK_EQ_U64(ACTIVITY_COPY_DETAIL(2, 3, 4, 1), 2 | 3 << 8 | 4 << 16 | 1 << 24);
    CHECK_EQ_U64(ACTIVITY_SYNC_CONTEXT, 4);
    CHECK_EQ_U64(ACTIVITY_BUSY_OVERLAP, 3);
    CHECK_EQ_U64(ACTIVITY_GAP_BETWEEN, 4);
    CHECK_EQ_U64(ACTIVITY_STEP_BUSY, 1);
    CHECK_EQ_U64(ACTIVITY_TAKEN_GAP(4), 11 << 8 | 4);
    CHECK_EQ_U64(ACTIVITY_UNIFIED_DTOD, 8);
}
