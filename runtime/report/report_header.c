/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/columns.h"
#include "report.h"
#include "system/config.h"

/* Threads that recorded, not recorders: one serves many, one after the other. */
static uint32_t count_threads(const struct snapshot *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        count += s->threads[i].uses;
    }
    return count;
}

static void header_put_text(struct text *out, const char *text) {
    const char *known = text && *text ? text : "?";
    text_name(out, known, strlen(known), 0);
}

static void header_put_place(struct text *out, const struct report_about *a) {
    if (a->place && *a->place) {
        text_name(out, a->place, strlen(a->place), 0);
        text_add(out, ", ");
    }
    text_add(out, "host ");
    header_put_text(out, a->host);
    text_add(out, ", %u x ", a->cpus);
    header_put_text(out, a->cpu);
    text_add(out, ", ");
    header_put_text(out, a->compiler);
    text_add(out, ", clock ");
    header_put_text(out, a->clock);
    if (a->gpu && *a->gpu) {
        text_add(out, ", GPU ");
        header_put_text(out, a->gpu);
    }
    text_put(out, "\n", 1);
}

/* The key of the rows' order. */
static const char *header_sort_key(const struct report_options *o) {
    if (o->view == REPORT_RANKS) {
        return "lost";
    }
    return report_column(o->sort)->key;
}

int report_header(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    uint32_t threads = count_threads(s);
    char wall[TEXT_NUMBER];
    const char *bound = s->wall_at_least ? "at least " : "";
    text_time(wall, s->wall_ns, CONFIG_UNIT_AUTO);
    text_add(r->out, "stint %s: ", report_view_name(r->options->view));
    header_put_text(r->out, r->about->program);
    if (r->options->set != REPORT_ALL_SETS) {
        text_put(r->out, ", set ", 6);
        text_name(r->out, s->sets[r->options->set], strlen(s->sets[r->options->set]), 0);
    }
    text_add(r->out, ", %s%s wall, %u thread%s, by %s", bound, wall, threads, text_plural(threads),
             header_sort_key(r->options));
    if (s->corrected) {
        text_add(r->out, ", corrected");
    }
    if (config.unit != CONFIG_UNIT_AUTO) {
        text_add(r->out, ", times in %s", text_unit_name(config.unit));
    }
    text_put(r->out, "\n", 1);
    header_put_place(r->out, r->about);
    if (r->about->state) {
        text_add(r->out, "%s\n", r->about->state);
    }
    text_put(r->out, "\n", 1);
    return 0;
}
