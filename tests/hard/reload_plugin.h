/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TESTS_RELOAD_PLUGIN_H
#define STINT_TESTS_RELOAD_PLUGIN_H

#include <stdint.h>

int plugin_run(int times);
uint64_t plugin_calls(void);
int plugin_leaves_open(void); /* a scope that never ends */
int plugin_report(const char *view);

void plugin_is_constructed(void); /* the program's */

#endif
