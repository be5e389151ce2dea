/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/format.md against the structs: every field of the tables there is where they say, and every
 * field of a struct is in them.
 */
#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "arena/measures.h"
#include "base/status.h"
#include "harness.h"
#include "stint/lines.h"

/* A line of the document: a record, a field of the one before, or the key of a loss. */
struct said {
    const char *record;
    const char *name;
    size_t offset, size;           /* as the document says, */
    size_t real_offset, real_size; /* and as they are */
};

#define WHOLE(record, bytes) {#record, NULL, 0, bytes, 0, sizeof(struct record)},
#define F(record, name, offset, size)                                                              \
    {#record,                                                                                      \
     #name,                                                                                        \
     offset,                                                                                       \
     size,                                                                                         \
     offsetof(struct record, name),                                                                \
     sizeof(((struct record *)0)->name)},
#define LOSS(index, key)
static const struct said said[] = {
#include "format_fields.inc"
};
#undef WHOLE
#undef F
#undef LOSS

TEST(format, the_document_says_where_everything_is) {
    for (size_t i = 0; i < sizeof said / sizeof *said; ++i) {
        const struct said *f = &said[i];
        if (!CHECK(f->offset == f->real_offset && f->size == f->real_size)) {
            dprintf(harness_fd, "%s.%s: at %zu, %zu bytes\n", f->record, f->name ? f->name : "",
                    f->real_offset, f->real_size);
        }
    }
}

/* Fields of each record lie side by side, with no byte between them. */
TEST(format, every_byte_is_in_a_table) {
    size_t bytes = 0, end = 0, records = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; ++i) {
        if (!said[i].name) {
            CHECK_EQ_U64(end, bytes);
            bytes = said[i].size;
            end = 0;
            ++records;
            continue;
        }
        CHECK_EQ_U64(said[i].offset, end);
        end += said[i].size;
    }
    CHECK_EQ_U64(end, bytes);
    CHECK_EQ_U64(records, 31);
}

TEST(format, losses_it_names) {
    static const struct {
        uint32_t index;
        const char *key;
    } losses[] = {
#define WHOLE(record, bytes)
#define F(record, name, offset, size)
#define LOSS(index, key) {index, #key},
#include "format_fields.inc"
    };
    CHECK_EQ_U64(sizeof losses / sizeof *losses, STINT_STATUS_COUNT);
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        CHECK_EQ_U64(losses[i].index, i);
        CHECK_STR_EQ(status_text(i)->key, losses[i].key);
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
    CHECK_EQ_U64(STINT_STATUS_COUNT, 34);
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
