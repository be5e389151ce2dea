/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a CUPTI buffer as activity records. Of a record only its beginning is read, which is the
 * same in all versions; how long it is the loaded library says.
 */
#ifndef STINT_CUPTI_RECORDS_H
#define STINT_CUPTI_RECORDS_H

#include "activity/activity.h"
#include "cupti_load.h"

/* The size of a record of that kind in this library, asked with two made by hand; 0: it knows none
 * such. */
size_t cupti_record_bytes(const struct cupti *c, int kind);

/* Where a buffer was read up to. */
struct cupti_reader {
    const struct cupti *cupti;
    uint8_t *buffer;
    size_t size;
    CUpti_Activity *at; /* the record before; NULL: none */
    int broken;         /* what follows cannot be read */
};

/* The next up to `room` records, without those that nothing is known of. 0: no more. */
unsigned cupti_records_read(struct cupti_reader *r, struct activity_record *out, unsigned room);

#endif
