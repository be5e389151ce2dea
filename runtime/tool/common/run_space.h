/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_TOOL_RUN_SPACE_H
#define STINT_TOOL_RUN_SPACE_H

/* Gives back what a run file has reserved and does not use, if no process can write it any more:
 * its program was killed, or had closed the descriptor of the file. What is read from it stays as
 * it was, with its times. Any other file is left alone, without a line. */
void run_space_give_back(const char *path);

#endif
