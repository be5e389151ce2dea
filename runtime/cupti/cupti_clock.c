/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's clock as the recorder's: pairs of readings of both, and times of records converted by
 * them. CUPTI's clock is CLOCK_REALTIME (cupti_activity.h of CUDA 13.0, at
 * cuptiActivityRegisterTimestampCallback): it is slewed, and may be set to another time. Pure: no
 * clock, no lock.
 *
 * A reading says that the offset between the clocks is in a range: the recorder's clock was read
 * before and after CUPTI's. The offset that was used so far is kept while it is in the range, so
 * that the imprecision of readings does not move records; otherwise it is moved by as little as
 * possible. Times between two readings are converted by linear interpolation, later and earlier
 * ones by the nearest reading. A change that no drift explains means that a clock was set: a new
 * era. A record belongs to the newest era in which it is possible.
 *
 * An offset consists of a constant, from the era's first reading, and of the rest, by which the
 * clocks have drifted apart since, over all eras. Only the constant is added to the times of
 * records, so that their differences stay CUPTI's, to the nanosecond; the rest is their shift.
 */
#include "cupti_private.h"

#include "base/arithmetic.h"

#define SPACING_NS 10000000u /* between readings that are kept: a range is short against it */
#define JUMP_NS 10000u       /* more than this and a thousandth of the time since: not a drift */
#define DRIFT_PER 1000u
#define DRIFT_NS 100000000u /* drift is measured over this time at least */
#define AHEAD_NS 1000000u   /* a GPU's times may be that far ahead of the host's */

static const struct cupti_anchor *clock_get_anchor(const struct cupti_clock *c, uint64_t number) {
    return &c->anchors[number % CUPTI_ANCHORS];
}

/* Numbers of anchors that are kept: from here up to c->count. */
static uint64_t clock_get_oldest(const struct cupti_clock *c) {
    return saturating_subtract(c->count, CUPTI_ANCHORS);
}

static void clock_add_anchor(struct cupti_clock *c, const struct cupti_reading *r, int64_t offset,
                             int is_new_era) {
    struct cupti_anchor added = {.theirs = r->theirs,
                                 .offset = offset,
                                 .base = offset,
                                 .width = r->after - r->before,
                                 .is_new_era = is_new_era};
    if (c->count) {
        const struct cupti_anchor *last = clock_get_anchor(c, c->count - 1);
        int64_t drift = last->offset - last->base;
        added.base = is_new_era ? offset - drift : last->base;
    }
    c->anchors[c->count % CUPTI_ANCHORS] = added;
    ++c->count;
}

static int64_t clock_get_middle(const struct cupti_reading *r) {
    return (int64_t)(r->before - r->theirs) + (int64_t)((r->after - r->before) / 2);
}

/* The offset in the range of the reading that is nearest to `before`. */
static int64_t clock_move_offset(const struct cupti_reading *r, int64_t before) {
    int64_t low = (int64_t)(r->before - r->theirs);
    int64_t high = (int64_t)(r->after - r->theirs);
    if (before < low) {
        return low;
    }
    if (before > high) {
        return high;
    }
    return before;
}

static uint64_t clock_get_distance(int64_t a, int64_t b) {
    if (a < b) {
        return (uint64_t)b - (uint64_t)a;
    }
    return (uint64_t)a - (uint64_t)b;
}

static void clock_note_drift(struct cupti_clock *c, uint64_t change, uint64_t elapsed) {
    if (elapsed >= DRIFT_NS) {
        uint64_t ppm = change * 1000 / (elapsed / 1000);
        __atomic_store_n(&c->drift_ppm, (uint32_t)u64_max(c->drift_ppm, ppm), __ATOMIC_RELAXED);
    }
}

void cupti_clock_add(struct cupti_clock *c, const struct cupti_reading *r) {
    if (!c->count) {
        clock_add_anchor(c, r, clock_get_middle(r), 1);
        return;
    }
    const struct cupti_anchor *last = clock_get_anchor(c, c->count - 1);
    uint64_t last_ours = last->theirs + (uint64_t)last->offset;
    uint64_t elapsed = saturating_subtract(r->before, last_ours);
    int64_t offset = clock_move_offset(r, last->offset);
    uint64_t change = clock_get_distance(offset, last->offset);
    if (change > JUMP_NS + last->width + elapsed / DRIFT_PER) {
        __atomic_store_n(&c->jumps, c->jumps + 1, __ATOMIC_RELAXED);
        clock_add_anchor(c, r, clock_get_middle(r), 1);
    } else if (elapsed >= SPACING_NS) {
        clock_note_drift(c, change, elapsed);
        clock_add_anchor(c, r, offset, 0);
    }
}

/* ---- Conversion. */

/* Anchors of one era: from first up to and without end. */
struct clock_era {
    uint64_t first;
    uint64_t end;
};

static int64_t clock_interpolate(const struct cupti_anchor *a, const struct cupti_anchor *b,
                                 uint64_t theirs) {
    int64_t change = b->offset - a->offset;
    if (!change) {
        return a->offset;
    }
    double part = (double)(theirs - a->theirs) / (double)(b->theirs - a->theirs);
    return a->offset + (int64_t)((double)change * part);
}

/* The times by that era's clock, and their shift. */
static struct cupti_times clock_convert_in(const struct cupti_clock *c, const struct clock_era *era,
                                           const struct cupti_times *theirs) {
    uint64_t i = era->end - 1;
    while (i > era->first && clock_get_anchor(c, i)->theirs > theirs->start) {
        --i;
    }
    const struct cupti_anchor *a = clock_get_anchor(c, i);
    int64_t offset = a->offset;
    if (i + 1 < era->end && a->theirs <= theirs->start) {
        offset = clock_interpolate(a, clock_get_anchor(c, i + 1), theirs->start);
    }
    return (struct cupti_times){.start = theirs->start + (uint64_t)a->base,
                                .end = theirs->end + (uint64_t)a->base,
                                .shift = offset - a->base};
}

/* When that anchor was read, in the recorder's time. */
static uint64_t clock_get_time_of(const struct cupti_clock *c, uint64_t number) {
    const struct cupti_anchor *a = clock_get_anchor(c, number);
    return a->theirs + (uint64_t)a->offset;
}

/* An era begins after the last reading of the one before it. */
static int clock_is_possible(const struct cupti_clock *c, const struct clock_era *era,
                             const struct cupti_times *t, uint64_t now) {
    uint64_t begins = 0, start = t->start + (uint64_t)t->shift, end = t->end + (uint64_t)t->shift;
    if (era->first > clock_get_oldest(c)) {
        begins = clock_get_time_of(c, era->first - 1);
    }
    return start >= begins && end >= start && end <= now + AHEAD_NS;
}

static struct clock_era clock_find_era(const struct cupti_clock *c, uint64_t end) {
    struct clock_era era = {.first = end - 1, .end = end};
    while (era.first > clock_get_oldest(c) && !clock_get_anchor(c, era.first)->is_new_era) {
        --era.first;
    }
    return era;
}

void cupti_clock_convert(const struct cupti_clock *c, uint64_t now, struct cupti_times *t) {
    struct clock_era newest = clock_find_era(c, c->count);
    struct clock_era era = newest;
    const struct cupti_times theirs = *t;
    for (;;) {
        *t = clock_convert_in(c, &era, &theirs);
        if (clock_is_possible(c, &era, t, now)) {
            return;
        }
        if (era.first == clock_get_oldest(c)) {
            break;
        }
        now = clock_get_time_of(c, era.first);
        era = clock_find_era(c, era.first);
    }
    *t = clock_convert_in(c, &newest, &theirs);
}
