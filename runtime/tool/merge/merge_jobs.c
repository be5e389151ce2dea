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
#include "base/log.h"
#include "base/order.h"
#include "base/text.h"
#include "merge.h"

#define NAMED_MOST 8u /* ranks that a line names, or starts */
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
    uint32_t length;
    uint32_t named;
    uint64_t count;
};

/* Adds the ranks from `first` to before `end`. */
static void list_add(struct rank_list *list, uint64_t first, uint64_t end) {
    for (uint64_t rank = first; rank < end && list->named < NAMED_MOST; ++rank) {
        int n = snprintf(list->text + list->length, sizeof list->text - list->length, "%s%llu",
                         list->length ? ", " : "", (unsigned long long)rank);
        list->length += (uint32_t)n;
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

/* Sorts the ranks of a job, which are in their order, into the lists. */
static void list_ranks(const struct arena_rank *rank, const uint32_t *of, uint32_t count,
                       uint32_t size, struct rank_list *twice, struct rank_list *missing,
                       struct rank_list *beyond) {
    uint64_t next = 0, last = UINT64_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t number = rank[of[i]].rank - 1;
        if (i && rank[of[i]].rank == rank[of[i - 1]].rank) {
            if (number != last) {
                list_add(twice, number, number + 1);
            }
            last = number;
            continue;
        }
        if (size && number >= size) {
            list_add(beyond, number, number + 1);
            continue;
        }
        if (size) {
            list_add(missing, next, number);
        }
        next = number + 1;
    }
    list_add(missing, next, size);
}

/* ---- Starts of a job. */

/* The files of ranks that were started together. */
struct job_start {
    uint64_t at_ns;
    uint64_t last_ns;
    uint32_t ranks;
};

struct job_starts {
    struct job_start start[NAMED_MOST];
    uint32_t count;     /* maybe more than are listed */
    uint64_t widest_ns; /* from the first to the last rank of a start */
    uint64_t pause_ns;  /* the shortest one before a start */
};

/* Files in the order of their ranks. */
struct job_files {
    const struct arena_rank *rank;
    const uint32_t *of;
};

static int is_start_before(const void *what, uint32_t a, uint32_t b) {
    const struct job_files *files = what;
    return files->rank[files->of[a]].start_real_ns < files->rank[files->of[b]].start_real_ns;
}

static void add_start(struct job_starts *out, struct job_start *now, uint64_t at_ns) {
    if (out->count) {
        out->pause_ns = u64_min(out->pause_ns, at_ns - now->last_ns);
    }
    *now = (struct job_start){.at_ns = at_ns, .last_ns = at_ns};
    ++out->count;
}

/* Adds a file to the current start, in the order of time. */
static void add_to_start(struct job_starts *out, struct job_start *now, uint64_t at_ns) {
    now->last_ns = at_ns;
    ++now->ranks;
    out->widest_ns = u64_max(out->widest_ns, now->last_ns - now->at_ns);
    if (out->count <= NAMED_MOST) {
        out->start[out->count - 1] = *now;
    }
}

/* A start ends where one of its ranks is there again. 0, or -1 without memory. */
static int find_starts(struct merge *m, struct job_starts *out, const struct job_files *files,
                       uint32_t count) {
    struct job_start now = {.ranks = 0};
    uint32_t *first = scratch_array(&m->memory, count, sizeof *first); /* file of the same rank */
    uint32_t *seen = scratch_array(&m->memory, count, sizeof *seen);   /* by that, a start */
    const uint32_t *order = order_by(&m->memory, count, is_start_before, files);
    memset(out, 0, sizeof *out);
    out->pause_ns = UINT64_MAX;
    if (!first || !seen || !order) {
        return -1;
    }
    for (uint32_t i = 1; i < count; ++i) {
        first[i] = i;
        if (files->rank[files->of[i]].rank == files->rank[files->of[i - 1]].rank) {
            first[i] = first[i - 1];
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t at_ns = files->rank[files->of[order[i]]].start_real_ns;
        uint32_t *last = &seen[first[order[i]]];
        if (!out->count || *last == out->count) {
            add_start(out, &now, at_ns);
        }
        *last = out->count;
        add_to_start(out, &now, at_ns);
    }
    return 0;
}

/* Whether each start is farther from the one before than its ranks are from each other. */
static int starts_are_apart(const struct job_starts *starts) {
    return starts->count > 1 && starts->pause_ns > starts->widest_ns;
}

static void print_starts(const struct job_starts *starts, const char *job, uint32_t size) {
    char list[80 * NAMED_MOST], more[40] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < starts->count && i < NAMED_MOST; ++i) {
        const struct job_start *start = &starts->start[i];
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
    if (starts->count > NAMED_MOST) {
        snprintf(more, sizeof more, " and %u more", starts->count - NAMED_MOST);
    }
    log_warning("merge: %sranks of %u starts (a restart, or several jobs): %s%s; all are merged "
                "(--start last: only the last)",
                job, starts->count, list, more);
}

/* of[0 … count): the ranks of a job. */
static int check_job(struct merge *m, const uint32_t *of, uint32_t count) {
    const struct arena_rank *rank = m->ranks.rank;
    const struct job_files files = {rank, of};
    struct rank_list twice = {.count = 0}, missing = {.count = 0}, beyond = {.count = 0};
    struct job_starts starts;
    uint32_t size = 0;
    char job[160] = "";
    for (uint32_t i = 0; i < count; ++i) {
        size = (uint32_t)u64_max(size, rank[of[i]].size);
    }
    if (find_starts(m, &starts, &files, count)) {
        return -1;
    }
    list_ranks(rank, of, count, size, &twice, &missing, &beyond);
    if (rank[of[0]].job) {
        snprintf(job, sizeof job,
                 "job %.100s: ", merge_file_text_at(&m->file, rank[of[0]].job)->bytes);
    }
    if (starts_are_apart(&starts)) {
        print_starts(&starts, job, size);
    } else {
        list_print(&twice, job, "with several files", " (a restart, or two jobs); all are merged");
    }
    list_print(&missing, job, "without a file", "");
    list_print(&beyond, job, "beyond the size of the job", "; all are merged");
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
    if (m->program.differ) {
        log_warning("merge: runs of several programs; all are merged");
    }
    if (jobs > 1) {
        log_warning("merge: ranks of %u jobs; all are merged", jobs);
    }
    return 0;
}
