/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

void work_do(void);
uint64_t work_calls(void);

#endif
