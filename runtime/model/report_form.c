/* SPDX-License-Identifier: Apache-2.0 */
#include "report_form.h"

struct report_sort {
    enum activity_sort activity;
    enum fluid_key fluid;
};

#include "report_sorts.inc"

enum activity_sort report_form_activity_sort(const struct report_options *o) {
    return report_sorts[o->sort].activity;
}

enum fluid_key report_form_fluid_sort(const struct report_options *o) {
    return report_sorts[o->sort].fluid;
}
