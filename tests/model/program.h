/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random program: a list of operations, each of one thread. Any part of the list is a program
 * too, which is what lets a failing one be shrunk by leaving operations out.
 */
#ifndef STINT_TESTS_PROGRAM_H
#define STINT_TESTS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "stint/detail/impl_layout.h"

#define PROGRAM_OPS 160
#define PROGRAM_THREADS 3 /* 0 is the main thread */
#define PROGRAM_SLOTS 4   /* handles, and guards that are on no stack */
#define PROGRAM_SETS 3    /* 0 is the default set */

enum op_kind {
    OP_SCOPE,   /* opens a scope of a static site; a = site, b = set, c = enum scope_form */
    OP_DYNAMIC, /* opens one of a run-time name; a = name, b = set, c = from how many us ago */
    OP_TRY,     /* a block that catches exceptions */
    OP_SETJMP,  /* a block that is jumped back to */
    OP_CLOSE,   /* leaves the innermost of these */
    OP_THROW,
    OP_LONGJMP,
    OP_DEEP,    /* a nested scopes, all closed again; b: all of different names */
    OP_NAMED,   /* stint_scope_begin(a) */
    OP_END,     /* stint_scope_end(a) */
    OP_SAMPLE,  /* stint_sample_add(a, n) */
    OP_HANDLE,  /* TIMER_BEGIN into slot a of handle site b */
    OP_FINISH,  /* TIMER_END of slot a */
    OP_BORROW,  /* opens a scope of static site b in the guard of slot a, as a coroutine would */
    OP_RETURN,  /* ends that, on whatever thread */
    OP_BYTES,   /* TIMER_BYTES(n) */
    OP_FLOPS,   /* TIMER_FLOPS(n) */
    OP_ADVANCE, /* the clock, by n */
    OP_BACK,    /* the clock steps back by n */
    OP_RESET,   /* a = set, PROGRAM_SETS = all */
    OP_ENABLE,  /* a = on */
    OP_LEVEL,   /* a */
    OP_FILTER,  /* a = one of program_filters */
    OP_REPORT,  /* compares */
    OP_LEAVE,   /* the thread ends, its scopes are closed */
    OP_ABANDON, /* the thread ends, its scopes stay open */
    OP_KINDS
};

enum scope_form { FORM_PLAIN, FORM_INFO, FORM_SINCE, FORM_CXX, FORMS };

struct op {
    uint8_t kind;
    uint8_t thread;
    uint8_t a, b, c;
    uint64_t n;
};

struct program {
    struct op op[PROGRAM_OPS];
    int count;
};

struct program_name {
    const char *bytes;
    size_t length;
};

/* The sites of scopes, then of handles. The words are the library's. */
#define PROGRAM_SITES 9
#define PROGRAM_HANDLE_SITES 2
extern struct stint_impl_site program_sites[PROGRAM_SITES + PROGRAM_HANDLE_SITES];
#define PROGRAM_NAMES 9
extern struct program_name program_names[PROGRAM_NAMES];
#define PROGRAM_DEEP 300
extern char program_deep_names[PROGRAM_DEEP][16];
#define PROGRAM_FILTERS 6
extern const char *const program_filters[PROGRAM_FILTERS];
extern const char *const program_set_names[PROGRAM_SETS];
extern const char *const program_infos[4];

void program_names_make(void);
void program_make(struct program *p, uint64_t seed);
void program_print(const struct program *p);

#endif
