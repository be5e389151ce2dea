/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel's name says of it, by the table gen/kernel_names.ini.
 */
#ifndef STINT_KERNEL_NAMES_H
#define STINT_KERNEL_NAMES_H

#include <stddef.h>

/* Whose kernel it is: "cuDNN", "TensorRT" …; "user" if no pattern matches. */
const char *kernel_lib(const char *name, size_t length);
/* What it calculates in: "fp16", "int8" …; "" if the name does not say. */
const char *kernel_precision(const char *name, size_t length);

#endif
