/* SPDX-License-Identifier: Apache-2.0 */
#include "export_names.h"

#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

struct export_name export_name(const char *bytes, size_t length) {
    struct export_name n = {bytes, length < EXPORT_NAME_BYTES ? length : EXPORT_NAME_BYTES};
    return n;
}

struct export_name export_site(const struct snapshot *s, uint32_t site) {
    const struct snapshot_site *from = site && site <= s->site_count ? &s->sites[site] : NULL;
    return from && from->name ? export_name(from->name, from->length) : export_name("?", 1);
}

struct export_name export_field(const char *bytes, size_t size) {
    return export_name(bytes, strnlen(bytes, size));
}

uint32_t export_name_hash(struct export_name n) {
    return (uint32_t)hash_bytes(n.bytes, n.length);
}

int export_name_same(struct export_name a, struct export_name b) {
    return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

size_t export_clean(char *out, struct export_name name) {
    char *p = out;
    for (size_t i = 0; i < name.length;) {
        uint32_t c;
        size_t n = utf8_next(name.bytes + i, name.length - i, &c);
        memcpy(p, n ? name.bytes + i : UTF8_REPLACEMENT, n ? n : UTF8_REPLACEMENT_BYTES);
        p += n ? n : UTF8_REPLACEMENT_BYTES;
        i += n ? n : 1;
    }
    return (size_t)(p - out);
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
        uint32_t tid = thread < s->thread_count ? s->threads[thread].tid : 0;
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
    return r->pid && r->pid < EXPORT_TIDS ? r->pid : 1;
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
