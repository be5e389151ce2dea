/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of a job by reductions alone: no process sees the rows of another one, and memory does
 * not grow with the number of processes. job_report.c calls.
 * - Names are agreed on by their hashes. In each round every process proposes in each of 1024 slots
 *   the smallest hash that has no place yet; the minimum of all gets the next place. The texts
 *   follow as words, by their maximum: processes without the name send zeros.
 * - A name whose text is not the same in all processes, as hashes may collide, is left out.
 * - All values are below 2^63: some libraries of MPI compare unsigned numbers as signed ones
 *   (MPICH 4.0.2, MPI_MIN of MPI_UINT64_T). So a word of a text has 7 bytes.
 * - Sums are sent in two halves: nanoseconds of a hundred thousand processes in a month are more
 *   than 64 bits hold.
 * - Medians are found by halving the interval that they lie in, for all names at once.
 */
#include "base/api.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/name.h"
#include "base/order.h"
#include "base/role.h"
#include "job.h"
#include "stint/stint.h"
#include "system/log.h"

#define SLOTS 1024u
#define SLOT_BITS 10u
#define SLOT_ROUNDS 5u /* parts of a hash that choose a slot, one after the other */
#define HALF_BITS 32u
#define HALF_MASK 0xffffffffu
#define WORD_BYTES 7u
#define KEY_BYTES (2 * NAME_BYTES + 2) /* of the longest key */
#define HOST_WORDS ((JOB_HOST_BYTES + WORD_BYTES - 1) / WORD_BYTES)

static void job_reduce(struct job *j, int op, uint64_t *values, size_t count) {
    if (!j->result && count) {
        j->result = j->reduce(j->data, op, values, count);
    }
}

/* The summary ends if a value is not what a reduction can give: nothing may depend on it. */
static void job_expect(struct job *j, int holds) {
    if (!holds && !j->result) {
        log_error("stint_job_report: the callback returned values that no reduction of this "
                  "process's values gives");
        j->result = STINT_ERROR_UNKNOWN;
    }
}

/* All processes fail if one of them has no memory. */
static void job_agree_memory(struct job *j, const void *memory) {
    uint64_t failed = !memory;
    job_reduce(j, STINT_REDUCE_MAX, &failed, 1);
    job_expect(j, failed == 1 || (!failed && memory));
    if (failed && !j->result) {
        j->result = STINT_ERROR_NO_MEMORY;
    }
}

static void *job_get(struct job *j, size_t count, size_t size) {
    void *memory = scratch_array(&j->memory, count + 1, size);
    job_agree_memory(j, memory);
    return memory;
}

/* Whether the callback does what it has to: it adds up all processes, and knows the operations. */
static void job_check_callback(struct job *j) {
    uint64_t count = 1, least = j->rank, most = j->rank;
    job_reduce(j, STINT_REDUCE_SUM, &count, 1);
    job_reduce(j, STINT_REDUCE_MIN, &least, 1);
    job_reduce(j, STINT_REDUCE_MAX, &most, 1);
    if (j->result || (count == j->size && least == 0 && most == j->size - 1)) {
        return;
    }
    log_error("stint_job_report: the callback reduced %llu processes with the ranks %llu to %llu, "
              "not %u",
              (unsigned long long)count, (unsigned long long)least, (unsigned long long)most,
              j->size);
    j->result = STINT_ERROR_UNKNOWN;
}

/* ---- Names. */

/* The smallest hash without a place in each slot, and whose row that is. */
static void slots_propose(struct job *j, uint64_t *slot, struct job_row **mine, unsigned round) {
    for (uint32_t i = 0; i < SLOTS; ++i) {
        slot[i] = JOB_NONE;
        mine[i] = NULL;
    }
    for (uint32_t i = 0; i < j->row_count; ++i) {
        struct job_row *row = &j->row[i];
        uint32_t at = (uint32_t)(row->hash >> (SLOT_BITS * (round % SLOT_ROUNDS))) % SLOTS;
        if (!row->placed && row->hash < slot[at]) {
            slot[at] = row->hash;
            mine[at] = row;
        }
    }
}

/* Returns how many names got a place. */
static uint32_t slots_take(struct job *j, const uint64_t *slot, struct job_row **mine) {
    uint32_t before = j->name_count;
    for (uint32_t i = 0; i < SLOTS && j->name_count < JOB_NAMES; ++i) {
        job_expect(j, slot[i] <= (mine[i] ? mine[i]->hash : JOB_NONE));
        if (slot[i] == JOB_NONE) {
            continue;
        }
        j->own[j->name_count] = NULL;
        if (mine[i] && mine[i]->hash == slot[i]) {
            j->own[j->name_count] = mine[i];
            mine[i]->placed = 1;
        }
        ++j->name_count;
    }
    return j->name_count - before;
}

static void job_agree_names(struct job *j) {
    uint64_t *slot = job_get(j, SLOTS, sizeof *slot);
    struct job_row **mine = job_get(j, SLOTS, sizeof *mine);
    j->own = job_get(j, JOB_NAMES, sizeof *j->own);
    for (unsigned round = 0; !j->result && j->name_count < JOB_NAMES; ++round) {
        slots_propose(j, slot, mine, round);
        job_reduce(j, STINT_REDUCE_MIN, slot, SLOTS);
        if (j->result || !slots_take(j, slot, mine)) {
            break;
        }
    }
    uint64_t left = 0;
    for (uint32_t i = 0; i < j->row_count; ++i) {
        left += !j->row[i].placed;
    }
    job_reduce(j, STINT_REDUCE_MAX, &left, 1);
    j->left_out = left;
}

static uint64_t words_of(uint64_t bytes) {
    return (bytes + WORD_BYTES - 1) / WORD_BYTES;
}

static void text_pack(uint64_t *words, const char *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        words[i / WORD_BYTES] |= (uint64_t)(unsigned char)bytes[i] << (8 * (i % WORD_BYTES));
    }
}

static void text_unpack(char *bytes, const uint64_t *words, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        bytes[i] = (char)(words[i / WORD_BYTES] >> (8 * (i % WORD_BYTES)));
    }
}

/* Fills the names from the agreed texts; one that differs from this process's own is marked. */
static void names_take_texts(struct job *j, const uint64_t *lengths, const uint64_t *text,
                             char *key, uint64_t *differs) {
    for (uint32_t i = 0; i < j->name_count; ++i) {
        const struct job_row *own = j->own[i];
        text_unpack(key, text, lengths[i]);
        key[lengths[i] - 1] = '\0'; /* also where two texts collide */
        j->name[i].name = key;
        j->name[i].set = key + u64_min(strlen(key) + 1, lengths[i] - 1);
        differs[i] = own && (own->length != lengths[i] || memcmp(own->key, key, own->length));
        key += lengths[i];
        text += words_of(lengths[i]);
    }
}

static void names_drop(struct job *j, const uint64_t *differs) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < j->name_count; ++i) {
        if (differs[i]) {
            ++j->left_out;
            continue;
        }
        j->name[kept] = j->name[i];
        j->own[kept++] = j->own[i];
    }
    j->name_count = kept;
}

static void job_agree_texts(struct job *j) {
    uint64_t words = 0, bytes = 0, at = 0;
    uint64_t *lengths = job_get(j, j->name_count, sizeof *lengths);
    uint64_t *differs = job_get(j, j->name_count, sizeof *differs);
    j->name = job_get(j, j->name_count, sizeof *j->name);
    if (j->result) {
        return;
    }
    for (uint32_t i = 0; i < j->name_count; ++i) {
        lengths[i] = j->own[i] ? j->own[i]->length : 0;
    }
    job_reduce(j, STINT_REDUCE_MAX, lengths, j->name_count);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        uint64_t least = j->own[i] ? j->own[i]->length : 2;
        job_expect(j, lengths[i] >= least && lengths[i] <= KEY_BYTES);
        words += words_of(lengths[i]);
        bytes += lengths[i];
    }
    if (j->result) {
        return;
    }
    uint64_t *text = job_get(j, words, sizeof *text);
    char *keys = job_get(j, bytes, 1);
    if (j->result) {
        return;
    }
    for (uint32_t i = 0; i < j->name_count; ++i) {
        if (j->own[i]) { /* one that collides with a longer one fits, too */
            text_pack(text + at, j->own[i]->key, j->own[i]->length);
        }
        at += words_of(lengths[i]);
    }
    job_reduce(j, STINT_REDUCE_MAX, text, words);
    if (!j->result) {
        names_take_texts(j, lengths, text, keys, differs);
    }
    job_reduce(j, STINT_REDUCE_MAX, differs, j->name_count);
    if (!j->result) {
        names_drop(j, differs);
    }
}

/* ---- Numbers. */

static uint64_t job_own_total(const struct job *j, uint32_t name, uint64_t otherwise) {
    return j->own[name] ? j->own[name]->total_ns : otherwise;
}

static uint64_t job_own_calls(const struct job *j, uint32_t name, uint64_t otherwise) {
    return j->own[name] ? j->own[name]->calls : otherwise;
}

/* As in struct rank_spread: scopes that wait are of the processes that have them, others of all. */
static uint32_t spread_count(const struct job *j, uint32_t name) {
    return j->name[name].role ? j->name[name].wait.spread.ranks : j->size;
}

/* The total that a process without the name has in the spread. */
static uint64_t job_spread_total(const struct job *j, uint32_t name, uint64_t otherwise) {
    return job_own_total(j, name, j->name[name].role ? otherwise : 0);
}

static void reduce_roles(struct job *j, uint64_t *sent) {
    for (uint32_t i = 0; i < j->name_count; ++i) {
        sent[i] = j->own[i] ? (uint64_t)j->own[i]->role : 0;
    }
    job_reduce(j, STINT_REDUCE_MAX, sent, j->name_count);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        job_expect(j, sent[i] <= INT32_MAX && (!sent[i] || role_waits((uint32_t)sent[i])));
        j->name[i].role = (int)sent[i];
    }
}

/* sum: room for the values of four numbers of each name. */
static void reduce_sums(struct job *j, uint64_t *sum) {
    uint32_t n = j->name_count;
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t total = job_own_total(j, i, 0);
        sum[i] = j->own[i] != NULL;
        sum[n + i] = job_own_calls(j, i, 0);
        sum[2 * n + i] = total & HALF_MASK;
        sum[3 * n + i] = total >> HALF_BITS;
    }
    job_reduce(j, STINT_REDUCE_SUM, sum, 4 * (size_t)n);
    for (uint32_t i = 0; i < n; ++i) {
        struct rank_spread *spread = &j->name[i].wait.spread;
        u128 total = ((u128)sum[3 * n + i] << HALF_BITS) + sum[2 * n + i];
        job_expect(j, sum[i] && sum[i] <= j->size);
        spread->ranks = (uint32_t)sum[i];
        spread->calls = sum[n + i];
        spread->total_ns = total;
        if (spread->ranks) {
            spread->mean_ns = (uint64_t)(total / spread_count(j, i));
        }
    }
}

/* Whether a sum of `count` values may have that minimum and maximum. */
static int spread_holds(const struct rank_spread *s, uint32_t count) {
    return s->min_ns <= s->max_ns && s->total_ns <= (u128)s->max_ns * count &&
           s->total_ns >= (u128)s->min_ns * count;
}

static void reduce_limits(struct job *j, uint64_t *sent) {
    uint32_t n = j->name_count;
    for (uint32_t i = 0; i < n; ++i) {
        sent[i] = job_spread_total(j, i, JOB_NONE);
        sent[n + i] = job_own_calls(j, i, JOB_NONE);
    }
    job_reduce(j, STINT_REDUCE_MIN, sent, 2 * (size_t)n);
    for (uint32_t i = 0; i < n; ++i) {
        j->name[i].wait.spread.min_ns = sent[i];
        j->name[i].wait.calls = sent[n + i]; /* the fewest, until the most are known */
    }
    for (uint32_t i = 0; i < n; ++i) {
        sent[i] = job_own_total(j, i, 0);
        sent[n + i] = job_own_calls(j, i, 0);
    }
    job_reduce(j, STINT_REDUCE_MAX, sent, 2 * (size_t)n);
    for (uint32_t i = 0; i < n; ++i) {
        struct job_name *name = &j->name[i];
        name->wait.spread.max_ns = sent[i];
        name->wait.calls_vary = name->wait.calls != sent[n + i];
        name->wait.calls = sent[n + i];
        job_expect(j, spread_holds(&name->wait.spread, spread_count(j, i)));
    }
}

/* The first of equal ones. */
static void reduce_places(struct job *j, uint64_t *sent) {
    uint32_t n = j->name_count;
    for (uint32_t i = 0; i < n; ++i) {
        const struct rank_spread *spread = &j->name[i].wait.spread;
        sent[i] = sent[n + i] = JOB_NONE;
        if (job_spread_total(j, i, JOB_NONE) == spread->min_ns) {
            sent[i] = j->rank;
        }
        if (j->own[i] && j->own[i]->total_ns == spread->max_ns) {
            sent[n + i] = j->rank;
        }
    }
    job_reduce(j, STINT_REDUCE_MIN, sent, 2 * (size_t)n);
    for (uint32_t i = 0; i < n; ++i) {
        job_expect(j, sent[i] < j->size && sent[n + i] < j->size);
        j->name[i].wait.spread.min_rank = (uint32_t)sent[i];
        j->name[i].wait.spread.max_rank = (uint32_t)sent[n + i];
    }
}

/* The next to the shortest and to the longest: the values of two numbers of each name. */
static void reduce_next(struct job *j, uint64_t *next) {
    uint32_t n = j->name_count;
    for (uint32_t i = 0; i < n; ++i) {
        const struct rank_spread *spread = &j->name[i].wait.spread;
        next[i] = spread->min_rank == j->rank ? JOB_NONE : job_spread_total(j, i, JOB_NONE);
        next[n + i] = spread->max_rank == j->rank ? 0 : job_own_total(j, i, 0);
    }
    job_reduce(j, STINT_REDUCE_MIN, next, n);
    job_reduce(j, STINT_REDUCE_MAX, next + n, n);
}

/* A median is the smallest value that enough processes do not exceed. */
struct job_median {
    uint64_t low;
    uint64_t high;
    uint64_t enough;
};

static uint64_t median_middle(const struct job_median *m) {
    return m->low + (m->high - m->low) / 2;
}

/* One step of all of them; returns whether one is not done. */
static int medians_narrow(struct job_median *median, const uint64_t *below, uint32_t count) {
    int open = 0;
    for (uint32_t i = 0; i < count; ++i) {
        struct job_median *m = &median[i];
        uint64_t middle = median_middle(m);
        if (m->low == m->high) {
            continue;
        }
        if (below[i] >= m->enough) {
            m->high = middle;
        } else {
            m->low = middle + 1;
        }
        open |= m->low < m->high;
    }
    return open;
}

/* The lower median of the totals. */
static void reduce_medians(struct job *j, struct job_median *median, uint64_t *sent) {
    uint32_t n = j->name_count;
    int open = n != 0;
    for (uint32_t i = 0; i < n; ++i) {
        const struct rank_spread *spread = &j->name[i].wait.spread;
        median[i] = (struct job_median){spread->min_ns, spread->max_ns,
                                        ((uint64_t)spread_count(j, i) + 1) / 2};
    }
    while (open && !j->result) {
        for (uint32_t i = 0; i < n; ++i) {
            sent[i] = job_spread_total(j, i, JOB_NONE) <= median_middle(&median[i]);
        }
        job_reduce(j, STINT_REDUCE_SUM, sent, n);
        open = medians_narrow(median, sent, n);
    }
    for (uint32_t i = 0; i < n; ++i) {
        j->name[i].wait.spread.median_ns = median[i].low;
    }
}

/* count: of the spread; next, second: the next to the shortest and to the longest total. */
static void name_finish(struct job_name *name, uint32_t count, uint64_t next, uint64_t second) {
    struct rank_wait *wait = &name->wait;
    struct rank_spread *spread = &wait->spread;
    uint64_t calls = u64_max(wait->calls, 1);
    wait->late = RANK_NONE;
    if (count < 2) {
        return;
    }
    spread->lost_ns = (u128)spread->max_ns * count - spread->total_ns;
    spread->above_min_ns = spread->total_ns - (u128)spread->min_ns * count;
    if (spread->max_ns) {
        double most = (double)spread->max_ns * (count - 1);
        spread->imbalance_ppm = (uint32_t)((double)spread->lost_ns / most * 1e6 + 0.5);
    }
    if (name->role != STINT_ROLE_WAITING) {
        return;
    }
    wait->late = spread->min_rank;
    wait->late_ns = spread->min_ns;
    wait->cost_ns = spread->above_min_ns;
    wait->first_gap_ns = (spread->max_ns - spread->min_ns) / calls;
    wait->second_gap_ns = (second - spread->min_ns) / calls;
    wait->last_gap_ns = (next - spread->min_ns) / calls;
    if (wait->cost_ns) {
        double alone = (double)(next - spread->min_ns) * (count - 1);
        wait->covered_ppm = (uint32_t)double_min(alone * 1e6 / (double)wait->cost_ns, 1e6);
    }
}

static void job_reduce_numbers(struct job *j) {
    uint32_t n = j->name_count;
    uint64_t *sent = job_get(j, 4 * (size_t)n, sizeof *sent);
    struct job_median *median = job_get(j, n, sizeof *median);
    if (j->result) {
        return;
    }
    reduce_roles(j, sent);
    reduce_sums(j, sent);
    reduce_limits(j, sent);
    reduce_places(j, sent);
    reduce_medians(j, median, sent);
    reduce_next(j, sent);
    for (uint32_t i = 0; i < n && !j->result; ++i) {
        const struct rank_spread *s = &j->name[i].wait.spread;
        job_expect(j, j->name[i].role != STINT_ROLE_WAITING || s->ranks < 2 ||
                          (u64_min(sent[i], sent[n + i]) >= s->min_ns &&
                           u64_max(sent[i], sent[n + i]) <= s->max_ns));
        name_finish(&j->name[i], spread_count(j, i), sent[i], sent[n + i]);
    }
}

/* ---- Scopes that wait. */

static int is_wait_longer(const void *what, uint32_t a, uint32_t b) {
    const struct job_name *name = what;
    return name[a].wait.spread.total_ns > name[b].wait.spread.total_ns;
}

/* The waiting names with the longest totals, the longest first. */
static void job_choose_waits(struct job *j) {
    uint32_t n = j->name_count;
    uint32_t *places = job_get(j, 2 * (size_t)n, sizeof *places);
    const uint32_t *order = NULL;
    if (!j->result) {
        order = order_in(places, places + n, n, is_wait_longer, j->name);
    }
    for (uint32_t i = 0; order && i < n; ++i) {
        const struct job_name *name = &j->name[order[i]];
        if (!name->role || name->wait.spread.ranks < 2) {
            continue;
        }
        if (j->wait_count == JOB_WAITS) {
            ++j->waits_left_out;
        } else {
            j->wait[j->wait_count++].name = order[i];
        }
    }
}

/* The host of the last process: all others send zeros. */
static void job_reduce_host(struct job *j, struct job_wait *wait, const char *host) {
    uint64_t words[HOST_WORDS] = {0};
    if (j->name[wait->name].wait.late == j->rank) {
        text_pack(words, host, strnlen(host, JOB_HOST_BYTES - 1));
    }
    job_reduce(j, STINT_REDUCE_MAX, words, HOST_WORDS);
    text_unpack(wait->host, words, JOB_HOST_BYTES - 1);
}

int job_reduce_all(struct job *j, const char *host) {
    job_check_callback(j);
    job_agree_memory(j, j->row);
    job_agree_names(j);
    job_agree_texts(j);
    job_reduce_numbers(j);
    job_choose_waits(j);
    for (uint32_t i = 0; i < j->wait_count; ++i) {
        job_reduce_host(j, &j->wait[i], host);
    }
    return j->result;
}
