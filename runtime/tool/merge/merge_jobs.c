/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names what is wrong with the ranks of a merge: those that are missing, there twice or impossible,
 * one line per kind and job. They are merged as they are. Files of a rank that is there twice are
 * told apart by their start times, where these allow it: they are of a job that was started again,
 * or of two jobs without an id. merge.c calls at the end.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "base/text.h"
#include "merge.h"
#include "system/log.h"

#define NAMED_MOST 8u /* ranks that a line names */
#define NS_PER_S UINT64_C(1000000000)

/* ---- Lines. */

static int is_rank_before(const void *what, uint32_t a, uint32_t b) {
    const struct arena_rank *one = (const struct arena_rank *)what + a;
    const struct arena_rank *other = (const struct arena_rank *)what + b;
    if (one->job != other->job) {
        return one->job < other->job;
    }
    return one->rank < other->rank;
}

/* Ranks of one kind, for a line. */
struct rank_list {
    char text[120];
    uint32_t named;
    uint64_t count;
};

/* Adds the ranks from `first` to before `end`. */
static void list_add(struct rank_list *list, uint64_t first, uint64_t end) {
    for (uint64_t rank = first; rank < end && list->named < NAMED_MOST; ++rank) {
        size_t length = strlen(list->text);
        snprintf(list->text + length, sizeof list->text - length, "%s%llu", length ? ", " : "",
                 (unsigned long long)rank);
        ++list->named;
    }
    if (first < end) {
        list->count += end - first;
    }
}

/* what: of which kind they are; then: the end of the line. */
static void list_print(const struct rank_list *list, const char *job, const char *what,
                       const char *then) {
    char more[40] = "";
    if (!list->count) {
        return;
    }
    if (list->count > NAMED_MOST) {
        snprintf(more, sizeof more, " and %llu more",
                 (unsigned long long)(list->count - NAMED_MOST));
    }
    log_warning("merge: %sranks %s: %s%s%s", job, what, list->text, more, then);
}

struct rank_lists {
    struct rank_list twice, missing, beyond;
};

/* Sorts the ranks of a job, which are in their order, into the lists. size: 0 = not known. */
static void list_ranks(struct rank_lists *lists, const struct arena_rank *rank, const uint32_t *of,
                       uint32_t count, uint32_t size) {
    uint64_t next = 0, last = UINT64_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t number = rank[of[i]].rank - 1;
        if (i && rank[of[i]].rank == rank[of[i - 1]].rank) {
            list_add(&lists->twice, number, number + (number != last));
            last = number;
        } else if (size && number >= size) {
            list_add(&lists->beyond, number, number + 1);
        } else {
            list_add(&lists->missing, next, size ? number : next);
            next = number + 1;
        }
    }
    list_add(&lists->missing, next, size);
}

/* ---- Starts of a job. */

static int is_start_before(const void *what, uint32_t a, uint32_t b) {
    const struct merge_process *p = what;
    return p[a].start_ns < p[b].start_ns;
}

/* A start ends where one of its ranks is there again. */
int merge_starts_find(struct scratch *memory, struct merge_starts *out,
                      const struct merge_process *p, uint32_t count) {
    struct hash_map first; /* by rank, its first process */
    uint32_t *seen = scratch_array(memory, (size_t)count + 1, sizeof *seen); /* by that, a start */
    const uint32_t *order = order_by(memory, count, is_start_before, p);
    struct merge_start now = {.ranks = 0};
    uint64_t before = 0, widest = 0, pause = UINT64_MAX;
    memset(out, 0, sizeof *out);
    if (!seen || !order || hash_map_start(&first, memory, count)) {
        return -1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct merge_process *next = &p[order[i]];
        if (!next->rank) {
            continue;
        }
        hash_map_set(&first, next->rank, order[i]);
        uint32_t *last = &seen[hash_map_get(&first, next->rank)];
        if (!out->count || *last == out->count) {
            pause = out->count ? u64_min(pause, next->start_ns - before) : pause;
            now = (struct merge_start){.at_ns = next->start_ns};
            ++out->count;
        }
        *last = out->count;
        ++now.ranks;
        before = next->start_ns;
        widest = u64_max(widest, before - now.at_ns);
        if (out->count <= MERGE_STARTS_NAMED) {
            out->start[out->count - 1] = now;
        }
    }
    out->last_ns = now.at_ns;
    out->are_apart = out->count > 1 && pause > widest;
    return 0;
}

static void print_starts(const struct merge_starts *starts, const char *job, uint32_t size) {
    char list[80 * MERGE_STARTS_NAMED], more[40] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < starts->count && i < MERGE_STARTS_NAMED; ++i) {
        const struct merge_start *start = &starts->start[i];
        time_t seconds = (time_t)(start->at_ns / NS_PER_S);
        char at[40] = "", of[40] = "";
        struct tm utc;
        if (gmtime_r(&seconds, &utc)) {
            strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S UTC", &utc);
        }
        if (size) {
            snprintf(of, sizeof of, " of %u", size);
        }
        int n = snprintf(list + length, sizeof list - length, "%s%u%s from %.30s",
                         length ? ", " : "", start->ranks, of, at);
        length += (size_t)n;
    }
    if (starts->count > MERGE_STARTS_NAMED) {
        snprintf(more, sizeof more, " and %u more", starts->count - MERGE_STARTS_NAMED);
    }
    log_warning("merge: %sranks of %u starts (a restart, or several jobs): %s%s; all are merged "
                "(--start last: only the last)",
                job, starts->count, list, more);
}

/* of[0 … count): the ranks of a job. */
static int check_job(struct merge *m, const uint32_t *of, uint32_t count) {
    const struct arena_rank *rank = m->ranks.rank;
    struct merge_process *p = scratch_array(&m->memory, count, sizeof *p);
    struct rank_lists lists = {.twice.count = 0};
    struct merge_starts starts;
    uint32_t size = 0;
    char job[160] = "";
    for (uint32_t i = 0; p && i < count; ++i) {
        size = (uint32_t)u64_max(size, rank[of[i]].size);
        p[i] = merge_process_of(&rank[of[i]]);
    }
    if (!p || merge_starts_find(&m->memory, &starts, p, count)) {
        return -1;
    }
    list_ranks(&lists, rank, of, count, size);
    if (rank[of[0]].job) {
        snprintf(job, sizeof job,
                 "job %.100s: ", merge_file_text_at(&m->file, rank[of[0]].job)->bytes);
    }
    if (starts.are_apart) {
        print_starts(&starts, job, size);
    } else {
        list_print(&lists.twice, job, "with several files",
                   " (a restart, or two jobs); all are merged");
    }
    list_print(&lists.missing, job, "without a file", "");
    list_print(&lists.beyond, job, "beyond the size of the job", "; all are merged");
    return 0;
}

int merge_ranks_check(struct merge *m) {
    const struct merge_ranks *ranks = &m->ranks;
    const uint32_t *order = order_by(&m->memory, ranks->count, is_rank_before, ranks->rank);
    uint32_t jobs = 0, first = 0;
    if (!order) {
        return -1;
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        const struct arena_rank *rank = &ranks->rank[order[i]];
        if (i + 1 < ranks->count && ranks->rank[order[i + 1]].job == rank->job) {
            continue;
        }
        while (first <= i && !ranks->rank[order[first]].rank) { /* no launcher gave them one */
            ++first;
        }
        if (first <= i && check_job(m, order + first, i + 1 - first)) {
            return -1;
        }
        jobs += first <= i;
        first = i + 1;
    }
    if (m->about[MERGE_PROGRAM].differ) {
        log_warning("merge: runs of several programs; all are merged");
    }
    if (jobs > 1) {
        log_warning("merge: ranks of %u jobs; all are merged", jobs);
    }
    return 0;
}
