/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for reports, which must not come from malloc: pages, blocks, marks. With glibc the test
 * replaces the program's malloc and counts its calls, of which there must be none.
 */
#include "base/scratch.h"

#include "recorded.h"

#if !SANITIZED && defined(__GLIBC__)
/* Every allocation of the program comes by here: glibc's own malloc under its inner name. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
static unsigned allocations;

void *malloc(size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_calloc(count, size);
}
void *realloc(void *p, size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    return __libc_realloc(p, size);
}

static void record_and_report(void *result) {
    unsigned before = allocations;
    stint_set *set = stint_set_get("a set");
    char name[] = "dynamic00";
    for (int i = 0; i < 500; ++i) {
        REGISTER_TIMER_INFO("malloc.scope", "note");
        REGISTER_TIMER("malloc.set", -1, set);
        name[7] = (char)('0' + i / 10 % 10);
        name[8] = (char)('0' + i % 10);
        REGISTER_TIMER_DYNAMIC(name);
        fake_advance(10);
    }
    stint_sample_add("sample", 5);
    stint_report("table");
    stint_report("tree,threads");
    stint_report_and_reset();
    printAllStatus();
    stint_filter_set("-nothing");
    stint_reset();
    *(unsigned *)result = allocations - before;
}
#endif

TEST(scratch, no_malloc_ever) {
#if SANITIZED
    SKIP("a sanitizer replaces malloc itself");
#elif !defined(__GLIBC__)
    SKIP("malloc has no inner name");
#else
    unsigned made = 1;
    void *volatile one = malloc(1);
    free(one);
    CHECK(allocations > 0); /* the counter works */
    char *text = harness_capture(2, record_and_report, &made);
    CHECK_EQ_U64(made, 0);
    CHECK_CONTAINS(text, "malloc.scope");
#endif
}

TEST(scratch, pages_are_zeroed_and_keep_errno) {
    errno = 1234;
    unsigned char *p = pages_get(10000);
    CHECK(p != NULL);
    for (int i = 0; p && i < 10000; ++i) {
        CHECK(p[i] == 0);
    }
    pages_put(p, 10000);
    CHECK(pages_get(SIZE_MAX / 2) == NULL);
    pages_put(NULL, 10);
    CHECK(errno == 1234);
}

TEST(scratch, blocks_are_zeroed_aligned_and_apart) {
    struct scratch s = {0};
    unsigned char *blocks[3000];
    for (size_t i = 0; i < 3000; ++i) {
        size_t bytes = i % 500 + 1;
        blocks[i] = scratch_get(&s, bytes);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
        for (size_t b = 0; b < bytes; ++b) {
            CHECK(blocks[i][b] == 0);
        }
        memset(blocks[i], (int)(i % 251) + 1, bytes);
    }
    for (size_t i = 0; i < 3000; ++i) {
        CHECK(blocks[i][0] == i % 251 + 1 && blocks[i][i % 500] == i % 251 + 1);
    }
    scratch_free(&s);
    CHECK(s.chunks == NULL && s.left == 0 && !s.failed);
}

TEST(scratch, larger_than_a_chunk) {
    struct scratch s = {0};
    size_t bytes = (size_t)3 << 20;
    char *p = scratch_get(&s, bytes);
    CHECK(p != NULL);
    memset(p, 1, bytes);
    CHECK(scratch_get(&s, 100) != NULL);
    scratch_free(&s);
}

TEST(scratch, says_when_there_is_no_memory) {
    struct scratch s = {0};
    CHECK(scratch_get(&s, 16) != NULL && !scratch_failed(&s));
    CHECK(scratch_get(&s, SIZE_MAX / 4) == NULL);
    CHECK(scratch_failed(&s));
    CHECK(scratch_get(&s, 16) != NULL && scratch_failed(&s)); /* later ones do not hide it */
    scratch_free(&s);
    CHECK(!scratch_failed(&s));
    CHECK(scratch_array(&s, SIZE_MAX / 4, 8) == NULL); /* the product wraps */
    CHECK(scratch_failed(&s));
    CHECK(scratch_array(&s, 0, 8) != NULL);
    scratch_free(&s);
}

TEST(scratch, release_forgets_failures_after_the_mark) {
    struct scratch s = {0};
    CHECK(scratch_get(&s, 16) != NULL);
    struct scratch_mark good = scratch_mark(&s);
    CHECK(scratch_get(&s, SIZE_MAX / 4) == NULL);
    struct scratch_mark failed = scratch_mark(&s);
    scratch_release(&s, failed);
    CHECK(scratch_failed(&s));
    scratch_release(&s, good);
    CHECK(!scratch_failed(&s));
    scratch_free(&s);
}

TEST(scratch, pages_grow) {
    char *p = pages_grow(NULL, 0, 100);
    CHECK(p != NULL);
    p[99] = 'x';
    char *more = pages_grow(p, 100, 100000);
    CHECK(more != NULL);
    CHECK(more[99] == 'x' && !more[0] && !more[99999]);
    CHECK(!pages_grow(more, 100000, SIZE_MAX / 2));
    CHECK(more[99] == 'x');
    pages_put(more, 100000);
}

/* Blocks before the mark stay, and those after the release are zeroed as all are. */
static void release_after(size_t bytes) {
    struct scratch s = {0};
    char *kept = scratch_get(&s, 1000);
    CHECK(kept != NULL);
    memset(kept, 'k', 1000);
    struct scratch_mark mark = scratch_mark(&s);
    for (int i = 0; i < 3; ++i) {
        char *small = scratch_get(&s, 100), *later = scratch_get(&s, bytes);
        CHECK(small == kept + 1008);
        CHECK(small && !small[0] && !small[99]);
        CHECK(later && !later[0] && !later[bytes - 1]);
        memset(small, 's', 100);
        memset(later, 'l', bytes);
        scratch_release(&s, mark);
        CHECK(kept[0] == 'k' && kept[999] == 'k');
    }
    scratch_free(&s);
}

TEST(scratch, release_frees_what_came_after_the_mark) {
    release_after(100);
    release_after((size_t)3 << 20);
}

TEST(scratch, release_to_the_empty_start) {
    struct scratch s = {0};
    struct scratch_mark mark = scratch_mark(&s);
    CHECK(scratch_get(&s, 100) && scratch_get(&s, (size_t)1 << 20));
    scratch_release(&s, mark);
    CHECK(!s.chunks && !s.left);
    CHECK(scratch_get(&s, 100) != NULL);
    scratch_free(&s);
}

TEST(scratch, an_array_keeps_its_items_when_it_grows) {
    struct scratch s = {0};
    uint32_t *array = NULL, room = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
        array = scratch_array_grow(&s, array, i, &room, sizeof *array);
        CHECK(array && room > i);
        array[i] = i;
    }
    for (uint32_t i = 0; i < 1000; ++i) {
        CHECK_EQ_U64(array[i], i);
    }
    scratch_free(&s);
}
