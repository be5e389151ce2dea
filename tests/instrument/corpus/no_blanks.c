/* SPDX-License-Identifier: Apache-2.0 */
/* No blanks between tokens. */
// clang-format off
static int one(void){return 1;}
static int count(int n){int s=0;
    do--n;while(n>3);
    if(n)++s;
    else--s;
    for(;n>0;)--n;
    while(s<2)s++;
    switch(s){case 2:s=5;break;default:;}
    if(s>5){s=0;}else(void)one();
    return(s);
}
int corpus_no_blanks(void){
    return count(5)+count(0);
}
