/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stint export --serve`: answers GET /metrics and nothing else, in one thread with poll. Clients
 * are not trusted: at most SERVE_CLIENTS are connected, a request has at most HEAD_BYTES, a
 * client has CLIENT_SECONDS from its connection to the end of its answer, and what further ones
 * send waits in the kernel. The answers are made for all clients at once: while one is being
 * sent, others get the same one, so there is one in memory.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/log.h"
#include "follow.h"
#include "run_watch.h"
#include "runfile/run_open.h"
#include "tool/common/command.h"
#include "viewers/export_prometheus.h"

#define SERVE_CLIENTS 16
#define LINE_BYTES 8192
#define HEAD_BYTES 16384
#define CLIENT_SECONDS 10
#define DEFAULT_HOST "127.0.0.1"

/* An answer to clients, beside texts that do not change. */
struct answer {
    struct text body;
    int users; /* clients that it is being sent to */
};

struct client {
    int fd; /* -1: none */
    double until;
    size_t length;
    char head[HEAD_BYTES];
    char reply[512]; /* status line and fields, and the body of an error */
    size_t reply_length;
    struct answer *answer; /* the body; NULL: none */
    size_t sent;           /* of both; replying if reply_length */
};

struct server {
    struct run_watch watch;
    int fd;
    struct answer answer;
    struct client client[SERVE_CLIENTS];
};

static double serve_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- The metrics. */

/* 0, or -1 after one line. */
static int answer_make(struct server *s, struct answer *a) {
    struct exposition x;
    int failed = run_watch_look(&s->watch);
    exposition_start(&x, NULL);
    for (uint32_t i = 0; i < s->watch.runs && !failed; ++i) {
        struct run r;
        struct watched *f = &s->watch.run[i];
        f->ended = 0; /* it is there as long as the file is */
        if (!f->listed || run_watch_open(f, &r)) {
            continue;
        }
        failed = prometheus_add_run(&x, &r, 1);
        run_close(&r);
    }
    text_free(&a->body);
    text_start(&a->body);
    if (!failed) {
        failed = exposition_put(&a->body, &x);
    }
    exposition_free(&x);
    if (failed) {
        log_error("not enough memory to answer a scrape");
        text_free(&a->body);
    }
    return failed;
}

/* ---- Requests. */

static void reply_error(struct client *c, const char *status, const char *fields) {
    c->reply_length =
        (size_t)snprintf(c->reply, sizeof c->reply,
                         "HTTP/1.1 %s\r\n%sContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                         "Connection: close\r\n\r\n%s\n",
                         status, fields, strlen(status) + 1, status);
}

static void reply_metrics(struct server *s, struct client *c) {
    struct answer *a = &s->answer;
    if (!a->users && answer_make(s, a)) {
        reply_error(c, "503 Service Unavailable", "");
        return;
    }
    ++a->users;
    c->answer = a;
    c->reply_length = (size_t)snprintf(c->reply, sizeof c->reply,
                                       "HTTP/1.1 200 OK\r\n"
                                       "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                                       "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                                       a->body.length);
}

/* Reads the request line, which ends within the head. */
static void request_answer(struct server *s, struct client *c) {
    char *end = strchr(c->head, '\r');
    size_t line = end ? (size_t)(end - c->head) : c->length;
    if (strncmp(c->head, "GET ", 4)) {
        reply_error(c, "405 Method Not Allowed", "Allow: GET\r\n");
        return;
    }
    const char *path = c->head + 4;
    size_t length = strcspn(path, " ?\r\n");
    if (line >= LINE_BYTES) {
        reply_error(c, "414 URI Too Long", "");
    } else if (length != 8 || memcmp(path, "/metrics", 8)) {
        reply_error(c, "404 Not Found", "");
    } else {
        reply_metrics(s, c);
    }
}

static void client_close(struct client *c) {
    if (c->answer) {
        --c->answer->users;
    }
    close(c->fd);
    c->fd = -1;
    c->answer = NULL;
    c->length = c->reply_length = c->sent = 0;
}

/* Takes what the client has sent. */
static void client_receive(struct server *s, struct client *c) {
    ssize_t n = recv(c->fd, c->head + c->length, HEAD_BYTES - 1 - c->length, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        client_close(c);
        return;
    }
    c->length += (size_t)n;
    c->head[c->length] = '\0';
    if (strlen(c->head) < c->length) {
        reply_error(c, "400 Bad Request", "");
    } else if (strstr(c->head, "\r\n\r\n")) {
        request_answer(s, c);
    } else if (c->length >= LINE_BYTES && !strchr(c->head, '\r')) {
        reply_error(c, "414 URI Too Long", "");
    } else if (c->length == HEAD_BYTES - 1) {
        reply_error(c, "431 Request Header Fields Too Large", "");
    }
}

static void client_send(struct client *c) {
    size_t body = c->answer ? c->answer->body.length : 0;
    const char *from = c->reply + c->sent;
    size_t left = c->reply_length - c->sent;
    if (c->sent >= c->reply_length) {
        from = c->answer->body.data + (c->sent - c->reply_length);
        left = c->reply_length + body - c->sent;
    }
    ssize_t n = left ? send(c->fd, from, left, MSG_NOSIGNAL) : 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        client_close(c);
        return;
    }
    c->sent += n > 0 ? (size_t)n : 0;
    if (c->sent == c->reply_length + body) {
        shutdown(c->fd, SHUT_WR);
        client_close(c);
    }
}

/* ---- The loop. */

static void client_accept(struct server *s, struct client *c) {
    int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    c->fd = fd;
    c->until = serve_seconds() + CLIENT_SECONDS;
}

static struct client *client_free(struct server *s) {
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        if (s->client[i].fd < 0) {
            return &s->client[i];
        }
    }
    return NULL;
}

/* Closes those whose time is over. Returns the milliseconds until the next one's is, or -1. */
static int clients_expire(struct server *s) {
    double now = serve_seconds(), first = 0;
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        struct client *c = &s->client[i];
        if (c->fd >= 0 && now >= c->until) {
            client_close(c);
        }
        if (c->fd >= 0 && (first <= 0 || c->until < first)) {
            first = c->until;
        }
    }
    return first > 0 ? (int)((first - now) * 1000) + 1 : -1;
}

static void serve_once(struct server *s) {
    struct pollfd wanted[SERVE_CLIENTS + 1];
    int timeout = clients_expire(s);
    struct client *room = client_free(s);
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        const struct client *c = &s->client[i];
        wanted[i] = (struct pollfd){.fd = c->fd, .events = c->reply_length ? POLLOUT : POLLIN};
    }
    wanted[SERVE_CLIENTS] = (struct pollfd){.fd = room ? s->fd : -1, .events = POLLIN};
    if (poll(wanted, SERVE_CLIENTS + 1, timeout) <= 0) {
        return;
    }
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        struct client *c = &s->client[i];
        if (c->fd < 0 || !wanted[i].revents) {
            continue;
        }
        if (c->reply_length) {
            client_send(c);
        } else {
            client_receive(s, c);
        }
    }
    if (room && wanted[SERVE_CLIENTS].revents) {
        client_accept(s, room);
    }
}

/* ---- The address. */

/* PORT, HOST:PORT, [ADDRESS]:PORT. 0, or -1 for another text. */
static int address_read(const char *text, char *host, size_t size, const char **port) {
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    *port = colon ? colon + 1 : text;
    if (length >= size || !**port || strspn(*port, "0123456789") != strlen(*port)) {
        return -1;
    }
    if (!length) {
        snprintf(host, size, DEFAULT_HOST);
        return 0;
    }
    if (*text == '[' && text[length - 1] == ']') {
        ++text;
        length -= 2;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    return 0;
}

static int listen_on(const struct addrinfo *a) {
    int one = 1;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, SERVE_CLIENTS)) {
        return fd;
    }
    ERRNO_KEEP;
    close(fd);
    return -1;
}

static unsigned bound_port(int fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size)) {
        return 0;
    }
    if (address.ss_family == AF_INET6) {
        return ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    }
    return ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
}

/* The exit status; the descriptor is in s->fd. */
static int serve_open(struct server *s, const char *address) {
    char host[256];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    if (address_read(address, host, sizeof host, &port)) {
        log_error("--serve %.200s: expected PORT or HOST:PORT", address);
        return COMMAND_BAD;
    }
    int result = getaddrinfo(host, port, &hints, &found);
    if (result) {
        log_error("--serve %.200s: %s", address, gai_strerror(result));
        return COMMAND_BAD;
    }
    s->fd = listen_on(found);
    int error = errno;
    freeaddrinfo(found);
    if (s->fd < 0) {
        log_error("cannot listen on %.200s: %s", address, error_text(error));
        return COMMAND_FAILED;
    }
    log_note("serving http://%s%s%s:%u/metrics", strchr(host, ':') ? "[" : "", host,
             strchr(host, ':') ? "]" : "", bound_port(s->fd));
    return COMMAND_GOOD;
}

int serve_runs(char **names, int name_count, const char *address) {
    static struct server s; /* 270 KB */
    s.watch = (struct run_watch){.names = names, .name_count = name_count};
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        s.client[i].fd = -1;
    }
    int status = serve_open(&s, address);
    if (status != COMMAND_GOOD) {
        return status;
    }
    follow_catch_signals();
    while (!follow_is_over()) {
        serve_once(&s);
    }
    for (int i = 0; i < SERVE_CLIENTS; ++i) {
        if (s.client[i].fd >= 0) {
            client_close(&s.client[i]);
        }
    }
    text_free(&s.answer.body);
    run_watch_free(&s.watch);
    close(s.fd);
    return COMMAND_GOOD;
}
