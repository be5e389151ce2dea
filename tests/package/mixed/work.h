/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

void work_do(void);
uint64_t work_calls(void);
