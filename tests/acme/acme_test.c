/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two event back ends at once: each stream is measured by its own, and one that fails leaves the
 * other. The second one is ACME's again, under other words; it cannot tell which streams it owns.
 */

#include "../unit/support.h"
#include "acme.h"
#include "arena/arena.h"
#include "session/gpu_about.h"

static const struct gpu_words other_words = {{[GPU_WORD_PLATFORM] = "OTHER"}};
static struct gpu_ops other_ops;
static unsigned other_records;
static int other_failure;
static struct acme_stream other_stream;

static int other_record(void *event, void *stream) {
    (void)event, (void)stream;
    ++other_records;
    return other_failure;
}

static const struct gpu_ops *open_other(void) {
    if (!other_ops.name) {
        struct gpu_ops ops = *acme_backend.open();
        ops.name = "other";
        ops.words = &other_words;
        ops.owns = NULL;
        ops.event_record = other_record;
        other_ops = ops;
    }
    return &other_ops;
}

static const struct gpu_ops *open_missing(void) {
    static struct gpu_ops ops;
    ops = gpu_none;
    ops.reason = "not installed";
    return &ops;
}

static int is_loaded;

static const struct gpu_ops *look_for_other(void) {
    return is_loaded ? open_other() : NULL;
}

static const struct gpu_backend other = {.name = "other", .open = open_other};
static const struct gpu_backend late = {
    .name = "late", .open = open_missing, .look = look_for_other};
static const struct gpu_backend *const both[] = {&other, &acme_backend, NULL};
static const struct gpu_backend *const only_acme[] = {&acme_backend, NULL};
static const struct gpu_backend *const late_first[] = {&late, &acme_backend, NULL};

static void time_stream(struct acme_stream *stream) {
    REGISTER_GPU_TIMER("kernel", stream);
    fake_advance(1000);
}

static const struct arena_device *device_of(const struct gpu_words *words) {
    for (uint32_t unit = arena_header()->first_device; unit;) {
        const struct arena_device *d = arena_at(unit);
        if (gpu_words_match(d->words, words)) {
            return d;
        }
        unit = d->next;
    }
    return NULL;
}

TEST(acme, each_stream_is_measured_by_its_back_end) {
    gpu_set_list(both);
    time_stream(&other_stream);
    CHECK(other_records == 2 && !acme_calls.records);
    time_stream(&acme_stream[1]);
    CHECK(other_records == 2 && acme_calls.records == 2);
    char text[200];
    gpu_about_describe(text, sizeof text);
    CHECK_STR_EQ(text, "other, acme");
    const struct arena_device *a = device_of(&acme_words), *o = device_of(&other_words);
    CHECK(a && o && a != o && a->number == 0 && o->number == 0); /* each counts its devices */
}

TEST(acme, the_first_answers_for_streams_without_an_owner) {
    gpu_set_list(both);
    CHECK(gpu_ops() == open_other());
    CHECK(gpu_stream_of(NULL).gpu == open_other());
    CHECK(gpu_stream_of(&acme_stream[3]).gpu == acme_backend.open());
    CHECK(gpu_ops_of(&acme_words) == acme_backend.open());
    CHECK(gpu_ops_of(NULL) == &gpu_none);
}

TEST(acme, one_that_fails_leaves_the_other) {
    gpu_set_list(both);
    time_stream(&other_stream);
    time_stream(&acme_stream[0]);
    other_failure = GPU_ILLEGAL_ADDRESS;
    time_stream(&other_stream);
    unsigned records = other_records;
    time_stream(&other_stream); /* is not asked again */
    CHECK_EQ_U64(other_records, records);
    unsigned before = acme_calls.records;
    time_stream(&acme_stream[0]);
    CHECK_EQ_U64(acme_calls.records, before + 2);
    other_failure = 0;
    acme_calls.failure = GPU_ILLEGAL_ADDRESS;
    time_stream(&acme_stream[0]);
    before = acme_calls.records;
    time_stream(&acme_stream[0]);
    CHECK_EQ_U64(acme_calls.records, before);
}

TEST(acme, a_library_that_is_loaded_later_is_used_beside_the_other) {
    gpu_set_list(late_first);
    time_stream(&acme_stream[0]);
    CHECK(acme_calls.records == 2 && gpu_ops() == acme_backend.open());
    is_loaded = 1;
    fake_advance(2000000000);
    time_stream(&acme_stream[0]); /* looks */
    CHECK(gpu_ops() == open_other());
    time_stream(&other_stream);
    CHECK_EQ_U64(other_records, 2);
    CHECK_EQ_U64(gpu_next_look, UINT64_MAX);
}

/* Declared as in capture/capture_private.h, which is for files without timers. */
void capture_tool_missed(const char *name);

static void say_missed(void *name) {
    capture_tool_missed(name);
}

TEST(acme, captures_name_the_platform) {
    gpu_set_list(only_acme);
    gpu_ops();
    char *said = harness_capture(2, say_missed, (void *)(uintptr_t) "range");
    CHECK_CONTAINS(said,
                   "no ACME context existed while it ran; begin it after the first ACME call");
}

TEST(acme, words_of_any_bytes_are_printable) {
    char bytes[GPU_WORDS_BYTES];
    struct gpu_words words;
    static const char text[] = "A\033[1m\n\nthird";
    gpu_words_read(text, sizeof text - 1, bytes, &words);
    CHECK_STR_EQ(words.word[0], "A?[1m");
    CHECK(!words.word[1]);
    CHECK_STR_EQ(words.word[2], "third");
    char longer[1000];
    memset(longer, 'x', sizeof longer);
    gpu_words_read(longer, sizeof longer, bytes, &words);
    CHECK_EQ_U64(strlen(words.word[0]), GPU_WORDS_BYTES - 1);
    gpu_words_read("", 0, bytes, &words);
    CHECK_STR_EQ(gpu_words_platform(&words), "GPU");
}
