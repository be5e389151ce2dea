/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - NVTX's header loads the tool that NVTX_INJECTION64_PATH names, once, at the first call. Without
 *   a tool there is no domain, and scopes stay on the fast path, so that STINT_NVTX=1 may stay set.
 * - A tool may be a cancellation point. A cancelled call is treated as one that did nothing (see
 *   thread_pop): disabling cancellation would double what stint adds to a range, + 37 ns.
 */
#include "emit.h"

#ifdef __clang__ /* a function of the header of CUDA 13.5, once at load, has 16 KiB of paths */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wframe-larger-than"
#endif
#include <nvtx3/nvToolsExt.h>
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#include "arena/arena.h"
#include "base/scratch.h"
#include "system/log.h"

/* 8 MiB of addresses; only what is touched becomes memory. */
struct table {
    nvtxStringHandle_t string[ARENA_SITES]; /* by number; any thread, atomic: all write the same */
    uint8_t named[ARENA_SETS];              /* any thread, atomic */
};

/* Both are constant after open. */
static nvtxDomainHandle_t domain;
static struct table *table;

static int open_domain(void) {
    domain = nvtxDomainCreateA("stint");
    if (!domain) {
        return -1;
    }
    table = pages_get(sizeof *table);
    if (!table) {
        log_warning("STINT_NVTX=1: no memory for the strings; ignored");
        return -1;
    }
    return 0;
}

/* Two threads may register one string: a tool then returns the same handle or an equal one. */
static nvtxStringHandle_t string_register(uint32_t site, const char *name) {
    nvtxStringHandle_t *slot = &table->string[site];
    nvtxStringHandle_t string = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!string) {
        string = nvtxDomainRegisterStringA(domain, name);
        __atomic_store_n(slot, string, __ATOMIC_RELEASE);
    }
    return string;
}

/* "" in the child of a fork that had no memory for it. */
static const char *set_name(uint32_t set) {
    uint32_t chunk = arena_header()->set_chunk[set / ARENA_SETS_PER_CHUNK];
    if (!chunk) {
        return "";
    }
    const struct arena_set *sets = arena_at(chunk);
    uint32_t name = sets[set % ARENA_SETS_PER_CHUNK].name;
    if (!name) {
        return "";
    }
    return arena_text_at(name)->bytes;
}

/* 0 is NVTX's "no category". */
static uint32_t category_name(uint32_t set) {
    uint8_t *named = &table->named[set];
    if (!__atomic_load_n(named, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(named, 1, __ATOMIC_RELAXED)) {
        nvtxDomainNameCategoryA(domain, set + 1, set_name(set));
    }
    return set + 1;
}

static void push_range(uint32_t site, uint32_t set) {
    const char *name = arena_text_at(arena_site_at(site)->name)->bytes;
    nvtxEventAttributes_t range = {0};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.category = category_name(set);
    range.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    range.message.registered = string_register(site, name);
    if (!range.message.registered) { /* not every tool registers strings */
        range.messageType = NVTX_MESSAGE_TYPE_ASCII;
        range.message.ascii = name;
    }
    nvtxDomainRangePushEx(domain, &range);
}

static void pop_range(void) {
    nvtxDomainRangePop(domain);
}

/* The old table stays: code that a forking signal handler interrupted may be reading it. */
static int renew_table(void) {
    struct table *fresh = pages_get(sizeof *fresh);
    if (!fresh) {
        return -1;
    }
    table = fresh;
    return 0;
}

const struct emit_ops emit_nvtx = {
    .name = "nvtx",
    .open = open_domain,
    .push = push_range,
    .pop = pop_range,
    .forget = renew_table,
};
