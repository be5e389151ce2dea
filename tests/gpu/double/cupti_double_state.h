/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double's state: one, under one lock, which is held over the buffer callbacks as CUPTI's own
 * may be, and over no other.
 */
#ifndef STINT_TESTS_CUPTI_DOUBLE_STATE_H
#define STINT_TESTS_CUPTI_DOUBLE_STATE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_double.h"
#include "cupti_types.inc"
#include "locked.h"

#define DOUBLE_KINDS 64
#define DOUBLE_STRIDE 512 /* a record at most */
#define DOUBLE_APIS 4096  /* functions a domain */
#define DOUBLE_STREAMS 64
#define DOUBLE_HELD 5000

struct double_cupti {
    void (*advance)(uint64_t ns);
    uint64_t (*now)(void);
    uint64_t own_clock; /* without `now` */
    uint64_t offset, drift_from;
    int32_t drift_ppm;
    uint64_t call_ns;
    uint32_t version;
    uint32_t correlation;
    int subscribed;
    int scoped;       /* by cuptiSubscribe_v2 */
    int other_scoped; /* another client is, too */
    int mixed;        /* a global function was called beside those of a subscriber */
    CUpti_BuffersCallbackRequestFunc_v2 request_scoped;
    CUpti_BuffersCallbackCompleteFunc_v2 complete_scoped;
    int per_thread; /* buffers; 1 + the attribute's value, 0: not set */
    int misused;
    int thread_type; /* as CUPTI numbers it */
    CUpti_CallbackFunc callback;
    void *user;
    void *context; /* in which calls are made */
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    int enabled[DOUBLE_KINDS];
    uint8_t calls_back[3][DOUBLE_APIS];
    uint8_t quiet[3][DOUBLE_APIS];
    size_t stride[DOUBLE_KINDS];
    uint64_t times[2]; /* of the next device record, [1] 0: its own */
    int has_times;

    struct { /* when a stream's work will be done */
        uint32_t device, stream;
        int used;
        uint64_t end;
    } streams[DOUBLE_STREAMS];

    uint8_t *buffer; /* being filled */
    size_t size, used;
    uint64_t buffers, refused;
    size_t dropped; /* atomic */
    int hold;
    int eager;             /* full buffers are delivered without a flush */
    int lazy_flushes;      /* so many of the next flushes return nothing */
    int register_drops;    /* the buffer under way is lost when callbacks are registered again */
    int scoped_kinds_fail; /* cuptiActivityEnable_v2 returns 27 */
    unsigned sessions;     /* so many times a client has subscribed */
    const char *holder;    /* the name of another client that has subscribed; NULL: none */
    struct {
        uint8_t *buffer;
        size_t size, used;
    } held[DOUBLE_HELD];
    unsigned held_count;
};

extern struct double_cupti double_cupti;
extern pthread_mutex_t double_cupti_lock;

/* NULL: there is no such function. */
const char *double_api_name(int domain, uint32_t cbid);
/* The number of a function by its name without a version; 0: none. */
uint32_t double_api(int domain, const char *name);
size_t double_stride_of(uint32_t kind);

/* A call of CUDA's: its callbacks and its record. */
#define DOUBLE_PARAMETERS 8
struct double_call {
    int domain;
    uint32_t cbid; /* 0: not known, nothing is made of it */
    uint32_t correlation;
    uint64_t start;
    int code; /* that it returns */
    const void *context;
    uint64_t words[DOUBLE_PARAMETERS];
};
/* With a number of its own, unless it has one. */
void double_call_enter(struct double_call *c);
void double_call_leave(struct double_call *c);
/* A record of a kind that may be off. The caller holds the lock. */
void double_put_enabled(const void *record, size_t size, uint64_t ready);

/* The caller holds the lock. */
uint64_t double_clock(void);
uint64_t double_base(void); /* without what makes it CUPTI's */
/* A record to come out at that moment (0: as soon as there is one), and what is due. */
void double_put(const void *record, size_t size, uint64_t ready);
/* Writes what is complete, or all, into buffers and delivers them. */
void double_flush(int forced);
/* Writes and delivers buffers that fill up by themselves: with buffers per thread, the calling
 * thread's. */
void double_flush_thread(void);
int double_has_thread_buffers(void);
void double_forget(void);
void double_release(void);

#endif
