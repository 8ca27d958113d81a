/* A file of 100 MB, written once and read in four ways. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (100UL << 20)
#define CHUNK (1UL << 16)

static uint64_t chunk[CHUNK / 8];

static uint64_t add(uint64_t sum, const void *from, size_t length)
{
	const uint64_t *word = from;

	for (size_t i = 0; i < length / 8; i++)
		sum = (sum ^ word[i]) * 0x100000001b3;
	return sum;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(void)
{
	const char *directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char path[4096];
	uint64_t state = 9, sum = 0;
	ssize_t got;

	snprintf(path, sizeof path, "%s/readfile-XXXXXX", directory);
	int fd = mkstemp(path);
	if (fd < 0)
		return fail("mkstemp");
	unlink(path);

	for (size_t at = 0; at < SIZE; at += CHUNK) {
		for (size_t i = 0; i < CHUNK / 8; i++)
			chunk[i] = state = state * 6364136223846793005 + 1442695040888963407;
		if (write(fd, chunk, CHUNK) != (ssize_t)CHUNK)
			return fail("write");
		sum = add(sum, chunk, CHUNK);
	}
	printf("written %016lx\n", (unsigned long)sum);

	sum = 0;
	lseek(fd, 0, SEEK_SET);
	while ((got = read(fd, chunk, CHUNK)) > 0)
		sum = add(sum, chunk, got);
	printf("read    %016lx\n", (unsigned long)sum);

	sum = 0;
	for (size_t at = 0; at < SIZE; at += CHUNK) {
		if (pread(fd, chunk, CHUNK, at) != (ssize_t)CHUNK)
			return fail("pread");
		sum = add(sum, chunk, CHUNK);
	}
	printf("pread   %016lx\n", (unsigned long)sum);

	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return fail("mmap");
	printf("mapped  %016lx\n", (unsigned long)add(0, map, SIZE));
	munmap(map, SIZE);

	sum = 0;
	lseek(fd, 0, SEEK_SET);
	FILE *file = fdopen(fd, "r");
	if (!file)
		return fail("fdopen");
	while ((got = fread(chunk, 1, CHUNK, file)) > 0)
		sum = add(sum, chunk, got);
	printf("stream  %016lx\n", (unsigned long)sum);
	fclose(file);
	return 0;
}
