/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of counters, on a double of the system call; the numbers of linux/perf_event.h against
 * the header, where it is.
 */
#include "counters/perf.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "perf_double.h"

#ifdef __has_include
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#define HAVE_HEADER 1
#endif
#endif

#define CYCLES double_find(PERF_ABI_TYPE_HARDWARE, 0)
#define INSTRUCTIONS double_find(PERF_ABI_TYPE_HARDWARE, 1)
#define ALL ((1u << COUNTER_GROUPS) - 1)

static void parse(void *list) {
    fprintf(stderr, "%u\n", perf_parse_names(list));
}

static uint32_t groups_of(const char *list, const char **said) {
    static char text[1000];
    char *lines = harness_capture(2, parse, (void *)(uintptr_t)list);
    snprintf(text, sizeof text, "%s", lines);
    char *number = text;
    while (strchr(number, '\n')[1]) {
        number = strchr(number, '\n') + 1;
    }
    uint32_t groups = (uint32_t)strtoul(number, NULL, 10);
    *number = '\0';
    *said = text;
    return groups;
}

TEST(perf, names) {
    const char *said;
    CHECK_EQ_U64(groups_of("cycles", &said), 1u << COUNTER_GROUP_CORE);
    CHECK_STR_EQ(said, "");
    CHECK_EQ_U64(groups_of("instructions,llc-misses,page-faults", &said),
                 1u << COUNTER_GROUP_CORE | 1u << COUNTER_GROUP_LLC | 1u << COUNTER_GROUP_SOFTWARE);
    CHECK_STR_EQ(said, "");
    CHECK_EQ_U64(groups_of("", &said), 0);
    CHECK_EQ_U64(perf_parse_names(NULL), 0);
}

TEST(perf, unknown_names_are_named_with_those_that_are_known) {
    const char *said;
    CHECK_EQ_U64(groups_of("cycles,cache_misses,,l1-misses,", &said),
                 1u << COUNTER_GROUP_CORE | 1u << COUNTER_GROUP_L1);
    CHECK_STR_EQ(
        said, "stint: STINT_COUNTERS: unknown counter 'cache_misses', ignored; known are cycles, "
              "instructions, branches, branch-misses, l1-loads, l1-misses, llc-loads, "
              "llc-misses, dtlb-loads, dtlb-misses, task-clock, context-switches, page-faults, "
              "cpu-migrations\n"
              "stint: STINT_COUNTERS: unknown counter '', ignored; known are cycles, "
              "instructions, branches, branch-misses, l1-loads, l1-misses, llc-loads, "
              "llc-misses, dtlb-loads, dtlb-misses, task-clock, context-switches, page-faults, "
              "cpu-migrations\n");
    CHECK_EQ_U64(groups_of("cycle", &said), 0);
    CHECK_EQ_U64(groups_of("cyclesx", &said), 0);
}

TEST(perf, a_list_of_names_is_cut_where_it_does_not_fit) {
    char small[16], all[PERF_NAMES];
    CHECK(perf_list_names(small, sizeof small, ALL) == 15);
    CHECK_STR_EQ(small, "cycles, instruc");
    CHECK(perf_list_names(all, sizeof all, ALL) < sizeof all - 1);
    CHECK_STR_EQ(strrchr(all, ' '), " cpu-migrations");
}

TEST(perf, a_group_is_opened_as_one) {
    struct perf_group g;
    perf_set_system(&perf_double);
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    CHECK(CYCLES && INSTRUCTIONS && double_open_now == 2);
    CHECK(CYCLES->leader == -1);
    CHECK(INSTRUCTIONS->leader == g.event[0].fd);
    CHECK_EQ_U64(CYCLES->attr.flags, PERF_ABI_EXCLUDE_KERNEL | PERF_ABI_DISABLED);
    CHECK_EQ_U64(INSTRUCTIONS->attr.flags, PERF_ABI_EXCLUDE_KERNEL);
    CHECK_EQ_U64(CYCLES->attr.read_format, 1 | 2 | 8);
    perf_close(&g);
    CHECK_EQ_U64(double_open_now, 0);
    perf_close(&g);
    CHECK(!perf_open(&g, COUNTER_GROUP_SOFTWARE));
    CHECK_EQ_U64(double_open_now, perf_events_of(COUNTER_GROUP_SOFTWARE));
    CHECK_EQ_U64(double_find(PERF_ABI_TYPE_SOFTWARE, 2)->attr.flags, 0); /* the kernel, too */
}

TEST(perf, a_group_that_is_refused_leaves_nothing_open) {
    struct perf_group g;
    memset(&g, 0, sizeof g);
    perf_set_system(&perf_double);
    double_refuse[PERF_ABI_TYPE_HARDWARE] = ENOENT;
    CHECK(perf_open(&g, COUNTER_GROUP_CORE) == ENOENT);
    double_refuse[PERF_ABI_TYPE_HARDWARE] = 0;
    double_room = 1;
    CHECK(perf_open(&g, COUNTER_GROUP_CORE) == EMFILE);
    CHECK_EQ_U64(double_open_now, 0);
    uint64_t values[PERF_VALUES];
    CHECK(perf_read(&g, values) == -1);
}

static void check_values(const struct perf_group *g, uint64_t cycles, uint64_t instructions,
                         uint64_t enabled, uint64_t running) {
    uint64_t values[PERF_VALUES] = {0};
    CHECK(!perf_read(g, values));
    CHECK_EQ_U64(values[0], cycles);
    CHECK_EQ_U64(values[1], instructions);
    CHECK_EQ_U64(values[2], enabled);
    CHECK_EQ_U64(values[3], running);
}

TEST(perf, a_reading_has_the_counters_and_both_times) {
    struct perf_group g;
    perf_set_system(&perf_double);
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    CYCLES->value = 1000;
    INSTRUCTIONS->value = 2500;
    double_enabled = 400;
    double_running = 100;
    check_values(&g, 1000, 2500, 400, 100);
}

/* The program closed it and has another file, or another event, under its number. */
TEST(perf, a_descriptor_of_something_else_is_neither_read_nor_closed) {
    struct perf_group g;
    uint64_t values[PERF_VALUES];
    perf_set_system(&perf_double);
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    CYCLES->id = 1;
    CHECK(perf_read(&g, values) == -1);
    CHECK_EQ_U64(double_reads, 0);
    perf_close(&g);
    CHECK_EQ_U64(double_open_now, 1);
}

static void fill_page(struct double_event *e, uint32_t index, int64_t offset) {
    e->page.capabilities = PERF_ABI_USER_RDPMC | PERF_ABI_USER_TIME;
    e->page.index = index;
    e->page.offset = offset;
    e->page.pmc_width = 48;
    e->page.time_enabled = 700;
    e->page.time_running = 500;
    e->page.time_shift = 1;
    e->page.time_mult = 3;
    e->page.time_offset = (uint64_t)-5;
}

TEST(perf, counters_are_read_by_an_instruction_where_that_is_permitted) {
    struct perf_group g;
    perf_set_system(&perf_double);
    double_has_pages = 1;
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    CHECK_EQ_U64(double_maps, 2);
    fill_page(CYCLES, 1, 1000);
    fill_page(INSTRUCTIONS, 3, 2000);
    double_counter[0] = 44;
    double_counter[2] = (1ull << 48) - 7; /* of 48 bits: -7 */
    double_clock = 21;                    /* 21 * 3 / 2 - 5 ns = 31 - 5 */
    check_values(&g, 1044, 1993, 726, 526);
    CYCLES->page.index = 0; /* not on the processor: it waits */
    INSTRUCTIONS->page.index = 0;
    check_values(&g, 1000, 2000, 726, 500);
    CHECK_EQ_U64(double_reads, 0);
    perf_close(&g);
    CHECK_EQ_U64(double_maps, 0);
}

TEST(perf, a_short_clock_of_a_page_is_extended) {
    struct perf_group g;
    perf_set_system(&perf_double);
    double_has_pages = 1;
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    fill_page(CYCLES, 1, 0);
    fill_page(INSTRUCTIONS, 2, 0);
    CYCLES->page.capabilities |= PERF_ABI_USER_TIME_SHORT;
    CYCLES->page.time_cycles = 0x1fe;
    CYCLES->page.time_mask = 0xff;
    CYCLES->page.time_mult = 2;
    double_clock = 0x02; /* 0x202 * 2 / 2 - 5 */
    check_values(&g, 0, 0, 700 + 0x202 - 5, 500 + 0x202 - 5);
}

TEST(perf, a_page_that_does_not_permit_it_leaves_the_system_call) {
    static const uint64_t permits[] = {0, PERF_ABI_USER_RDPMC, PERF_ABI_USER_TIME};
    struct perf_group g;
    perf_set_system(&perf_double);
    double_has_pages = 1;
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    fill_page(CYCLES, 1, 1);
    fill_page(INSTRUCTIONS, 2, 1);
    CYCLES->value = 9;
    for (unsigned i = 0; i < 3; ++i) {
        CYCLES->page.capabilities = permits[i];
        check_values(&g, 9, 0, 0, 0);
        CHECK_EQ_U64(double_reads, i + 1);
    }
}

static struct perf_page *written;

/* The kernel writes the page while it is read: other numbers, and the lock. */
static uint64_t clock_while_written(void) {
    if (written->lock == 0) {
        written->lock = 1;
        written->offset = 5000;
    }
    return 0;
}

TEST(perf, a_page_that_was_written_meanwhile_is_read_again) {
    static struct perf_system calls;
    struct perf_group g;
    calls = perf_double;
    calls.read_clock = clock_while_written;
    perf_set_system(&calls);
    double_has_pages = 1;
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    fill_page(CYCLES, 1, 1000);
    fill_page(INSTRUCTIONS, 2, 2000);
    written = &CYCLES->page;
    check_values(&g, 5000, 2000, 695, 495);
}

TEST(perf, a_child_closes_what_it_inherited) {
    struct perf_group g;
    perf_set_system(&perf_double);
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    perf_forget(&g, 0);
    CHECK_EQ_U64(double_open_now, 0);
    uint64_t values[PERF_VALUES];
    CHECK(perf_read(&g, values) == -1);
}

/* A child that was forked within a reading returns into it: the page it reads is there, and permits
 * nothing. */
TEST(perf, a_child_that_returns_into_a_reading_finds_pages) {
    struct perf_group g, before;
    uint64_t values[PERF_VALUES];
    perf_set_system(&perf_double);
    CHECK(!perf_open(&g, COUNTER_GROUP_CORE));
    for (unsigned i = 0; i < 2; ++i) {
        size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
        g.event[i].page = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(g.event[i].page, bytes); /* as the kernel does in the child */
    }
    before = g;
    perf_forget(&g, 1);
    CHECK(perf_read(&before, values) == -1);
}

TEST(perf, the_numbers_are_those_of_the_header) {
#ifdef HAVE_HEADER
#define SAME_FIELD(of, field)                                                                      \
    CHECK(offsetof(struct perf_page, field) == offsetof(struct perf_event_mmap_page, of))
#define SAME_ATTR(field)                                                                           \
    CHECK(offsetof(struct perf_attr, field) == offsetof(struct perf_event_attr, field))
    CHECK_EQ_U64(sizeof(struct perf_attr), PERF_ATTR_SIZE_VER0);
    SAME_ATTR(type);
    SAME_ATTR(size);
    SAME_ATTR(config);
    SAME_ATTR(sample_period);
    SAME_ATTR(sample_type);
    SAME_ATTR(read_format);
    SAME_ATTR(wakeup_events);
    SAME_ATTR(bp_type);
    SAME_ATTR(config1);
    SAME_FIELD(lock, lock);
    SAME_FIELD(index, index);
    SAME_FIELD(offset, offset);
    SAME_FIELD(time_enabled, time_enabled);
    SAME_FIELD(time_running, time_running);
    SAME_FIELD(capabilities, capabilities);
    SAME_FIELD(pmc_width, pmc_width);
    SAME_FIELD(time_shift, time_shift);
    SAME_FIELD(time_mult, time_mult);
    SAME_FIELD(time_offset, time_offset);
    SAME_FIELD(time_cycles, time_cycles);
    SAME_FIELD(time_mask, time_mask);
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.exclude_kernel = 1;
    attr.disabled = 1;
    uint64_t flags;
    memcpy(&flags, (const char *)&attr + offsetof(struct perf_attr, flags), sizeof flags);
    CHECK_EQ_U64(flags, PERF_ABI_EXCLUDE_KERNEL | PERF_ABI_DISABLED);
    struct perf_event_mmap_page page;
    memset(&page, 0, sizeof page);
    page.cap_user_rdpmc = 1;
    CHECK_EQ_U64(page.capabilities, PERF_ABI_USER_RDPMC);
    page.cap_user_time = 1;
    page.cap_user_time_short = 1;
    CHECK_EQ_U64(page.capabilities,
                 PERF_ABI_USER_RDPMC | PERF_ABI_USER_TIME | PERF_ABI_USER_TIME_SHORT);
    CHECK(PERF_ABI_TYPE_HARDWARE == PERF_TYPE_HARDWARE);
    CHECK(PERF_ABI_TYPE_SOFTWARE == PERF_TYPE_SOFTWARE);
    CHECK(PERF_ABI_TYPE_HW_CACHE == PERF_TYPE_HW_CACHE);
    CHECK(PERF_ABI_FORMAT_GROUP == PERF_FORMAT_GROUP);
    CHECK(PERF_ABI_FORMAT_ENABLED == PERF_FORMAT_TOTAL_TIME_ENABLED);
    CHECK(PERF_ABI_FORMAT_RUNNING == PERF_FORMAT_TOTAL_TIME_RUNNING);
    CHECK(PERF_ABI_CLOEXEC == PERF_FLAG_FD_CLOEXEC);
    CHECK(PERF_ABI_ENABLE == PERF_EVENT_IOC_ENABLE);
    CHECK(PERF_ABI_GET_ID == PERF_EVENT_IOC_ID);
#else
    SKIP("no linux/perf_event.h");
#endif
}

#ifdef HAVE_HEADER
#define CACHE(cache, result)                                                                       \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |                              \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
    enum counter_group group;
    uint32_t type;
    uint64_t config[COUNTER_EVENTS];
} expected[] = {
    {COUNTER_GROUP_CORE,
     PERF_TYPE_HARDWARE,
     {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS}},
    {COUNTER_GROUP_BRANCH,
     PERF_TYPE_HARDWARE,
     {PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES}},
    {COUNTER_GROUP_L1, PERF_TYPE_HW_CACHE, {CACHE(L1D, ACCESS), CACHE(L1D, MISS)}},
    {COUNTER_GROUP_LLC,
     PERF_TYPE_HARDWARE,
     {PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES}},
    {COUNTER_GROUP_DTLB, PERF_TYPE_HW_CACHE, {CACHE(DTLB, ACCESS), CACHE(DTLB, MISS)}},
    {COUNTER_GROUP_SOFTWARE,
     PERF_TYPE_SOFTWARE,
     {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_PAGE_FAULTS,
      PERF_COUNT_SW_CPU_MIGRATIONS}},
};
#endif

TEST(perf, each_name_is_the_event_of_the_header) {
#ifdef HAVE_HEADER
    perf_set_system(&perf_double);
    CHECK(sizeof expected / sizeof *expected == COUNTER_GROUPS);
    for (unsigned i = 0; i < COUNTER_GROUPS; ++i) {
        struct perf_group g;
        CHECK(!perf_open(&g, expected[i].group));
        for (uint32_t event = 0; event < g.count; ++event) {
            const struct double_event *e = double_event_of(g.event[event].fd);
            CHECK_EQ_U64(e->attr.type, expected[i].type);
            CHECK_EQ_U64(e->attr.config, expected[i].config[event]);
        }
        perf_close(&g);
    }
#else
    SKIP("no linux/perf_event.h");
#endif
}

/* The counters of the kernel, for real. */
TEST(perf, software_events_of_this_machine) {
    struct perf_group g;
    uint64_t before[PERF_VALUES], after[PERF_VALUES];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 64;
    int error = perf_open(&g, COUNTER_GROUP_SOFTWARE);
    if (error) {
        SKIP(strerror(error));
    }
    for (uint32_t i = 0; i < g.count; ++i) {
        CHECK(fcntl(g.event[i].fd, F_GETFD) & FD_CLOEXEC);
    }
    CHECK(!perf_read(&g, before));
    char *fresh =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(fresh, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; ++i) {
        fresh[i * page] = 1;
    }
    usleep(1000);
    CHECK(!perf_read(&g, after));
    CHECK(after[0] > before[0]);                         /* it ran */
    CHECK(after[1] >= before[1] + 1);                    /* and slept */
    CHECK(after[2] >= before[2] + pages);                /* faults */
    CHECK(after[4] - before[4] == after[5] - before[5]); /* enabled, and all of it running */
    int fd = g.event[0].fd;
    perf_close(&g);
    CHECK(fcntl(fd, F_GETFD) == -1);
}
