/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stint/stint.h>

#define APART __attribute__((noinline))

/* The compiler aligns neither functions nor loops of this file: see CMakeLists.txt. */

#define PLACE(name)                                                                                \
    {                                                                                              \
        REGISTER_TIMER(name);                                                                      \
        __asm__ volatile("");                                                                      \
    }
#define PLACES_8(name)                                                                             \
    PLACE(name "0")                                                                                \
    PLACE(name "1")                                                                                \
    PLACE(name "2")                                                                                \
    PLACE(name "3")                                                                                \
    PLACE(name "4")                                                                                \
    PLACE(name "5")                                                                                \
    PLACE(name "6")                                                                                \
    PLACE(name "7")
#define PLACES_16(name)                                                                            \
    PLACES_8(name)                                                                                 \
    PLACE(name "8")                                                                                \
    PLACE(name "9")                                                                                \
    PLACE(name "a")                                                                                \
    PLACE(name "b")                                                                                \
    PLACE(name "c")                                                                                \
    PLACE(name "d")                                                                                \
    PLACE(name "e")                                                                                \
    PLACE(name "f")
#define PLACES_64(name, a, b, c, d)                                                                \
    PLACES_16(name a) PLACES_16(name b) PLACES_16(name c) PLACES_16(name d)

static void run_1(long n) {
    for (long i = 0; i < n; ++i) {
        PLACE("places.1.0")
    }
}

static void run_8(long n) {
    for (long i = 0; i < n; i += 8) {
        PLACES_8("places.8.")
    }
}

static void run_64(long n) {
    for (long i = 0; i < n; i += 64) {
        PLACES_64("places.64.", "0", "1", "2", "3")
    }
}

/* More places are in functions of 64: of larger ones the compiler takes too long. */
#define PART(function, name, a, b, c, d)                                                           \
    APART static void function(void) {                                                             \
        PLACES_64(name, a, b, c, d)                                                                \
    }
#define PARTS(function, name)                                                                      \
    PART(function##_0, name, "0", "1", "2", "3")                                                   \
    PART(function##_1, name, "4", "5", "6", "7")                                                   \
    PART(function##_2, name, "8", "9", "a", "b")                                                   \
    PART(function##_3, name, "c", "d", "e", "f")                                                   \
    static void function(void) {                                                                   \
        function##_0();                                                                            \
        function##_1();                                                                            \
        function##_2();                                                                            \
        function##_3();                                                                            \
    }

PARTS(part_256, "places.256.")
static void run_256(long n) {
    for (long i = 0; i < n; i += 256) {
        part_256();
    }
}

PARTS(part_1024_0, "places.1024.0")
PARTS(part_1024_1, "places.1024.1")
PARTS(part_1024_2, "places.1024.2")
PARTS(part_1024_3, "places.1024.3")
static void run_1024(long n) {
    for (long i = 0; i < n; i += 1024) {
        part_1024_0();
        part_1024_1();
        part_1024_2();
        part_1024_3();
    }
}

#define RUN(count, first, last) run_##count,
const struct places_loops places_loops = {{PLACES_COUNTS(RUN)}};
