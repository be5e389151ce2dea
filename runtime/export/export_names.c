/* SPDX-License-Identifier: Apache-2.0 */
#include "export_names.h"

#include <stdarg.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/print.h"

struct export_name export_name(const char *bytes, size_t length) {
    struct export_name n = {bytes, u64_min(length, EXPORT_NAME_BYTES)};
    return n;
}

struct export_name export_text(const char *text) {
    return text ? export_name(text, strlen(text)) : export_name("", 0);
}

struct export_name export_site(const struct snapshot *s, uint32_t site) {
    if (!site || site > s->site_count || !s->sites[site].name) {
        return export_text("?");
    }
    return export_name(s->sites[site].name, s->sites[site].length);
}

struct export_name export_field(const char *bytes, size_t size) {
    return export_name(bytes, strnlen(bytes, size));
}

const char *export_set_name(const struct snapshot *s, uint32_t set, const char *otherwise) {
    return set < s->set_count ? s->sets[set] : otherwise;
}

const char *export_state(const struct run *r) {
    switch (r->state) {
    case RUN_LIVE:
        return "live";
    case RUN_ENDED:
        return "ended";
    default:
        return "killed";
    }
}

uint32_t export_name_hash(struct export_name n) {
    return (uint32_t)hash_bytes(n.bytes, n.length);
}

int export_name_same(struct export_name a, struct export_name b) {
    return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

size_t export_clean(char *out, struct export_name name) {
    return export_clean_without(out, name, NULL);
}

size_t export_clean_without(char *out, struct export_name name, int (*is_refused)(uint32_t)) {
    char *p = out;
    for (size_t i = 0; i < name.length;) {
        uint32_t c = 0;
        size_t n = utf8_next_kept(name.bytes + i, name.length - i, &c);
        if (n && !(is_refused && is_refused(c))) {
            memcpy(p, name.bytes + i, n);
            p += n;
            i += n;
            continue;
        }
        for (const char *end = name.bytes + i + u64_max(n, 1); name.bytes + i < end; ++i) {
            p = utf8_escape(p, name.bytes[i]);
        }
    }
    return (size_t)(p - out);
}

void export_add(struct sink *out, const char *format, ...) {
    va_list args;
    char *room = sink_room(out, SINK_PIECE);
    va_start(args, format);
    out->length += print_list(room, SINK_PIECE, format, args);
    va_end(args);
}

void export_start_item(struct sink *out, uint64_t item) {
    if (item) {
        sink_put(out, ",", 1);
    }
    sink_put(out, "\n", 1);
}

uint32_t *export_tids(struct run *r) {
    struct snapshot *s = &r->snapshot;
    const struct trace *t = &r->trace;
    uint32_t *tids = scratch_array(&s->memory, (size_t)t->lane_count + 1, sizeof *tids);
    unsigned char *taken = scratch_get(&s->memory, EXPORT_TIDS / 8);
    if (!tids || !taken) {
        return NULL;
    }
    for (uint32_t i = 0; i < t->lane_count; ++i) {
        uint32_t thread = t->lanes[i].thread;
        uint32_t tid = 0;
        if (thread < s->thread_count) {
            tid = s->threads[thread].tid;
        }
        if (!tid || tid >= EXPORT_TIDS || taken[tid / 8] & 1u << tid % 8) {
            tids[i] = EXPORT_TIDS + i;
            continue;
        }
        taken[tid / 8] |= (unsigned char)(1u << tid % 8);
        tids[i] = tid;
    }
    return tids;
}

uint32_t export_pid(const struct run *r) {
    int is_small = r->pid && r->pid < EXPORT_TIDS;
    return is_small ? r->pid : 1;
}

uint32_t *export_thread_lanes(struct run *r) {
    struct snapshot *s = &r->snapshot;
    uint32_t *lanes = scratch_array(&s->memory, (size_t)s->thread_count + 1, sizeof *lanes);
    for (uint32_t i = 0; lanes && i < r->trace.lane_count; ++i) {
        uint32_t thread = r->trace.lanes[i].thread;
        if (thread < s->thread_count && !lanes[thread]) {
            lanes[thread] = i + 1;
        }
    }
    return lanes;
}

uint32_t export_launch_lane(const struct snapshot *s, const uint32_t *lanes,
                            const struct trace_event *e) {
    return e->launch_thread < s->thread_count ? lanes[e->launch_thread] : 0;
}
