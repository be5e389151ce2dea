/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OWN_H
#define OWN_H

int own_outer(int n);
int own_step(int n);
int own_unused(int n);
int own_inner(int n);
int own_helper(int n);

#endif
