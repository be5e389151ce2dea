/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends requests to a collector for `stint export --follow --post`, one at a time in a connection
 * of its own. A collector that cannot be reached, or that asks to come back (429, 502, 503, 504),
 * gets the same request again after 1, 2, 4 ... 60 s; requests that it refuses are dropped. What
 * is dropped is counted and said, once when it begins and once when requests are taken again. The
 * collector's answer is untrusted: only its first line is read.
 */
#include "http_post.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/log.h"
#include "base/number.h"

#define CONNECT_MS 5000
#define TRANSFER_MS 10000
#define BACKOFF_MIN_S 1.0
#define BACKOFF_MAX_S 60.0

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- The URL. */

static int copy_part(char *out, size_t size, const char *from, size_t length) {
    if (!length || length >= size) {
        return -1;
    }
    memcpy(out, from, length);
    out[length] = '\0';
    return 0;
}

/* A name, an address, or an address of IPv6 in brackets. Returns its length, 0 for another text. */
static size_t host_length(const char *text, const char **host, size_t *length) {
    if (*text == '[') {
        const char *end = strchr(text, ']');
        *host = text + 1;
        *length = end ? (size_t)(end - text - 1) : 0;
        return end ? *length + 2 : 0;
    }
    *host = text;
    *length = strcspn(text, ":/");
    return *length;
}

int post_start(struct post *p, const char *url, const char *type) {
    const char *host;
    size_t length;
    uint64_t port;
    memset(p, 0, sizeof *p);
    p->type = type;
    if (strncmp(url, "http://", 7)) {
        return -1;
    }
    for (const char *c = url; *c; ++c) {
        if ((unsigned char)*c <= ' ' || *c == 0x7f) {
            return -1;
        }
    }
    url += 7;
    url += host_length(url, &host, &length);
    if (copy_part(p->host, sizeof p->host, host, length)) {
        return -1;
    }
    strcpy(p->port, "80");
    if (*url == ':') {
        size_t digits = strcspn(++url, "/");
        if (copy_part(p->port, sizeof p->port, url, digits) ||
            number_read_whole(p->port, 1, 65535, &port)) {
            return -1;
        }
        url += digits;
    }
    if (*url && *url != '/') {
        return -1;
    }
    if (!*url || !url[1]) {
        url = "/v1/metrics";
    }
    return copy_part(p->path, sizeof p->path, url, strlen(url));
}

/* ---- The queue. */

static void drop_first(struct post *p) {
    struct post_request *r = &p->queue[p->first];
    free(r->body);
    p->bytes -= r->length;
    p->first = (p->first + 1) % POST_REQUESTS;
    --p->count;
}

void post_add(struct post *p, char *body, size_t length) {
    if (length > POST_BYTES) {
        log_warning("a request of %zu bytes is too large to be sent; it is dropped", length);
        ++p->dropped;
        free(body);
        return;
    }
    while (p->count == POST_REQUESTS || (p->count && p->bytes + length > POST_BYTES)) {
        drop_first(p);
        ++p->dropped;
    }
    p->queue[(p->first + p->count++) % POST_REQUESTS] = (struct post_request){body, length};
    p->bytes += length;
}

void post_free(struct post *p) {
    while (p->count) {
        drop_first(p);
    }
}

/* ---- A request. */

static int wait_for(int fd, short events, double until) {
    for (;;) {
        double left = until - seconds_now();
        struct pollfd one = {.fd = fd, .events = events};
        int ready = left > 0 ? poll(&one, 1, (int)(left * 1000) + 1) : 0;
        if (ready > 0) {
            return 0;
        }
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (!ready) {
            errno = ETIMEDOUT;
        }
        return -1;
    }
}

static void close_keeping_errno(int fd) {
    ERRNO_KEEP;
    close(fd);
}

/* 0, or -1 with errno: it is connected, or will be within the time limit. */
static int connect_wait(int fd, const struct addrinfo *a) {
    if (!connect(fd, a->ai_addr, a->ai_addrlen)) {
        return 0;
    }
    if (errno != EINPROGRESS || wait_for(fd, POLLOUT, seconds_now() + CONNECT_MS / 1000.0)) {
        return -1;
    }
    /* Again: it says how the attempt ended. */
    if (!connect(fd, a->ai_addr, a->ai_addrlen) || errno == EISCONN) {
        return 0;
    }
    return -1;
}

static int connect_to(const struct addrinfo *a) {
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && connect_wait(fd, a)) {
        close_keeping_errno(fd);
        return -1;
    }
    return fd;
}

static int send_bytes(int fd, const char *bytes, size_t length, double until) {
    while (length) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return -1;
        } else if (wait_for(fd, POLLOUT, until)) {
            return -1;
        }
    }
    return 0;
}

/* The status of the answer; -1 with errno: there was none. */
static int receive_status(int fd, double until) {
    char line[64];
    size_t length = 0;
    uint64_t status;
    while (length < sizeof line - 1 && !memchr(line, '\n', length)) {
        ssize_t n = recv(fd, line + length, sizeof line - 1 - length, 0);
        if (n > 0) {
            length += (size_t)n;
        } else if (!n) {
            break;
        } else if (errno != EAGAIN && errno != EINTR) {
            return -1;
        } else if (wait_for(fd, POLLIN, until)) {
            return -1;
        }
    }
    line[length] = '\0';
    if (length < 12 || memcmp(line, "HTTP/1.", 7) || line[8] != ' ' ||
        !number_parse_whole(line + 9, 999, &status)) {
        errno = ECONNRESET;
        return -1;
    }
    return (int)status;
}

static int request_send(const struct post *p, const struct post_request *r, int fd) {
    char head[2048];
    double until = seconds_now() + TRANSFER_MS / 1000.0;
    const char *open = strchr(p->host, ':') ? "[" : "";
    const char *shut = *open ? "]" : "";
    int n = snprintf(head, sizeof head,
                     "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nContent-Type: %s\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\nUser-Agent: stint\r\n\r\n",
                     p->path, open, p->host, shut, p->port, p->type, r->length);
    if (send_bytes(fd, head, (size_t)n, until) || send_bytes(fd, r->body, r->length, until)) {
        return -1;
    }
    return receive_status(fd, until);
}

/* The status; -1 and *why. */
static int request_try(const struct post *p, const struct post_request *r, const char **why) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int result = getaddrinfo(p->host, p->port, &hints, &found);
    if (result) {
        *why = gai_strerror(result);
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = connect_to(a);
    }
    int status = -1;
    if (fd >= 0) {
        status = request_send(p, r, fd);
    }
    if (status < 0) {
        *why = error_text(errno);
    }
    if (fd >= 0) {
        close(fd);
    }
    freeaddrinfo(found);
    return status;
}

static int is_temporary(int status) {
    return status < 0 || status == 408 || status == 429 || (status >= 502 && status <= 504);
}

static void post_failed(struct post *p, int status, const char *why) {
    if (!p->failing && status > 0) {
        log_warning("http://%s:%s%s answers %d; it is tried again", p->host, p->port, p->path,
                    status);
    } else if (!p->failing) {
        log_warning("cannot post to http://%s:%s%s: %s; it is tried again", p->host, p->port,
                    p->path, why);
    }
    p->failing = 1;
    p->backoff = p->backoff > 0 ? p->backoff * 2 : BACKOFF_MIN_S;
    if (p->backoff > BACKOFF_MAX_S) {
        p->backoff = BACKOFF_MAX_S;
    }
    p->retry_at = seconds_now() + p->backoff;
}

static void post_taken(struct post *p, int status) {
    int refused = status < 200 || status > 299;
    if (refused) {
        ++p->dropped;
        log_warning("http://%s:%s%s answers %d: the request is dropped", p->host, p->port, p->path,
                    status);
    } else if (p->failing || p->dropped > p->reported) {
        log_note("http://%s:%s%s takes requests; %llu were dropped so far", p->host, p->port,
                 p->path, (unsigned long long)p->dropped);
        p->reported = p->dropped;
    }
    p->failing = refused;
    p->backoff = p->retry_at = 0;
    drop_first(p);
}

void post_send(struct post *p, int last) {
    while (p->count && (last || seconds_now() >= p->retry_at)) {
        const char *why = "";
        int status = request_try(p, &p->queue[p->first], &why);
        if (is_temporary(status)) {
            post_failed(p, status, why);
            return;
        }
        post_taken(p, status);
    }
}
