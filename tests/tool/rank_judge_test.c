/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ranks are named as the cause: jobs whose ranks arrive as the test says, on top of recorded
 * noise, are put into the tables of a merged file. The test knows who is late; the cost is its own
 * sum. No rank may be named in a balanced job.
 */
#include "arena/windows.h"
#include "harness.h"
#include "ranks/rank_judge.h"
#include "stint/stint.h"

#define NOISE_STEPS 60u
#include "rank_noise.inc"

#define MOST 64u
#define STEPS 200u
#define MS 1000000u
#define BLOCK 10u /* steps of noise in a row: stalls last longer than a step */
#define RANK_UNITS 67u
#define LATENCY 5000u

/* A job whose tables are in memory: a unit of cells and a record of windows for each rank. */
struct job {
    uint32_t ranks;
    uint32_t steps;
    uint32_t role;
    uint32_t by_calls;
    const char *set;
    uint32_t parts[MOST]; /* calls of a step */
    uint64_t arrive[STEPS][MOST];
    uint64_t cost_ns; /* of the totals, by the test's sums */
    struct rank_verdict verdict;
};

static char memory[(MOST * RANK_UNITS + 1) * STINT_IMPL_UNIT] __attribute__((aligned(64)));
static struct arena_rank table[MOST];
static struct job job;
static uint64_t seed;

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static uint64_t noise_us(uint32_t of, uint32_t step, uint32_t column) {
    switch (of) {
    case 2:
        return noise_of_2[step][column];
    case 3:
        return noise_of_3[step][column];
    case 4:
        return noise_of_4[step][column];
    default:
        return noise_of_8[step][column];
    }
}

/* Equal work in all ranks; scale: of what of the recorded time is noise. */
static void job_start(uint32_t ranks, uint32_t steps, double scale) {
    uint32_t of = ranks < 8 ? ranks : 8;
    job = (struct job){.ranks = ranks, .steps = steps, .role = STINT_ROLE_WAITING, .set = "main"};
    for (uint32_t first = 0; first < steps; first += BLOCK) {
        uint32_t turn = draw(of), at[MOST / 8];
        for (uint32_t i = 0; i < MOST / 8; ++i) {
            at[i] = draw(NOISE_STEPS - BLOCK + 1); /* for each group of so many ranks */
        }
        for (uint32_t step = first; step < first + BLOCK && step < steps; ++step) {
            for (uint32_t rank = 0; rank < ranks; ++rank) {
                uint64_t us = noise_us(of, at[rank / of] + step - first, (rank + turn) % of) - 1000;
                job.arrive[step][rank] = MS + (uint64_t)((double)us * 1000 * scale);
            }
        }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        job.parts[rank] = 1;
    }
}

/* How long a rank waits in a step. */
static uint64_t job_wait(uint32_t step, uint32_t rank) {
    uint64_t last = 0, own = job.arrive[step][rank], root = job.arrive[step][2];
    for (uint32_t i = 0; i < job.ranks; ++i) {
        last = job.arrive[step][i] > last ? job.arrive[step][i] : last;
    }
    if (job.role == STINT_ROLE_WAITING) {
        return last - own + LATENCY;
    }
    if (job.role == STINT_ROLE_WAITING_FOR_ROOT) {
        return (rank != 2 && root > own ? root - own : 0) + LATENCY;
    }
    return (rank == 2 ? last - own : 0) + LATENCY;
}

static void put_rank(uint32_t rank, uint64_t *wall_ns) {
    uint32_t unit = 1 + rank * RANK_UNITS;
    struct arena_rank_cell *cell = (void *)(memory + unit * STINT_IMPL_UNIT);
    struct arena_windows *w = (void *)(memory + (unit + 1) * STINT_IMPL_UNIT);
    windows_start(w, ARENA_WINDOWS);
    w->site = 1;
    w->by_calls = job.by_calls;
    for (uint32_t step = 0; step < job.steps; ++step) {
        for (uint32_t call = 0; call < job.parts[rank]; ++call) {
            uint64_t ns = call ? 0 : job_wait(step, rank);
            cell->total_ns += ns;
            ++cell->calls;
            windows_add(w, job.by_calls ? w->steps : step, ns, 1);
        }
        *wall_ns += job_wait(step, rank) + job.arrive[step][rank];
    }
    table[rank] =
        (struct arena_rank){.rank = rank + 1, .cells = unit, .cell_count = 1, .windows = unit + 1};
}

/* The rank that is left out or there twice. */
static uint32_t without_windows = RANK_NONE, twice = RANK_NONE;

/* Judges the job; the named ranks as bits, 0: none. */
static uint64_t job_judge_all(void) {
    static struct snapshot_site sites[2] = {{0}, {.name = "wait", .length = 4}};
    const char *sets[] = {job.set};
    struct snapshot s = {.base = memory,
                         .size = sizeof memory,
                         .ns_per_tick = 1,
                         .sites = sites,
                         .site_count = 1,
                         .sets = sets,
                         .set_count = 1};
    struct arena_rank_name name = {.site = 1};
    struct ranks r = {&s, table, job.ranks, &name, 1};
    struct ranks_room room;
    uint64_t wall_ns = 0, named = 0;
    memset(memory, 0, sizeof memory);
    sites[1].role = (uint8_t)job.role;
    for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        put_rank(rank, &wall_ns);
    }
    for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        table[rank].end_real_ns = wall_ns / job.ranks;
    }
    if (without_windows != RANK_NONE) {
        table[without_windows].windows = 0;
    }
    if (twice != RANK_NONE) {
        table[twice].rank = 3;
    }
    CHECK(!ranks_room_get(&room, &s.memory, &r));
    uint32_t rows = rank_rows_judged(&r, &room);
    CHECK(!rank_judge_name(&job.verdict, &r, 0, rows, &room, &s.memory));
    for (uint32_t i = 0; job.verdict.why == RANK_WHY_CAUSE && i < job.verdict.count; ++i) {
        named |= UINT64_C(1) << job.verdict.rank[i];
    }
    scratch_free(&s.memory);
    return named;
}

/* Ranks that come late to each n-th of some steps. */
struct late {
    uint32_t rank, end_rank, first, end, each, ms;
};

/* A job, and the ranks that are late in it, as bits. */
struct pattern {
    const char *what;
    uint32_t ranks, steps;
    double noise; /* scale */
    struct late late[2];
    uint64_t named;
    void (*more)(void);
};

static void add_late(const struct late *late, uint32_t unit_ns) {
    for (uint32_t rank = late->rank; rank < late->end_rank; ++rank) {
        for (uint32_t step = late->first; step < late->end; step += late->each) {
            job.arrive[step][rank] += (uint64_t)late->ms * unit_ns;
        }
    }
}

static void inner_ranks_call_twice(void) {
    for (uint32_t rank = 1; rank < 7; ++rank) {
        job.parts[rank] = 2;
    }
    job.by_calls = 1;
}

static void wait_for_root(void) {
    job.role = STINT_ROLE_WAITING_FOR_ROOT;
    job.set = "all, root 2";
}

static void one_is_early(void) {
    for (uint32_t step = 0; step < 200; ++step) {
        job.arrive[step][4] -= 900000;
    }
}

static void each_later_than_the_one_before(void) {
    for (uint32_t rank = 1; rank < 8; ++rank) {
        add_late(&(struct late){rank, rank + 1, 0, 200, 1, rank}, MS);
    }
}

static void each_in_its_turn(void) {
    for (uint32_t rank = 0; rank < 8; ++rank) {
        add_late(&(struct late){rank, rank + 1, rank, 200, 8, 4}, MS);
    }
}

#define BIT(rank) (UINT64_C(1) << (rank))
static const struct pattern patterns[] = {
    {"one with noise", 8, 200, 1, {{3, 4, 0, 200, 1, 8}}, BIT(3), NULL},
    {"one of 64", 64, 100, 0.1, {{40, 41, 0, 100, 1, 4}}, BIT(40), NULL},
    {"one of 2", 2, 60, 0.1, {{1, 2, 0, 60, 1, 4}}, BIT(1), NULL},
    {"one of 3", 3, 60, 0.1, {{0, 1, 0, 60, 1, 4}}, BIT(0), NULL},
    {"for a while", 8, 200, 0.05, {{3, 4, 100, 120, 1, 8}}, BIT(3), NULL},
    {"seldom but much", 8, 200, 0.05, {{3, 4, 7, 200, 20, 20}}, BIT(3), NULL},
    {"halves", 8, 200, 0.1, {{1, 2, 0, 100, 1, 4}, {6, 7, 100, 200, 1, 4}}, BIT(1) | BIT(6), NULL},
    {"in turns", 8, 200, 0.1, {{1, 2, 0, 200, 2, 4}, {6, 7, 1, 200, 2, 4}}, BIT(1) | BIT(6), NULL},
    {"together", 8, 200, 0.1, {{1, 2, 0, 200, 1, 4}, {5, 6, 0, 200, 1, 6}}, BIT(1) | BIT(5), NULL},
    {"a host", 64, 100, 0.05, {{16, 24, 0, 100, 1, 6}}, UINT64_C(0xff) << 16, NULL},
    {"chain", 8, 200, 0.1, {{3, 4, 0, 200, 1, 5}}, BIT(3), inner_ranks_call_twice},
    {"the root", 8, 200, 0.1, {{2, 3, 0, 200, 1, 4}}, BIT(2), wait_for_root},
    {"not the root", 8, 200, 0.1, {{5, 6, 0, 200, 1, 4}}, 0, wait_for_root},
    {"less work", 8, 200, 0.3, {{0}}, 0, one_is_early},
    {"stairs", 8, 200, 0.1, {{0}}, 0, each_later_than_the_one_before},
    {"all in turns", 8, 200, 0.1, {{0}}, 0, each_in_its_turn}};
enum { NOISY = 0, CHAIN = 10, LATE_ROOT = 11 };

static void make_pattern(uint32_t pattern) {
    const struct pattern *p = &patterns[pattern];
    job_start(p->ranks, p->steps, p->noise);
    for (uint32_t i = 0; i < 2; ++i) {
        add_late(&p->late[i], MS);
    }
    if (p->more) {
        p->more();
    }
}

TEST(rank_judge, names_the_ranks_that_are_late) {
    seed = 42;
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
        for (int turn = 0; turn < 10; ++turn) {
            make_pattern(i);
            uint64_t named = job_judge_all();
            if (named != patterns[i].named) {
                printf("# %s: named %llx, why %d, covered %u\n", patterns[i].what,
                       (unsigned long long)named, (int)job.verdict.why, job.verdict.covered_ppm);
            }
            CHECK_EQ_U64(named, patterns[i].named);
        }
    }
}

/* The number of balanced jobs in which a rank is named. */
static uint32_t count_false(uint32_t ranks, uint32_t jobs) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < jobs; ++i) {
        job_start(ranks, STEPS, 1);
        found += job_judge_all() != 0;
    }
    return found;
}

TEST(rank_judge, names_none_in_balanced_jobs) {
    static const uint32_t sizes[] = {2, 3, 4, 8};
    const char *jobs = getenv("RANK_JUDGE_JOBS");
    seed = 7;
    for (uint32_t i = 0; i < 4; ++i) {
        uint32_t found = count_false(sizes[i], jobs ? (uint32_t)atoi(jobs) : 50);
        if (jobs) {
            printf("# %u ranks: %u of %s\n", sizes[i], found, jobs);
        } else {
            CHECK_EQ_U64(found, 0);
        }
    }
}

static void expect_why(enum rank_why why) {
    CHECK_EQ_U64(job_judge_all(), 0);
    CHECK_EQ_U64(job.verdict.why, why);
    CHECK(why == RANK_WHY_NO_COST || *rank_why_text(why));
}

TEST(rank_judge, says_why_none_is_named) {
    seed = 3;
    make_pattern(NOISY);
    without_windows = 5;
    expect_why(RANK_WHY_SOME_WINDOWS);
    without_windows = RANK_NONE;
    make_pattern(CHAIN);
    job.parts[6] = 9;
    expect_why(RANK_WHY_CALLS_DIFFER);
    make_pattern(NOISY);
    job.role = STINT_ROLE_ROOT_WAITING;
    job.set = "all, root 2";
    expect_why(RANK_WHY_ROOT_WAITS);
    make_pattern(LATE_ROOT);
    twice = 4; /* two ranks with the number of the root */
    expect_why(RANK_WHY_ROOT_UNKNOWN);
    twice = RANK_NONE;
    for (int i = 0; i < 3; ++i) {
        static const char *const sets[] = {"all", "all, root ", "all, root 2x"};
        make_pattern(LATE_ROOT);
        job.set = sets[i];
        expect_why(RANK_WHY_ROOT_UNKNOWN);
    }
    job_start(8, 200, 0);
    expect_why(RANK_WHY_NO_COST);
    add_late(&(struct late){3, 4, 0, 200, 1, 9}, 1000);
    expect_why(RANK_WHY_SMALL);
    add_late(&(struct late){3, 4, 0, 200, 1, 9}, 1000);
    CHECK_EQ_U64(job_judge_all(), BIT(3));
}

TEST(rank_judge, texts_of_sets) {
    static const struct {
        uint32_t count, number[7];
        const char *text;
    } sets[] = {{1, {12}, "rank 12"},
                {7, {3, 4, 5, 9, 10, 11, 12}, "ranks 3-5, 9-12"},
                {2, {3, 9}, "ranks 3, 9"},
                {2, {4, 5}, "ranks 4, 5"}};
    const struct ranks r = {.rank = table};
    for (uint32_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        struct rank_verdict v = {.count = sets[i].count, .rank = {0, 1, 2, 3, 4, 5, 6}};
        char text[RANK_SET_TEXT];
        for (uint32_t at = 0; at < v.count; ++at) {
            table[at].rank = sets[i].number[at] + 1;
        }
        rank_verdict_text(text, &r, &v);
        CHECK_STR_EQ(text, sets[i].text);
    }
}
