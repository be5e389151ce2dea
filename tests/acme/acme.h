/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform ACME: an event back end and a tracer for GPUs that do not exist, in this folder
 * alone. Its clock is the tests' one. Work takes as long as the program says.
 */
#ifndef STINT_TESTS_ACME_H
#define STINT_TESTS_ACME_H

#include "activity/tracer_ops.h"
#include "gpu/gpu.h"

#define ACME_STREAMS 4

/* The lines for the lists of a build. */
extern const struct gpu_backend acme_backend;
extern const struct tracer_ops acme_tracer;
extern const struct gpu_words acme_words;

struct acme_stream {
    uint64_t busy_until; /* ns */
};
extern struct acme_stream acme_stream[ACME_STREAMS];

struct acme_calls {
    int failure; /* each call of an event returns it; 0: none */
    unsigned records;
};
extern struct acme_calls acme_calls;

/* Calls of the ACME API: work in a stream. A copy is synchronous, of pageable memory. */
void acme_launch(struct acme_stream *stream, const char *kernel, uint64_t ns);
void acme_copy(struct acme_stream *stream, uint64_t bytes, uint64_t ns);
void acme_wait(struct acme_stream *stream);
void acme_alloc(uint64_t bytes);

/* The API calls pass their records to the tracer, if it is open. */
struct activity_record;
void acme_trace_call(struct activity_record *call, struct activity_record *work);
uint32_t acme_trace_next(void);

#endif
