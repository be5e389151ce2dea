/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ITT in libstint-ranges.so: the tasks of TBB, oneDNN, OpenVINO and other users of Intel's
 * instrumentation interface as scopes. A static part in each of these modules loads the library
 * that INTEL_LIBITTNOTIFY64 names and calls __itt_api_init with its list of functions; the adapter
 * enters those it has, and for the others the one that does nothing.
 *
 * Tasks are scopes of their thread, a stack per domain, each at a site of its string. Overlapped
 * tasks, regions and frames are intervals, which any thread may end. Numbers, marks and the switch
 * are in itt_numbers.c. A handle that is not one of those handed out is counted, and the call has
 * no effect. All functions may be called from any thread.
 */
#include "itt.h"

#include <string.h>

#include "base/hash.h"
#include "range_near.h"
#include "range_tables.h"

/* ---- Handles. */

struct itt_own_domain {
    struct itt_domain public;
    const struct range_domain *domain;
    uint32_t number, set_number; /* of `domain` */
};

static void domain_fill(void *body, struct range_name name) {
    struct itt_own_domain *d = body;
    d->public.flags = 1;
    d->public.name = name.bytes;
    d->public.extra2 = d;
    d->domain = range_domain_get(RANGE_ITT, name);
    d->number = d->domain->number;
    d->set_number = d->domain->set_number;
}

/* The site is that of tasks with this name. */
struct itt_own_string {
    struct itt_string public;
    struct stint_impl_site site;
};

static void itt_string_fill(void *body, struct range_name name) {
    struct itt_own_string *s = body;
    s->public.name = name.bytes;
    s->site = (struct stint_impl_site){name.bytes, "ITT", "", 0, 0, 0, 0, 0};
}

static const struct range_shape domain_shape = {0x6974742d646f6d61, sizeof(struct itt_own_domain),
                                                domain_fill};
static const struct range_shape string_shape = {0x6974742d73747269, sizeof(struct itt_own_string),
                                                itt_string_fill};

/* A caller reads the flags of what it gets, so it gets one that is switched off. */
static struct itt_domain *itt_domain_create(const char *name) {
    static struct itt_own_domain spare = {.public = {.name = "no room"}};
    return range_thing_or(&domain_shape, name, &spare);
}

static struct itt_string *itt_string_create(const char *name) {
    static struct itt_own_string spare = {{.name = "no room"},
                                          {"no room", "ITT", "", 0, 0, 0, 0, 0}};
    return range_thing_or(&string_shape, name, &spare);
}

/* A string that a module made itself, by its address. */
struct itt_foreign {
    struct itt_string *own;
};
static const struct range_shape foreign_shape = {0x6974742d666f7265, sizeof(struct itt_foreign),
                                                 NULL};

static void itt_take_lists(const struct itt_global *global) {
    for (struct itt_domain *d = global->domains; d; d = d->next) {
        d->extra2 = itt_domain_create(d->name);
    }
    for (struct itt_string *s = global->strings; s; s = s->next) {
        struct range_name address = {(const char *)&s, sizeof s};
        struct itt_foreign *foreign = range_thing_get(&foreign_shape, address);
        if (foreign) {
            __atomic_store_n(&foreign->own, itt_string_create(s->name), __ATOMIC_RELEASE);
        }
    }
}

/* The domain that was checked last, which stays one, as things are never freed: one with a set. Any
 * thread. */
static const struct itt_own_domain itt_no_domain;
static const struct itt_own_domain *itt_last_domain = &itt_no_domain;

/* NULL: not of the tool. The macros of ITT read the domain before they call. */
static inline const struct itt_own_domain *itt_domain_own(const struct itt_domain *domain) {
    if (!domain) {
        return NULL;
    }
    const struct itt_own_domain *own = domain->extra2;
    if (own == __atomic_load_n(&itt_last_domain, __ATOMIC_RELAXED)) {
        return own;
    }
    if (!range_thing_is(&domain_shape, own)) {
        return NULL;
    }
    if (own->set_number) {
        __atomic_store_n(&itt_last_domain, own, __ATOMIC_RELAXED);
    }
    return own;
}

/* That without room for one that is not of the tool: its ranges are counted, and not their ends. */
static inline const struct range_domain *itt_domain_find(const struct itt_domain *domain) {
    const struct itt_own_domain *own = itt_domain_own(domain);
    if (!own) {
        return &range_lost[RANGE_ITT];
    }
    return own->domain;
}

int itt_domain_check(const struct itt_domain *domain) {
    int is_one = itt_domain_own(domain) != NULL;
    if (!is_one) {
        stint_impl_lose_range();
    }
    return is_one;
}

/* NULL for one that is not of the tool, nor known to it. */
static struct itt_own_string *itt_string_find(const struct itt_string *string) {
    if (!range_thing_is(&string_shape, string)) {
        struct range_name address = {(const char *)&string, sizeof string};
        const struct itt_foreign *foreign = range_thing_find(&foreign_shape, address);
        string = NULL;
        if (foreign) {
            string = __atomic_load_n(&foreign->own, __ATOMIC_ACQUIRE);
        }
    }
    return (struct itt_own_string *)(uintptr_t)string;
}

struct range_name itt_name_of(const struct itt_string *string, const char *without) {
    const struct itt_own_string *own = itt_string_find(string);
    if (own) {
        without = own->public.name;
    }
    return (struct range_name){without, strlen(without)};
}

/* ---- Tasks. */

/* In a domain that is not the last one, or at a string that the tool did not make. */
static RANGE_NOT_INLINE void task_begin_rest(const struct itt_domain *domain,
                                             const struct itt_string *name) {
    static struct stint_impl_site nameless = {"task", "ITT", "", 0, 0, 0, 0, 0};
    const struct range_domain *d = itt_domain_find(domain);
    struct itt_own_string *own = itt_string_find(name);
    struct stint_impl_site *site = own ? &own->site : &nameless;
    range_push_site_in(d, site, d->set_number);
}

static void itt_task_begin(const struct itt_domain *domain, struct itt_id task,
                           struct itt_id parent, const struct itt_string *name) {
    const struct itt_own_domain *last = __atomic_load_n(&itt_last_domain, __ATOMIC_RELAXED);
    struct itt_own_string *own = (struct itt_own_string *)(uintptr_t)name;
    if (STINT_IMPL_UNLIKELY((const void *)domain != last) ||
        STINT_IMPL_UNLIKELY(!range_thing_is(&string_shape, name))) {
        task_begin_rest(domain, name);
        return;
    }
    if (!last->set_number) {
        __builtin_unreachable();
    }
    range_near_push_site(RANGE_ITT, last->domain, last->number, &own->site, last->set_number);
}

static void itt_task_begin_fn(const struct itt_domain *domain, struct itt_id task,
                              struct itt_id parent, void *function) {
    itt_task_begin(domain, task, parent, NULL);
}

static RANGE_NOT_INLINE void task_end_rest(const struct itt_domain *domain) {
    range_pop(itt_domain_find(domain)->number);
}

static void itt_task_end(const struct itt_domain *domain) {
    const struct itt_own_domain *last = __atomic_load_n(&itt_last_domain, __ATOMIC_RELAXED);
    if (STINT_IMPL_UNLIKELY((const void *)domain != last)) {
        task_end_rest(domain);
        return;
    }
    struct range_stack *stack = range_stack_here;
    struct domain_ranges *of = &stack->of[last->number];
    uint64_t ticks;
    STINT_IMPL_HIDE(of); /* one register for it and the number */
    if (STINT_IMPL_UNLIKELY(!range_near_pop_of(stack, of, &ticks))) {
        range_pop_rest((uint32_t)(of - stack->of), ticks);
    }
}

/* ---- Overlapped tasks, regions and frames, found again by their domain and number. */

static uint64_t interval_key(const struct itt_domain *domain, const struct itt_id *id) {
    uint64_t h = hash_number((uint64_t)(uintptr_t)domain);
    if (id) {
        h = hash_add(hash_add(h, id->number), id->address);
    }
    return h | 1; /* not 0 */
}

static void interval_begin(const struct itt_domain *domain, const struct itt_id *id,
                           struct range_name name) {
    const struct range_domain *d = itt_domain_find(domain);
    range_start_as(interval_key(domain, id), d, name, d->set);
}

static void itt_overlapped_begin(const struct itt_domain *domain, struct itt_id id,
                                 struct itt_id parent, const struct itt_string *name) {
    interval_begin(domain, &id, itt_name_of(name, "task"));
}

static void itt_overlapped_end(const struct itt_domain *domain, struct itt_id id) {
    range_finish_as(interval_key(domain, &id));
}

static void itt_frame_begin(const struct itt_domain *domain, const struct itt_id *id) {
    static const struct range_name name = {"frame", 5};
    interval_begin(domain, id, name);
}

static void itt_frame_end(const struct itt_domain *domain, const struct itt_id *id) {
    range_finish_as(interval_key(domain, id));
}

/* ---- The list of a module. */

#define FUNCTION(name, function)                                                                   \
    { "__itt_" name, (itt_function)function }

static const struct {
    const char *name;
    itt_function function;
} itt_functions[] = {
    FUNCTION("domain_create", itt_domain_create),
    FUNCTION("string_handle_create", itt_string_create),
    FUNCTION("task_begin", itt_task_begin),
    FUNCTION("task_begin_fn", itt_task_begin_fn),
    FUNCTION("task_end", itt_task_end),
    FUNCTION("task_begin_overlapped", itt_overlapped_begin),
    FUNCTION("task_end_overlapped", itt_overlapped_end),
    FUNCTION("region_begin", itt_overlapped_begin),
    FUNCTION("region_end", itt_overlapped_end),
    FUNCTION("frame_begin_v3", itt_frame_begin),
    FUNCTION("frame_end_v3", itt_frame_end),
    FUNCTION("metadata_add", itt_metadata_add),
    FUNCTION("counter_create", itt_counter_create),
    FUNCTION("counter_create_typed", itt_counter_create_typed),
    FUNCTION("counter_destroy", itt_counter_destroy),
    FUNCTION("counter_set_value", itt_counter_set),
    FUNCTION("counter_inc", itt_counter_inc),
    FUNCTION("counter_inc_delta", itt_counter_add),
    FUNCTION("counter_dec", itt_counter_dec),
    FUNCTION("counter_dec_delta", itt_counter_take),
    FUNCTION("counter_inc_v3", itt_counter_inc_named),
    FUNCTION("counter_inc_delta_v3", itt_counter_add_named),
    FUNCTION("marker", itt_marker),
    FUNCTION("pause", itt_pause),
    FUNCTION("resume", itt_resume),
    FUNCTION("thread_set_name", stint_impl_range_thread),
};

RANGE_EXPORTED void stint_itt_init(struct itt_global *global, int groups) __asm__("__itt_api_init");

void stint_itt_init(struct itt_global *global, int groups) {
    int is_off = range_is_off(RANGE_ITT);
    if (!global || !global->api_list) {
        return;
    }
    if (!is_off) {
        itt_take_lists(global);
    }
    for (const struct itt_api *a = global->api_list; a->name; ++a) {
        itt_function function = (itt_function)(uintptr_t)a->null_function;
        for (size_t i = 0; !is_off && i < sizeof itt_functions / sizeof *itt_functions; ++i) {
            if (!strcmp(a->name, itt_functions[i].name)) {
                function = itt_functions[i].function;
            }
        }
        if (a->function) {
            *a->function = (void *)(uintptr_t)function;
        }
    }
}
