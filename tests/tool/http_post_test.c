/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of `stint export --post`: bounded while a collector is down, however long that is, and
 * what is dropped is counted. The collector is a socket of this process. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "tool/follow/http_post.h"

#define BODY 8u /* digits of a request's number */

static struct post post;

struct collector {
    int fd;
    uint32_t wanted; /* requests, after which it ends */
    uint32_t taken;
    char body[POST_REQUESTS][BODY + 1];
};

/* Bound, so that no other program gets the port, and refusing until it listens. */
static void collector_make(struct collector *c, char url[64]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    memset(c, 0, sizeof *c);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(c->fd >= 0 && !bind(c->fd, (struct sockaddr *)&at, size));
    CHECK(!getsockname(c->fd, (struct sockaddr *)&at, &size));
    snprintf(url, 64, "http://127.0.0.1:%u", ntohs(at.sin_port));
}

/* The end of the head and BODY bytes; 0 if there are not so many. */
static int collector_read(struct collector *c, int fd) {
    static const char answer[] = "HTTP/1.1 200 OK\r\n\r\n";
    char text[2048];
    size_t length = 0;
    const char *end = NULL;
    while (length < sizeof text && (!end || text + length < end + 4 + BODY)) {
        ssize_t n = read(fd, text + length, sizeof text - length);
        if (n <= 0) {
            return 0;
        }
        length += (size_t)n;
        end = memmem(text, length, "\r\n\r\n", 4);
    }
    memcpy(c->body[c->taken++], end + 4, BODY);
    return write(fd, answer, sizeof answer - 1) > 0;
}

static void *collector_run(void *argument) {
    struct collector *c = argument;
    while (c->taken < c->wanted) {
        int fd = accept(c->fd, NULL, NULL);
        if (fd < 0 || !collector_read(c, fd)) {
            c->wanted = 0;
        }
        close(fd);
    }
    return NULL;
}

static void add_number(uint32_t number) {
    char *body = malloc(BODY + 1);
    CHECK(body != NULL);
    if (body) {
        snprintf(body, BODY + 1, "%08u", number);
        post_add(&post, body, BODY);
    }
}

/* An hour without a collector at an interval of 1 s. */
TEST(http_post, the_queue_is_bounded_while_the_collector_is_down) {
    static struct collector c;
    char url[64];
    pthread_t thread;
    collector_make(&c, url);
    CHECK(!post_start(&post, url, "application/json"));
    for (uint32_t i = 0; i < 3600; ++i) {
        add_number(i);
        post_send(&post, 0);
        CHECK(post.count <= POST_REQUESTS);
        CHECK_EQ_U64(post.dropped, i < POST_REQUESTS ? 0 : i + 1 - POST_REQUESTS);
    }
    CHECK_EQ_U64(post.count, POST_REQUESTS);
    CHECK_EQ_U64(post.bytes, POST_REQUESTS * BODY);
    CHECK(post.failing && post.retry_at > 0);
    /* It is there again: it gets the newest requests, in their order. */
    CHECK(!listen(c.fd, 16));
    c.wanted = POST_REQUESTS;
    CHECK(!pthread_create(&thread, NULL, collector_run, &c));
    post_send(&post, 1);
    pthread_join(thread, NULL);
    CHECK_EQ_U64(c.taken, POST_REQUESTS);
    CHECK_EQ_U64(strtoul(c.body[0], NULL, 10), 3600 - POST_REQUESTS);
    CHECK_EQ_U64(strtoul(c.body[POST_REQUESTS - 1], NULL, 10), 3599);
    CHECK(!post.count && !post.bytes && !post.failing);
    CHECK_EQ_U64(post.dropped, 3600 - POST_REQUESTS);
    CHECK_EQ_U64(post.reported, post.dropped);
    close(c.fd);
    post_free(&post);
}

TEST(http_post, its_bytes_are_bounded) {
    CHECK(!post_start(&post, "http://127.0.0.1:1", "application/json"));
    for (uint32_t i = 0; i < 20; ++i) {
        post_add(&post, calloc(1, POST_BYTES / 4), POST_BYTES / 4);
        CHECK(post.bytes <= POST_BYTES);
    }
    CHECK_EQ_U64(post.count, 4);
    CHECK_EQ_U64(post.dropped, 16);
    post_add(&post, calloc(1, POST_BYTES), POST_BYTES); /* in place of all others */
    CHECK_EQ_U64(post.count, 1);
    CHECK_EQ_U64(post.dropped, 20);
    post_add(&post, calloc(1, POST_BYTES + 1), POST_BYTES + 1);
    CHECK_EQ_U64(post.count, 1);
    CHECK_EQ_U64(post.dropped, 21);
    post_free(&post);
    CHECK(!post.count && !post.bytes);
}

/* 1, 2, 4 ... 60 s, and no attempt before. */
TEST(http_post, attempts_become_rarer) {
    static const double expected[] = {1, 2, 4, 8, 16, 32, 60, 60};
    static struct collector c;
    char url[64];
    collector_make(&c, url);
    CHECK(!post_start(&post, url, "application/json"));
    add_number(1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        post_send(&post, 1);
        CHECK(post.backoff >= expected[i] && post.backoff <= expected[i]);
        double retry_at = post.retry_at;
        if (i > 2) { /* not where a slow machine lets the time pass */
            post_send(&post, 0);
            CHECK(post.retry_at <= retry_at && post.count == 1);
        }
    }
    close(c.fd);
    post_free(&post);
}

HARNESS_MAIN()
