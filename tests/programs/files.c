/* Directories and files: names, sizes, offsets, modes, links. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(void)
{
	DIR *directory = opendir(".");
	char *names[16];
	int count = 0;

	for (struct dirent *entry; count < 16 && (entry = readdir(directory));)
		if (entry->d_name[0] != '.')
			names[count++] = strdup(entry->d_name);
	closedir(directory);
	qsort(names, count, sizeof *names, by_text);
	for (int i = 0; i < count; i++) {
		printf("%s ", names[i]);
		free(names[i]);
	}
	putchar('\n');
}

static void describe(const char *name)
{
	struct stat stat;

	if (lstat(name, &stat))
		printf("%s: %s\n", name, strerror(errno));
	else
		printf("%s: mode %o, links %d, size %ld\n", name, stat.st_mode,
		       S_ISDIR(stat.st_mode) ? 0 : (int)stat.st_nlink,
		       S_ISDIR(stat.st_mode) ? 0 : (long)stat.st_size);
}

int main(void)
{
	char path[4096], buffer[32];
	struct iovec parts[2] = { { "abcdef", 6 }, { "ghij", 4 } };

	snprintf(path, sizeof path, "%s/files-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(path) || chdir(path)) {
		perror(path);
		return 1;
	}
	umask(022);

	int fd = open("one", O_RDWR | O_CREAT | O_EXCL, 0666);
	printf("writev %ld\n", (long)writev(fd, parts, 2));
	printf("seek %ld\n", (long)lseek(fd, -3, SEEK_END));
	ssize_t got = read(fd, buffer, sizeof buffer);
	printf("read %ld %.*s\n", (long)got, (int)got, buffer);
	printf("pwrite %ld\n", (long)pwrite(fd, "XY", 2, 4));
	printf("truncate %d\n", ftruncate(fd, 7));
	got = pread(fd, buffer, sizeof buffer, 2);
	printf("pread %ld %.*s\n", (long)got, (int)got, buffer);
	int copy = dup2(fd, 57);
	printf("dup2 %d, at %ld\n", copy, (long)lseek(copy, 0, SEEK_CUR));
	printf("cloexec %d", fcntl(copy, F_GETFD));
	fcntl(copy, F_SETFD, FD_CLOEXEC);
	printf(" %d, append %d\n", fcntl(copy, F_GETFD), (fcntl(copy, F_GETFL) & O_APPEND) != 0);
	close(copy);
	close(fd);
	printf("closed: %s\n", read(fd, buffer, 1) < 0 ? strerror(errno) : "still open");
	printf("again: %s\n", open("one", O_CREAT | O_EXCL, 0666) < 0 ? strerror(errno) : "created");

	printf("mkdir %d, link %d, symlink %d\n", mkdir("two", 0750), link("one", "three"),
	       symlink("one", "four"));
	list();
	describe("one");
	describe("two");
	describe("four");
	describe("five");
	got = readlink("four", buffer, sizeof buffer);
	printf("readlink %.*s\n", (int)got, buffer);
	printf("rename %d, chmod %d\n", rename("three", "two/three"), chmod("one", 0400));
	describe("two/three");
	printf("rmdir: %s\n", rmdir("two") ? strerror(errno) : "removed");
	printf("access %d %d\n", access("one", F_OK), access("five", F_OK));
	unlink("two/three");
	rmdir("two");
	unlink("four");
	unlink("one");
	list();
	return rmdir(path);
}
