/* Processes: fork, pipes, wait, and execution of this same program anew. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_child(void)
{
	char line[64];
	ssize_t got = read(0, line, sizeof line);

	printf("child read %.*s, MARK is %s\n", (int)got, line, getenv("MARK"));
	return 7;
}

static void report(const char *name, pid_t child)
{
	int status;

	fflush(stdout);
	if (waitpid(child, &status, 0) != child)
		printf("%s: %s\n", name, strerror(errno));
	else if (WIFEXITED(status))
		printf("%s: exit %d\n", name, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: signal %d\n", name, WTERMSIG(status));
	/* Before another process prints. */
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int pipes[2], value = 1;
	pid_t child;

	if (argc > 1 && !strcmp(argv[1], "child"))
		return in_child();

	child = fork();
	if (child == 0)
		_exit(42);
	report("forked", child);

	child = fork();
	if (child == 0) {
		value = 2;
		_exit(value);
	}
	report("writes its own memory", child);
	printf("value %d\n", value);

	child = fork();
	if (child == 0) {
		raise(SIGTERM);
		_exit(1);
	}
	report("terminated", child);

	child = fork();
	if (child == 0)
		abort();
	report("aborted", child);

	if (pipe(pipes)) {
		perror("pipe");
		return 1;
	}
	child = fork();
	if (child == 0) {
		char *arguments[] = { argv[0], "child", NULL };
		char *environment[] = { "MARK=blue", NULL };

		dup2(pipes[0], 0);
		close(pipes[0]);
		close(pipes[1]);
		execve(argv[0], arguments, environment);
		_exit(126);
	}
	close(pipes[0]);
	if (write(pipes[1], "a line", 6) != 6)
		perror("write");
	close(pipes[1]);
	report("executed", child);

	child = fork();
	if (child == 0) {
		execl("/nonexistent", "nonexistent", (char *)NULL);
		_exit(errno == ENOENT ? 3 : 4);
	}
	report("not found", child);

	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(i);
	for (int i = 0; i < 20; i++) {
		int status;

		wait(&status);
		value += WEXITSTATUS(status);
	}
	printf("twenty: %d\n", value);
	printf("no more: %s\n", wait(NULL) < 0 ? strerror(errno) : "one more");
	return 0;
}
