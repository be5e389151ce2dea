/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal while `top` has it: another screen, no cursor, keys as they come. Left as it was,
 * whatever ends us.
 */
#ifndef STINT_TOOL_TOP_SCREEN_H
#define STINT_TOOL_TOP_SCREEN_H

#include <stddef.h>

/* screen 0: nothing is changed, but a signal still ends the waiting. 0, or -1 with errno. */
int top_screen_enter(int screen);
/* May be called twice. */
void top_screen_leave(void);
/* In place of what is there. 0, or -1 after one line. */
int top_screen_show(const char *text, size_t length);
/* 0 after so many seconds; 1 when the user wants to leave. */
int top_screen_wait(double seconds);

#endif
