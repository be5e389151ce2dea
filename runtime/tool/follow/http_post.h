/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a collector: a bounded queue, and plain HTTP POST with time limits.
 */
#ifndef STINT_TOOL_HTTP_POST_H
#define STINT_TOOL_HTTP_POST_H

#include <stddef.h>
#include <stdint.h>

#define POST_REQUESTS 256u
#define POST_BYTES (8u << 20)

struct post_request {
    char *body;
    size_t length;
};

struct post {
    char host[256];
    char port[8];
    char path[1024];
    const char *type; /* Content-Type */
    struct post_request queue[POST_REQUESTS];
    uint32_t first;
    uint32_t count;
    size_t bytes;      /* of the queue */
    uint64_t dropped;  /* requests: the queue was full, or the collector refused them */
    uint64_t reported; /* of these */
    double retry_at;   /* monotonic seconds; 0: at once */
    double backoff;
    int failing;
};

/* http://HOST[:PORT][/PATH]. 0, or -1 for another text. */
int post_start(struct post *p, const char *url, const char *type);
/* Takes the body, which was allocated. The oldest requests are dropped if there are too many. */
void post_add(struct post *p, char *body, size_t length);
/* Sends what is in the queue, unless it is too early after a failure. `last`: without that limit.
 * */
void post_send(struct post *p, int last);
void post_free(struct post *p);

#endif
