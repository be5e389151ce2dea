/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TESTS_THREADS_FRAMES_H
#define STINT_TESTS_THREADS_FRAMES_H

#ifdef __cplusplus
extern "C" {
#endif
void frames_closed(void (*call)(int), int argument);
void frames_left(void (*call)(int), int argument);
#ifdef __cplusplus
}
#endif

#endif
