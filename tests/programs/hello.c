/* The smallest hosted program: start-up, one line, exit. */

#include <stdio.h>

int main(void)
{
	puts("hello, world");
	return 0;
}
