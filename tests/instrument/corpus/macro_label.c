/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that make labels and braces, as interpreters have them. */
#define OPERATION(l) case l:
#define DISPATCH(x) switch (x)
#define OPEN {
#define CLOSE }
#define TARGET(l) case l: {
#define NEXT break
#define EMPTY
#define ADD(x) n += (x)
#define TWICE(x)                                                                                   \
    case 't':                                                                                      \
        n += x;                                                                                    \
        n += x;                                                                                    \
        break;
static int interpret(const char *p) {
    int n = 0;
    for (;;) {
        char i = *p++;
        DISPATCH (i) {
            OPERATION('+') {
                n += 1;
                NEXT;
            }
            OPERATION('*') {
                n *= 3;
                NEXT;
            }
            OPERATION('-') n--;
            break;
            OPERATION('a') ADD(2);
            NEXT;
            TARGET('{')
                n += 5;
                ADD(1);
                break;
            CLOSE
            TWICE(1)
            OPERATION('/')
            OPERATION('%')
            {
                EMPTY n /= 2;
                NEXT;
            }
            case 0:
                return n;
        }
    }
}
int corpus_macro_label(void) {
    int n = interpret("+*+-a{t/*%*+++");
    if (n > 0) OPEN
        n++;
    CLOSE
    return n;
}
