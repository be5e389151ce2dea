/* SPDX-License-Identifier: Apache-2.0 */
/* The same loops with the guards of C++. */
#include "kernel.c"
