/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables by table (gen/env.ini): one parser for all. A bad value is named in one
 * line and ignored. Ignored as a whole in set-uid programs.
 */
#ifndef STINT_ENV_H
#define STINT_ENV_H

struct stint_config;

void env_read(struct stint_config *out);

#endif
