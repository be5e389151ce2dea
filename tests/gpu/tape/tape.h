/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tape: what CUPTI said to the library in one run, as bytes.
 *
 * tape_record.c makes one: a libcupti between the library and a real one.
 *
 *     STINT_CUPTI_LIB=libstint_tape.so TAPE_REAL=/path/to/libcupti.so.13 TAPE_OUT=FILE ./program
 *
 * tape_play.c is a libcupti that says the same again, without any library of NVIDIA's.
 * tape_check.py reads the bytes on its own and compares what the library made of them.
 *
 * The file is the eight bytes TAPE_MAGIC and then chunks: two uint32_t, the type and the bytes that
 * follow, and these, in the order of the machine (little-endian). Chunks of an unknown type are an
 * error: the last byte of the magic is the version.
 */
#ifndef STINT_TESTS_TAPE_H
#define STINT_TESTS_TAPE_H

#include <stdint.h>

#define TAPE_MAGIC "stntape1"
#define TAPE_WORDS 8 /* of a call's parameters, and of the configuration of a launch */

enum tape_type {
    TAPE_ABOUT = 'A',    /* text: the driver and the device */
    TAPE_VERSION = 'V',  /* uint32_t: cuptiGetVersion */
    TAPE_NAME = 'N',     /* uint32_t domain, cbid; text with its NUL: cuptiGetCallbackName */
    TAPE_SIZE = 'K',     /* uint32_t kind, bytes: of a record */
    TAPE_POINTER = 'P',  /* uint64_t address; text with its NUL: a name in a record */
    TAPE_CODE = 'R',     /* int32_t code; text with its NUL: what a function returned */
    TAPE_CALLBACK = 'C', /* struct tape_callback */
    TAPE_BUFFER = 'B'    /* struct tape_buffer; records */
};

struct tape_chunk {
    uint32_t type, bytes;
};

struct tape_callback {
    uint32_t domain, cbid, site, correlation;
    uint32_t thread;
    int32_t code;  /* that the call returned, at its end */
    uint64_t time; /* CLOCK_REALTIME, ns, as of the next */
    uint64_t context;
    uint64_t words[TAPE_WORDS];
    uint64_t config[TAPE_WORDS]; /* where the first word leads, of a launch with a configuration */
};

struct tape_buffer {
    uint64_t time;
    uint32_t thread, bytes;
};

#endif
