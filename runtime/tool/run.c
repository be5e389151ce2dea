/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A run file is read with pread into memory of our own: it may be cut while it is read.
 * - Its writer may be at work meanwhile. The heads of lists are those that were there before the
 *   body was read, the body reaches up to what is in use after it, and the tables that nodes name
 *   (sites, sets and their texts) are read once more at the end: whatever is found is whole, and
 *   whatever is named is there.
 * - Ticks mean something on the machine and boot that counted them. Elsewhere "now" is the latest
 *   tick that the file holds, and its rate the one its writer measured.
 */
#include "run_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/log.h"
#include "run_latest.h"
#include "run_read.h"
#include "run_writer.h"

static const struct arena_header *header_of(const struct run *r) {
    return (const struct arena_header *)(const void *)r->snapshot.base;
}

/* ---- Who writes it. */

/* The lock says it, but a program that closes descriptors it did not open, or the file itself after
 * a look at it, loses the lock and goes on writing: then the mapping says it. */
static enum run_state state_of(int fd, const struct arena_header *h, int here) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat s;
    if (h->end.ticks) {
        return RUN_ENDED;
    }
    if (!fcntl(fd, F_GETLK, &all) && all.l_type != F_UNLCK) {
        return RUN_LIVE;
    }
    return here && !fstat(fd, &s) && run_writer_maps(h->pid, s.st_ino) ? RUN_LIVE : RUN_KILLED;
}

/* ---- When it is. */

/* As the writer measured it, to 0.1 %; over the whole time since on the boot of the run. */
static double ns_per_tick(const struct arena_header *h, int here) {
    struct clock_stamp now;
    if (here) {
        clock_init((int)h->clock_kind);
        clock_stamp(&now);
        if (now.ticks > h->start.ticks && now.monotonic_ns > h->start.monotonic_ns) {
            return clock_ns_per_tick(&h->start, &now, h->ticks_per_us);
        }
    }
    return 256000.0 / (double)(h->ticks_per_us ? h->ticks_per_us : 256000);
}

static uint64_t start_of(const struct arena_header *h) {
    int sane = h->process_start_ns && h->process_start_ns <= h->start.monotonic_ns;
    return sane ? h->process_start_ns : h->start.monotonic_ns;
}

/* -1: now has to be found in the data. */
static int now_of(const struct run *r, const struct arena_header *h, int here,
                  struct clock_stamp *out) {
    if (r->state == RUN_ENDED) {
        *out = h->end;
    } else if (here && !r->at_least) {
        clock_init((int)h->clock_kind);
        clock_stamp(out);
    } else {
        return -1;
    }
    return out->ticks > h->start.ticks && out->monotonic_ns > h->start.monotonic_ns ? 0 : -1;
}

/* Twice where now is not known: first to find it. */
static int take(struct run *r, const char *base, uint64_t size, int here) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
    struct snapshot *s = &r->snapshot;
    struct clock_stamp now;
    if (!now_of(r, h, here, &now)) {
        return snapshot_read(s, base, size, start_of(h), &now);
    }
    now = h->start;
    if (snapshot_read(s, base, size, start_of(h), &now)) {
        return -1;
    }
    double rate = ns_per_tick(h, here);
    now.ticks = run_latest(s, h) + snapshot_whole(1 / rate) + 1; /* 0 ns are no time to be open */
    r->at_least = 1;
    uint64_t since = snapshot_whole((double)(now.ticks - h->start.ticks) * rate);
    now.monotonic_ns += since;
    now.real_ns += since;
    snapshot_free(s);
    if (snapshot_read(s, base, size, start_of(h), &now)) {
        return -1;
    }
    s->ns_per_tick = rate; /* which a short run's two stamps would only give roughly */
    return 0;
}

/* ---- What it says of itself. */

static const char *text(const struct run *r, uint32_t at) {
    uint32_t length;
    const char *t = snapshot_text(&r->snapshot, at, &length);
    return t ? t : "";
}

static void describe(struct run *r) {
    const struct arena_header *h = header_of(r);
    r->program = text(r, h->about.program);
    r->command = text(r, h->about.command);
    r->host = text(r, h->about.host);
    r->cpu = text(r, h->about.cpu);
    r->compiler = text(r, h->about.compiler);
    r->clock = text(r, h->about.clock);
    r->gpu = text(r, h->about.gpu);
    r->pid = h->pid;
    r->parent_pid = h->parent_pid;
    r->cpus = h->about.cpus;
    r->start_real_ns = h->start.real_ns - (h->start.monotonic_ns - start_of(h));
}

static int open_run(struct run *r, const char *path, int ended_now) {
    struct run_bytes bytes;
    memset(r, 0, sizeof *r);
    r->path = path;
    int fd = run_read(&bytes, path, r->warning, sizeof r->warning);
    if (fd < 0) {
        return -1;
    }
    const struct arena_header *h = (const struct arena_header *)(const void *)bytes.base;
    int here = run_writer_boot(h->boot_id);
    r->state = state_of(fd, h, here);
    close(fd);
    r->at_least = r->state == RUN_KILLED && !ended_now;
    if (take(r, bytes.base, bytes.size, here)) {
        log_line("%.500s: not enough memory to read %llu bytes", path,
                 (unsigned long long)bytes.size);
        pages_put(bytes.base, bytes.size);
        return -1;
    }
    describe(r);
    return 0;
}

int run_open(struct run *r, const char *path) {
    return open_run(r, path, 0);
}

int run_open_ended(struct run *r, const char *path) {
    return open_run(r, path, 1);
}

void run_close(struct run *r) {
    char *base = (char *)(uintptr_t)r->snapshot.base;
    uint64_t size = r->snapshot.size;
    snapshot_free(&r->snapshot);
    pages_put(base, size);
    memset(r, 0, sizeof *r);
}
