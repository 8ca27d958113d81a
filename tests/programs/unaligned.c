/* Loads and stores that aren't aligned: Alpha's kernel completes them for the program.
   alpha-flags: -mcpu=ev56 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char bytes[64];

int main(void)
{
	uint64_t sum = 0;

	for (int offset = 0; offset < 9; offset++) {
		for (int i = 0; i < 64; i++)
			bytes[i] = i * 37 + 11;

		/* Hidden from the compiler, which would take care of it. */
		volatile uintptr_t at = (uintptr_t)bytes + offset;
		volatile uint64_t *quad = (volatile uint64_t *)at;
		volatile uint32_t *word = (volatile uint32_t *)(at + 16);
		volatile int16_t *half = (volatile int16_t *)(at + 32);
		volatile double *real = (volatile double *)(at + 40);

		printf("%016lx %08x %d\n", (unsigned long)*quad, *word, *half);
		*quad += 1;
		*word ^= 0xffff0000;
		*half = -*half;
		*real = offset * 1.5;
		printf("%g", *real);
		for (int i = 0; i < 64; i++) {
			printf(" %02x", bytes[i]);
			sum = sum * 31 + bytes[i];
		}
		putchar('\n');
	}
	printf("%016lx\n", (unsigned long)sum);
	return 0;
}
