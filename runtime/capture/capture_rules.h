/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_CAPTURE: its grammar, and which entries of a range or which steps a rule selects.
 * docs/capture.md explains it to users.
 */
#ifndef STINT_CAPTURE_RULES_H
#define STINT_CAPTURE_RULES_H

#include <stdint.h>

#include "record/watch.h"

#define CAPTURE_RULES WATCH_SCOPES
#define CAPTURE_NAME 200                        /* bytes of a name */
#define CAPTURE_NUMBER_MAX 1000000000000000000u /* two of them still add up in 64 bits */

/* Entries and steps are counted from 0. All but the last group is constant. */
struct capture_rule {
    char name[CAPTURE_NAME + 1];  /* of the range; "" = by steps */
    char scope[CAPTURE_NAME + 1]; /* the rule waits until this one was slow; "" = it does not */
    uint64_t over_ns;             /* slow is longer than this */
    uint64_t skip;                /* the first one selected */
    uint64_t record;              /* number in a row; 0 = all that follow */
    uint64_t every;               /* the period from the first one on; 0 = once */

    uint64_t entries; /* all that follow: under the lock of capture.c */
    uint64_t taken;
    uint64_t windows; /* begun, of a rule that waits */
    uint64_t begin;
    int armed;
};

struct capture_rules {
    unsigned count;
    int by_steps; /* one of them goes by steps */
    struct capture_rule rule[CAPTURE_RULES];
};

struct capture_fault {
    const char *at; /* in the text */
    const char *expected;
};

/* 0, or -1 with the fault. */
int capture_rules_parse(const char *text, struct capture_rules *out, struct capture_fault *fault);
/* Returns the rules of the environment: none when it is unset or invalid (the first call reports
 * that in a line). The first call also has the recorder watch the scopes that rules wait for. Under
 * the registry's lock. */
struct capture_rules *capture_rules_get(void);
/* Whether the rule selects entry or step i; *first gets the first one of its window. slow: its
 * scope was slow since the call before. */
int capture_rule_at(struct capture_rule *r, uint64_t i, int slow, uint64_t *first);
/* A line for each rule that selected nothing; step: the last one of the program. */
void capture_rules_say_unused(const struct capture_rules *rules, uint64_t step);
/* Resets the state of all rules, in the child of a fork. NULL: there are no rules yet. */
void capture_rules_restart(struct capture_rules *rules);

#endif
