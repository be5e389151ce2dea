/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers of 1 to 10 bytes: 7 bits a byte, the lowest first, the highest bit set in all bytes
 * but the last. The varint of Protocol Buffers, and the counts of merged histograms. */
#ifndef STINT_LEB128_H
#define STINT_LEB128_H

#include <stdint.h>

/* Appends the number at `p`; returns the end. */
static inline char *leb128_put(char *p, uint64_t n) {
    while (n >= 0x80) {
        *p++ = (char)(n | 0x80);
        n >>= 7;
    }
    *p++ = (char)n;
    return p;
}

#endif
