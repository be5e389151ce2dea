/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TOOL_DIFF_SHOW_H
#define STINT_TOOL_DIFF_SHOW_H

#include "base/text.h"
#include "diff.h"

/* A judged diff as text for people, or as Markdown. top: rows at most, 0 = all. */
void diff_show(struct diff *d, const struct diff_options *o, uint32_t top, int markdown,
               struct text *out);

#endif
