/* SPDX-License-Identifier: Apache-2.0 */
/* Tabs. */
int corpus_tabs(void)
{
	int n = 0;
	if (n == 0)
		n	=	4;
	return	n;
}
