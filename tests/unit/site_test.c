/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites and their numbers: equal content has equal numbers, whatever the address. Names are cut at
 * a whole character, and levels and filters turn sites off.
 */
#include "record/site.h"

#include "record/registry.h"
#include "recorded.h"

static struct stint_impl_site site_named(const char *name, uint32_t line) {
    struct stint_impl_site s = {name, "file.c", "function", line, 0, 0, 0, 0};
    return s;
}

static uint32_t id_of(struct stint_impl_site *s) {
    return (uint32_t)site_resolve(s) & STINT_IMPL_SITE_ID;
}

static uint32_t id_of_name(const char *bytes, size_t length) {
    struct site_text t = {bytes, length};
    return (uint32_t)site_resolve_name(t, NULL);
}

TEST(site, numbered_from_one_in_a_row) {
    struct stint_impl_site a = site_named("a", 1), b = site_named("b", 2);
    CHECK_EQ_U64(id_of(&a), 1);
    CHECK_EQ_U64(id_of(&b), 2);
    CHECK_EQ_U64(a.word, (uint64_t)registry_gate() << 32 | 1);
}

TEST(site, same_content_same_number) {
    struct stint_impl_site a = site_named("a", 1), again = site_named("a", 1);
    struct stint_impl_site line = site_named("a", 2), role = site_named("a", 1);
    struct stint_impl_site file = site_named("a", 1), function = site_named("a", 1);
    role.role = STINT_ROLE_OP;
    file.file = "other.c";
    function.function = "other";
    CHECK_EQ_U64(id_of(&a), 1);
    CHECK_EQ_U64(id_of(&again), 1);
    CHECK_EQ_U64(id_of(&line), 2);
    CHECK_EQ_U64(id_of(&role), 3);
    CHECK_EQ_U64(id_of(&file), 4);
    CHECK_EQ_U64(id_of(&function), 5);
}

/* A library unloaded, another one loaded in its place: the site's memory is new, its address is
 * not. */
TEST(site, address_is_no_identity) {
    struct stint_impl_site s = site_named("old", 1);
    CHECK_EQ_U64(id_of(&s), 1);
    s = site_named("new", 1);
    CHECK_EQ_U64(id_of(&s), 2);
    s = site_named("old", 1);
    CHECK_EQ_U64(id_of(&s), 1);
}

TEST(site, reloading_does_not_grow_the_arena) {
    struct stint_impl_site s;
    char name[] = "reloaded", file[] = "plugin.c", function[] = "run";
    id_of(&(struct stint_impl_site){name, file, function, 3, 0, 0, 0, 0});
    uint64_t used = arena_used();
    for (int i = 0; i < 10000; ++i) {
        s = (struct stint_impl_site){name, file, function, 3, 0, 0, 0, 0};
        CHECK_EQ_U64(id_of(&s), 1);
    }
    CHECK_EQ_U64(arena_used(), used);
    CHECK_EQ_U64(arena_header()->site_count, 1);
}

TEST(site, keeps_its_number_when_the_gate_advances) {
    struct stint_impl_site a = site_named("a", 1), b = site_named("b", 1);
    id_of(&a);
    id_of(&b);
    uint64_t before = b.word;
    stint_filter_set("-b");
    CHECK(site_is_off(site_resolve(&b)));
    stint_filter_set(NULL);
    CHECK_EQ_U64(id_of(&b), 2);
    CHECK(b.word > before);
    CHECK(!site_is_off(b.word));
}

TEST(site, level_and_filter_and_switch_turn_it_off) {
    struct stint_impl_site s = site_named("a", 1);
    s.level = 1;
    CHECK(site_is_off(site_resolve(&s)));
    stint_level_set(1);
    CHECK(!site_is_off(site_resolve(&s)));
    stint_timers_enable(0);
    CHECK(site_is_off(site_resolve(&s)));
    stint_timers_enable(1);
    stint_filter_set("+b");
    CHECK(site_is_off(site_resolve(&s)));
    CHECK_EQ_U64(arena_header()->site_count, 1);
}

TEST(site, thousands_keep_their_numbers) {
    static struct stint_impl_site s[5000];
    static char names[5000][16];
    for (uint32_t i = 0; i < 5000; ++i) {
        snprintf(names[i], sizeof names[i], "site%u", i);
        s[i] = site_named(names[i], i % 7);
        CHECK_EQ_U64(id_of(&s[i]), i + 1);
    }
    for (uint32_t i = 0; i < 5000; ++i) {
        struct stint_impl_site copy = site_named(names[i], i % 7);
        CHECK_EQ_U64(id_of(&copy), i + 1);
    }
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(site, run_time_names_match_by_content) {
    struct stint_impl_site literal = site_named("name", 1);
    char buffer[] = "name";
    CHECK_EQ_U64(id_of_name(buffer, 4), 1);
    CHECK_EQ_U64(id_of_name("name", 4), 1);
    CHECK_EQ_U64(id_of_name("names", 5), 2);
    CHECK_EQ_U64(id_of(&literal), 3); /* a site of its own; reports join them by name */
    CHECK_EQ_U64(id_of_name("name\0x", 6), 4);
}

TEST(site, long_name_is_cut_at_a_whole_character) {
    char name[1004];
    memset(name, 'a', sizeof name);
    memcpy(name + 998, "\xe2\x82\xac", 3); /* bytes 998 to 1000: the cut would split it */
    uint32_t id = id_of_name(name, sizeof name);
    const struct arena_site *s = arena_at(arena_header()->site_chunk[0]);
    CHECK_EQ_U64(id, 1);
    CHECK_EQ_U64(arena_text_at(s->name)->length, 998);
    CHECK_EQ_U64(lost(STINT_STATUS_NAME_CUT), 1);
    memcpy(name + 997, "\xe2\x82\xac", 3); /* fits */
    name[1000] = 'a';
    CHECK_EQ_U64(id_of_name(name, sizeof name), 2);
    CHECK_EQ_U64(arena_text_at(s[1].name)->length, 1000);
    CHECK_EQ_U64(id_of_name(name, 1000), 2); /* equal once cut */
    CHECK_EQ_U64(lost(STINT_STATUS_NAME_CUT), 2);
}

TEST(site, nothing_but_continuation_bytes) {
    char name[2000];
    memset(name, 0x80, sizeof name);
    CHECK_EQ_U64(id_of_name(name, sizeof name), 1); /* "", and no byte before the name is read */
}

/* The first place of a content counts, with a literal and with a name made at run time. */
TEST(site, built_without_optimisation) {
    struct stint_impl_site plain = site_named("plain", 1), same = plain, other = plain;
    plain.plain = 1;
    other.line = 2;
    CHECK_EQ_U64(id_of(&plain), 1);
    CHECK_EQ_U64(id_of(&same), 1);
    CHECK_EQ_U64(id_of(&other), 2);
    CHECK_EQ_U64(site_resolve_name((struct site_text){"name", 4}, &plain) & STINT_IMPL_SITE_ID, 3);
    CHECK_EQ_U64(arena_site_at(1)->plain, 1);
    CHECK_EQ_U64(arena_site_at(2)->plain, 0);
    CHECK_EQ_U64(arena_site_at(3)->plain, 1);
}

TEST(site, null_texts_are_empty) {
    struct stint_impl_site s = {NULL, NULL, NULL, 0, 0, 0, 0, 0};
    CHECK_EQ_U64(id_of(&s), 1);
}

/* All older names are found after each new one, also those that a growing table has not moved
 * yet. */
TEST(site, known_while_the_table_grows) {
    char name[24];
    for (unsigned i = 0; i < 3000; ++i) {
        int length = snprintf(name, sizeof name, "name %u", i);
        CHECK_EQ_U64(id_of_name(name, (size_t)length), i + 1);
        for (unsigned k = i % 13; k < i; k += 13) {
            length = snprintf(name, sizeof name, "name %u", k);
            CHECK_EQ_U64(id_of_name(name, (size_t)length), k + 1);
        }
    }
    CHECK_EQ_U64(arena_header()->site_count, 3000);
}
