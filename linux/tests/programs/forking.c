/* Threads allocate while the main one forks: a child finds no lock of another thread's held. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int done;

static void *allocate(void *seed)
{
	unsigned size = (unsigned)(long)seed;
	while (!done) {
		void *block[8];
		for (int i = 0; i < 8; i++) {
			size = size * 1103515245 + 12345;
			block[i] = malloc(size >> 16 & 0x3fff);
		}
		for (int i = 0; i < 8; i++)
			free(block[i]);
	}
	return 0;
}

int main(void)
{
	const char *soak = getenv("SOAK");
	int forks = soak ? atoi(soak) * 100 : 100, good = 0;
	pthread_t thread[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], 0, allocate, (void *)(i + 1));
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();
		if (child == 0) {
			char *text = malloc(3000 + i);
			memset(text, i, 3000 + i);
			free(text);
			_exit(7);
		}
		int status = 0;
		if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
			good += WEXITSTATUS(status) == 7;
	}
	done = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], 0);
	printf("%d of %d children\n", good, forks);
	return 0;
}
