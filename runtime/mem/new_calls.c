/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All forms of operator new and operator delete, in C, by the names that the Itanium C++ ABI gives
 * them where size_t is unsigned long. The program and its C++ libraries call them instead of the
 * C++ library's or an allocator's. Each calls the next function of its name.
 *
 * - The C++ library's operator new calls malloc, which counts (mem_calls.c). One that a program
 *   defines, for example over a pool, is not counted either: what it gets from malloc is.
 * - The one of an allocator (jemalloc, tcmalloc, mimalloc) does not call malloc: the block is
 *   counted here, unless a call of malloc within has counted it; memory that it maps is not. Such a
 *   function is in the module of the next malloc.
 * - A call of operator new may throw, and the new handler that it calls may allocate, free or jump.
 *   So mem_here.inside is not set over it, and this file is compiled with unwind tables.
 * - A C++ library that was loaded by dlopen after this one is found by the module of the caller.
 */
#include "mem_count.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#include "next_calls.h"

#define EXPORT __attribute__((visibility("default")))

/* The forms: name, symbol, parameters, arguments, what is called where there is no next one. */
#define NEW_FORMS(FORM)                                                                            \
    FORM(new_one, "_Znwm", (size_t size), (size), malloc(size))                                    \
    FORM(new_array, "_Znam", (size_t size), (size), malloc(size))                                  \
    FORM(new_one_nothrow, "_ZnwmRKSt9nothrow_t", (size_t size, const void *nothrow),               \
         (size, nothrow), malloc(size))                                                            \
    FORM(new_array_nothrow, "_ZnamRKSt9nothrow_t", (size_t size, const void *nothrow),             \
         (size, nothrow), malloc(size))                                                            \
    FORM(new_one_aligned, "_ZnwmSt11align_val_t", (size_t size, size_t alignment),                 \
         (size, alignment), memalign(alignment, size))                                             \
    FORM(new_array_aligned, "_ZnamSt11align_val_t", (size_t size, size_t alignment),               \
         (size, alignment), memalign(alignment, size))                                             \
    FORM(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",                            \
         (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow),         \
         memalign(alignment, size))                                                                \
    FORM(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",                          \
         (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow),         \
         memalign(alignment, size))

#define DELETE_FORMS(FORM)                                                                         \
    FORM(delete_one, "_ZdlPv", (void *block), (block), free(block))                                \
    FORM(delete_array, "_ZdaPv", (void *block), (block), free(block))                              \
    FORM(delete_one_sized, "_ZdlPvm", (void *block, size_t size), (block, size), free(block))      \
    FORM(delete_array_sized, "_ZdaPvm", (void *block, size_t size), (block, size), free(block))    \
    FORM(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", (void *block, const void *nothrow),           \
         (block, nothrow), free(block))                                                            \
    FORM(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", (void *block, const void *nothrow),         \
         (block, nothrow), free(block))                                                            \
    FORM(delete_one_aligned, "_ZdlPvSt11align_val_t", (void *block, size_t alignment),             \
         (block, alignment), free(block))                                                          \
    FORM(delete_array_aligned, "_ZdaPvSt11align_val_t", (void *block, size_t alignment),           \
         (block, alignment), free(block))                                                          \
    FORM(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t",                                       \
         (void *block, size_t size, size_t alignment), (block, size, alignment), free(block))      \
    FORM(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",                                     \
         (void *block, size_t size, size_t alignment), (block, size, alignment), free(block))      \
    FORM(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",                        \
         (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow),        \
         free(block))                                                                              \
    FORM(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t",                      \
         (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow),        \
         free(block))

#define FORM_ID(name, symbol, parameters, arguments, instead) FORM_##name,
#define FORM_NEXT(name, symbol, parameters, arguments, instead) {.own_symbol = (symbol)},
enum { NEW_FORMS(FORM_ID) DELETE_FORMS(FORM_ID) FORMS };

static struct next_form {
    const char *own_symbol;
    void (*function)(void); /* any thread, the same one; released */
    void (*plain)(void);    /* the same if nothing is counted here, else NULL; after the function */
    int is_allocators;      /* in the module of the next malloc; before the function */
} next_forms[] = {NEW_FORMS(FORM_NEXT) DELETE_FORMS(FORM_NEXT)};

static void *module_of(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info)) {
        return NULL;
    }
    return info.dli_fbase;
}

/* A handle of the module that has the address, NULL: the program or none. */
static void *module_open(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) {
        return NULL;
    }
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void form_set(struct next_form *form, void *function, const void *allocator) {
    form->is_allocators = allocator && module_of(function) == allocator;
    __atomic_store_n(&form->function, (void (*)(void))(uintptr_t)function, __ATOMIC_RELEASE);
    if (!form->is_allocators) {
        __atomic_store_n(&form->plain, form->function, __ATOMIC_RELEASE);
    }
}

/* Where functions of this library are in `module` and its dependencies, their next ones are not. */
static void forms_find_in(void *module, const void *allocator) {
    const void *own = module_of(next_forms);
    for (int i = 0; i < FORMS; ++i) {
        struct next_form *form = &next_forms[i];
        if (__atomic_load_n(&form->function, __ATOMIC_ACQUIRE)) {
            continue;
        }
        void *function = dlsym(module, form->own_symbol);
        if (function && module_of(function) != own) {
            form_set(form, function, allocator);
        }
    }
}

static void forms_find(const void *caller) {
    const void *allocator = NULL;
    if (next_calls_known()) {
        allocator = module_of((void *)(uintptr_t)next_calls.malloc);
    }
    forms_find_in(RTLD_NEXT, allocator);
    if (!caller || next_forms[FORM_new_one].function) {
        return;
    }
    void *module = module_open(caller);
    if (!module) {
        return;
    }
    forms_find_in(module, allocator);
    void (*found)(void) = next_forms[FORM_new_one].function;
    if (found) {
        module_open((void *)(uintptr_t)found); /* it stays loaded */
    }
    dlclose(module);
}

/* A function of the C++ library, if that is loaded with the program. */
extern const char cxx_exception_allocate __asm__("__cxa_allocate_exception") __attribute__((weak));

void new_calls_find(void) {
    if (&cxx_exception_allocate) { /* else dlsym would make and keep a text of its failure */
        forms_find(NULL);
    }
}

/* NULL: there is none. The loader's own memory is not counted: dlerror frees its text. */
static const struct next_form *form_get(int id, const void *caller) {
    const struct next_form *form = &next_forms[id];
    if (__builtin_expect(__atomic_load_n(&form->function, __ATOMIC_ACQUIRE) != NULL, 1)) {
        return form;
    }
    int entered = mem_enter();
    forms_find(caller);
    dlerror();
    mem_leave(entered);
    if (!form->function) {
        return NULL;
    }
    return form;
}

static void count_new_block(void *block, size_t size) {
    if (~(uintptr_t)block == mem_here.last_block) {
        return;
    }
    mem_here.last_block = 0;
    mem_return(mem_enter(), block, size);
}

/* Each form: at once where the next one is known and nothing is counted here, as with the C++
 * library; the rest is a function of its own, so that this one saves no registers. */
#define PLAIN(name) __atomic_load_n(&next_forms[FORM_##name].plain, __ATOMIC_ACQUIRE)

#define REST_TAKEN(...) (const void *caller, __VA_ARGS__)
#define REST_GIVEN(...) (__builtin_return_address(0), __VA_ARGS__)

#define FORM_NEW(name, symbol, parameters, arguments, instead)                                     \
    static __attribute__((noinline)) void *name##_rest REST_TAKEN parameters {                     \
        const struct next_form *form = form_get(FORM_##name, caller);                              \
        if (!form) {                                                                               \
            return instead;                                                                        \
        }                                                                                          \
        void *(*next)parameters = (void *(*)parameters)form->function;                             \
        if (!form->is_allocators) {                                                                \
            return next arguments;                                                                 \
        }                                                                                          \
        mem_here.last_block = (uintptr_t)__builtin_frame_address(0);                               \
        void *block = next arguments;                                                              \
        count_new_block(block, size);                                                              \
        return block;                                                                              \
    }                                                                                              \
    EXPORT void *name parameters __asm__(symbol);                                                  \
    void *name parameters {                                                                        \
        void *(*plain)parameters = (void *(*)parameters)PLAIN(name);                               \
        if (__builtin_expect(plain != NULL, 1)) {                                                  \
            return plain arguments;                                                                \
        }                                                                                          \
        return name##_rest REST_GIVEN arguments;                                                   \
    }
NEW_FORMS(FORM_NEW)

#define FORM_DELETE(name, symbol, parameters, arguments, instead)                                  \
    static __attribute__((noinline)) void name##_rest REST_TAKEN parameters {                      \
        const struct next_form *form = form_get(FORM_##name, caller);                              \
        int counts = 0;                                                                            \
        if (!form) {                                                                               \
            instead;                                                                               \
            return;                                                                                \
        }                                                                                          \
        if (form->is_allocators && block) {                                                        \
            counts = mem_enter();                                                                  \
        }                                                                                          \
        if (counts) {                                                                              \
            mem_count_free(block);                                                                 \
        }                                                                                          \
        void(*next) parameters = (void(*) parameters)form->function;                               \
        next arguments;                                                                            \
        mem_leave(counts);                                                                         \
    }                                                                                              \
    EXPORT void name parameters __asm__(symbol);                                                   \
    void name parameters {                                                                         \
        void(*plain) parameters = (void(*) parameters)PLAIN(name);                                 \
        if (__builtin_expect(plain != NULL, 1)) {                                                  \
            plain arguments;                                                                       \
            return;                                                                                \
        }                                                                                          \
        name##_rest REST_GIVEN arguments;                                                          \
    }
DELETE_FORMS(FORM_DELETE)
