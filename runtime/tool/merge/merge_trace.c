/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the traces of one run after the other: the rings of threads and the lanes of GPU streams.
 * An event names its scope by the unit of a node; where the merged unit is too large for an event,
 * the span is left out and counted. merge.c calls this after threads, nodes and activities have
 * their merged units.
 */
#include "base/arithmetic.h"
#include "merge.h"

#define LANES_MAX 65536u /* or what the file has room for; a list in a circle ends here, too */
#define PIECE 500u       /* events that are copied at a time */
#define TICKS (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1)
#define LONGEST (((uint64_t)1 << STINT_IMPL_SPAN_BITS) - 1) /* the true length is in a payload */

/* Whether an event can name it. */
static int unit_fits(uint32_t unit) {
    return unit < 1u << STINT_IMPL_NODE_BITS;
}

/* A span's or launch's ticks in the merged clock. */
static uint64_t map_ticks(const struct merge_map *map, uint64_t what) {
    uint64_t ticks = what & LONGEST;
    return ticks == LONGEST ? ticks : merge_length(map, ticks);
}

/* The span of a unit, 0 = none. 0, and counted, if an event cannot name it. */
static uint64_t make_span(struct merge *m, uint32_t unit, uint64_t ticks) {
    int fits = unit_fits(unit);
    m->cut += !fits;
    return unit && fits ? stint_impl_span(unit, ticks) : 0;
}

/* Whether the length of a scope's span is nanoseconds. */
static int span_in_ns(const struct merge_map *map, uint64_t what) {
    const struct snapshot *s = &map->run->snapshot;
    uint32_t node = snapshot_node_of(s, (uint32_t)(what >> STINT_IMPL_SPAN_BITS));
    return node != SNAPSHOT_NONE && s->nodes[node].in_ns;
}

/* Whether the payload is the length of the span that follows, which then has the same start. */
static int is_length(const struct stint_impl_event *payload, const struct stint_impl_event *then) {
    return then && then->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_SPAN &&
           (then->what & LONGEST) == LONGEST && then->at == (payload->at & TICKS);
}

/* A scope's span, a payload, or a mark or value, which name their site. */
static uint64_t map_event(struct merge *m, const struct merge_map *map,
                          const struct stint_impl_event *from,
                          const struct stint_impl_event *then) {
    switch (from->at >> STINT_IMPL_EVENT_KIND) {
    case STINT_IMPL_EVENT_SPAN:
        return make_span(m, merge_node(map, (uint32_t)(from->what >> STINT_IMPL_SPAN_BITS)),
                         span_in_ns(map, from->what) ? from->what & LONGEST
                                                     : map_ticks(map, from->what));
    case STINT_IMPL_EVENT_PAYLOAD:
        if (is_length(from, then) && !span_in_ns(map, then->what)) {
            return merge_length(map, from->what);
        }
        return from->what;
    default:
        if (from->what <= map->run->snapshot.site_count) {
            return map->site[from->what];
        }
        return 0;
    }
}

/* The merged unit of an activity or a thread; 0 = none. */
static uint32_t map_unit(const struct hash_map *units, uint64_t unit) {
    uint32_t merged = HASH_MAP_NONE;
    if (unit <= UINT32_MAX) {
        merged = hash_map_get(units, (uint32_t)unit);
    }
    return merged == HASH_MAP_NONE ? 0 : merged;
}

/* An activity's span, or a payload with its launch: the ticks since it, and the thread, 0 =
 * unknown. */
static uint64_t map_activity_event(struct merge *m, const struct merge_map *map,
                                   const struct stint_impl_event *from) {
    uint64_t unit = from->what >> STINT_IMPL_SPAN_BITS;
    uint32_t thread = map_unit(&map->thread, unit);
    switch (from->at >> STINT_IMPL_EVENT_KIND) {
    case STINT_IMPL_EVENT_SPAN:
        return make_span(m, map_unit(&map->activity, unit), from->what & LONGEST);
    case STINT_IMPL_EVENT_PAYLOAD:
        return stint_impl_span(unit_fits(thread) ? thread : 0, map_ticks(map, from->what));
    default:
        return 0;
    }
}

/* A value that names the activity of a device's memory, or the payload with the value. */
static uint64_t map_memory_event(const struct merge_map *map, const struct stint_impl_event *from) {
    if (from->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_PAYLOAD) {
        return from->what;
    }
    return map_unit(&map->activity, from->what);
}

/* `at` stays 0, no event, for what the merged file cannot name. */
static void event_set(const struct merge_map *map, struct stint_impl_event *to,
                      const struct stint_impl_event *from, uint64_t what) {
    uint64_t kind = from->at >> STINT_IMPL_EVENT_KIND;
    to->what = what;
    if (from->at && (what || kind == STINT_IMPL_EVENT_PAYLOAD)) {
        to->at = kind << STINT_IMPL_EVENT_KIND | (merge_tick(map, from->at & TICKS) & TICKS);
    }
}

static uint64_t map_any_event(struct merge *m, const struct merge_map *map,
                              const struct stint_impl_event *event,
                              const struct stint_impl_event *then, uint32_t kind) {
    switch (kind) {
    case ARENA_LANE_MEMORY:
        return map_memory_event(map, event);
    case ARENA_LANE_ACTIVITIES:
        return map_activity_event(m, map, event);
    default:
        return map_event(m, map, event, then);
    }
}

static void copy_events(struct merge *m, const struct merge_map *map, struct stint_impl_ring *to,
                        const struct snapshot_ring *from, uint32_t kind) {
    struct stint_impl_event events[PIECE + 1]; /* and the next one */
    for (uint64_t i = from->first; i < from->head; i += PIECE) {
        uint64_t some = u64_min(from->head - i, PIECE);
        uint64_t known = u64_min(from->head - i, PIECE + 1);
        snapshot_ring_read(&map->run->snapshot, from, i, known, events);
        for (uint64_t k = 0; k < some; ++k) {
            const struct stint_impl_event *then = k + 1 < known ? &events[k + 1] : NULL;
            event_set(map, stint_impl_ring_event(to, i + k), &events[k],
                      map_any_event(m, map, &events[k], then, kind));
        }
    }
}

/* kind: of the lane. */
static int copy_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t kind,
                     uint32_t *out) {
    struct snapshot_ring from;
    if (snapshot_ring_find(&map->run->snapshot, unit, &from)) {
        return 0;
    }
    uint64_t size = 1;
    while (size < from.head - from.first) {
        size *= 2;
    }
    struct stint_impl_ring *to =
        merge_file_need(&m->file, out, sizeof *to + size * sizeof(struct stint_impl_event));
    if (!to) {
        return -1;
    }
    to->mask = size - 1;
    to->head = from.head;
    copy_events(m, map, to, &from, kind);
    return 0;
}

int merge_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t *out) {
    return copy_ring(m, map, unit, ARENA_LANE_EVENTS, out);
}

static int copy_lane(struct merge *m, const struct merge_map *map, const struct arena_lane *from) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_get(&m->file, sizeof *from);
    struct arena_lane *to = merge_file_at(&m->file, unit);
    if (!unit || copy_ring(m, map, from->ring, from->kind, &to->ring)) {
        return -1;
    }
    to->device = merge_device_at(map, snapshot_device_of(&map->run->snapshot, from->device));
    to->number = ++h->lane_count;
    to->stream = from->stream;
    to->kind = from->kind;
    to->context = from->context;
    to->rank = from->rank;
    to->pid = from->pid;
    to->ranked = from->ranked;
    if (merge_is_marked(m, map)) {
        to->rank = m->runs;
        to->pid = map->from->pid;
    }
    if (merge_is_marked(m, map) && map->from->about.rank) {
        to->rank = map->from->about.rank - 1;
        to->ranked = 1;
    }
    to->next = h->first_lane;
    h->first_lane = unit;
    return 0;
}

int merge_lanes(struct merge *m, const struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t most = u64_min(s->size / STINT_IMPL_UNIT, LANES_MAX);
    const struct arena_lane **lane = scratch_array(&m->memory, most, sizeof *lane), *l;
    uint32_t count = 0;
    if (!lane) {
        return -1;
    }
    for (uint32_t unit = map->from->first_lane;
         count < most && (l = snapshot_at(s, unit, sizeof *l)); unit = l->next) {
        lane[count++] = l;
    }
    while (count) { /* the oldest first, so that their numbers keep their order */
        if (copy_lane(m, map, lane[--count])) {
            return -1;
        }
    }
    return 0;
}
