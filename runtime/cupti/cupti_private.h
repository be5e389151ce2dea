/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the loaded library, CUDA's functions by number, buffers and
 * the reader of records. Only cupti_session.h is for other folders.
 */
#ifndef STINT_CUPTI_PRIVATE_H
#define STINT_CUPTI_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "activity/tracer_ops.h"
#include "cupti_types.inc"

#define CUPTI_REASON TRACER_REASON

/* ---- The library (cupti_load.c). A library that was opened stays open. */

struct cupti_kind {
    int kind;
    uint32_t min_bytes; /* of a record; a smaller one has another layout than the one read here */
    uint32_t prefix;    /* bytes that are read */
    const char *words;
};
#define CUPTI_KINDS 9
extern const struct cupti_kind *const cupti_kind_table; /* kernels are the first */

#define CUPTI_LIBRARIES "libcupti.so.13, .12 or .11"

/* Loads the library of that path. 0, or -1 with the reason in words. Not from two threads at
 * once. */
int cupti_load_library(const char *library, struct cupti *out, uint32_t *version,
                       char reason[CUPTI_REASON]);
/* How far the known names were searched; all zero at the start. */
struct cupti_search {
    unsigned next;
    void *last; /* handle */
};
/* Loads the next library of the known names that can be used: the newest first. As above; the
 * reason is that of the first that cannot. One library may be found twice. */
int cupti_load_next(struct cupti_search *search, struct cupti *out, uint32_t *version,
                    char reason[CUPTI_REASON]);
/* The version of CUDA that it belongs to: "13.0". */
void cupti_describe_toolkit(uint32_t version, char *out, size_t size);
/* The meaning of a code in words, else its name, else its number. */
void cupti_describe_code(const struct cupti *c, int code, char *out, size_t size);

/* ---- CUDA's functions by their numbers in CUPTI's two domains (cupti_names.c): their names, and
 * how they are treated. The names are read from the library once; no number is built in. */

enum cupti_use {
    CUPTI_USE_RECORD = 1, /* its calls are recorded */
    CUPTI_USE_LAUNCH = 2, /* causes other records, which need the scope of the call: callback */
    CUPTI_USE_QUERY = 4   /* CUPTI makes the record of a wait for it: callback */
};

/* Before the others; again for another library. */
void cupti_read_names(const struct cupti *c);
/* Numbers are below; 0 is none. domain: CUPTI_CB_DOMAIN_DRIVER_API, _RUNTIME_API. */
uint32_t cupti_get_names_end(int domain);
/* The public name, without a suffix "_v3020" or a prefix "__"; NULL: there is none. Permanent. */
const char *cupti_get_name(int domain, uint32_t cbid);
/* enum cupti_use. */
unsigned cupti_get_use(int domain, uint32_t cbid);

/* ---- Buffers for CUPTI to write records into (cupti_buffers.c): 8 of 1 MiB, and small ones while
 * those are all in use. Any thread, no lock. */

/* 0, or -1 without memory; does nothing where it succeeded before. Not from two threads at once. */
int cupti_open_buffers(void);
/* NULL: too many are in use. must: the caller crashes without a buffer, so that NULL means that
 * there is no memory. */
uint8_t *cupti_get_buffer(size_t *size, int must);
void cupti_put_buffer(uint8_t *buffer, size_t size);

/* ---- Bytes of a CUPTI buffer as activity records (cupti_records.c). Only the beginning of a
 * record is read, which is the same in all versions; its length is determined from the loaded
 * library. */

/* The size of a record of that kind in this library, measured with two made-up records; 0: the kind
 * is unknown to it. */
size_t cupti_measure_record(const struct cupti *c, int kind);

/* Where a buffer was read up to. */
struct cupti_reader {
    const struct cupti *cupti;
    uint8_t *buffer;
    size_t size;
    CUpti_Activity *at; /* the record before; NULL: none */
    int broken;         /* what follows cannot be read */
};

/* The next up to `room` records, without those of unknown kinds. 0: no more. */
unsigned cupti_read_records(struct cupti_reader *r, struct activity_record *out, unsigned room);

#endif
