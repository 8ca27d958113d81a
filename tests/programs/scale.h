/* How much work a program does: its first argument if that is a number, else 1. */
#ifndef SCALE_H
#define SCALE_H
#include <stdlib.h>

static inline int scale(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    return n > 0 ? n : 1;
}
#endif
