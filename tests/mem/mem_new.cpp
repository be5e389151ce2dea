// SPDX-License-Identifier: Apache-2.0
// Every form of operator new and delete, in scopes; mem_test.py knows what must be counted. A
// module: with the main of mem_load.c it is a program, and a program in C loads it.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "stint/stint.h"

static const std::size_t size = 128, block_count = 1000;
static const std::size_t too_much = SIZE_MAX / 4; // no allocator has it
static const std::align_val_t alignment = std::align_val_t(64);

// The compiler may leave out a new and its delete, but not calls of the functions.
static void *volatile kept;

static void all_forms() {
    REGISTER_TIMER("forms");
    kept = ::operator new(size);
    ::operator delete(kept);
    kept = ::operator new(size);
    ::operator delete(kept, size);
    kept = ::operator new[](size);
    ::operator delete[](kept);
    kept = ::operator new[](size);
    ::operator delete[](kept, size);
    kept = ::operator new(size, std::nothrow);
    ::operator delete(kept, std::nothrow);
    kept = ::operator new[](size, std::nothrow);
    ::operator delete[](kept, std::nothrow);
    kept = ::operator new(size, alignment);
    ::operator delete(kept, alignment);
    kept = ::operator new(size, alignment);
    ::operator delete(kept, size, alignment);
    kept = ::operator new[](size, alignment);
    ::operator delete[](kept, alignment);
    kept = ::operator new[](size, alignment);
    ::operator delete[](kept, size, alignment);
    kept = ::operator new(size, alignment, std::nothrow);
    ::operator delete(kept, alignment, std::nothrow);
    kept = ::operator new[](size, alignment, std::nothrow);
    ::operator delete[](kept, alignment, std::nothrow);
    ::operator delete(nullptr);
}

static void leaks() {
    REGISTER_TIMER("leak");
    for (std::size_t i = 0; i < block_count; ++i) {
        kept = ::operator new(size);
    }
}

// So large that allocators map memory within the call.
static void large() {
    REGISTER_TIMER("large");
    for (std::size_t i = 0; i < 50; ++i) {
        kept = ::operator new(i << 20);
        ::operator delete(kept);
    }
}

static void *reserve;

static void give_up() {
    std::free(reserve);
    reserve = nullptr;
    std::set_new_handler(nullptr);
}

static int is_refused() {
    try {
        kept = ::operator new(too_much);
    } catch (const std::bad_alloc &) {
        return 1;
    }
    return 0;
}

// The new handler frees a block, and the second try throws.
static void failures() {
    REGISTER_TIMER("fails");
    reserve = std::malloc(size);
    std::set_new_handler(give_up);
    if (!is_refused() || ::operator new[](too_much, std::nothrow)) {
        std::abort();
    }
}

static void after_failures() {
    REGISTER_TIMER("after");
    kept = std::malloc(size);
    kept = ::operator new(size);
}

extern "C" void mem_new_run(int with_failures);

extern "C" void mem_new_run(int with_failures) {
    all_forms();
    leaks();
    large();
    if (with_failures) {
        failures();
        after_failures();
    }
}
