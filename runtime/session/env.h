/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables by table (gen/env.ini): one parser for all. One line names an invalid
 * value, which is ignored. Set-uid programs ignore all variables.
 */
#ifndef STINT_ENV_H
#define STINT_ENV_H

struct stint_config;

void env_read(struct stint_config *out);

#endif
