/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file is read for a source that a run names, and whether its text may be shown. A run file
 * can come from anywhere and name any file, so a file is shown if it is the one that was built, by
 * its size and SHA-256, or if the user asked for it: by its path, or by a folder that it is below.
 */
#ifndef STINT_ANNOTATE_SOURCE_H
#define STINT_ANNOTATE_SOURCE_H

#include "annotate.h"
#include "base/scratch.h"

#define SOURCE_ROOTS 16u

struct source_places {
    const char *only; /* the path that is read, whatever the run says; NULL: none */
    const char *root[SOURCE_ROOTS];
    uint32_t roots;
};

/* Fills the source, in the memory. Without bytes, its note says why. */
void source_take(struct annotate_source *source, struct scratch *memory,
                 const struct line_file *file, const struct source_places *places);

#endif
