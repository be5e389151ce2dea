/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_ERROR_TEXT_H
#define STINT_ERROR_TEXT_H

#include <errno.h>

/* The C library's English text for a value of errno; "unknown error" if it has none. In place of
 * strerror, which is not thread-safe and translates: gettext of glibc 2.43 calls free. This
 * function neither allocates nor takes a lock, so it may be called while a lock is held. The text
 * is never freed. */
const char *error_text(int error);

/* Whether an error says that this process lacks descriptors or memory: what it was about may be
 * good. */
static inline int error_is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

#endif
