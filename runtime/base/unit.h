/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of times in reports, from gen/units.ini.
 */
#ifndef STINT_UNIT_H
#define STINT_UNIT_H

#include "unit_ids.inc" /* enum config_unit */

#endif
