/* SPDX-License-Identifier: Apache-2.0 */
/* How often a value that a thread may be writing is read again. The fuzzer, where no thread writes,
 * sets it lower. */
#ifndef STINT_READ_SNAPSHOT_TRIES_H
#define STINT_READ_SNAPSHOT_TRIES_H

#ifndef SNAPSHOT_TRIES
#define SNAPSHOT_TRIES 200
#endif

#endif
