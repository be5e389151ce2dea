/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens run files for all commands: reads the bytes (run_read.c), finds out whether the writer is
 * running, has ended or was killed, and makes the snapshot for the current time, the time of the
 * end, or the latest time in the file.
 * - A run file is read with pread into memory of the tool: it may be cut while it is read. The
 *   events of rings stay in the file, whose descriptor is open until run_close.
 * - Its writer may be running. The heads of lists are from before the body was read, the body
 *   extends to the bytes in use after it, and the tables that nodes refer to (sites, sets and their
 *   texts) are read again at the end: each record that is found is complete, and so is each name
 *   that it refers to.
 * - Ticks have a meaning on the machine and boot that counted them. Elsewhere the current time is
 *   the latest tick in the file, and the length of a tick the one that its writer measured.
 */
#include "run_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "run_parts.h"
#include "system/clock.h"
#include "system/log.h"
#include "system/read_beginning.h"

/* ---- Its writer. */

/* Closes the descriptor for the time of the look at /proc: one descriptor is enough for all. What
 * has the path afterwards is the same file, or the events of its rings are lost. */
static int is_mapped_by(struct run_bytes *bytes, const char *path, uint32_t pid) {
    struct stat before, after;
    if (fstat(bytes->fd, &before)) {
        return 0;
    }
    if (!strcmp(path, RUN_STDIN)) {
        return run_writer_maps(pid, before.st_ino);
    }
    close(bytes->fd);
    int is_mapped = run_writer_maps(pid, before.st_ino);
    bytes->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (bytes->fd >= 0 && (fstat(bytes->fd, &after) || after.st_ino != before.st_ino ||
                           after.st_dev != before.st_dev)) {
        close(bytes->fd);
        bytes->fd = -1;
    }
    return is_mapped;
}

/* The writer holds a lock. A program that closes descriptors which it did not open, or that opens
 * and closes the file itself, loses the lock and continues to write: then it has the file mapped.
 */
static enum run_state find_state(struct run_bytes *bytes, const char *path, int here) {
    const struct arena_header *h = (const struct arena_header *)(const void *)bytes->base;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (h->end.ticks) {
        return RUN_ENDED;
    }
    int is_locked = !fcntl(bytes->fd, F_GETLK, &all) && all.l_type != F_UNLCK;
    if (is_locked || (here && is_mapped_by(bytes, path, h->pid))) {
        return RUN_LIVE;
    }
    return RUN_KILLED;
}

/* ---- The time of the snapshot. */

/* On the boot of the run measured over the time since its start, else as the writer measured it, to
 * 0.1 %. */
static double measure_tick(const struct arena_header *h, int here) {
    struct clock_stamp now;
    if (here) {
        clock_init((int)h->clock_kind);
        clock_stamp(&now);
        if (now.ticks > h->start.ticks && now.monotonic_ns > h->start.monotonic_ns) {
            return stamp_ns_per_tick(&h->start, &now, h->ticks_per_us);
        }
    }
    if (!h->ticks_per_us) {
        return 1;
    }
    return 256000.0 / (double)h->ticks_per_us;
}

static uint64_t find_start(const struct arena_header *h) {
    if (h->process_start_ns && h->process_start_ns <= h->start.monotonic_ns) {
        return h->process_start_ns;
    }
    return h->start.monotonic_ns;
}

/* The time of the snapshot; -1: it has to be found in the data. */
static int find_now(const struct run *r, const struct arena_header *h, int here,
                    struct clock_stamp *out) {
    if (r->state == RUN_ENDED) {
        *out = h->end;
    } else if (here && !r->at_least) {
        clock_init((int)h->clock_kind);
        clock_stamp(out);
    } else {
        return -1;
    }
    if (out->ticks <= h->start.ticks || out->monotonic_ns <= h->start.monotonic_ns) {
        return -1;
    }
    return 0;
}

static int read_at(struct run *r, const struct run_bytes *from, const struct clock_stamp *now) {
    const struct arena_header *h = (const struct arena_header *)(const void *)from->base;
    struct snapshot *s = &r->snapshot;
    if (snapshot_read(s, from->base, from->size, find_start(h), now)) {
        return -1;
    }
    if (from->has_rings) {
        s->pull = run_pull;
        s->file = from->fd;
        s->is_written = r->state == RUN_LIVE;
    }
    return 0;
}

/* Makes the snapshot; twice if the time has to be found in it. */
static int take_snapshot(struct run *r, const struct run_bytes *from, int here) {
    const struct arena_header *h = (const struct arena_header *)(const void *)from->base;
    struct snapshot *s = &r->snapshot;
    struct clock_stamp now;
    if (!find_now(r, h, here, &now)) {
        return read_at(r, from, &now);
    }
    now = h->start;
    if (read_at(r, from, &now)) {
        return -1;
    }
    double rate = measure_tick(h, here);
    now.ticks = run_latest(s, h) + snapshot_whole(1 / rate) + 1; /* no scope is open for 0 ns */
    r->at_least = 1;
    uint64_t since = snapshot_whole((double)(now.ticks - h->start.ticks) * rate);
    now.monotonic_ns += since;
    now.real_ns += since;
    snapshot_free(s);
    if (read_at(r, from, &now)) {
        return -1;
    }
    s->ns_per_tick = rate; /* more exact than the two stamps of a short run */
    s->wall_at_least = 1;
    return 0;
}

/* ---- Opening. */

static int open_run(struct run *r, const char *path, int ended_now) {
    struct run_bytes bytes;
    char boot_id[40];
    memset(r, 0, sizeof *r);
    r->path = strcmp(path, RUN_STDIN) ? path : RUN_STDIN_NAME;
    read_boot_id(boot_id, sizeof boot_id); /* before there is another descriptor */
    int failed = run_read(&bytes, path, r->warning, sizeof r->warning);
    if (failed) {
        return failed;
    }
    const struct arena_header *h = (const struct arena_header *)(const void *)bytes.base;
    int here = *boot_id && !strncmp(boot_id, h->boot_id, sizeof boot_id);
    r->state = find_state(&bytes, path, here);
    r->at_least = r->state == RUN_KILLED && !ended_now;
    failed = take_snapshot(r, &bytes, here);
    if (bytes.fd >= 0 && (failed || !bytes.has_rings)) {
        close(bytes.fd);
    }
    if (failed) {
        log_error("%.500s: not enough memory to read %llu bytes", path,
                  (unsigned long long)bytes.size);
        pages_put(bytes.base, bytes.size);
        return RUN_SHORTAGE;
    }
    run_read_about(r);
    if (r->killed) { /* and may have run for longer than the others */
        r->at_least = 1;
        r->snapshot.wall_at_least = 1;
    }
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
    if (r->snapshot.pull && r->snapshot.file >= 0) {
        close(r->snapshot.file);
    }
    snapshot_free(&r->snapshot);
    pages_put(base, size);
    memset(r, 0, sizeof *r);
}
