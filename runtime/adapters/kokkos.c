/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kokkos Tools in libstint-ranges.so: kernels, regions, copies and fences of a Kokkos program.
 * Kokkos loads the library that KOKKOS_TOOLS_LIBS or, before version 4, KOKKOS_PROFILE_LIBRARY
 * names, and looks up the functions below by their names.
 *
 * Kernels, regions and copies are scopes of the thread that calls, fences scopes with the role
 * waiting. Sections may overlap, so they are intervals. The bytes of copies are declared work of
 * their scope; those in use per memory space are values in the trace.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "range_near.h"
#include "range_tables.h"

#define SPACE_BYTES 64
#define SPACES 16
#define SECTIONS 1024

static const struct range_domain *const kokkos = &range_default[RANGE_KOKKOS];

/* Passed by value. */
struct kokkos_space {
    char name[SPACE_BYTES];
};

/* Services that a tool may decline, in versions that ask. */
struct kokkos_settings {
    uint8_t needs_global_fence; /* a bool */
    uint8_t padding[255];
};

/* ---- Kernels. */

RANGE_EXPORTED void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id) {
    if (id) {
        *id = 0; /* the end is that of the innermost range, whatever the number is */
    }
    range_near_push_name(RANGE_KOKKOS, name, 0); /* that of a std::string */
}

RANGE_EXPORTED void kokkosp_end_parallel_for(uint64_t id) {
    range_near_pop(RANGE_KOKKOS);
}

#define KERNEL(kind)                                                                               \
    RANGE_EXPORTED void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)      \
        __attribute__((alias("kokkosp_begin_parallel_for")));                                      \
    RANGE_EXPORTED void kokkosp_end_##kind(uint64_t id)                                            \
        __attribute__((alias("kokkosp_end_parallel_for")))

KERNEL(parallel_reduce);
KERNEL(parallel_scan);

/* ---- Regions, fences and copies. */

RANGE_EXPORTED void kokkosp_push_profile_region(const char *name) {
    kokkosp_begin_parallel_for(name, 0, NULL);
}

RANGE_EXPORTED void kokkosp_pop_profile_region(void) {
    range_pop(RANGE_KOKKOS);
}

RANGE_EXPORTED void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id) {
    if (id) {
        *id = 0;
    }
    range_push_site(RANGE_KOKKOS, range_waiting_site(name));
}

RANGE_EXPORTED void kokkosp_end_fence(uint64_t id) {
    range_pop(RANGE_KOKKOS);
}

RANGE_EXPORTED void kokkosp_begin_deep_copy(struct kokkos_space to_space, const char *to_name,
                                            const void *to, struct kokkos_space from_space,
                                            const char *from_name, const void *from,
                                            uint64_t bytes) {
    static struct stint_impl_site copy = RANGE_SITE("deep_copy", STINT_ROLE_COPY);
    range_push_site(RANGE_KOKKOS, &copy);
    stint_impl_add_bytes(bytes);
}

RANGE_EXPORTED void kokkosp_end_deep_copy(void) {
    range_pop(RANGE_KOKKOS);
}

/* ---- Sections: created, started and stopped, also several times, and destroyed.
 *
 * A number is a place and, above it, how often that place was taken and given back: one that was
 * destroyed is refused, and not taken for the section that has its place. */

#define SECTION_NONE UINT32_MAX

static struct section {
    uint32_t number;  /* without the place; the lowest bit above it: the section exists. Atomic */
    uint32_t refused; /* starts by numbers of this place that were lost, less their stops. Atomic */
    const char *name; /* never freed; written before the number is handed out */
    uint64_t range;   /* atomic; 0: not started */
} sections[SECTIONS];

/* NULL: the number is none, or its section was destroyed. */
static struct section *section_find(uint32_t id) {
    struct section *s = &sections[id % SECTIONS];
    uint32_t number = __atomic_load_n(&s->number, __ATOMIC_ACQUIRE);
    if (id == SECTION_NONE || !(number & SECTIONS) || number != id - id % SECTIONS) {
        return NULL;
    }
    return s;
}

/* The number of a section in a free place. */
static uint32_t section_make(const char *name) {
    for (uint32_t at = 0; name && at < SECTIONS; ++at) {
        struct section *s = &sections[at];
        uint32_t number = __atomic_load_n(&s->number, __ATOMIC_RELAXED);
        if (!(number & SECTIONS) &&
            __atomic_compare_exchange_n(&s->number, &number, number + SECTIONS, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            s->name = name;
            return number + SECTIONS + at;
        }
    }
    return SECTION_NONE;
}

RANGE_EXPORTED void kokkosp_create_profile_section(const char *name, uint32_t *id) {
    static const struct range_shape shape = {0x6b6f6b6b6f732d6e, 0, NULL};
    if (id) {
        *id = section_make(range_thing_or(&shape, name, NULL)); /* no bytes before the name */
    }
}

RANGE_EXPORTED void kokkosp_destroy_profile_section(uint32_t id) {
    struct section *s = section_find(id);
    if (s) {
        uint32_t number = id - id % SECTIONS;
        range_finish(__atomic_exchange_n(&s->range, 0, __ATOMIC_ACQ_REL));
        __atomic_compare_exchange_n(&s->number, &number, number + SECTIONS, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
    }
}

RANGE_EXPORTED void kokkosp_start_profile_section(uint32_t id) {
    struct section *s = section_find(id);
    uint64_t range = 0;
    if (s) {
        range = range_start(kokkos, (struct range_name){s->name, strlen(s->name)}, NULL);
        range_finish(__atomic_exchange_n(&s->range, range, __ATOMIC_ACQ_REL));
    } else {
        range_refuse(RANGE_KOKKOS);
    }
    if (!range) {
        __atomic_fetch_add(&sections[id % SECTIONS].refused, 1, __ATOMIC_RELAXED);
    }
}

RANGE_EXPORTED void kokkosp_stop_profile_section(uint32_t id) {
    struct section *s = section_find(id);
    uint64_t range = 0;
    if (s) {
        range = __atomic_exchange_n(&s->range, 0, __ATOMIC_ACQ_REL);
    }
    if (range) {
        range_finish(range);
    } else {
        range_finish_refused(&sections[id % SECTIONS].refused);
    }
}

RANGE_EXPORTED void kokkosp_profile_event(const char *name) {
    stint_impl_mark_named(name, UINT64_MAX);
}

/* ---- Memory: what is in use per space. */

struct space_use {
    int64_t bytes; /* atomic */
    char name[SPACE_BYTES + 8];
};

static void space_fill(void *body, struct range_name name) {
    struct space_use *use = body;
    snprintf(use->name, sizeof use->name, "%.*s bytes", (int)name.length, name.bytes);
}

static void space_add(const struct kokkos_space *space, int64_t bytes) {
    static const struct range_shape shape = {0x6b6f6b6b6f732d73, sizeof(struct space_use),
                                             space_fill};
    struct range_name name = {space->name, strnlen(space->name, SPACE_BYTES)};
    struct space_use *use = range_thing_get(&shape, name);
    if (use) {
        int64_t now = __atomic_add_fetch(&use->bytes, bytes, __ATOMIC_RELAXED);
        stint_impl_value_named(use->name, UINT64_MAX, (double)now);
    }
}

RANGE_EXPORTED void kokkosp_allocate_data(struct kokkos_space space, const char *label,
                                          const void *at, uint64_t bytes) {
    space_add(&space, (int64_t)bytes);
}

RANGE_EXPORTED void kokkosp_deallocate_data(struct kokkos_space space, const char *label,
                                            const void *at, uint64_t bytes) {
    space_add(&space, -(int64_t)bytes);
}

/* ---- Settings. */

/* Without a fence before and after each kernel: it would serialise the program. */
RANGE_EXPORTED void kokkosp_request_tool_settings(uint32_t count,
                                                  struct kokkos_settings *settings) {
    if (settings) {
        settings->needs_global_fence = 0;
    }
}
