/* SPDX-License-Identifier: Apache-2.0 */
/* How libstint-mem.so begins, and what it knows of the process. */
#ifndef STINT_MEM_START_H
#define STINT_MEM_START_H

/* Whether the address is in the code of libstint.so, whose own memory is not counted; 1 while that
 * is not known. */
int mem_is_own_code(const void *address);

#endif
