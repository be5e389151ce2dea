/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that every fuzz target needs. A target is one function that takes arbitrary bytes.
 * libFuzzer calls it with inputs that it makes up, replay.c with the files of the corpus.
 */
#ifndef STINT_TESTS_FUZZ_H
#define STINT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if the condition does not hold; it must hold for every input. */
#define FUZZ_NEED(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A descriptor that takes what is written to it and keeps nothing; no file has it. */
#define FUZZ_SINK 99

/* A copy with a NUL that ends where its memory ends. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
