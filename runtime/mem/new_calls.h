/* SPDX-License-Identifier: Apache-2.0 */
/* operator new and operator delete of C++. */
#ifndef STINT_NEW_CALLS_H
#define STINT_NEW_CALLS_H

/* Finds the next function of each form that is loaded. From the constructor: later the lock of the
 * loader may be held by a thread that waits for the caller. */
void new_calls_find(void);

#endif
