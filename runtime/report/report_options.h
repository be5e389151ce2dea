/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a report: REPORT_OPTIONS_FORM. The views are in gen/views.ini, the keys of sort=
 * in gen/columns.ini.
 */
#ifndef STINT_REPORT_OPTIONS_H
#define STINT_REPORT_OPTIONS_H

#include "model/report_form.h"
#include "words.inc"

/* A value that STINT_REPORT and the functions that print a report take besides: it prints
 * nothing. */
#define REPORT_NONE "none"
#define REPORT_NONE_OR REPORT_NONE " or "
#define REPORT_OPTIONS_FORM WORDS_VIEWS "[,sort=" WORDS_SORT_KEYS "][,top=N][,threads][,corrected]"

const char *report_view_name(enum report_view view);
/* Whether the view has times that can be corrected. */
int report_can_correct(enum report_view view);
/* 0, or -1 for a text of another form. */
int report_options_parse(const char *text, struct report_options *out);

#endif
