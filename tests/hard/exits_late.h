/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TESTS_EXITS_LATE_H
#define STINT_TESTS_EXITS_LATE_H

void late_first(void (*function)(const char *), const char *its_name);
void late_second(void (*function)(const char *), const char *its_name);

#endif
