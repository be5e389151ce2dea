/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of stint that `stint run` has a program load before its own. */
#ifndef STINT_PRELOAD_H
#define STINT_PRELOAD_H

/* Puts the library of that name, installed with the tool, into LD_PRELOAD. One that is not there is
 * looked for by the dynamic loader. 0, or -1 after one line. */
int preload_add(const char *name);

#endif
