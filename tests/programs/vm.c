/* An interpreter of a small stack machine, by switch: it counts primes by trial division. */
#include <stdio.h>
#include "scale.h"

enum { PUSH, LOAD, STORE, ADD, MUL, LESS, DIVIDES, JUMP, UNLESS, DUP, HALT };
enum { N, D, PRIME, COUNT, LIMIT };

static int code[128], length;

static int emit(int op) { code[length] = op; return length++; }
static int emit2(int op, int arg) { emit(op); return emit(arg); }

static void build(void)
{
    emit2(PUSH, 2), emit2(STORE, N);
    int outer = length;
    emit2(LOAD, N), emit2(LOAD, LIMIT), emit(LESS);
    int done = emit2(UNLESS, 0);
    emit2(PUSH, 2), emit2(STORE, D), emit2(PUSH, 1), emit2(STORE, PRIME);
    int inner = length;
    emit2(LOAD, D), emit(DUP), emit(MUL), emit2(LOAD, N), emit2(PUSH, 1), emit(ADD), emit(LESS);
    int next = emit2(UNLESS, 0);
    emit2(LOAD, N), emit2(LOAD, D), emit(DIVIDES);
    int skip = emit2(UNLESS, 0);
    emit2(PUSH, 0), emit2(STORE, PRIME), emit2(LOAD, N), emit2(STORE, D);
    code[skip] = length;
    emit2(LOAD, D), emit2(PUSH, 1), emit(ADD), emit2(STORE, D), emit2(JUMP, inner);
    code[next] = length;
    emit2(LOAD, COUNT), emit2(LOAD, PRIME), emit(ADD), emit2(STORE, COUNT);
    emit2(LOAD, N), emit2(PUSH, 1), emit(ADD), emit2(STORE, N), emit2(JUMP, outer);
    code[done] = length;
    emit(HALT);
}

/* Whether a divides b; the machine has no division, as early Alphas don't. */
static long divides(long a, long b)
{
    long m = a;
    while (m <= b >> 1)
        m <<= 1;
    for (; m >= a; m >>= 1)
        if (b >= m)
            b -= m;
    return b == 0;
}

static long run(long limit)
{
    long stack[16], vars[8] = {0}, a;
    int sp = 0;
    vars[LIMIT] = limit;
    for (int pc = 0;;) {
        switch (code[pc++]) {
        case PUSH: stack[sp++] = code[pc++]; break;
        case LOAD: stack[sp++] = vars[code[pc++]]; break;
        case STORE: vars[code[pc++]] = stack[--sp]; break;
        case ADD: a = stack[--sp]; stack[sp - 1] += a; break;
        case MUL: a = stack[--sp]; stack[sp - 1] *= a; break;
        case LESS: a = stack[--sp]; stack[sp - 1] = stack[sp - 1] < a; break;
        case DIVIDES: a = stack[--sp]; stack[sp - 1] = divides(a, stack[sp - 1]); break;
        case JUMP: pc = code[pc]; break;
        case UNLESS: pc = stack[--sp] ? pc + 1 : code[pc]; break;
        case DUP: stack[sp] = stack[sp - 1]; sp++; break;
        case HALT: return vars[COUNT];
        }
    }
}

int main(int argc, char **argv)
{
    build();
    printf("vm %ld\n", run(1000L * scale(argc, argv)));
    return 0;
}
