/* SPDX-License-Identifier: Apache-2.0 */
#include "arena/arena.h"
#include "ranks.h"
#include "run.h"

#include <string.h>

static const char *read_about_text(const struct run *r, uint32_t at) {
    uint32_t length;
    const char *found = snapshot_text(&r->snapshot, at, &length);
    return found ? found : "";
}

const char *run_label(const struct run *r) {
    static const char key[] = " label=";
    const char *found = strstr(r->conditions, key);
    return found ? found + sizeof key - 1 : "";
}

const struct arena_job *run_job(const struct run *r) {
    const struct arena_header *h = (const struct arena_header *)(const void *)r->snapshot.base;
    return snapshot_at(&r->snapshot, h->job, sizeof(struct arena_job));
}

static void run_read_job(struct run *r) {
    const struct arena_job *job = run_job(r);
    r->job = r->clocks = "";
    if (job) {
        r->clocks = read_about_text(r, job->clocks);
        r->size = job->size;
        r->local = job->local;
        r->job = read_about_text(r, job->id);
    }
}

static void run_read_ranks(struct run *r) {
    struct ranks ranks;
    if (ranks_read(&ranks, &r->snapshot)) {
        return;
    }
    r->merged = ranks.count;
    for (uint32_t i = 0; i < ranks.count; ++i) {
        r->killed += ranks.rank[i].killed != 0;
    }
}

int run_trace(struct run *r) {
    return r->trace.lanes ? 0 : trace_read(&r->trace, &r->snapshot);
}

void run_read_about(struct run *r) {
    const struct arena_header *h = (const struct arena_header *)(const void *)r->snapshot.base;
    r->program = read_about_text(r, h->about.program);
    r->command = read_about_text(r, h->about.command);
    r->host = read_about_text(r, h->about.host);
    r->cpu = read_about_text(r, h->about.cpu);
    r->compiler = read_about_text(r, h->about.compiler);
    r->clock = read_about_text(r, h->about.clock);
    r->gpu = read_about_text(r, h->about.gpu);
    r->cost = snapshot_at(&r->snapshot, h->cost, sizeof *r->cost);
    r->rank = h->about.rank;
    run_read_job(r);
    run_read_ranks(r);
    r->conditions = r->cost ? read_about_text(r, r->cost->conditions) : "";
    r->pid = h->pid;
    r->parent_pid = h->parent_pid;
    r->cpus = h->about.cpus;
    r->start_real_ns = h->start.real_ns - (h->start.monotonic_ns - r->snapshot.start_ns);
}
