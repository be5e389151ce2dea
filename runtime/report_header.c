/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "config.h"
#include "gpu.h"
#include "machine.h"
#include "report.h"
#include "report_columns.h"

/* Threads that recorded, not recorders: one serves many, one after the other. */
static uint32_t count_threads(const struct snapshot *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        count += s->threads[i].uses;
    }
    return count;
}

int report_header(const struct report *r) {
    static const char *const names[REPORT_VIEWS] = {"legacy", "table", "tree"};
    static const char *const units[] = {", times in ms", ", times in us", ", times in ns", ""};
    const struct snapshot *s = r->snapshot;
    uint32_t threads = count_threads(s);
    char wall[TEXT_NUMBER];
    struct machine m;
    machine_read(&m);
    text_time(wall, s->wall_ns, CONFIG_UNIT_AUTO);
    text_add(r->out, "stint %s: ", names[r->options->view]);
    text_name(r->out, m.program, strlen(m.program), 0);
    if (r->options->set != REPORT_ALL_SETS) {
        text_put(r->out, ", set ", 6);
        text_name(r->out, s->sets[r->options->set], strlen(s->sets[r->options->set]), 0);
    }
    text_add(r->out, ", %s wall, %u thread%s, by %s%s\n", wall, threads, threads == 1 ? "" : "s",
             report_column(r->options->sort)->key, units[config.unit]);
    text_add(r->out, "host ");
    text_name(r->out, m.host, strlen(m.host), 0);
    text_add(r->out, ", %u x ", m.cpus);
    text_name(r->out, m.cpu, strlen(m.cpu), 0);
    const struct gpu_ops *gpu = gpu_ops();
    text_add(r->out, ", %s, clock %s, GPU %s%s%s%s\n\n", m.compiler, clock_name(), gpu->name,
             gpu->reason ? " (" : "", gpu->reason ? gpu->reason : "", gpu->reason ? ")" : "");
    return 0;
}
