/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "merge.h"

#define LANES_MOST 65536u /* or what the file has room for; also ends a circle */
#define TICKS (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1)
#define LONGEST (((uint64_t)1 << STINT_IMPL_SPAN_BITS) - 1) /* the true length is in a payload */

/* The events are a power of two, and all of them are there. */
static const struct stint_impl_ring *ring_of(const struct snapshot *s, uint32_t unit) {
    const struct stint_impl_ring *r = snapshot_at(s, unit, sizeof *r);
    uint64_t most = s->size / sizeof(struct stint_impl_event);
    if (!r || r->mask & (r->mask + 1) || r->mask > most ||
        !snapshot_at(s, unit, sizeof *r + (r->mask + 1) * sizeof(struct stint_impl_event))) {
        return NULL;
    }
    return r;
}

/* Of one that an event can name, else 0. */
static uint32_t nameable(struct merge *m, uint32_t unit) {
    int fits = unit < 1u << STINT_IMPL_NODE_BITS;
    m->cut += !fits;
    return fits ? unit : 0;
}

static uint64_t span_of(struct merge *m, const struct merge_map *map, uint64_t what) {
    uint32_t node = nameable(m, merge_node(map, (uint32_t)(what >> STINT_IMPL_SPAN_BITS)));
    uint64_t ticks = what & LONGEST;
    return node ? stint_impl_span(node, ticks == LONGEST ? ticks : merge_length(map, ticks)) : 0;
}

static uint64_t activity_of(struct merge *m, const struct merge_map *map, uint64_t what) {
    uint32_t unit = hash_map_get(&map->activity, (uint32_t)(what >> STINT_IMPL_SPAN_BITS));
    unit = unit == HASH_MAP_NONE ? 0 : nameable(m, unit);
    return unit ? stint_impl_span(unit, merge_length(map, what & LONGEST)) : 0;
}

/* The ticks from a launch, by whom: LONGEST is not a number of ticks. */
static uint64_t launch_of(const struct merge_map *map, uint64_t what) {
    uint32_t unit = hash_map_get(&map->thread, (uint32_t)(what >> STINT_IMPL_SPAN_BITS));
    uint64_t ticks = what & LONGEST;
    unit = unit < 1u << STINT_IMPL_NODE_BITS ? unit : 0;
    return stint_impl_span(unit, ticks == LONGEST ? ticks : merge_length(map, ticks));
}

/* Whether the payload is a length: then a span of that start follows. */
static int is_length(const struct stint_impl_event *payload, const struct stint_impl_event *then) {
    return then && then->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_SPAN &&
           (then->what & LONGEST) == LONGEST && then->at == (payload->at & TICKS);
}

/* at stays 0 for what cannot be told. */
static void copy_event(struct merge *m, const struct merge_map *map, struct stint_impl_event *to,
                       const struct stint_impl_event *from, const struct stint_impl_event *then) {
    uint64_t kind = from->at >> STINT_IMPL_EVENT_KIND;
    uint64_t tick = merge_tick(map, from->at & TICKS) & TICKS;
    to->what = from->what;
    if (kind == STINT_IMPL_EVENT_SPAN) {
        to->what = span_of(m, map, from->what);
    } else if (kind == STINT_IMPL_EVENT_PAYLOAD) {
        to->what = is_length(from, then) ? merge_length(map, from->what) : from->what;
    } else {
        to->what = from->what <= map->run->snapshot.site_count ? map->site[from->what] : 0;
    }
    if (from->at && (to->what || kind == STINT_IMPL_EVENT_PAYLOAD)) {
        to->at = kind << STINT_IMPL_EVENT_KIND | tick;
    }
}

static void copy_activity_event(struct merge *m, const struct merge_map *map,
                                struct stint_impl_event *to, const struct stint_impl_event *from) {
    uint64_t kind = from->at >> STINT_IMPL_EVENT_KIND;
    int is_span = kind == STINT_IMPL_EVENT_SPAN, is_payload = kind == STINT_IMPL_EVENT_PAYLOAD;
    to->what = is_span      ? activity_of(m, map, from->what)
               : is_payload ? launch_of(map, from->what)
                            : 0;
    if (from->at && (to->what || is_payload)) {
        to->at = kind << STINT_IMPL_EVENT_KIND | (merge_tick(map, from->at & TICKS) & TICKS);
    }
}

/* kind: of the lane. */
static int copy_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t kind,
                     uint32_t *out) {
    const struct stint_impl_ring *from = ring_of(&map->run->snapshot, unit);
    *out = 0;
    if (!from) {
        return 0;
    }
    uint64_t size = 1, kept = from->head <= from->mask ? from->head : from->mask + 1;
    while (size < kept) {
        size *= 2;
    }
    *out = merge_file_get(&m->file, sizeof *from + size * sizeof(struct stint_impl_event));
    if (!*out) {
        return -1;
    }
    struct stint_impl_ring *to = merge_file_at(&m->file, *out);
    const struct stint_impl_event *events =
        (const struct stint_impl_event *)(const void *)(from + 1);
    to->mask = size - 1;
    to->head = from->head;
    for (uint64_t i = from->head - kept; i < from->head; ++i) {
        const struct stint_impl_event *e = &events[i & from->mask];
        if (kind == ARENA_LANE_ACTIVITIES) {
            copy_activity_event(m, map, stint_impl_ring_event(to, i), e);
        } else {
            copy_event(m, map, stint_impl_ring_event(to, i), e,
                       i + 1 < from->head ? &events[(i + 1) & from->mask] : NULL);
        }
    }
    return 0;
}

int merge_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t *out) {
    return copy_ring(m, map, unit, ARENA_LANE_EVENTS, out);
}

static uint32_t device_of(const struct merge_map *map, uint32_t unit) {
    const struct snapshot *s = &map->run->snapshot;
    for (uint32_t i = 0; i < s->device_count; ++i) {
        if (s->devices[i].unit == unit) {
            return map->device[i];
        }
    }
    return 0;
}

static int copy_lane(struct merge *m, const struct merge_map *map, const struct arena_lane *from) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_get(&m->file, sizeof *from), ring;
    if (!unit || copy_ring(m, map, from->ring, from->kind, &ring)) {
        return -1;
    }
    struct arena_lane *to = merge_file_at(&m->file, unit);
    to->ring = ring;
    to->device = device_of(map, from->device);
    to->number = ++h->lane_count;
    to->stream = from->stream;
    to->kind = from->kind;
    to->context = from->context;
    to->rank = merge_marks(m, map) ? m->runs : from->rank;
    to->pid = merge_marks(m, map) ? map->from->pid : from->pid;
    to->next = h->first_lane;
    h->first_lane = unit;
    return 0;
}

int merge_lanes(struct merge *m, const struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t fit = s->size / STINT_IMPL_UNIT, most = fit < LANES_MOST ? fit : LANES_MOST;
    const struct arena_lane **lane = scratch_array(&m->memory, most, sizeof *lane), *l;
    uint32_t count = 0;
    if (!lane) {
        log_line("merge: not enough memory");
        return -1;
    }
    for (uint32_t unit = map->from->first_lane;
         count < most && (l = snapshot_at(s, unit, sizeof *l)); unit = l->next) {
        lane[count++] = l;
    }
    while (count) { /* the oldest first, to be numbered as they were */
        if (copy_lane(m, map, lane[--count])) {
            return -1;
        }
    }
    return 0;
}
