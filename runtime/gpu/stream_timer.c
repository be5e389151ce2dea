/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_GPU_TIMER, STINT_CL_TIMER: a scope on the CPU and a pair of events on a stream or a command
 * queue; and the bytes and operations that a scope declares (STINT_TIMER_BYTES, STINT_TIMER_FLOPS).
 *
 * Implementation notes
 * - The first event is recorded before the CPU's clock is read and the second after it, so that the
 *   CPU time does not include them. STINT_GPU=sync waits in between.
 * - Pairs of open scopes are on a stack of the thread's own, each with the place, guard and start
 * of its frame. Frames are popped in many ways (longjmp, goto, the end of the thread), and none of
 * them pops a pair: an entry whose frame has changed is stale, and is removed when the stack is
 * used next.
 */
#include "stream_timer.h"

#include "base/errno_keep.h"
#include "event_pool.h"
#include "event_sums.h"
#include "record/recorder.h"
#include "record/tree.h"
#include "system/config.h"

int stream_timer_context_wanted;
void (*stream_timer_context_hook)(void);

/* ---- The thread's open pairs. Owner only; `count` is stored last when one is added and first when
 * one goes, for its signal handlers. */

struct stream_open {
    struct event_pair *pair;
    uint64_t guard;
    uint64_t start;
    struct stint_impl_frame *frame;
};

struct stream_stack {
    uint32_t count;
    struct stream_open open[STINT_IMPL_DEPTH];
};

static struct stream_open *stream_get_top(const struct thread_block *b) {
    if (!b->streams || !b->streams->count) {
        return NULL;
    }
    return &b->streams->open[b->streams->count - 1];
}

static void stream_drop_top(struct thread_block *b) {
    struct event_pair *pair = stream_get_top(b)->pair;
    STINT_IMPL_STORE(&b->streams->count, b->streams->count - 1);
    event_pool_cancel(pair);
}

static int stream_is_open(const struct thread_block *b, const struct stream_open *o) {
    return o->frame <= b->hot.top &&
           thread_untag_guard(STINT_IMPL_LOAD(&o->frame->guard)) == o->guard &&
           STINT_IMPL_LOAD(&o->frame->start) == o->start;
}

static void stream_drop_stale(struct thread_block *b) {
    while (stream_get_top(b) && !stream_is_open(b, stream_get_top(b))) {
        stream_drop_top(b);
    }
}

/* A new scope has taken this place: the scopes that were here or above have ended. */
static void stream_drop_from(struct thread_block *b, const struct stint_impl_frame *place) {
    while (stream_get_top(b) && stream_get_top(b)->frame >= place) {
        stream_drop_top(b);
    }
}

/* The open pair of that guard, on top of the stack: pairs above it are cancelled, as their scopes
 * are about to be abandoned. */
static struct stream_open *stream_find_open(struct thread_block *b, uint64_t guard) {
    stream_drop_stale(b);
    uint32_t at = b->streams ? b->streams->count : 0;
    while (at && b->streams->open[at - 1].guard != guard) {
        --at;
    }
    if (!at || !stream_is_open(b, &b->streams->open[at - 1])) {
        return NULL;
    }
    while (b->streams->count > at) {
        stream_drop_top(b);
    }
    return stream_get_top(b);
}

/* 0, or -1 without memory. There is always room, as each pair has a frame. */
static int stream_push_pair(struct thread_block *b, struct stint_impl_frame *frame, uint64_t guard,
                            struct event_pair *pair) {
    if (!b->streams) {
        b->streams = thread_pages_get(b, sizeof *b->streams);
    }
    if (!b->streams) {
        return -1;
    }
    stream_drop_from(b, frame);
    struct stream_open *o = &b->streams->open[b->streams->count];
    o->pair = pair;
    o->guard = guard;
    o->start = STINT_IMPL_LOAD(&frame->start);
    o->frame = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&b->streams->count, b->streams->count + 1);
    return 0;
}

/* ---- The scope. */

/* A recursive call is measured by the outermost one, on the GPU as on the CPU. */
static void stream_keep_pair(struct thread_block *b, uint64_t guard, struct event_pair *pair,
                             enum stint_status why) {
    struct stint_impl_frame *f = NULL;
    if (b) {
        f = b->hot.top;
    }
    int opened = f && thread_untag_guard(STINT_IMPL_LOAD(&f->guard)) == guard;
    int counts = opened && !stint_impl_frame_is_recursive(f);
    if (pair && (!counts || stream_push_pair(b, f, guard, pair))) {
        event_pool_cancel(pair);
        pair = NULL;
    }
    if (!pair && counts) {
        thread_lose(b, why);
    }
}

static int stream_has_gpu(enum event_stream_kind kind) {
    return kind == EVENT_OF_QUEUE || !__atomic_load_n(&event_pool_no_gpu, __ATOMIC_RELAXED);
}

static void stream_begin_scope(struct stint_impl_call *guard, struct stint_impl_site *site,
                               void *stream, enum event_stream_kind kind) {
    enum stint_status why = STINT_STATUS_GPU_NO_DEVICE;
    guard->opened = 0;
    uint64_t word = recorder_site_word(site);
    if (!site_is_off(word)) {
        if (kind == EVENT_OF_STREAM) {
            stream_timer_seek_context();
        }
        int wanted = config.gpu != CONFIG_GPU_OFF && !site_is_unnamed(word);
        struct event_pair *pair = NULL;
        if (wanted && stream_has_gpu(kind)) {
            pair = event_pool_start(stream, kind, &why);
        }
        guard->opened = stint_impl_begin_body(guard, site, 0);
        struct thread_block *b = thread_block_here();
        if (wanted) {
            stream_keep_pair(b, (uint64_t)(uintptr_t)guard, pair, why);
        }
        if (wanted && b && guard->opened) {
            event_pool_look(STINT_IMPL_LOAD(&b->hot.top->start)); /* for the next scope */
        }
    }
}

void stream_timer_begin(struct stint_impl_call *guard, struct stint_impl_site *site, void *stream) {
    ERRNO_KEEP;
    stream_begin_scope(guard, site, stream, EVENT_OF_STREAM);
}

void stream_timer_begin_queue(struct stint_impl_call *guard, struct stint_impl_site *site,
                              void *queue) {
    ERRNO_KEEP;
    stream_begin_scope(guard, site, queue, EVENT_OF_QUEUE);
}

/* The sums of a node, made at its first GPU call; 0 without memory. */
static uint32_t stream_get_sums(struct thread_block *b, uint32_t unit) {
    struct stint_impl_node *n = tree_node(b, unit);
    if (!n->gpu) {
        STINT_IMPL_PUBLISH(&n->gpu, event_sums_new());
    }
    return n->gpu;
}

static void stream_stop_pair(struct thread_block *b, struct event_pair *pair, uint32_t node,
                             int wait) {
    enum stint_status why = STINT_STATUS_GPU_FAILED;
    if (event_pool_stop(pair, stream_get_sums(b, node), node, wait, &why)) {
        thread_lose(b, why);
    }
}

void stream_timer_end(struct stint_impl_call *guard) {
    ERRNO_KEEP;
    struct thread_block *b = thread_block_here();
    struct stream_open *o = NULL;
    if (b) {
        o = stream_find_open(b, (uint64_t)(uintptr_t)guard);
    }
    if (o) {
        struct event_pair *pair = o->pair;
        uint32_t node = STINT_IMPL_LOAD(&o->frame->node);
        STINT_IMPL_STORE(&b->streams->count, b->streams->count - 1);
        if (config.gpu == CONFIG_GPU_SYNC) {
            stream_stop_pair(b, pair, node, 1);
            stint_impl_end_body(guard, guard);
        } else {
            stint_impl_end_body(guard, guard);
            stream_stop_pair(b, pair, node, 0);
        }
    } else {
        stint_impl_end_body(guard, guard);
    }
}

/* ---- Declared work. */

/* The node of the innermost open scope; NULL: there is none, which is counted while recording is
 * on. A signal handler that interrupted the recorder itself has no scope: each that it opened is
 * lost, and the innermost one is the interrupted code's. */
static struct stint_impl_node *stream_find_innermost_node(void) {
    struct thread_block *b = thread_block_here();
    const struct stint_impl_frame *f = NULL;
    if (thread_is_busy()) {
        arena_lose(STINT_STATUS_IN_SLOW_PATH, 1);
        return NULL;
    }
    if (b) {
        f = thread_innermost(b);
    }
    if (f) {
        return tree_node(b, thread_frame_node(f));
    }
    if (config_recording()) {
        arena_lose(STINT_STATUS_NO_SCOPE, 1);
    }
    return NULL;
}

/* Atomic for the thread's signal handlers, as counts of recursive calls are. An amount that is bad
 * or that the sum has no room for is counted as refused. */
static void stream_add_amount(uint64_t *sum, uint64_t n) {
    uint64_t is = STINT_IMPL_LOAD(sum);
    do {
        if (n == STINT_IMPL_AMOUNT_BAD || n > UINT64_MAX - is) {
            arena_lose(STINT_STATUS_BAD_AMOUNT, 1);
            return;
        }
    } while (!__atomic_compare_exchange_n(sum, &is, is + n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void stream_timer_add_bytes(uint64_t n) {
    struct stint_impl_node *node = stream_find_innermost_node();
    if (node) {
        stream_add_amount(&node->bytes, n);
    }
}

void stream_timer_add_flops(uint64_t n) {
    struct stint_impl_node *node = stream_find_innermost_node();
    if (node) {
        stream_add_amount(&node->flops, n);
    }
}
