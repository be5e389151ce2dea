// SPDX-License-Identifier: Apache-2.0
//
// Allocates and frees a block of 64 bytes, in scopes nested three deep, for beside.py, which counts
// the instructions of a pair with and without libstint-mem.so. The program uses the C library's
// allocator and the operators of the C++ library.
#include <cstdlib>
#include <new>

#include "counted.h"
#include "stint/stint.h"

namespace {

constexpr std::size_t block_bytes = 64;
void *volatile kept;

void run_malloc(long n) {
    for (long i = 0; i < n; ++i) {
        kept = std::malloc(block_bytes);
        std::free(kept);
    }
}

void run_new(long n) {
    for (long i = 0; i < n; ++i) {
        kept = ::operator new(block_bytes);
        ::operator delete(kept, block_bytes);
    }
}

} // namespace

int main() {
    REGISTER_TIMER("around");
    REGISTER_TIMER("in it");
    REGISTER_TIMER("innermost");
    compiler_print();
    count("pairs", "malloc", run_malloc);
    count("pairs", "new", run_new);
    return 0;
}
