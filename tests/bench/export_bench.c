/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_bench [SPANS]: what an exported span costs (default: 10^6 of them), per format, in
 * nanoseconds and as a ratio to the floor: as many bytes copied into a buffer of the same size and
 * written to the same place. CPU time, best of five. Also by how much the memory grew: it must not
 * with SPANS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>

#include "export/tool/formats.h"

#define ROUNDS 5
#define LANES 4u
#define SITES 64u
#define DEPTH 4u

static struct run run;
static struct snapshot_site sites[SITES + 1];
static char names[SITES + 1][32];
static const char *sets[] = {"GlobalStatInfo"};
static struct trace_lane lanes[LANES];
static struct snapshot_thread threads[LANES];
static struct trace_event *events; /* what the walks of hand_run.c go over */
static struct sink sink;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long peak_kb(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* Towers of DEPTH nested spans, one after the other, from a second into the run. */
static void make_lane(uint32_t i, uint64_t first, uint64_t count) {
    uint64_t at = 1000000000;
    threads[i].tid = 1000 + i;
    lanes[i].thread = i;
    lanes[i].count = count;
    snprintf(lanes[i].name, sizeof lanes[i].name, "worker %u", i);
    for (uint64_t k = 0; k < count; ++k) {
        struct trace_event *e = &events[first + k];
        uint32_t depth = (uint32_t)(k % DEPTH);
        at += depth ? 150 : 12345;
        e->start_ns = at;
        e->duration_ns = 10000 - 1000 * (uint64_t)depth;
        e->site = (uint32_t)(k * 7 % SITES) + 1;
        e->node = SNAPSHOT_NONE;
        e->depth = depth;
    }
}

static int make_run(uint64_t spans) {
    run.program = "export_bench";
    run.pid = 1000;
    run.snapshot.sites = sites;
    run.snapshot.site_count = SITES;
    run.snapshot.sets = sets;
    run.snapshot.set_count = 1;
    run.snapshot.threads = threads;
    run.snapshot.thread_count = LANES;
    run.trace.lanes = lanes;
    run.trace.lane_count = LANES;
    run.trace.event_count = spans;
    events = calloc(spans, sizeof *events);
    run.trace.rings = (struct trace_rings *)(void *)events;
    for (uint32_t i = 1; i <= SITES; ++i) {
        snprintf(names[i], sizeof names[i], "layer%02u.forward.matmul", i);
        sites[i].name = names[i];
        sites[i].length = (uint32_t)strlen(names[i]);
    }
    for (uint32_t i = 0; events && i < LANES; ++i) {
        make_lane(i, i * (spans / LANES), spans / LANES);
    }
    return events ? 0 : -1;
}

static double write_all(int (*exporter)(struct sink *, struct run *), int fd, uint64_t *bytes) {
    double best = 1e300;
    for (int i = 0; i < ROUNDS; ++i) {
        lseek(fd, 0, SEEK_SET);
        double start = now_ns();
        sink_start(&sink, fd);
        if (exporter(&sink, &run) || sink_close(&sink)) {
            return -1;
        }
        double took = now_ns() - start;
        best = took < best ? took : best;
    }
    *bytes = sink.written;
    return best;
}

static double write_floor(int fd, uint64_t bytes) {
    static char from[SINK_BYTES];
    double best = 1e300;
    for (int i = 0; i < ROUNDS; ++i) {
        lseek(fd, 0, SEEK_SET);
        double start = now_ns();
        sink_start(&sink, fd);
        for (uint64_t left = bytes; left;) {
            size_t piece = left < 64 ? (size_t)left : 64; /* about a span */
            sink_put(&sink, from + left % (SINK_BYTES - 64), piece);
            left -= piece;
        }
        sink_close(&sink);
        double took = now_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

static int measure(const char *name, int (*exporter)(struct sink *, struct run *), int fd,
                   const char *where) {
    uint64_t bytes = 0;
    double spans = (double)run.trace.event_count;
    long before = peak_kb();
    double took = write_all(exporter, fd, &bytes);
    long grown = peak_kb() - before;
    double least = write_floor(fd, bytes);
    if (took < 0) {
        fprintf(stderr, "export_bench: %s to %s failed\n", name, where);
        return 1;
    }
    printf("%-10s %-9s %6.1f ns a span, %5.1f bytes, %4.1f of the floor, %ld KiB of memory\n", name,
           where, took / spans, (double)bytes / spans, took / least, grown);
    return 0;
}

int main(int argc, char **argv) {
    uint64_t spans = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    int null = open("/dev/null", O_WRONLY), memory = memfd_create("export_bench", 0);
    if (!spans || null < 0 || memory < 0 || make_run(spans - spans % LANES)) {
        perror("export_bench");
        return 2;
    }
    int failed = measure("chrome", export_chrome, null, "/dev/null") |
                 measure("perfetto", export_perfetto, null, "/dev/null") |
                 measure("chrome", export_chrome, memory, "memory") |
                 measure("perfetto", export_perfetto, memory, "memory");
    free(events);
    return failed;
}
