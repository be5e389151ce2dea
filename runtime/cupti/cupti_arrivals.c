/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the records of launches arrive. CUPTI's buffer callbacks are one pair for the process:
 * another client that registers its own gets all records from then on, and CUPTI does not report
 * it. Launches are still seen, as callbacks of API calls belong to the subscriber.
 *
 * A launch has a record in one of this library's buffers for certain if, from its begin to the next
 * launch of its thread, kinds of records were on and CUPTI asked for no buffer and returned none.
 * Such launches are counted. If a flush that must return everything returns nothing and some are
 * counted, the records went elsewhere. So they did, without a flush, if more are counted than have
 * room in the buffers that CUPTI has and one more.
 *
 * Called by cupti_callbacks.c for each launch and buffer, and by the session.
 */
#include "cupti_private.h"

#include "base/arithmetic.h"
#include "system/log.h"

#define CHECKED 1024u /* one launch in so many */

/* Both any thread. The generation, in the upper half of the count, changes with each session, each
 * request for a buffer and each one that comes back; a count of another generation is void. */
static uint64_t counted;    /* release, acquire */
static uint32_t generation; /* release, acquire */
static int recording;       /* release, acquire: kinds are on */
/* The session in the upper half, and the launches under way in it; release, acquire. A launch whose
 * end is not seen counts until the next session. */
static uint64_t under_way;

static uint64_t launches_seen; /* begun, of all threads; release, acquire */
static uint64_t bytes_out;     /* of the buffers that CUPTI has; any thread, relaxed */
static uint64_t record_bytes;  /* of the smallest record of a call; 0: not known. Relaxed */

/* Any thread, relaxed. */
static uint64_t taken;         /* launches whose records went elsewhere */
static uint32_t watched;       /* the number of one of those; its record takes it back */
static uint32_t last_counted;  /* the number of the launch that was counted last */
static uint64_t taken_counted; /* `counted` as far as it is included */
static int taken_was_said, untaken_was_said;

/* The thread's latest launch. */
static __thread struct {
    uint32_t generation; /* at its begin */
    uint32_t correlation;
    uint16_t session;        /* in which it began */
    uint8_t depth;           /* within the calls that launch: of the runtime, in it the driver */
    uint8_t is_recorded : 1; /* kinds were on at its begin */
    uint8_t is_whole : 1;    /* it was seen from begin to end, and has a record */
} launch_here __attribute__((tls_model("initial-exec"), aligned(4)));

static uint32_t arrivals_get_generation(void) {
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

static void arrivals_begin_generation(void) {
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

/* The number of the session under way, which wraps. */
static uint16_t arrivals_get_session(void) {
    return (uint16_t)(__atomic_load_n(&under_way, __ATOMIC_ACQUIRE) >> 32);
}

/* One launch more (1), or less (-1), if it is still that session. */
static void arrivals_count_under_way(uint16_t session, uint64_t change) {
    uint64_t before = __atomic_load_n(&under_way, __ATOMIC_RELAXED);
    while (before >> 32 == session) {
        if (__atomic_compare_exchange_n(&under_way, &before, before + change, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            break;
        }
    }
}

void cupti_arrivals_begin(size_t call_bytes) {
    __atomic_store_n(&record_bytes, call_bytes, __ATOMIC_RELAXED);
    uint16_t session = (uint16_t)(arrivals_get_session() + 1);
    __atomic_store_n(&under_way, (uint64_t)session << 32, __ATOMIC_RELEASE);
    arrivals_begin_generation();
    __atomic_store_n(&recording, 1, __ATOMIC_RELEASE);
}

void cupti_arrivals_end(void) {
    __atomic_store_n(&recording, 0, __ATOMIC_RELEASE);
}

void cupti_arrivals_give_buffer(size_t bytes) {
    __atomic_fetch_add(&bytes_out, bytes, __ATOMIC_RELAXED);
    arrivals_begin_generation();
}

void cupti_arrivals_take_buffer(size_t bytes) {
    uint64_t before = __atomic_load_n(&bytes_out, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&bytes_out, &before, saturating_subtract(before, bytes), 1,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    arrivals_begin_generation();
}

/* Adds the launches of `expected` to those that were taken, each once. */
static void arrivals_add_taken(uint64_t expected) {
    uint64_t before = __atomic_exchange_n(&taken_counted, expected, __ATOMIC_RELAXED);
    uint64_t added = expected & UINT32_MAX;
    if (before >> 32 == expected >> 32) {
        added = saturating_subtract(expected, before);
    }
    __atomic_fetch_add(&taken, added, __ATOMIC_RELAXED);
    __atomic_store_n(&watched, __atomic_load_n(&last_counted, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* Without the line, which is for a call of the session: this is one of CUPTI's callbacks. */
static void arrivals_check_room(uint64_t now) {
    uint64_t bytes = __atomic_load_n(&record_bytes, __ATOMIC_RELAXED);
    uint64_t room = __atomic_load_n(&bytes_out, __ATOMIC_RELAXED) + CUPTI_BUFFER_BYTES;
    if (bytes && now % CHECKED == 0 && (now & UINT32_MAX) * bytes > room) {
        arrivals_add_taken(now);
    }
}

/* Counts one launch more of that generation. */
static void arrivals_count(uint32_t of, uint32_t correlation) {
    __atomic_store_n(&last_counted, correlation, __ATOMIC_RELAXED);
    uint64_t before = __atomic_load_n(&counted, __ATOMIC_RELAXED), now;
    do {
        now = before + 1;
        if (before >> 32 != of) {
            now = (uint64_t)of << 32 | 1;
        }
    } while (!__atomic_compare_exchange_n(&counted, &before, now, 1, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    arrivals_check_room(now);
}

/* The thread makes another call: the record of the one before is written. */
static void arrivals_settle_launch(void) {
    if (launch_here.is_whole && __atomic_load_n(&recording, __ATOMIC_ACQUIRE) &&
        launch_here.generation == arrivals_get_generation()) {
        arrivals_count(launch_here.generation, launch_here.correlation);
    }
    launch_here.is_whole = 0;
}

void cupti_arrivals_enter_launch(uint32_t correlation) {
    uint32_t now = arrivals_get_generation();
    uint16_t session = arrivals_get_session();
    if (launch_here.depth && launch_here.session == session) {
        ++launch_here.depth;
        return;
    }
    launch_here.session = session;
    launch_here.depth = 1;
    arrivals_count_under_way(session, 1);
    __atomic_fetch_add(&launches_seen, 1, __ATOMIC_RELEASE);
    arrivals_settle_launch();
    launch_here.generation = now;
    launch_here.correlation = correlation;
    launch_here.is_recorded = __atomic_load_n(&recording, __ATOMIC_ACQUIRE) != 0;
}

int cupti_arrivals_is_here(void) {
    return launch_here.session == arrivals_get_session();
}

void cupti_arrivals_leave_launch(int has_record) {
    if (!launch_here.depth || --launch_here.depth) {
        return;
    }
    launch_here.is_whole = has_record && launch_here.is_recorded;
    arrivals_count_under_way(launch_here.session, UINT64_MAX);
}

int cupti_arrivals_are_quiet(void) {
    return !(__atomic_load_n(&under_way, __ATOMIC_ACQUIRE) & UINT32_MAX);
}

uint64_t cupti_arrivals_count_launches(void) {
    return __atomic_load_n(&launches_seen, __ATOMIC_ACQUIRE);
}

uint64_t cupti_arrivals_expect(void) {
    arrivals_settle_launch();
    uint64_t expected = __atomic_load_n(&counted, __ATOMIC_ACQUIRE);
    if (expected >> 32 != arrivals_get_generation()) {
        return 0;
    }
    return expected;
}

int cupti_arrivals_are_missing(uint64_t expected) {
    return expected && expected >> 32 == arrivals_get_generation();
}

void cupti_arrivals_judge(uint64_t expected) {
    if (cupti_arrivals_are_missing(expected)) {
        arrivals_add_taken(expected);
    }
}

void cupti_arrivals_note_record(uint32_t correlation) {
    uint32_t is = __atomic_load_n(&watched, __ATOMIC_RELAXED);
    if (is && is == correlation &&
        __atomic_compare_exchange_n(&watched, &is, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        uint64_t back = __atomic_exchange_n(&taken_counted, 0, __ATOMIC_RELAXED) & UINT32_MAX;
        __atomic_fetch_sub(&taken, back, __ATOMIC_RELAXED);
    }
}

void cupti_arrivals_say_taken(void) {
    if (!cupti_arrivals_count_taken() && __atomic_load_n(&taken_was_said, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&untaken_was_said, 1, __ATOMIC_RELAXED)) {
        log_warning("the GPU activities came after all: no other CUPTI client takes the records");
    }
    if (cupti_arrivals_count_taken() && !__atomic_load_n(&taken_was_said, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&taken_was_said, 1, __ATOMIC_RELAXED)) {
        log_warning("no GPU activities: another CUPTI client takes the records (it called "
                    "cuptiActivityRegisterCallbacks); timers and captures go on");
    }
}

uint64_t cupti_arrivals_count_taken(void) {
    return __atomic_load_n(&taken, __ATOMIC_RELAXED);
}
