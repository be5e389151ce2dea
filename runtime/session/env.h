/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables by table (gen/env.ini): one parser for all. One line names an invalid
 * value, which is ignored. Set-uid programs ignore all variables.
 */
#ifndef STINT_ENV_H
#define STINT_ENV_H

struct stint_config;

void env_read(struct stint_config *out);

/* Sets `config`, once when the library starts. One line for each value that is invalid, which is
 * ignored. The caller holds the registry's lock. */
void config_read_environment(void);

#endif
