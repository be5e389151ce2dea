/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double's state: one, under one lock. Objects lie in arrays that only grow; a handle is a kind
 * and a number in one word, so that no pointer from outside is ever followed.
 */
#ifndef STINT_TESTS_DOUBLE_STATE_H
#define STINT_TESTS_DOUBLE_STATE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_double.h"
#include "locked.h"

#define DOUBLE_DEVICES 4
#define DOUBLE_ATTRIBUTES 160
#define DOUBLE_DEPTH 16    /* contexts a thread has pushed */
#define DOUBLE_SPECIAL 256 /* threads that use a per-thread stream, a context */

enum double_kind { DOUBLE_CONTEXT = 1, DOUBLE_STREAM, DOUBLE_EVENT };
enum double_life { DOUBLE_UNBORN, DOUBLE_ALIVE, DOUBLE_DEAD };

/* Work for a device, in a stream or a graph. */
enum double_work_kind { DOUBLE_KERNEL, DOUBLE_COPY, DOUBLE_HOST_FUNCTION };
struct double_work {
    enum double_work_kind kind;
    const char *name; /* of a kernel */
    uint64_t ns;
    uint64_t bytes, copies; /* copies: of a batch, which has one record */
    int direction;          /* cudaMemcpyKind */
    int async;
    uint32_t graph; /* 0: none */
    uint32_t grid[3], block[3];
};
/* When it runs. */
struct double_span {
    uint64_t start, end;
    uint32_t stream, context; /* numbers */
    int device;
    int captured; /* it became part of a graph */
};

/* Parts that may be put in the place of the double's own: all NULL unless it belongs to a whole GPU
 * (whole_gpu.c). */
struct double_world {
    /* The time, ns; NULL: only double_advance() and waits move it. */
    uint64_t (*clock)(void);
    /* Work waits so long before it starts, ns. */
    uint64_t late;
    /* A call of the driver or the runtime begins on this thread, or ends. stream: its parameter of
     * that number, -1: it has none. */
    void (*enter)(int domain, const char *name, void *stream, int word);
    void (*leave)(int code);
    /* The runtime initialises the driver; a code. */
    int (*start)(void);
    /* Work was put on a stream, within a call. */
    void (*work)(const struct double_work *work, const struct double_span *span);
    /* Memory was allocated (bytes) or freed (0), of that kind (CUPTI's number), within a call. */
    void (*memory)(void *at, uint64_t bytes, int kind);
    void (*event_recorded)(void *stream);
    void (*event_elapsed)(float ms);
    /* The process that initialised the driver: it works in no other. 0: not watched. */
    int process;
};
extern struct double_world double_world;
#define DOUBLE_DRIVER 1 /* domains, as CUPTI numbers them */
#define DOUBLE_RUNTIME 2

struct double_stream {
    uint32_t context;
    uint32_t incarnation; /* of its context */
    int dead;
    int blocking;
    int capturing; /* as CUstreamCaptureStatus: 0 no, 1 yes, 2 invalidated */
    int mode;
    uint32_t thread; /* that began the capture, or owns a per-thread stream; 0 = neither */
    uint64_t end;
};

struct double_event {
    uint32_t context;
    uint32_t incarnation;
    int dead;
    int recorded;
    int captured;
    uint64_t moment;
};

struct double_context {
    int device;
    int dead;
    int profiling;
    uint32_t incarnation;
    uint64_t id;
    uint32_t legacy; /* its stream */
    uint32_t per_thread[DOUBLE_SPECIAL];
    uint32_t per_threads;
};

/* An array of one kind; number 0 is never given out. */
struct double_list {
    void *item;
    size_t size; /* of an item */
    uint32_t count;
    uint32_t room;
    uint32_t first; /* numbers go on after a reset */
};

struct double_state {
    enum double_life life;
    int sticky;      /* the code of a device that faulted: all calls return it; 0: none */
    uint64_t spoilt; /* captures that were invalidated */
    uint64_t now;
    uint64_t tick;
    struct double_list contexts, streams, events;
    uint64_t next_id;
    uint64_t epoch; /* resets */
    int captures;   /* under way */
    int version;
    int devices; /* that the driver counts */
    int attribute[DOUBLE_DEVICES][DOUBLE_ATTRIBUTES];
    char name[DOUBLE_DEVICES][64];
    uint64_t events_made, events_alive;
    uint64_t profiler_starts, profiler_stops;
    void *profiler_context;
    void *primary[DOUBLE_DEVICES]; /* contexts */
    uint64_t retained[DOUBLE_DEVICES];
    int active[DOUBLE_DEVICES]; /* the primary context exists */
    uint64_t primaries_made;    /* by cuDevicePrimaryCtxRetain */
};

extern struct double_state double_state;
extern pthread_mutex_t double_lock;

/* The table's functions, up to NULL. */
extern const char *const double_names[];
/* Counts a call; 0, or the code to return instead of making it. Without the lock. */
int double_enter(int function);
/* The call ends; returns the code. */
int double_leave(int function, int code);

/* Takes the lock, which is returned, and looks at the clock. */
pthread_mutex_t *double_take(void);
#define DOUBLE_LOCKED() LOCKED_BY(double_take())
/* With the lock, which is released meanwhile where the time is a clock's. */
void double_wait_until(uint64_t moment);
/* Work of that length for a stream (cuda_double.h at double_launch). On a stream that is captured
 * it takes no time. */
int double_queue(void *stream, uint64_t ns, struct double_span *out);

/* All below: the caller holds the lock. */
void *double_handle(enum double_kind kind, uint32_t number);
/* NULL: not one of ours. number may be NULL. An event of a destroyed context aborts. */
struct double_context *double_context_at(void *handle, uint32_t *number);
struct double_stream *double_stream_at(void *handle, uint32_t *number);
struct double_event *double_event_at(void *handle, uint32_t *number);
struct double_context *double_context_number(uint32_t number);
struct double_stream *double_stream_number(uint32_t number);
/* Zeroed; 0: no memory. */
uint32_t double_add(struct double_list *list);
uint32_t double_stream_add(uint32_t context, int blocking);
void double_list_clear(struct double_list *list);

/* The calling thread: its number from 1, its contexts, its capture mode. */
struct double_thread {
    uint64_t epoch;
    uint32_t number;
    int mode;
    int depth;
    void *context[DOUBLE_DEPTH];
};
struct double_thread *double_self(void);

/* Ends the program with that line: the behaviour is undefined there. */
__attribute__((noreturn)) void double_abort(const char *line);
/* The code of a call that is given that context (double_context_at of the handle). */
int double_check_context(const struct double_context *c, void *handle);
/* The driver makes the device's primary context, or takes a reference away. */
void double_primary_activate(int device);
void double_primary_release(int device);

/* The codes of a call on this stream or in the current context; 0 = go on. */
int double_alive(void);
int double_current(struct double_context **context, uint32_t *number);
int double_resolve(void *handle, struct double_stream **stream, uint32_t *number);
int double_legacy(void *handle); /* whether it means the legacy stream */
/* Returns the time at which all work is done that an event recorded on `stream` waits for. */
uint64_t double_end_of(const struct double_stream *stream);
/* Returns whether a blocking stream of that context is under capture; `invalidate` also spoils the
 * capture. */
int double_blocked(uint32_t context, int invalidate);
/* 900 if a capture forbids this thread to ask for the state of the GPU, and invalidates it. */
int double_unsafe(void);
/* 900 if a stream of the context (only: that one) is captured, and invalidates the capture: to wait
 * for it is an error in every mode. */
int double_conflict(const struct double_stream *only, uint32_t context);
/* When all work of the context will be done. */
uint64_t double_end_of_context(uint32_t context);

#endif
