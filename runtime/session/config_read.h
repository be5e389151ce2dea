/* SPDX-License-Identifier: Apache-2.0 */
/* The settings (base/config.h) from the environment, once when the library starts. */
#ifndef STINT_SESSION_CONFIG_READ_H
#define STINT_SESSION_CONFIG_READ_H

/* Sets `config`. One line for each value that is invalid, which is ignored. The caller holds the
 * registry's lock. */
void config_read_environment(void);

#endif
