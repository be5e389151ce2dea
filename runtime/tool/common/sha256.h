/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 as in FIPS 180-4: `stint annotate` knows by it that a source is the one that was built,
 * and the export history shortens long names by it. Here because the tool needs the C library
 * alone. Pure functions, about 5 ns per byte.
 */
#ifndef STINT_SHA256_H
#define STINT_SHA256_H

#include <stddef.h>

#define SHA256_TEXT 65u /* hexadecimal digits and NUL */

void sha256_text(char out[SHA256_TEXT], const void *data, size_t length);

#endif
