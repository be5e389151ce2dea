/* SPDX-License-Identifier: Apache-2.0 */
/* Names that earlier versions knew: variables, commands, options and formats. */
#ifndef STINT_REMOVED_H
#define STINT_REMOVED_H

#include <stddef.h>

/* Returns in a few words which thing takes the place of that name. NULL if no version knew it. */
const char *removed_use(const char *name, size_t length);

#endif
