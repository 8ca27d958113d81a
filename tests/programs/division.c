/* Quotients and remainders, which Alpha has no instruction for: the C library's millicode, with
   operands in $24 and $25, the result in $27 and the link in $23, and no other register changed. */
#include <limits.h>
#include <stdio.h>

static volatile long values[] = { 1, -1, 2, -2, 3, -3, 7, 10, -10, 1000, 65535, 65536, -65537,
    INT_MAX, INT_MIN, INT_MAX + 1l, 4294967295l, 4294967296l, LONG_MAX, LONG_MIN, LONG_MAX - 1,
    LONG_MIN + 1, 0x123456789abcdefl, 0 };

int main(void)
{
    int n = sizeof values / sizeof *values;
    unsigned long sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            long a = values[i], b = values[j];
            unsigned long ua = a, ub = b;
            int ia = (int)a, ib = (int)b;
            unsigned va = (unsigned)a, vb = (unsigned)b;
            /* Kept in registers across the calls. */
            unsigned long kept[4] = { ua * 3, ub * 5, ua ^ ub, ua + 7 };
            if (ub != 0) {
                sum = sum * 31 + ua / ub;
                sum = sum * 31 + ua % ub;
                if (!(a == LONG_MIN && b == -1)) {
                    sum = sum * 31 + (unsigned long)(a / b);
                    sum = sum * 31 + (unsigned long)(a % b);
                }
            }
            if (vb != 0) {
                sum = sum * 31 + va / vb;
                sum = sum * 31 + va % vb;
                if (!(ia == INT_MIN && ib == -1)) {
                    sum = sum * 31 + (unsigned long)(long)(ia / ib);
                    sum = sum * 31 + (unsigned long)(long)(ia % ib);
                }
            }
            sum += kept[0] ^ kept[1] ^ kept[2] ^ kept[3];
        }
        printf("%d %lx\n", i, sum);
    }
    return 0;
}
