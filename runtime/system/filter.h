/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names are recorded: a list of +glob and -glob. The last rule that matches a name decides; a
 * name that none matches is recorded, unless the list begins with a +. `*` is any run of bytes, `?`
 * any one byte. Guarded by the registry's lock.
 */
#ifndef STINT_FILTER_H
#define STINT_FILTER_H

#include <stddef.h>

/* NULL or "": everything. 0, or -1 for a bad list (nothing changed). */
int filter_set(const char *list);
int filter_allows(const char *name, size_t length);

#endif
