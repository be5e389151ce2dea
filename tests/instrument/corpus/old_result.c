/* SPDX-License-Identifier: Apache-2.0 */
/* A head over several lines, braces on their own. */
static
int
split
(int a)
{
  int b;
  b = a * 2;
  return b;
}
int corpus_old_result(void)
{
    return split(4);
}
