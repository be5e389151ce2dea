/* SPDX-License-Identifier: Apache-2.0 */
#include "mem_count.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "mappings.h"
#include "next_calls.h"
#include "session/memory_calls.h"

const char stint_impl_memory_library = 1;

static uintptr_t own_from, own_to; /* written by the constructor */

static char rival[256];

int mem_is_own_code(const void *address) {
    uintptr_t at = (uintptr_t)address;
    return !own_to || (at >= own_from && at < own_to);
}

/* The module that has the function at *of. */
static int find_code(struct dl_phdr_info *module, size_t size, void *of) {
    uintptr_t at = *(const uintptr_t *)of;
    (void)size;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t from = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && at >= from && at < from + part->p_memsz) {
            own_from = from;
            own_to = from + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Another malloc before this one: the executable's, if it has one. A call tells; addresses do not,
 * as an executable may have an entry of its own for a function of a library. */
static void *(*probed_malloc)(size_t size);
static int was_probed;

static void *malloc_probe(size_t size) {
    was_probed = 1;
    return probed_malloc(size);
}

static void find_rival(void) {
    void *(*volatile allocate)(size_t) = malloc;
    void (*volatile release)(void *) = free;
    Dl_info info;
    if (!next_calls_known()) {
        return;
    }
    probed_malloc = next_calls.malloc;
    __atomic_store_n(&next_calls.malloc, malloc_probe, __ATOMIC_RELEASE);
    mem_here.inside = 1; /* not counted */
    release(allocate(1));
    mem_here.inside = 0;
    __atomic_store_n(&next_calls.malloc, probed_malloc, __ATOMIC_RELEASE);
    if (was_probed) {
        return;
    }
    void *found = dlsym(RTLD_DEFAULT, "malloc");
    const char *file = "another module";
    if (found && dladdr(found, &info) && info.dli_fname) {
        file = info.dli_fname;
    }
    snprintf(rival, sizeof rival, "%s", file);
}

/* ---- What libstint.so calls. */

static void mem_start(char *base, struct memory_scope *outside, uint64_t table_bytes) {
    block_table_limit(table_bytes);
    mem_count_start(base, outside);
}

static void mem_stop(void) {
    __atomic_store_n(&mem_is_on, 0, __ATOMIC_RELAXED);
}

static void mem_forget(void) {
    block_table_inherit();
    mappings_inherit();
    mem_count_forget();
}

static const struct memory_ops mem_ops = {mem_start, mem_stop, mem_forget, rival};

__attribute__((constructor(101))) static void mem_load(void) {
    uintptr_t own = (uintptr_t)&stint_impl_memory_connect;
    dl_iterate_phdr(find_code, &own);
    new_calls_find();
    find_rival();
    stint_impl_memory_connect(&mem_ops);
}
