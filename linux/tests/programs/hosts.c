/* Executes programs of the machine that it runs on. Prints the same on every Linux that has a shell. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void spawned(const char *path, char **argv)
{
	pid_t pid;
	int status = 0, error = posix_spawn(&pid, path, NULL, NULL, argv, environ);

	if (error == 0)
		waitpid(pid, &status, 0);
	printf("%s: %s, status %x\n", argv[0], strerror(error), status);
	fflush(stdout);
}

int main(void)
{
	char line[100], name[] = "hosts-XXXXXX";
	struct rlimit files = { 200, 200 };
	int fd = mkstemp(name);

	printf("system %x\n", system("echo one; exit 3"));
	fflush(stdout);
	FILE *f = popen("read x; echo got $x; kill -9 $$", "w");
	fprintf(f, "two\n");
	printf("pclose %x\n", pclose(f));
	f = popen("ls -1d /proc/self; env | grep -c AXTEST", "r");
	while (fgets(line, sizeof line, f))
		printf("line %s", line);
	pclose(f);
	setenv("AXTEST", "x", 1);
	fflush(stdout);
	system("env | grep AXTEST");
	spawned("/bin/sh", (char *[]){ "-name", "-c", "echo $0", NULL });
	write(fd, "#!/bin/sh\necho script $1 $2\n", 29);
	fchmod(fd, 0755);
	close(fd);
	spawned(name, (char *[]){ "x", "a b", "c", NULL });
	fd = open(name, O_WRONLY | O_TRUNC);
	write(fd, "\177ELFxx", 6);
	close(fd);
	spawned(name, (char *[]){ "broken", NULL });
	spawned("/nowhere", (char *[]){ "none", NULL });
	unlink(name);
	/* What a program inherits. */
	fd = open("/dev/null", O_RDONLY);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	signal(SIGHUP, SIG_IGN);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setrlimit(RLIMIT_NOFILE, &files);
	printf("inherited\n");
	fflush(stdout);
	execl("/bin/sh", "sh", "-c",
	      "grep -E 'SigBlk|SigIgn' /proc/self/status; ulimit -n; ls /proc/self/fd | wc -l; kill -TERM $$; exit 5", NULL);
	return 1;
}
