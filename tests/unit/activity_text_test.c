/* SPDX-License-Identifier: Apache-2.0 */
#include "activity/activity_private.h"

#include "activity_made.h"

static char text[ARENA_NAME_BYTES + 1];

static const struct activity_text *find_or_add(const char *name) {
    const struct activity_text *t = activity_text_find(name);
    return t ? t : activity_text_add(name, name);
}

/* Returns the text that the arena has for that name. */
static const char *text_of(const char *name) {
    activity_begin();
    const struct activity_text *t = find_or_add(name);
    snprintf(text, sizeof text, "%s", t->text ? arena_text_at(t->text)->bytes : "(none)");
    CHECK(!t->text || arena_text_at(t->text)->length == strlen(text));
    activity_end();
    return text;
}

TEST(activity_text, names_are_kept_once) {
    CHECK(!activity_open());
    CHECK_STR_EQ(text_of("main_kernel"), "main_kernel");
    const struct activity_text *first = find_or_add("main_kernel");
    char same[] = "main_kernel";
    CHECK(find_or_add(same) == first);
    CHECK(find_or_add("main_kernel2") != first);
    CHECK(find_or_add("main_kerne") != first);
    CHECK_STR_EQ(text_of(NULL), "(none)");
    CHECK_STR_EQ(text_of(""), "(none)");
}

TEST(activity_text, mangled_ones_in_words) {
    CHECK(!activity_open());
    add(kernel("_Z5scalePff", 1, 10, 20));
    const char *scale = text_of("_Z5scalePff");
    CHECK(!strcmp(scale, "scale(float*, float)") || !strcmp(scale, "_Z5scalePff"));
    add(kernel("_Znonsense", 1, 10, 20));
    CHECK_STR_EQ(text_of("_Znonsense"), "_Znonsense");
}

TEST(activity_text, every_length) {
    char name[1200];
    CHECK(!activity_open());
    for (size_t i = 1; i < sizeof name; ++i) {
        memset(name, 'x', i);
        name[i] = '\0';
        CHECK_EQ_U64(strlen(text_of(name)), i < ARENA_NAME_BYTES ? i : ARENA_NAME_BYTES);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_NAME_CUT), sizeof name - 1 - ARENA_NAME_BYTES);
}

TEST(activity_text, too_many) {
    char name[32];
    unsigned kept = 0;
    CHECK(!activity_open());
    for (unsigned i = 0; i < 20000; ++i) {
        snprintf(name, sizeof name, "kernel_%u", i);
        activity_begin();
        const struct activity_text *t = find_or_add(name);
        kept += t->text != 0;
        CHECK(t->hash != 0);
        activity_end();
    }
    CHECK_EQ_U64(kept, 16384 / 4 * 3);
    CHECK_STR_EQ(text_of("kernel_17"), "kernel_17");
    add(kernel("one more", 1, 10, 20));
    add(kernel("and another", 1, 10, 20));
    add(kernel("kernel_17", 1, 10, 20));
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "")), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_FULL), 2);
}
