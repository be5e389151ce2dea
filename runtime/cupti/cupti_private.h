/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this folder share: the loaded library, CUDA's functions by number,
 * buffers and the reader of records. Only cupti_session.h is for other folders.
 */
#ifndef STINT_CUPTI_PRIVATE_H
#define STINT_CUPTI_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "activity/tracer_ops.h"
#include "cupti_types.inc"
#include "gpu/cuda_codes.h"
#include "gpu/gpu.h"

#define CUPTI_REASON TRACER_REASON

/* ---- The library (cupti_load.c). A library that was opened stays open. */

struct cupti_kind {
    int kind;
    uint32_t min_bytes; /* of a record; a smaller one has another layout than the one read here */
    uint32_t prefix;    /* bytes that are read */
    uint32_t since;     /* the version that has it first */
    const char *words;
};
#define CUPTI_KINDS 12
extern const struct cupti_kind *const cupti_kind_table; /* kernels are the first */

#define CUPTI_LIBRARIES "libcupti.so.13, .12 or .11"

/* Loads the library of that path. 0, or -1 with the reason in words. Not from two threads at
 * once. */
int cupti_load_library(const char *library, struct cupti *out, uint32_t *version,
                       char reason[CUPTI_REASON]);
/* How far the known names were searched; all zero at the start. */
struct cupti_search {
    unsigned next;
    void *last; /* handle */
};
/* Loads the next library of the known names that can be used: the newest first. As above; the
 * reason is about the first that cannot. One library may be found twice. */
int cupti_load_next(struct cupti_search *search, struct cupti *out, uint32_t *version,
                    char reason[CUPTI_REASON]);
/* The version of CUDA that it belongs to: "13.0". */
void cupti_describe_toolkit(uint32_t version, char *out, size_t size);
/* The meaning of a code in words, else its name, else its number. */
void cupti_describe_code(const struct cupti *c, int code, char *out, size_t size);

/* ---- Functions per subscriber, and the global ones (cupti_scope.c). Codes are CUPTI's. */

/* The first members of CUpti_SubscriberParams as in CUDA 13.3; 13.0 has all but the last two. */
struct cupti_subscriber_params {
    size_t structSize;
    const char *subscriberName;
    char *oldSubscriberName;
    size_t oldSubscriberSize;
    uint8_t allowMultipleSubscribers;
    uint8_t padding[7];
};

/* Whether the library has them all. */
int cupti_scope_is_available(const struct cupti *c, uint32_t version);
/* Enabling kinds of records by them failed with that code: from here on they are not available, if
 * it says that they do not work here. */
void cupti_scope_refuse(int code);
int cupti_scope_is_refused(void);
#define CUPTI_HOLDER 64 /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */
/* After cuptiSubscribe returned CUPTI_HELD: the name of the other client as CUPTI has it, in
 * printable characters; "": unknown. */
void cupti_scope_name_holder(const struct cupti *c, uint32_t version, char out[CUPTI_HOLDER]);
/* Subscribes with them; from here on they are used. */
int cupti_scope_subscribe(const struct cupti *c, CUpti_SubscriberHandle *subscriber);
/* The global ones are used again. */
void cupti_scope_leave(void);
int cupti_scope_is_used(void);
/* By those that are in use. */
int cupti_scope_register(const struct cupti *c);
int cupti_scope_set_attribute(const struct cupti *c, int attribute, size_t *size, void *value);
int cupti_scope_enable(const struct cupti *c, int kind);
int cupti_scope_disable(const struct cupti *c, int kind);
int cupti_scope_read_clock(const struct cupti *c, uint64_t *time);
int cupti_scope_next_record(const struct cupti *c, uint8_t *buffer, size_t size,
                            CUpti_Activity **record);
int cupti_scope_count_dropped(const struct cupti *c, size_t *records);

/* ---- CUDA's functions by their numbers in CUPTI's two domains (cupti_names.c): their names, and
 * how they are treated. The names are read from the library once; no number is built in. */

enum cupti_use {
    CUPTI_USE_RECORD = 1, /* its calls are recorded */
    CUPTI_USE_LAUNCH = 2, /* causes other records, which need the scope of the call: callback */
    CUPTI_USE_QUERY = 4,  /* CUPTI makes the record of a wait for it: callback */
    /* With a callback, too: */
    CUPTI_USE_CAPTURE = 8,      /* begins the capture of a stream */
    CUPTI_USE_CAPTURE_END = 16, /* ends it */
    CUPTI_USE_CONTEXT_END = 32, /* may end a context */
    CUPTI_USE_STREAM_END = 64,  /* destroys a stream */
    CUPTI_USE_OWN = 128         /* this library calls it, too: its own calls are left out */
};
#define CUPTI_USE_CALLBACK 254u
#define CUPTI_USE_OUTER 4096u /* a call within it does the work, and names the stream */
/* Where its parameters name the stream: a word of 8 bytes of the parameters themselves, or of the
 * configuration of a launch, which the first of them points to. 0: nowhere. */
#define CUPTI_STREAM_AT(word) (((word) + 1u) << 8) /* word: below 14 */
#define CUPTI_STREAM_IN_CONFIG CUPTI_STREAM_AT(14u)
#define CUPTI_STREAM_MASK CUPTI_STREAM_IN_CONFIG
#define CUPTI_STREAM_WORD(use) (((use) >> 8) - 1u)
#define CUPTI_CONFIG_WORD 4u

/* Before the others; again for another library. */
void cupti_read_names(const struct cupti *c);
/* Numbers are below; 0 is none. domain: CUPTI_CB_DOMAIN_DRIVER_API, _RUNTIME_API. */
uint32_t cupti_get_names_end(int domain);
/* The public name, without a suffix "_v3020" or a prefix "__"; NULL: there is none. Permanent. */
const char *cupti_get_name(int domain, uint32_t cbid);
/* enum cupti_use. */
unsigned cupti_get_use(int domain, uint32_t cbid);
/* enum activity_waits. */
uint32_t cupti_get_waits(int domain, uint32_t cbid);

/* ---- The event back end over the same driver. */
static inline const struct gpu_ops *cupti_gpu(void) {
    return gpu_ops_of(&cuda_words);
}

/* ---- cuInit loads this library and calls it (cupti_injection.c). */

/* Sets CUDA_INJECTION64_PATH to this library, if it is not set, or was set by the stint of the
 * program that started this one, and the process has one thread, as putenv is not thread-safe. -1:
 * this program is not linked to stint, the driver has loaded it. Where the variable is not set to
 * this library, slow paths of scopes, GPU scopes, steps and capture ranges find out that the
 * program has initialised CUDA. */
int cupti_prepare_injection(void);

/* ---- What callbacks saw of contexts (cupti_contexts.c), to wait for them: those in which calls
 * were made. Any thread, no lock. */

/* A call ends that began in the session: it, or one within it, has named the stream, so that it is
 * known as captured before its context is waited for. */
void cupti_contexts_note(uint64_t context);
/* A call begins that ends a context, which may be any: all are forgotten, and known again when
 * calls are made in them. */
void cupti_contexts_forget(void);
/* Waits until the work in them is done, or says in one line that this is not possible as a stream
 * is or may be being captured. Returns the first error of the GPU's back end, or 0. waited: whether
 * there were contexts, and it was possible in each. */
int cupti_contexts_wait(int *waited);

/* ---- What they saw of streams (cupti_streams.c), to ask whether one is being captured. Any
 * thread, no lock. */

/* Notes a stream that a call has as an argument, unless the call destroys it. */
void cupti_streams_note(uint64_t stream);
/* A call that begins a capture begins, and has ended; it is held up by a wait. */
void cupti_streams_capture_begins(void);
void cupti_streams_capture_begun(uint64_t stream, int code);
/* Around a wait for a context and the question before it. */
void cupti_streams_wait_begins(void);
void cupti_streams_wait_ended(void);
/* code: of the call that was to end it. */
void cupti_streams_capture_ended(uint64_t stream, int code);
/* A call begins that destroys it, or that may destroy any. */
void cupti_streams_destroy(uint64_t stream);
void cupti_streams_destroy_all(void);
/* From here on it is not seen which are destroyed. */
void cupti_streams_end_session(void);
/* Asks the driver for each, in a context. 1: one is, or this is in doubt. */
int cupti_streams_are_captured(const struct gpu_ops *gpu);

/* ---- Whether the records of launches arrive (cupti_arrivals.c): another client of CUPTI may take
 * them. Any thread, no lock. */

/* After kinds of records were switched on; before they are switched off. call_bytes: of the
 * smallest record of a call. */
void cupti_arrivals_begin(size_t call_bytes);
void cupti_arrivals_end(void);
/* CUPTI gets a buffer of that size, or returns it. */
void cupti_arrivals_give_buffer(size_t bytes);
void cupti_arrivals_take_buffer(size_t bytes);
/* In the callbacks of a call that launches. has_record: the call has a record of its own. */
void cupti_arrivals_enter_launch(uint32_t correlation);
void cupti_arrivals_leave_launch(int has_record);
/* Whether the thread's latest launch began in the session under way. */
int cupti_arrivals_is_here(void);
/* Launches that have begun, and whether all have ended. */
uint64_t cupti_arrivals_count_launches(void);
int cupti_arrivals_are_quiet(void);
/* Before a flush that returns every record: those that are to come, for cupti_arrivals_judge after
 * it. */
uint64_t cupti_arrivals_expect(void);
/* Whether none has come so far. */
int cupti_arrivals_are_missing(uint64_t expected);
/* None came: another client took them, which is said in one line, and taken back if they come. */
void cupti_arrivals_judge(uint64_t expected);
/* A record of a call of that number came. */
void cupti_arrivals_note_record(uint32_t correlation);
uint64_t cupti_arrivals_count_taken(void);
/* The line, if it was not said yet and there are any, or that it was wrong; not in a callback. */
void cupti_arrivals_say_taken(void);

/* ---- Buffers for CUPTI to write records into (cupti_buffers.c): 8 of 1 MiB, and small ones while
 * those are all in use. Any thread, no lock. */

#define CUPTI_BUFFER_BYTES ((size_t)1 << 20) /* some 5000 kernels */

/* 0, or -1 without memory; does nothing where it succeeded before. Not from two threads at once. */
int cupti_open_buffers(void);
/* NULL: too many are in use. must: the caller crashes without a buffer, so that NULL means that
 * there is no memory. */
uint8_t *cupti_get_buffer(size_t *size, int must);
void cupti_put_buffer(uint8_t *buffer, size_t size);

/* ---- What CUPTI calls (cupti_callbacks.c), and what the session has to do with it. */

void cupti_on_api(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);
void cupti_on_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                       size_t valid);
void cupti_on_request_scoped(uint8_t **buffer, size_t *size, size_t *max_records,
                             CUpti_BufferCallbackRequestInfo *info);
void cupti_on_complete_scoped(uint8_t *buffer, size_t size, size_t valid,
                              CUpti_BufferCallbackCompleteInfo *info);
/* Before it is subscribed: the functions, which stay valid, and the version of the library. */
void cupti_callbacks_use(const struct cupti *library, uint32_t number);
/* To be called once, by the thread that made the first launch. */
void cupti_callbacks_at_launch(void (*at_launch)(void));
/* In the child of a fork: they do nothing from here on. */
void cupti_callbacks_forget(void);
/* A reading of CUPTI's clock; its code. In a signal handler that interrupted the use of the clock:
 * no effect. */
int cupti_refresh_clock(void);
/* Devices that were seen, a bit each. */
uint64_t cupti_callbacks_get_devices(void);

struct cupti_callback_sums {
    uint64_t records; /* taken over */
    uint64_t ticks;   /* spent in callbacks, on all threads */
    uint32_t clock_jumps;
    uint32_t clock_drift_ppm;
    int clock_error; /* of the last reading */
};
void cupti_callbacks_sum(struct cupti_callback_sums *out);
/* Whether kernels of graphs had the number of a launch in an earlier session. */
int cupti_callbacks_had_old_numbers(void);

/* ---- CUPTI's clock (cupti_clock.c). One thread at a time. */

/* CUPTI's clock, and the recorder's (activity_clock) before and after it; ns. */
struct cupti_reading {
    uint64_t before;
    uint64_t theirs;
    uint64_t after;
};

#define CUPTI_ANCHORS 64u

struct cupti_anchor {
    uint64_t theirs;
    int64_t offset; /* the recorder's time less CUPTI's */
    int64_t base;   /* the constant part of it, of the whole era */
    uint64_t width; /* of the reading: how uncertain it was */
    int is_new_era; /* a clock was set since the one before */
};

struct cupti_clock {
    struct cupti_anchor anchors[CUPTI_ANCHORS]; /* the newest, each at its number modulo */
    uint64_t count;                             /* of all there were */
    /* For reports, which read them without the lock: relaxed. */
    uint32_t jumps;     /* how often a clock was set */
    uint32_t drift_ppm; /* the largest */
};

void cupti_clock_add(struct cupti_clock *c, const struct cupti_reading *r);
/* The times of a record: CUPTI's own at first, then the same plus a constant. With the shift they
 * are times of the recorder's clock. */
struct cupti_times {
    uint64_t start;
    uint64_t end;
    int64_t shift;
};
/* Converts the times of a record that was delivered at `now`; of one that is possible in no era, by
 * the newest. After the first cupti_clock_add. */
void cupti_clock_convert(const struct cupti_clock *c, uint64_t now, struct cupti_times *t);

/* ---- Bytes of a CUPTI buffer as activity records (cupti_records.c). Only the beginning of a
 * record is read, which is the same in all versions; its length is determined from the loaded
 * library. */

/* The size of a record of that kind in this library, measured with two made-up records; 0: the kind
 * is unknown to it. */
size_t cupti_measure_record(const struct cupti *c, int kind);

/* Where a buffer was read up to. */
struct cupti_reader {
    const struct cupti *cupti;
    uint8_t *buffer;
    size_t size;
    CUpti_Activity *at; /* the record before; NULL: none */
    int broken;         /* what follows cannot be read */
};

/* Reads up to `room` records; unknown kinds are left out. 0: no more. */
unsigned cupti_read_records(struct cupti_reader *r, struct activity_record *out, unsigned room);

/* ---- In words (cupti_words.c). */

/* Whether all calls return that code where the driver cannot be used: which one depends on CUPTI's
 * version. */
int cupti_is_without_driver(int code);
/* Whether that version returns the code where another client uses its functions per subscriber,
 * which exclude the global ones. Before CUDA 13.2 the code has another meaning. */
int cupti_is_excluded(uint32_t version, int code);
/* Why a function failed. */
void cupti_describe_failure(const struct cupti *c, uint32_t version, const char *function, int code,
                            char reason[CUPTI_REASON]);

/* A bit of `missing`: the scopes of launches are not known. */
#define CUPTI_NO_SCOPES (1u << CUPTI_KINDS)

struct cupti_troubles {
    uint32_t version; /* of the library */
    uint32_t missing; /* a bit for each kind of records */
    int flush_error;  /* CUPTI's code */
    int wait_error;   /* the code of the GPU's back end */
    uint64_t taken;   /* launches whose records another client took */
    const struct cupti_callback_sums *sums;
};
/* Kinds that are missing, what its clock did, and errors; "" if none. */
void cupti_put_complaints(const struct cupti *library, const struct cupti_troubles *t, char *out,
                          size_t size);

#endif
