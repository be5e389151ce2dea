/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool in the place of nsys: a library that NVTX loads (NVTX_INJECTION64_PATH) and that writes
 * down what it is told. One process; reset by the reader.
 */
#ifndef STINT_TESTS_NVTX_INJECTION_H
#define STINT_TESTS_NVTX_INJECTION_H

#include <stdint.h>

#define NVTX_LOG_EVENTS 65536

struct nvtx_event {
    char kind; /* '{' push, '}' pop */
    uint8_t registered;
    uint8_t coloured;
    int32_t thread;
    int32_t depth; /* of the range, 0 is the outermost of its thread */
    uint32_t category;
    const char *domain;
    const char *text;
};

struct nvtx_log {
    unsigned starts; /* calls of the initialisation */
    unsigned domains;
    unsigned strings;
    unsigned categories;
    unsigned pushes;
    unsigned pops;
    unsigned strays; /* pops without a push on that thread */
    unsigned events; /* beyond NVTX_LOG_EVENTS only counted */
    struct nvtx_event event[NVTX_LOG_EVENTS];
    char category[64][32]; /* names by number */
    int without_strings;   /* behave like a tool that registers none */
    void (*inside)(void);  /* called within each push and pop */
};

/* Exported by the library. */
typedef struct nvtx_log *nvtx_injection_log_fn(void);
/* Looked for in the program, called when the tool starts. */
typedef void nvtx_test_starting_fn(void);

#endif
