/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on stderr, if it is a terminal, while something takes more than a second.
 */
#ifndef STINT_TOOL_PROGRESS_H
#define STINT_TOOL_PROGRESS_H

#include "base/sink.h"

/* what: "reading", "writing"; the bytes of the sink, if there is one, are shown. One at a time. */
void progress_start(const char *what, const struct sink *bytes);
/* Erases the line. */
void progress_stop(void);

#endif
