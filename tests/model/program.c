/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes random programs of the model test from a seed: the operations, their weights, and the sites
 * and names that they use. The same seed gives the same program on every machine.
 */
#include "program.h"

#include "known.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SITE(text, at, depth)                                                                      \
    { .name = text, .file = "program.c", .function = "f", .line = at, .level = depth }

/* Several sites of one name, and one of each level. */
struct stint_impl_site program_sites[PROGRAM_SITES + PROGRAM_HANDLE_SITES] = {
    SITE("a", 1, 0),   SITE("a", 2, 0),  SITE("b", 3, 0),      SITE("b", 4, 0),
    SITE("bb", 5, 0),  SITE("c", 6, 0),  SITE("detail", 7, 1), SITE("a", 8, 1),
    SITE("all", 9, 2), SITE("h", 10, 0), SITE("a", 11, 0)};

/* The last two are refused. */
struct program_name program_names[PROGRAM_NAMES] = {{"a", 1},    {"b", 1},    {"n1", 2},
                                                    {"n2", 2},   {"a\0z", 3}, {NULL, 1500},
                                                    {"n1n1", 4}, {"", 0},     {NULL, 0}};
char program_deep_names[PROGRAM_DEEP][16];
static char long_name[1501];

const char *const program_filters[PROGRAM_FILTERS] = {NULL, "-a", "-b*", "+a,+n?", "+*,-?", ""};
const char *const program_set_names[PROGRAM_SETS] = {"GlobalStatInfo", "second", "third"};
const char *const program_infos[4] = {NULL, "one", "two", "three"};

void program_names_make(void) {
    memset(long_name, 'x', sizeof long_name - 1);
    program_names[5].bytes = long_name;
    for (int i = 0; i < PROGRAM_DEEP; ++i) {
        snprintf(program_deep_names[i], sizeof program_deep_names[i], "d%d", i);
    }
}

static uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static unsigned below(uint64_t *state, unsigned n) {
    return (unsigned)((random_next(state) >> 32) * n >> 32);
}

/* The frequency of each operation, in about 1000. */
static const unsigned weights[OP_KINDS] = {
    [OP_SCOPE] = 260, [OP_DYNAMIC] = 60, [OP_TRY] = 25,      [OP_SETJMP] = 25, [OP_CLOSE] = 230,
    [OP_THROW] = 15,  [OP_LONGJMP] = 25, [OP_DEEP] = 1,      [OP_NAMED] = 25,  [OP_END] = 25,
    [OP_SAMPLE] = 15, [OP_HANDLE] = 20,  [OP_FINISH] = 20,   [OP_BORROW] = 12, [OP_RETURN] = 12,
    [OP_BYTES] = 12,  [OP_FLOPS] = 8,    [OP_ADVANCE] = 230, [OP_BACK] = 4,    [OP_RESET] = 8,
    [OP_ENABLE] = 8,  [OP_LEVEL] = 8,    [OP_FILTER] = 8,    [OP_REPORT] = 8,  [OP_LEAVE] = 8,
    [OP_ABANDON] = 5};

static enum op_kind kind_of(uint64_t *state, unsigned all) {
    unsigned at = below(state, all);
    for (unsigned k = 0; k < OP_KINDS; ++k) {
        if (at < weights[k]) {
            return (enum op_kind)k;
        }
        at -= weights[k];
    }
    return OP_ADVANCE;
}

static int is_known_fault(enum op_kind kind) {
    return KNOWN_GUARD && (kind == OP_BORROW || kind == OP_RETURN || kind == OP_LONGJMP);
}

/* Returns a time of any magnitude, often a small one. */
static uint64_t some_ns(uint64_t *state) {
    return random_next(state) >> (24 + below(state, 40));
}

static void op_make(struct op *o, uint64_t *state, unsigned all) {
    memset(o, 0, sizeof *o);
    o->kind = (uint8_t)kind_of(state, all);
    o->kind = is_known_fault((enum op_kind)o->kind) ? OP_ADVANCE : o->kind;
    o->n = some_ns(state);
    switch (o->kind) {
    case OP_SCOPE:
        o->a = (uint8_t)below(state, PROGRAM_SITES);
        o->b = (uint8_t)(below(state, 4) ? 0 : below(state, PROGRAM_SETS));
        o->c = (uint8_t)(below(state, 2) ? 0 : below(state, FORMS));
        break;
    case OP_DYNAMIC:
        o->a = (uint8_t)below(state, PROGRAM_NAMES);
        o->b = (uint8_t)(below(state, 4) ? 0 : below(state, PROGRAM_SETS));
        o->c = (uint8_t)(below(state, 4) ? 0 : 1 + below(state, 20));
        break;
    case OP_DEEP:
        o->n = 2 + below(state, PROGRAM_DEEP - 2);
        o->b = (uint8_t)below(state, 2);
        break;
    case OP_NAMED:
    case OP_END:
        o->a = (uint8_t)below(state, 4);
        break;
    case OP_SAMPLE:
        o->a = (uint8_t)(below(state, 4) ? below(state, 4) : PROGRAM_NAMES - 1 - below(state, 2));
        break;
    case OP_HANDLE:
    case OP_BORROW:
        o->b = (uint8_t)below(state, o->kind == OP_HANDLE ? PROGRAM_HANDLE_SITES : PROGRAM_SITES);
        o->a = (uint8_t)below(state, PROGRAM_SLOTS);
        break;
    case OP_BYTES:
    case OP_FLOPS:
        o->n &= 0xffffff;
        break;
    case OP_BACK:
        o->n &= 0xff;
        break;
    case OP_RESET:
        o->a = (uint8_t)(below(state, 2) ? PROGRAM_SETS : below(state, PROGRAM_SETS));
        break;
    case OP_ENABLE:
        o->a = (uint8_t)(below(state, 3) != 0);
        break;
    case OP_LEVEL:
        o->a = (uint8_t)below(state, 3);
        break;
    case OP_FILTER:
        o->a = (uint8_t)(below(state, 3) ? below(state, PROGRAM_FILTERS) : 0);
        break;
    default:
        o->a = (uint8_t)below(state, PROGRAM_SLOTS);
    }
}

void program_make(struct program *p, uint64_t seed) {
    uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15u;
    unsigned all = 0, thread = 0;
    for (unsigned k = 0; k < OP_KINDS; ++k) {
        all += weights[k];
    }
    random_next(&state);
    unsigned threads = below(&state, 3) ? 1 : PROGRAM_THREADS; /* switching costs */
    p->count = 1 + (int)below(&state, below(&state, 2) ? PROGRAM_OPS - 1 : 30);
    for (int i = 0; i < p->count; ++i) {
        op_make(&p->op[i], &state, all);
        thread = below(&state, 6) ? thread : below(&state, threads);
        p->op[i].thread = (uint8_t)thread;
    }
}

static const char *const kind_names[OP_KINDS] = {
    "scope", "dynamic", "try",    "setjmp", "close",  "throw",  "longjmp", "deep",   "named",
    "end",   "sample",  "handle", "finish", "borrow", "return", "bytes",   "flops",  "advance",
    "back",  "reset",   "enable", "level",  "filter", "report", "leave",   "abandon"};

void program_print(const struct program *p) {
    for (int i = 0; i < p->count; ++i) {
        const struct op *o = &p->op[i];
        printf("%4d  thread %u  %-8s a=%u b=%u c=%u n=%" PRIu64 "\n", i, o->thread,
               kind_names[o->kind], o->a, o->b, o->c, o->n);
    }
}
