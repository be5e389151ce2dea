/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a record: the row it belongs to, the scope that is behind it, the call that made
 * it. Under the activity lock.
 */
#ifndef STINT_ACTIVITY_BOOK_H
#define STINT_ACTIVITY_BOOK_H

#include "activity.h"
#include "activity_text.h"

/* name: of r->name. now: activity_clock(), a little ago at most. */
void activity_book(const struct activity_record *r, const struct activity_text *name, uint64_t now);
/* What was held back in case more was to come. */
void activity_book_rest(void);

#endif
