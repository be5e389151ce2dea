/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of records, and the functions that follow their rules: gen/records.ini. A reader has
 * the numbers of a record in a vector, in the order of the table: of 64 bits as a file has them, of
 * 128 bits as the sum of any number of records. Thread-safe: all are pure.
 */
#ifndef STINT_RECORDS_H
#define STINT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/measure.h"

enum number_add {
    NUMBER_SUM,
    NUMBER_STATE,
    NUMBER_MOST,
    NUMBER_LEAST,
    NUMBER_EARLIEST, /* as LEAST, but 0 is none */
    NUMBER_WITH,     /* that of the record whose number `with` is taken */
    NUMBER_TICKS,    /* it may be below 0: modulo 2^64, in a sum modulo 2^128 */
    NUMBER_SQUARES   /* the bits of a double, in a sum those of its low word */
};

enum number_unit {
    UNIT_COUNT,
    UNIT_SAMPLES, /* in a file twice as large: the sequence word of the record */
    UNIT_TICKS,
    UNIT_MOMENT, /* a tick; 0: none */
    UNIT_NS,
    UNIT_BYTES
};

/* How much of a record is left out of a row that has the rest of it already. */
#define OF_OWN 0u
#define OF_CALLS 1u
#define OF_GPU 2u

struct number_rule {
    uint8_t add; /* enum number_add */
    uint8_t unit;
    uint8_t of;
    uint8_t with;
    uint16_t at; /* of its place, in bytes */
};

struct record {
    const struct number_rule *number;
    uint32_t count;
};

extern const struct record record_scope;
extern const struct record record_activity;
extern const struct record record_line;
extern const struct record record_rank_cell;
/* Those that only some scopes have: the numbers of struct measures. */
extern const struct record record_measures;

/* Reads and writes them in a record of a run file. A record that a thread may be writing has a
 * sequence word, which the caller looks at. */
void numbers_load(const struct record *r, uint64_t *to, const void *from);
void numbers_store(const struct record *r, const uint64_t *from, void *to);
/* Sets the sum of no record: adding one to it gives that one. */
void numbers_clear(const struct record *r, u128 *to);
/* Adds the numbers of a record, but not those of the OF_* in `without`. */
void numbers_add(const struct record *r, u128 *to, const uint64_t *from, unsigned without);
/* Adds another sum. */
void numbers_add_sums(const struct record *r, u128 *to, const u128 *from);
/* The sum of one record. */
void numbers_widen(const struct record *r, u128 *to, const uint64_t *from);
/* The numbers of a record from a sum: those that have no room are the largest that have. */
void numbers_narrow(const struct record *r, uint64_t *to, const u128 *from);
/* Whether a record has room for the sum of two. */
int numbers_fit(const struct record *r, const uint64_t *a, const uint64_t *b);
/* Subtracts what an earlier reading had. */
void numbers_subtract(const struct record *r, uint64_t *from, const uint64_t *then);

/* ---- The numbers that only some scopes have, in groups. */

struct measures {
    uint32_t groups; /* a bit each */
    MEASURE_BY_NAME;
};

/* The sum of any number of them. */
struct measure_sums {
    MEASURE_SUMS_BY_NAME;
    uint32_t groups; /* a bit for each group that it has numbers of */
};

/* Reads and writes the numbers of a group. `count` of them are there: an earlier version has fewer,
 * a later one more. */
void measures_load(struct measures *to, enum measure_group group, const void *from, uint32_t count);
void measures_store(const struct measures *from, enum measure_group group, void *to);
/* Whether a group is there. Outside of blocks it is if it has anything: its first two numbers are
 * sums. */
int measures_have(const struct measures *m, enum measure_group group);
/* Whether there is a group that has anything. */
int measures_any(const struct measures *m);
/* As numbers_add, numbers_narrow and numbers_subtract. Of a sum, `groups` says which numbers it
 * has. */
void measures_add(uint32_t *groups, u128 *to, const struct measures *from, unsigned without);
void measures_narrow(struct measures *to, const struct measure_sums *from);
void measures_subtract(struct measures *from, const struct measures *then);
/* Adds the numbers of a group in 64 bits, and whether they have room for that. */
void measures_group_add(struct measures *to, enum measure_group group, const struct measures *more);
int measures_group_fits(const struct measures *to, enum measure_group group,
                        const struct measures *more);

#endif
