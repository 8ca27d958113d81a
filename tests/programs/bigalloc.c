/* 200 MB in one piece, touched everywhere, grown by half and given back. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEGABYTE (1UL << 20)

int main(void)
{
	unsigned long sum = 0;
	unsigned char *block = malloc(200 * MEGABYTE);

	if (!block) {
		puts("no memory");
		return 1;
	}
	for (unsigned long at = 0; at < 200 * MEGABYTE; at += 4096)
		block[at] = at >> 12;
	block = realloc(block, 300 * MEGABYTE);
	if (!block) {
		puts("no more memory");
		return 1;
	}
	memset(block + 200 * MEGABYTE, 1, 100 * MEGABYTE);
	for (unsigned long at = 0; at < 300 * MEGABYTE; at += 1024)
		sum = sum * 31 + block[at];
	free(block);
	printf("%016lx\n", sum);
	return 0;
}
