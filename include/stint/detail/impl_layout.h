/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts that compiled-in code shares with the runtime: the site, the thread block, the open-scope
 * stack, the call-tree node and the histogram. STINT_ABI numbers this layout; it is also the suffix
 * of the exported symbols and the number in the soname, so that code built against another layout
 * fails at link or load time instead of writing to the wrong place. Not for users.
 *
 * Threading: every record names its writer. "Owner" is the thread a recorder belongs to; it writes
 * with plain relaxed or release stores, and no other thread writes. Readers are snapshots, in
 * this process or in another one.
 */
#ifndef STINT_IMPL_LAYOUT_H
#define STINT_IMPL_LAYOUT_H

#include "impl_types.h"

#define STINT_ABI 5
#define STINT_IMPL_ABI_NAME(name) name##_5

/* Arena references are counted in units of one cache line from the arena's start: 32 bits reach far
 * past the largest STINT_MEMORY, and 26 of them fit beside set and site in one 64-bit edge key. */
#define STINT_IMPL_UNIT 64
#define STINT_IMPL_NODE_BITS 26
#define STINT_IMPL_SET_BITS 14
#define STINT_IMPL_SITE_BITS 24

/* site.word: the gate it was resolved under (32 bits), and below it 0 if the site is off, else its
 * id (24 bits), or NO_ID if it is on without one. So the word less the thread's gate tells all of
 * it (stint_impl_site_look). The word of a name may have an id, and OFF beside it. */
#define STINT_IMPL_SITE_OFF 0x80000000u
#define STINT_IMPL_SITE_NO_ID 0x40000000u
#define STINT_IMPL_SITE_ID 0x00ffffffu

/* A thread's gate while only the slow path may run; a site never carries it (untouched ones carry
 * 0). Gates are below GATES, so that a word less another gate is never the key of an edge. */
#define STINT_IMPL_SHUT 0x80000000u
#define STINT_IMPL_GATES 0x40000000u

/* The lowest bits of the guard in a frame, as an address is at least 4-aligned. A frame with one of
 * these tags never matches the inline end of a timed call.
 * - TAG: a call that ends on the slow path, as with a foreign clock or a foreign handle
 * - AGAIN: a call right inside another one of its scope, opened on the inline path. It has the
 *   `node` of the frame below, and `recursive` is 0 in both
 * - INNER: a call inside another one of its scope, with other scopes between the two, opened on the
 *   inline path */
#define STINT_IMPL_TAG 1u
#define STINT_IMPL_AGAIN 2u
#define STINT_IMPL_INNER 3u
#define STINT_IMPL_TAGS 3u

/* The guard of a frame whose scope another thread has ended, for example a coroutine: a tag without
 * an address. The frame stays until its owner takes it off. */
#define STINT_IMPL_MOVED 2u

#define STINT_IMPL_DEPTH 256 /* open scopes of a thread; deeper ones are counted, not timed */
#define STINT_IMPL_FRAMES (STINT_IMPL_DEPTH + 1) /* and the root */
#define STINT_IMPL_BUCKETS 704 /* 16 linear sub-buckets an octave over 44 octaves */
#define STINT_IMPL_LONG                                                                            \
    ((uint64_t)1 << 47)    /* ticks, many hours: all longer share the last bucket */
#define STINT_IMPL_RAW 32  /* samples that a node keeps itself, until it gets a histogram */
#define STINT_IMPL_INFO 64 /* bytes of a scope's info kept with its maximum, NUL included */

/* One per call site, in the instrumented code's own data. All but `word` is constant. */
struct stint_impl_site {
    const char *name;
    const char *file;
    const char *function;
    uint32_t line;
    uint8_t level;
    uint8_t role;
    uint16_t plain; /* 1: the code around it was compiled without optimisation */
    uint64_t word;  /* written by the runtime under its lock, read by everybody; relaxed */
};

/* Ticks from which a sample takes the slow path: the inline one finds the bucket in 32 bits. */
#define STINT_IMPL_SLOW_TICKS ((uint64_t)1 << 32)

/* Where a bucket stops counting. The rest is for signal handlers that count in between. */
#define STINT_IMPL_BUCKET_FULL 0xffffff00u

/* Nodes that begin tries first, by the low bits of their site's id. */
#define STINT_IMPL_NEAR 256

/* Places of the table of edges that begin tries next: they are in one half of a cache line. */
#define STINT_IMPL_EDGE_GROUP 4u

/* Leads from a node to the one of a scope that is opened in it. Private memory of the thread, not
 * changed any more when a table refers to it: a signal handler may replace the reference at any
 * time, so that what is read through one reference belongs together. */
struct stint_impl_edge {
    uint64_t key;    /* stint_impl_scope_key of set and site */
    uint32_t parent; /* node, in units */
    uint32_t node;   /* units */
};

/* A place of the open-scope stack; frame 0 is the thread's root and never closes. 48 bytes. */
struct stint_impl_frame {
    uint64_t guard; /* address of the guard, maybe tagged; 0 = closed. Owner, relaxed; the thread
                     * that ends a scope of another one exchanges it for STINT_IMPL_MOVED */
    uint64_t start; /* ticks, 0 = its clock is not read yet; as in the guard. Owner, relaxed */
    uint64_t low;   /* lowest guard address in this frame and all below it. Owner, relaxed; 0 by
                     * the thread that makes it MOVED, so that the owner's next scope notices */
    uint32_t
        node; /* the scope's node, in units; of a recursive call its parent's. Owner, relaxed */
    uint32_t recursive; /* the node of the outermost call, 0 = this is it, or the guard has the tag
                         * AGAIN. Owner, relaxed */
    uint64_t nested;    /* ticks of the recorded calls that ended right inside. Owner, relaxed */
    /* The bucket of the last sample that ended in this frame, while it is not counted yet: as a
     * number of buckets from the arena's start, 0 = none. The next begin on the frame counts it,
     * and a reader adds it. Counted at once, it would be the longest chain of dependent steps
     * between two clock reads. Owner, relaxed */
    uint32_t pending;
    /* While the slow path counts the frame's call: which one of its node's it will be, for a
     * signal handler that leaves it there; 0 = it does not. Owner, relaxed */
    uint32_t counted;
};

/* A sample in a node: its ticks + 1, 0 = none yet; with this bit it is counted in the histogram,
 * too. A sample as long as the bit is kept in none: the node gets its histogram. */
#define STINT_IMPL_RAW_COUNTED 0x80000000u

/* A scope in its calling context, for one thread. Beyond the node's first samples, the first line
 * is all that a sample touches; the rest changes on a new maximum only. `seq` is twice the sample
 * count, odd while being written. */
struct stint_impl_node {
    uint64_t seq;    /* owner, relaxed then release: the seqlock of this line */
    uint64_t total;  /* ticks. Owner, release */
    uint64_t min;    /* ticks, UINT64_MAX before the first sample. Owner, release */
    uint64_t span;   /* samples of min to min + span - 1 are ordinary; any other, so a new minimum,
                     * a new maximum and one below 0, takes the slow path; 0 while samples are
                     * kept raw. Owner, release */
    uint64_t nested; /* ticks of the calls recorded right inside its samples. Owner, release */
    uint32_t histogram; /* units, 0 = none, as at first. Owner, release, once */
    uint32_t site;      /* id of the site record */
    uint32_t parent;    /* units, 0 for the root */
    uint32_t child;     /* first child, units. Owner, release */
    uint32_t sibling;   /* next child of the parent; set before the node is published */
    uint16_t set;
    uint16_t kind; /* enum stint_impl_kind */
    /* The first of its blocks of other numbers, units; 0 = none. The inline path reads the block
     * even then: the arena's magic is at 0, and its bytes differ from STINT_IMPL_INNER_TICKS.
     * Owner, release */
    uint32_t measures;
    uint32_t gpu;   /* GPU sums of this node, units; 0 = none. Owner, release */
    uint64_t bytes; /* declared bytes moved and floating-point operations. Owner, relaxed */
    uint64_t flops;
    uint64_t first; /* ticks of the first sample, and when it and the maximum began */
    uint64_t first_at;
    uint64_t max_at;
    uint64_t max;
    /* Calls that are counted, not timed: those inside an open call of itself, and those that a jump
     * left (MEASURE_LEFT_CALLS). Owner, relaxed */
    uint64_t recursions;
    char info[STINT_IMPL_INFO];   /* of the maximum. Owner, under seq */
    uint32_t raw[STINT_IMPL_RAW]; /* the first samples, in a row. Owner, release */
};

enum stint_impl_kind {
    STINT_IMPL_SCOPE_NODE = 0,    /* nests: counts as a child of its parent */
    STINT_IMPL_INTERVAL_NODE = 1, /* handles: may overlap anything, child of nothing */
    STINT_IMPL_NS_NODE = 2 /* the same of added samples: total, min, max, first, its kept samples
                            * and its histogram are nanoseconds, as are its spans in a trace */
};

/* A bit of a scope's kind: a stint_impl_sent follows the node. */
#define STINT_IMPL_SENT 0x100u
#define STINT_IMPL_KIND 0xffu /* the bits of the kind itself */

/* A block of other numbers of a node, with the own time of its calls inside other ones first. */
struct stint_impl_inner {
    uint32_t next;  /* units */
    uint16_t first; /* number: it is such a block if this is STINT_IMPL_INNER_TICKS */
    uint16_t count;
    uint64_t ticks; /* owner, relaxed */
};
#define STINT_IMPL_INNER_TICKS 50

/* The scope that sent the work of a node (STINT_TIMER_UNDER). The node's parent is the scope
 * that it ran in, on its own thread. One unit. */
struct stint_impl_sent {
    uint32_t sender; /* node, maybe another thread's; units. Set before the node is published */
    uint32_t reserved[15];
};

struct stint_impl_histogram {
    uint32_t bucket[STINT_IMPL_BUCKETS]; /* saturating. Owner, relaxed */
    /* The number + 1 of the first bucket that may have samples longer than itself; 0 = none has.
     * Owner, relaxed */
    uint32_t open;
    uint32_t reserved[15];
};

/* One event of a trace. The two top bits of `at` tell what it is, the rest is ticks; 0 = being
 * written. A payload belongs to the event in the next place, which has the same ticks. */
struct stint_impl_event {
    uint64_t at;
    uint64_t what; /* of a span: its node in the upper 26 bits, its ticks in the lower 38 */
};

#define STINT_IMPL_EVENT_SPAN 0u /* at: when it began */
#define STINT_IMPL_EVENT_MARK 1u /* what: site */
#define STINT_IMPL_EVENT_VALUE                                                                     \
    2u /* what: site; the number, a double, is in the payload before it */
#define STINT_IMPL_EVENT_PAYLOAD 3u
#define STINT_IMPL_EVENT_KIND 62 /* bits of `at` below the kind */
#define STINT_IMPL_SPAN_BITS 38  /* minutes */
/* A span as long or longer says so long, and its ticks are in the payload before it. The inline
 * path sees none: it is also the most a node's limit can be. */
#define STINT_IMPL_SPAN_LONG (((uint64_t)1 << STINT_IMPL_SPAN_BITS) - 1)

/* The newest events of a thread or of a GPU stream; its size is a power of two. */
struct stint_impl_ring {
    uint64_t head; /* places ever taken; owner, release. Taken first, then filled */
    uint64_t mask;
    uint64_t reserved[6]; /* the events follow */
};

/* The per-thread block the thread-local pointer leads to. Private memory of this process. */
struct stint_impl_thread {
    /* Read together with the gate, as the word of a site that is off: always 0. */
    uint32_t no_site;
    uint32_t gate; /* written by the runtime, read by the owner, relaxed; or STINT_IMPL_SHUT */
    struct stint_impl_frame *top;
    struct stint_impl_frame *last; /* the deepest frame there is */
    char *base;                    /* the arena */
    /* By a hash of (parent node, set, site); NULL = none. The edge itself tells whether it is the
     * right one. Owner, relaxed */
    const struct stint_impl_edge **edges;
    uint32_t edge_shift;   /* 64 - log2 of the places for edges */
    uint64_t ticks_per_us; /* 24.8 fixed point, for thresholds */
    uint64_t trace_min;    /* ticks from which a span is traced; UINT64_MAX: none is */
    struct stint_impl_ring *ring;
    /* Never NULL where a scope can be opened: at first an edge of no site. Owner, relaxed */
    const struct stint_impl_edge *nearby[STINT_IMPL_NEAR];
    /* Likewise edges that lead back to an open node around. */
    const struct stint_impl_edge *again[STINT_IMPL_NEAR];
};

/* A set of statistics; sets are numbered and never freed. */
struct stint_set {
    uint32_t id;
};

/* The first word of every guard: the start that is in its scope's frame, 0 = not opened. A scope is
 * the address of its guard and this word together: another scope may have been left open at the
 * address, and the word alone may be whatever a jump over the guard found in memory. */
typedef uint64_t stint_impl_opened;

/* A guard with threshold and info. They are read only once the guard is proved open. */
struct stint_impl_call {
    stint_impl_opened opened; /* first: at the guard's address */
    const char *info;
    int64_t threshold_us; /* < 0: never log */
};

#if defined(__SANITIZE_THREAD__)
#define STINT_IMPL_ATOMIC_ONLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STINT_IMPL_ATOMIC_ONLY 1
#endif
#endif

#define STINT_IMPL_LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define STINT_IMPL_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define STINT_IMPL_PUBLISH(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/* Reads a number that only this thread writes. A plain read, so that it can be an operand of the
 * instruction that uses it. */
#if defined(STINT_IMPL_ATOMIC_ONLY)
#define STINT_IMPL_OWN(p) STINT_IMPL_LOAD(p)
#else
#define STINT_IMPL_OWN(p) (*(p))
#endif
/* The same for a number that another thread may exchange, where it does not matter which of the two
 * is read. */
#define STINT_IMPL_SEEN(p) STINT_IMPL_OWN(p)

#define STINT_IMPL_LIKELY(x) __builtin_expect(!!(x), 1)
#define STINT_IMPL_UNLIKELY(x) __builtin_expect(!!(x), 0)

STINT_IMPL_INLINED struct stint_impl_event *stint_impl_ring_event(struct stint_impl_ring *r,
                                                                  uint64_t number) {
    return (struct stint_impl_event *)(void *)(r + 1) + (number & r->mask);
}

/* Adds to a number that no other thread changes, and returns what it was. In one instruction: a
 * signal handler adds before or after it. Not locked, which would cost as much as a clock read. */
STINT_IMPL_INLINED uint64_t stint_impl_owner_add(uint64_t *number, uint64_t more) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*number) : : "memory", "cc");
    return more;
#else
    return __atomic_fetch_add(number, more, __ATOMIC_RELEASE);
#endif
}

/* The same for 1, without what it was. */
STINT_IMPL_INLINED void stint_impl_owner_count(uint64_t *number) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("addq $1, %0" : "+m"(*number) : : "memory", "cc");
#else
    __atomic_fetch_add(number, 1, __ATOMIC_RELEASE);
#endif
}

/* The same for a number that no signal handler changes, and without what it was. It is ordered as a
 * release store: a store on x86-64 becomes visible after all earlier ones. */
STINT_IMPL_INLINED void stint_impl_owner_raise(uint64_t *number, uint64_t more) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("addq %1, %0" : "+m"(*number) : "er"(more) : "memory", "cc");
#else
    STINT_IMPL_PUBLISH(number, STINT_IMPL_LOAD(number) + more);
#endif
}

/* Moves the top of the stack up by one frame, or down again, in one instruction: a signal handler
 * that comes before or after it leaves `top` as it was. Owner. */
STINT_IMPL_INLINED void stint_impl_top_raise(struct stint_impl_thread *t) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("addq %1, %0"
                     : "+m"(t->top)
                     : "i"((int)sizeof(struct stint_impl_frame))
                     : "cc");
#else
    t->top = t->top + 1;
#endif
}

STINT_IMPL_INLINED void stint_impl_top_lower(struct stint_impl_thread *t) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("subq %1, %0"
                     : "+m"(t->top)
                     : "i"((int)sizeof(struct stint_impl_frame))
                     : "cc");
#else
    t->top = t->top - 1;
#endif
}

/* The owner begins to change the data under a node's sequence word. The word is odd already if a
 * change was left midway. */
STINT_IMPL_INLINED void stint_impl_seq_begin(uint64_t *seq) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    __asm__ volatile("orq $1, %0" : "+m"(*seq) : : "memory", "cc");
#else
    STINT_IMPL_STORE(seq, STINT_IMPL_LOAD(seq) | 1);
#endif
}

/* The number of the first of so many places in a row. Owner only. */
STINT_IMPL_INLINED uint64_t stint_impl_ring_take(struct stint_impl_ring *r, uint64_t places) {
    return stint_impl_owner_add(&r->head, places);
}

/* `at` is 0 while `what` is being replaced: a reader that finds the same `at` before and after
 * reading `what` has both from one event. */
STINT_IMPL_INLINED void stint_impl_ring_put(struct stint_impl_ring *r, uint64_t number, uint64_t at,
                                            uint64_t what) {
    struct stint_impl_event *e = stint_impl_ring_event(r, number);
    STINT_IMPL_STORE(&e->at, 0);
    STINT_IMPL_PUBLISH(&e->what, what);
    STINT_IMPL_PUBLISH(&e->at, at);
}

STINT_IMPL_INLINED void stint_impl_ring_add(struct stint_impl_ring *r, uint64_t at, uint64_t what) {
    stint_impl_ring_put(r, stint_impl_ring_take(r, 1), at, what);
}

STINT_IMPL_INLINED uint64_t stint_impl_span(uint32_t node, uint64_t ticks) {
    return (uint64_t)node << STINT_IMPL_SPAN_BITS |
           (ticks < STINT_IMPL_SPAN_LONG ? ticks : STINT_IMPL_SPAN_LONG);
}

/* The same for a duration below STINT_IMPL_SPAN_LONG. */
STINT_IMPL_INLINED uint64_t stint_impl_span_short(uint32_t node, uint64_t ticks) {
    return (uint64_t)node << STINT_IMPL_SPAN_BITS | ticks;
}

/* The bucket of a duration below STINT_IMPL_LONG: values below 32 have their own, above that each
 * octave has 16. */
STINT_IMPL_INLINE uint32_t stint_impl_bucket(uint64_t ticks) {
    uint32_t shift = 59u - (uint32_t)__builtin_clzll(ticks | 16u);
    return (uint32_t)((shift << 4) + (ticks >> shift));
}

/* One sample more, up to STINT_IMPL_BUCKET_FULL. Owner only; a signal handler may count in the same
 * bucket before or after each instruction. Not locked, as in stint_impl_owner_add. */
STINT_IMPL_INLINED void stint_impl_bucket_add(uint32_t *bucket) {
#if defined(__x86_64__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    /* The carry: below the bound. */
    __asm__ volatile("cmpl %1, %0\n\tadcl $0, %0"
                     : "+m"(*bucket)
                     : "i"((int)STINT_IMPL_BUCKET_FULL)
                     : "cc");
#else
    if (STINT_IMPL_LOAD(bucket) < STINT_IMPL_BUCKET_FULL) {
        __atomic_fetch_add(bucket, 1, __ATOMIC_RELAXED);
    }
#endif
}

#define STINT_IMPL_BUCKETS_A_UNIT (STINT_IMPL_UNIT / (uint32_t)sizeof(uint32_t))

/* The bucket of a duration below STINT_IMPL_SLOW_TICKS in that histogram (in units), as a number of
 * buckets from the arena's start. An octave has as many buckets as a unit, so that both are added
 * before they are multiplied. */
STINT_IMPL_INLINED uint32_t stint_impl_bucket_place(uint32_t histogram, uint32_t ticks) {
    uint32_t top_bit = (uint32_t)__builtin_clz(ticks | 16u) ^ 31u; /* so it is one instruction */
    uint32_t shift = top_bit - 4u;
    return (histogram + shift) * STINT_IMPL_BUCKETS_A_UNIT + (ticks >> shift);
}

/* Counts what the last scope of the frame left; first the note of it is removed, so that a reader
 * that finds the note before and after has not seen the count. */
STINT_IMPL_INLINED void stint_impl_pending_add(const struct stint_impl_thread *t,
                                               struct stint_impl_frame *f) {
    uint32_t pending = STINT_IMPL_OWN(&f->pending);
    if (STINT_IMPL_LIKELY(pending)) {
        STINT_IMPL_STORE(&f->pending, 0);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        stint_impl_bucket_add((uint32_t *)(void *)t->base + pending);
    }
}

/* Takes the frame above the top for a scope; it is filled afterwards. Owner. */
STINT_IMPL_INLINED void stint_impl_frame_take(struct stint_impl_thread *t) {
    stint_impl_top_raise(t);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Fills a frame but for `recursive`. Owner. */
STINT_IMPL_INLINED void stint_impl_frame_fill(struct stint_impl_frame *f, uint32_t node,
                                              uint64_t low, uint64_t guard, uint64_t start) {
    STINT_IMPL_STORE(&f->node, node);
    STINT_IMPL_STORE(&f->low, low);
    STINT_IMPL_STORE(&f->nested, 0);
    STINT_IMPL_STORE(&f->guard, guard);
    STINT_IMPL_STORE(&f->start, start);
}

/* Notes in the frame that its call is counted next: as number `count` of the node's samples or
 * `recursions`. stint_impl_frame_close removes the note. Owner. */
STINT_IMPL_INLINE void stint_impl_frame_note(struct stint_impl_frame *f, uint64_t count) {
    STINT_IMPL_STORE(&f->counted, (uint32_t)count * 2 + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Closes a frame on top with all that may be in it. Until its guard is 0, the rest says whether the
 * call is counted; then a signal handler may use the frame again only when it is off the stack. */
STINT_IMPL_INLINE void stint_impl_frame_close(struct stint_impl_frame *f) {
    STINT_IMPL_STORE(&f->guard, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->recursive, 0);
    STINT_IMPL_STORE(&f->counted, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Whether the frame's call is inside another one of its scope. Owner, and readers. */
STINT_IMPL_INLINED int stint_impl_frame_is_recursive(const struct stint_impl_frame *f) {
    uint64_t guard = STINT_IMPL_LOAD(&f->guard);
    return STINT_IMPL_LOAD(&f->recursive) ||
           ((guard & STINT_IMPL_TAGS) == STINT_IMPL_AGAIN && guard != STINT_IMPL_MOVED);
}

STINT_IMPL_INLINE uint64_t stint_impl_edge_key(uint32_t node, uint32_t set, uint32_t site) {
    return (uint64_t)node << (STINT_IMPL_SET_BITS + STINT_IMPL_SITE_BITS) |
           (uint64_t)set << STINT_IMPL_SITE_BITS | site;
}

/* The site's id, of the default set; else with the set in bits that no id has, nor the word of a
 * site less the gate of a thread: that differs from an id by the difference of two gates. */
STINT_IMPL_INLINED uint64_t stint_impl_scope_key(uint32_t set, uint64_t site) {
    if (set) {
        site += (uint64_t)STINT_IMPL_GATES << 32 | (uint64_t)set << 40;
    }
    return site;
}

STINT_IMPL_INLINE uint32_t stint_impl_edge_site(const struct stint_impl_edge *e) {
    return (uint32_t)e->key & STINT_IMPL_SITE_ID;
}

STINT_IMPL_INLINE uint32_t stint_impl_edge_set(const struct stint_impl_edge *e) {
    return (uint32_t)(e->key >> 40) & ((1u << STINT_IMPL_SET_BITS) - 1);
}

/* Fibonacci hashing: the ids of one parent, mostly in a row, land as far apart as they can. An edge
 * lies in its slot or in one of the slot's neighbours (^ 1, 2, 3), else the slow path finds it. */
STINT_IMPL_INLINE uint64_t stint_impl_edge_slot(uint64_t key, uint32_t shift) {
    return key * 0x9e3779b97f4a7c15u >> shift;
}

#endif
