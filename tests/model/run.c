/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter. A scope of the program is a stack frame here with a guard in it, so that return,
 * longjmp and exceptions do to it what they do to a user's; this file is compiled with
 * -fexceptions. Threads take turns: the operations are done in the order of the list, each by its
 * own thread, and the reference is told of each right after the library. The clock does not move
 * in between.
 *
 * The guards are those that the macros declare, without the macros, because the reference must know
 * their addresses: whether a place is opened again that a jump has left is a matter of
 * addresses. */
#include "runner.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_clock.h"
#include "known.h"
#include "record/thread.h"
#include "reference.h"
#include "stint/stint.h"

struct jump {
    jmp_buf to;
    struct jump *outer;
    int level;
};

struct runner {
    int thread;
    pthread_t id;
    int level;         /* open blocks */
    int tries;         /* of them OP_TRY */
    int ending;        /* all of them return */
    struct jump *jump; /* innermost that may be jumped to: with no C++ frame in between */
    int cxx;           /* C++ frames around */
    jmp_buf bottom;
    const struct op *op;
};

static struct runner runners[PROGRAM_THREADS];
static sem_t turns[PROGRAM_THREADS];
static int alive[PROGRAM_THREADS]; /* 1 = runs, 2 = has ended and waits to be joined */
static struct op ops[PROGRAM_OPS + 3 + PROGRAM_THREADS];
static int op_count, op_next;
static stint_set *sets[PROGRAM_SETS];
static int differences, be_quiet;

static stint_timer handles[PROGRAM_SLOTS];
static struct {
    int open, site;
    uint64_t start;
} handle_state[PROGRAM_SLOTS];

/* Guards in memory that outlives threads, as coroutines' frames do. */
static struct {
    struct stint_impl_call guard;
    int open;
    uint64_t opening;
} borrowed[PROGRAM_SLOTS];

void run_differs(const char *format, ...) {
    va_list args;
    if (++differences > 20 || be_quiet) {
        return;
    }
    va_start(args, format);
    printf("    differs: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* ---- Turns. */

static void run_ops(struct runner *r);

static void *thread_main(void *arg) {
    struct runner *r = arg;
    sem_wait(&turns[r->thread]);
    if (!setjmp(r->bottom)) {
        run_ops(r);
    }
    alive[r->thread] = 2;
    sem_post(&turns[0]);
    return NULL;
}

static void join_ended(void) {
    for (int i = 1; i < PROGRAM_THREADS; ++i) {
        if (alive[i] == 2) {
            pthread_join(runners[i].id, NULL);
            alive[i] = 0;
            reference_thread_end(i);
        }
    }
}

static void turn_to(struct runner *r, int thread) {
    struct runner *other = &runners[thread];
    if (!alive[thread]) {
        memset(other, 0, sizeof *other);
        other->thread = thread;
        alive[thread] = 1;
        if (pthread_create(&other->id, NULL, thread_main, other)) {
            abort();
        }
    }
    sem_post(&turns[thread]);
    sem_wait(&turns[r->thread]);
    if (!r->thread) {
        join_ended();
    }
}

/* The next operation of this thread; NULL at the end of the program. */
static const struct op *next_op(struct runner *r) {
    while (op_next < op_count) {
        const struct op *o = &ops[op_next];
        if (o->thread == r->thread) {
            ++op_next;
            return o;
        }
        if (alive[o->thread] || (o->kind != OP_LEAVE && o->kind != OP_ABANDON)) {
            turn_to(r, o->thread);
        } else {
            ++op_next;
        }
    }
    return NULL;
}

/* The reference's time and the recorder that this thread was given by now. */
static void tell(struct runner *r) {
    struct thread_block *b = thread_block_here();
    reference.thread[r->thread].recorder = b ? (int)b->record->ordinal : REFERENCE_NONE;
    reference.now = fake_now;
}

/* ---- Scopes. */

static uint64_t guard_of(const void *guard) {
    return (uint64_t)(uintptr_t)guard;
}

struct level {
    struct stint_impl_call call; /* the guard; of the plain form its head alone is one */
    struct runner *r;
    uint64_t opening;
    int with;
};

static void level_end(struct level *l) {
    if (l->with) {
        stint_impl_end_with(&l->call);
    } else {
        stint_impl_end((void *)&l->call);
    }
    tell(l->r);
    reference_close(l->r->thread, guard_of(&l->call), l->opening, l->with ? l->call.info : NULL);
}

static int in_recursion(const struct runner *r) {
    const struct reference_thread *t = &reference.thread[r->thread];
    int recursive = 0;
    for (int i = 0; i < t->depth; ++i) {
        recursive |= t->frame[i].recursive;
    }
    return recursive;
}

static uint64_t since(const struct runner *r, const struct op *o, uint64_t *us) {
    uint64_t now_us = fake_now / 1000;
    if (KNOWN_RECURSIVE_SINCE && in_recursion(r)) {
        *us = now_us;
        return fake_now;
    }
    *us = o->n % 50 < now_us ? now_us - o->n % 50 : now_us;
    return *us >= now_us ? fake_now : *us * 1000;
}

__attribute__((noinline)) static void scope_c(struct runner *r) {
    const struct op *o = r->op;
    struct level l
        __attribute__((cleanup(level_end))) = {.call = {0}, .r = r, .with = o->c != FORM_PLAIN};
    struct stint_impl_site *site = &program_sites[o->a];
    uint32_t set = sets[o->b]->id;
    uint64_t us, start = 0;
    l.call.info = o->c == FORM_INFO ? program_infos[o->n % 4] : NULL;
    l.call.threshold_us = -1;
    if (o->c == FORM_SINCE) {
        start = since(r, o, &us);
        stint_impl_begin_since(&l.call, site, set, us);
    } else {
        l.call.opened = stint_impl_begin(&l.call, site, set);
    }
    tell(r);
    l.opening = reference_open(r->thread, guard_of(&l.call), o->a, o->b, start);
    run_ops(r);
}

__attribute__((noinline)) static void scope_dynamic(struct runner *r) {
    static struct stint_impl_site place = {.name = "", .file = "run.c", .function = "f", .line = 1};
    const struct op *o = r->op;
    struct level l __attribute__((cleanup(level_end))) = {.call = {0}, .r = r, .with = 1};
    const struct program_name *name = &program_names[o->a];
    uint64_t us = UINT64_MAX, start = 0;
    l.call.threshold_us = -1;
    if (o->c) {
        start = since(r, o, &us);
    }
    stint_impl_begin_dynamic(&l.call, &place, sets[o->b]->id, name->bytes, name->length, us);
    tell(r);
    if (!name->length) {
        reference_lose(LOSS_BAD_SAMPLE);
    } else {
        l.opening =
            reference_open(r->thread, guard_of(&l.call), REFERENCE_DYNAMIC + o->a, o->b, start);
    }
    run_ops(r);
}

static uint64_t cxx_opened(struct runner *r, const void *guard) {
    tell(r);
    return reference_open(r->thread, guard_of(guard), r->op->a, r->op->b, 0);
}

static void cxx_closed(struct runner *r, const void *guard, uint64_t opening) {
    tell(r);
    reference_close(r->thread, guard_of(guard), opening, NULL);
}

__attribute__((noinline)) static void scope_cxx(struct runner *r) {
    struct jump *jump = r->jump;
    r->jump = NULL;
    ++r->cxx;
    run_cxx_scope(r, &program_sites[r->op->a], sets[r->op->b]->id, cxx_opened, run_ops, cxx_closed);
    --r->cxx;
    r->jump = jump;
}

/* Nests scopes `depth` deep, each with a name of its own or with one of a few names: then most are
 * recursive. */
__attribute__((noinline)) static void scope_deep(struct runner *r, unsigned depth, int names) {
    static struct stint_impl_site place = {.name = "", .file = "run.c", .function = "f", .line = 2};
    struct level l __attribute__((cleanup(level_end))) = {.call = {0}, .r = r, .with = 1};
    int site = (int)(depth % PROGRAM_SITES);
    l.call.threshold_us = -1;
    if (names) {
        const char *name = program_deep_names[depth];
        site = REFERENCE_DEEP + (int)depth;
        stint_impl_begin_dynamic(&l.call, &place, 0, name, UINT64_MAX, UINT64_MAX);
    } else {
        l.call.opened = stint_impl_begin(&l.call, &program_sites[site], 0);
    }
    tell(r);
    l.opening = reference_open(r->thread, guard_of(&l.call), site, 0, 0);
    fake_advance(3);
    if (depth) {
        scope_deep(r, depth - 1, names);
    }
}

/* ---- Blocks. */

static void block_try(struct runner *r) {
    struct jump *jump = r->jump;
    int level = r->level, cxx = r->cxx;
    r->jump = NULL; /* no longjmp over a block that catches */
    ++r->tries;
    ++r->cxx;
    run_catch(run_ops, r);
    --r->tries;
    r->cxx = cxx;
    r->level = level;
    r->jump = jump;
}

__attribute__((noinline)) static void block_setjmp(struct runner *r) {
    struct jump j = {.outer = r->jump, .level = r->level};
    r->jump = &j;
    setjmp(j.to);
    r->level = j.level;
    run_ops(r);
    r->jump = j.outer;
}

static void block(struct runner *r, void (*body)(struct runner *)) {
    ++r->level;
    body(r);
    --r->level;
}

/* ---- Operations that are not blocks. */

static void named(struct runner *r, int name) {
    int site = REFERENCE_DYNAMIC + name;
    stint_scope_begin(program_names[name].bytes);
    tell(r);
    reference_open(r->thread, REFERENCE_NAMED | (uint64_t)site, site, 0, 0);
}

static void end_named(struct runner *r, int name) {
    int got = stint_scope_end(program_names[name].bytes);
    tell(r);
    int want = reference_end_named(r->thread, REFERENCE_DYNAMIC + name);
    if (got != want) {
        run_differs("stint_scope_end(\"%s\") is %d, should be %d", program_names[name].bytes, got,
                    want);
    }
}

static void add_sample(struct runner *r, int name, uint64_t ns) {
    const struct program_name *n = &program_names[name];
    int site = REFERENCE_DYNAMIC + name;
    int got = stint_sample_add(n->bytes, ns), want = STINT_ERROR_NOT_AVAILABLE;
    tell(r);
    if (!n->length) {
        reference_lose(LOSS_BAD_SAMPLE);
        want = STINT_ERROR_UNKNOWN;
    } else if (reference_on(site)) {
        want = 0;
        ++reference.opened;
        reference_interval(r->thread, site, fake_now > ns ? fake_now - ns : 0, ns);
    }
    if (got != want) {
        run_differs("stint_sample_add is %d, should be %d", got, want);
    }
}

static void handle_begin(struct runner *r, unsigned slot, int which) {
    int site = PROGRAM_SITES + which;
    stint_impl_handle_begin(handles[slot].word, &program_sites[site]);
    tell(r);
    if (handle_state[slot].open == 2) {
        --reference.opened; /* begun anew: as if it had not been */
    }
    handle_state[slot].open = reference_on(site) ? 2 : 1;
    reference.opened += handle_state[slot].open == 2;
    handle_state[slot].site = site;
    handle_state[slot].start = fake_now;
}

static void handle_end(struct runner *r, unsigned slot) {
    stint_impl_handle_end(handles[slot].word);
    tell(r);
    if (!handle_state[slot].open) {
        reference_lose(LOSS_STRAY_END);
    } else if (handle_state[slot].open == 2 && fake_now < handle_state[slot].start) {
        reference_lose(LOSS_CLOCK_BACK);
    } else if (handle_state[slot].open == 2) {
        reference_interval(r->thread, handle_state[slot].site, handle_state[slot].start,
                           fake_now - handle_state[slot].start);
    }
    handle_state[slot].open = 0;
}

static void borrow(struct runner *r, unsigned slot, int site) {
    if (borrowed[slot].open) {
        return;
    }
    memset(&borrowed[slot].guard, 0, sizeof borrowed[slot].guard);
    borrowed[slot].guard.threshold_us = -1;
    borrowed[slot].guard.opened = stint_impl_begin(&borrowed[slot].guard, &program_sites[site], 0);
    tell(r);
    borrowed[slot].open = 1;
    borrowed[slot].opening = reference_open(r->thread, guard_of(&borrowed[slot].guard), site, 0, 0);
}

static void give_back(struct runner *r, unsigned slot) {
    if (!borrowed[slot].open) {
        return;
    }
    stint_impl_end_with(&borrowed[slot].guard);
    tell(r);
    reference_close(r->thread, guard_of(&borrowed[slot].guard), borrowed[slot].opening, NULL);
    borrowed[slot].open = 0;
}

static void work(struct runner *r, uint64_t bytes, uint64_t flops) {
    if (bytes) {
        stint_impl_add_bytes(bytes);
    } else {
        stint_impl_add_flops(flops);
    }
    tell(r);
    reference_work(r->thread, bytes, flops);
}

static void reset(struct runner *r, unsigned set) {
    if (set == PROGRAM_SETS) {
        stint_reset();
    } else {
        stint_set_reset(sets[set]);
    }
    tell(r);
    reference_reset((int)set);
}

static void change_setting(const struct op *o) {
    if (o->kind == OP_ENABLE) {
        stint_timers_enable(o->a);
        reference.enabled = o->a;
    } else if (o->kind == OP_LEVEL) {
        stint_level_set(o->a);
        reference.level = o->a;
    } else {
        stint_filter_set(program_filters[o->a]);
        reference.filter = program_filters[o->a];
    }
}

static void simple_op(struct runner *r, const struct op *o) {
    switch (o->kind) {
    case OP_DEEP:
        scope_deep(r, (unsigned)o->n % PROGRAM_DEEP, o->b);
        break;
    case OP_NAMED:
        named(r, o->a);
        break;
    case OP_END:
        end_named(r, o->a);
        break;
    case OP_SAMPLE:
        add_sample(r, o->a, o->n);
        break;
    case OP_HANDLE:
        handle_begin(r, o->a, o->b);
        break;
    case OP_FINISH:
        handle_end(r, o->a);
        break;
    case OP_BORROW:
        borrow(r, o->a, o->b);
        break;
    case OP_RETURN:
        give_back(r, o->a);
        break;
    case OP_BYTES:
        work(r, o->n + 1, 0);
        break;
    case OP_FLOPS:
        work(r, 0, o->n + 1);
        break;
    case OP_ADVANCE:
        fake_advance(o->n);
        break;
    case OP_BACK:
        fake_advance(fake_now - o->n > reference.start ? 0 - o->n : 0);
        break;
    case OP_RESET:
        reset(r, o->a);
        break;
    case OP_REPORT:
        tell(r);
        compare_all();
        break;
    default:
        change_setting(o);
    }
}

/* The rest of the innermost block. */
static void run_ops(struct runner *r) {
    while (!r->ending) {
        const struct op *o = next_op(r);
        r->op = o;
        if (!o) {
            r->ending = 1;
        } else if (o->kind == OP_SCOPE) {
            block(r, o->c == FORM_CXX ? scope_cxx : scope_c);
        } else if (o->kind == OP_DYNAMIC) {
            block(r, scope_dynamic);
        } else if (o->kind == OP_TRY) {
            block(r, block_try);
        } else if (o->kind == OP_SETJMP) {
            block(r, block_setjmp);
        } else if (o->kind == OP_CLOSE) {
            if (r->level) {
                return;
            }
        } else if (o->kind == OP_THROW) {
            if (r->tries) {
                run_throw();
            }
        } else if (o->kind == OP_LONGJMP) {
            if (r->jump) {
                longjmp(r->jump->to, 1);
            }
        } else if (o->kind == OP_LEAVE) {
            r->ending = r->thread != 0 || op_next == op_count;
        } else if (o->kind == OP_ABANDON) {
            if (r->thread && !r->cxx) {
                longjmp(r->bottom, 1);
            }
        } else {
            simple_op(r, o);
        }
    }
}

/* A report with everything open, the threads' ends, the main thread's own. */
static void program_take(const struct program *p) {
    memcpy(ops, p->op, (size_t)p->count * sizeof *ops);
    op_count = p->count;
    ops[op_count++] = (struct op){.kind = OP_REPORT};
    for (int i = PROGRAM_THREADS; i-- > 0;) {
        ops[op_count++] = (struct op){.kind = OP_LEAVE, .thread = (uint8_t)i};
    }
    op_next = 0;
}

int run_program(const struct program *p, int quiet) {
    be_quiet = quiet;
    program_names_make();
    program_take(p);
    for (int i = 0; i < PROGRAM_THREADS; ++i) {
        runners[i].thread = i;
        sem_init(&turns[i], 0, 0);
        reference.thread[i].recorder = REFERENCE_NONE;
    }
    for (int i = 0; i < PROGRAM_SETS; ++i) {
        sets[i] = stint_set_get(program_set_names[i]);
    }
    reference.now = reference.start = reference.interval = fake_now;
    alive[0] = 1;
    run_ops(&runners[0]);
    for (unsigned i = 0; i < PROGRAM_SLOTS; ++i) {
        give_back(&runners[0], i);
        if (handle_state[i].open) {
            handle_end(&runners[0], i);
        }
    }
    tell(&runners[0]);
    compare_all();
    compare_ledger();
    return differences;
}
