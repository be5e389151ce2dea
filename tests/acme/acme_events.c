/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event back end of the platform ACME, and the calls of its API. Work is an amount of time on
 * the fake clock that a stream is busy for; an event stores the end of the stream's work. Programs
 * of the tests call the API; session code calls the back end through its ops.
 */
#include "acme.h"
#include "activity/activity.h"
#include "base/arithmetic.h"
#include "fake_clock.h"
#include "system/clock.h"

#define CALL_NS 400u /* on the host */
#define DEVICE 0

const struct gpu_words acme_words = {{[GPU_WORD_PLATFORM] = "ACME",
                                      [GPU_WORD_PINNED] = "acmePinned",
                                      [GPU_WORD_PREFETCH] = "acmePrefetch",
                                      [GPU_WORD_ADVISE] = "acmeAdvise",
                                      [GPU_WORD_COPY_ASYNC] = "acmeCopyLater"}};

struct acme_stream acme_stream[ACME_STREAMS];
struct acme_calls acme_calls;

static uint64_t acme_start_work(struct acme_stream *stream, uint64_t ns) {
    uint64_t start = u64_max(activity_clock(), stream->busy_until);
    stream->busy_until = start + ns;
    return start;
}

/* ---- The API. */

static struct activity_record acme_call_begin(const char *name) {
    struct activity_record call = {.kind = ACTIVITY_API,
                                   .device = ACTIVITY_NO_DEVICE,
                                   .correlation = acme_trace_next(),
                                   .name = name,
                                   .thread = 1,
                                   .start = activity_clock()};
    fake_advance(CALL_NS);
    return call;
}

static struct activity_record acme_work_begin(struct acme_stream *stream, uint32_t kind,
                                              uint64_t ns) {
    uint64_t start = acme_start_work(stream, ns);
    return (struct activity_record){.kind = kind,
                                    .device = DEVICE,
                                    .context = 1,
                                    .stream = (uint32_t)(stream - acme_stream) + 7,
                                    .start = start,
                                    .end = start + ns};
}

static void acme_wait_for(const struct acme_stream *stream) {
    uint64_t now = activity_clock();
    if (stream->busy_until > now) {
        fake_advance(stream->busy_until - now + 1);
    }
}

void acme_launch(struct acme_stream *stream, const char *kernel, uint64_t ns) {
    struct activity_record call = acme_call_begin("acmeLaunch");
    struct activity_record work = acme_work_begin(stream, ACTIVITY_KERNEL, ns);
    work.name = kernel;
    work.grid[0] = work.grid[1] = work.grid[2] = 1;
    work.block[0] = 32;
    work.block[1] = work.block[2] = 1;
    acme_trace_call(&call, &work);
}

void acme_copy(struct acme_stream *stream, uint64_t bytes, uint64_t ns) {
    struct activity_record call = acme_call_begin("acmeCopy");
    struct activity_record work = acme_work_begin(stream, ACTIVITY_COPY, ns);
    work.bytes = bytes;
    work.detail = ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_PAGEABLE,
                                       ACTIVITY_MEMORY_DEVICE, 0);
    call.waits = ACTIVITY_WAITS_FOR_COPY;
    acme_wait_for(stream);
    fake_advance(4 * CALL_NS); /* it returns long after the copy */
    acme_trace_call(&call, &work);
}

void acme_alloc(uint64_t bytes) {
    struct activity_record call = acme_call_begin("acmeAlloc");
    struct activity_record work = {.kind = ACTIVITY_ALLOC,
                                   .detail = ACTIVITY_MEMORY_DEVICE,
                                   .device = DEVICE,
                                   .context = 1,
                                   .start = call.start,
                                   .end = call.start,
                                   .bytes = bytes,
                                   .address = 0x1000};
    acme_trace_call(&call, &work);
}

void acme_wait(struct acme_stream *stream) {
    struct activity_record call = acme_call_begin("acmeWait");
    call.waits = ACTIVITY_WAITS_FOR_WORK;
    acme_wait_for(stream);
    acme_trace_call(&call, NULL);
}

/* ---- The event back end. An event is the time at which its stream has reached it. */

static int acme_owns(void *stream) {
    return (char *)stream >= (char *)acme_stream &&
           (char *)stream < (char *)(acme_stream + ACME_STREAMS);
}

static int acme_get_context(void *stream, struct gpu_context *out) {
    (void)stream;
    out->handle = acme_stream;
    out->id = 1;
    out->device = DEVICE;
    return GPU_OK;
}

/* Not malloc: the pool keeps events until the end, where a leak checker does not see them. */
#define EVENTS 1024u
#define ACME_NO_EVENTS 2 /* a code of its own */
static uint64_t acme_events[EVENTS];
static uint32_t acme_event_count;

static int acme_event_new(void **event) {
    if (acme_event_count == EVENTS) {
        return ACME_NO_EVENTS;
    }
    *event = &acme_events[acme_event_count++];
    return acme_calls.failure;
}

static int acme_event_drop(void *event) {
    (void)event;
    return GPU_OK;
}

static int acme_event_record(void *event, void *stream) {
    const struct acme_stream *s = stream;
    uint64_t now = activity_clock();
    *(uint64_t *)event = u64_max(now, s->busy_until);
    ++acme_calls.records;
    return acme_calls.failure;
}

static int acme_event_query(void *event) {
    if (acme_calls.failure) {
        return acme_calls.failure;
    }
    return activity_clock() >= *(uint64_t *)event ? GPU_OK : GPU_NOT_READY;
}

static int acme_event_wait(void *event) {
    (void)event;
    return acme_calls.failure;
}

static int acme_event_elapsed(void *from, void *to, uint64_t *ns) {
    *ns = *(uint64_t *)to - *(uint64_t *)from;
    return acme_calls.failure;
}

static int acme_describe_device(int number, struct gpu_device *out) {
    *out = (struct gpu_device){.name = "ACME Rocket", .major = 1};
    return number == DEVICE ? GPU_OK : GPU_INVALID_VALUE;
}

static int acme_is_fatal(int code) {
    return code == GPU_ILLEGAL_ADDRESS;
}

static const struct gpu_ops acme_ops = {
    .name = "acme",
    .words = &acme_words,
    .owns = acme_owns,
    .context = acme_get_context,
    .event_new = acme_event_new,
    .event_drop = acme_event_drop,
    .event_record = acme_event_record,
    .event_query = acme_event_query,
    .event_wait = acme_event_wait,
    .event_elapsed = acme_event_elapsed,
    .device = acme_describe_device,
    .is_fatal = acme_is_fatal,
};

static const struct gpu_ops *acme_open(void) {
    return &acme_ops;
}

const struct gpu_backend acme_backend = {.name = "acme", .open = acme_open};
