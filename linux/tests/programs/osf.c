/* OSF/1's calls beside Linux's: each line says whether both tell the same. Alpha alone has them. */
/* alpha-flags: -O1 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <unistd.h>

static void say(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

/* Structures as in Linux's arch/alpha/kernel/osf_sys.c, by the offsets of their fields. */
#define INT(at) (*(int *)(b + (at)))
#define LONG(at) (*(long *)(b + (at)))
static char b[4096];

static void stats(void)
{
	struct stat s;
	stat("file", &s);
	say("stat", syscall(224, "file", b));
	say("mode", INT(8) == s.st_mode);
	say("links", *(short *)(b + 12) == s.st_nlink);
	say("size", LONG(32) == s.st_size);
	say("inode", INT(112) == (int)s.st_ino);
	say("time", INT(128) == s.st_mtime && INT(52) == s.st_mtim.tv_nsec / 1000);
	say("blocks", LONG(144) == s.st_blksize && LONG(152) == s.st_blocks);
	lstat("link", &s);
	say("lstat", syscall(225, "link", b));
	say("a link", INT(8) == s.st_mode && S_ISLNK(s.st_mode));
	fstat(1, &s);
	say("fstat", syscall(226, 1, b));
	say("inode", INT(112) == (int)s.st_ino);
	say("stat to nowhere", syscall(224, "file", 8));
	say("stat of nothing", syscall(224, "nothing", b));
}

static void systems(void)
{
	struct statfs64 s;
	statfs64(".", &s);
	memset(b, 1, sizeof b);
	say("statfs", syscall(160, ".", b, 100));
	say("sizes", INT(4) == s.f_frsize && INT(8) == s.f_bsize && INT(12) == (int)s.f_blocks);
	say("short", b[40] == 1);
	say("statfs64", syscall(227, ".", b, 10000));
	say("sizes", LONG(456) == s.f_frsize && LONG(464) == s.f_bsize && LONG(472) == (long)s.f_blocks);
	int fd = open(".", O_RDONLY);
	memset(b, 1, sizeof b);
	say("fstatfs", syscall(161, fd, b, 6));
	say("as much as fits", b[5] == (char)(s.f_frsize >> 8) && b[6] == 1);
	say("fstatfs64", syscall(228, fd, b, 512));
	say("files", LONG(496) == (long)s.f_files);
	close(fd);
}

static void directories(void)
{
	int fd = open("sub", O_RDONLY), count = 0;
	long base = -1, n, calls = 0;
	char names[26] = "", wanted[26] = "";
	DIR *d = opendir("sub");
	for (struct dirent *e; (e = readdir(d));)
		strcat(wanted, e->d_name);
	closedir(d);
	while ((n = syscall(159, fd, b, 40, &base)) > 0) {
		for (char *p = b; p < b + n; p += *(unsigned short *)(p + 4))
			if (strlen(p + 8) == *(unsigned short *)(p + 6))
				strcat(names, p + 8), count++;
		if (calls++ == 0)
			say("base", base);
	}
	say("end", n);
	say("in more than one call", calls > 1);
	say("entries", count);
	say("the same", !strcmp(names, wanted));
	lseek(fd, 0, SEEK_SET);
	say("no room", syscall(159, fd, b, 8, &base));
	close(fd);
}

static void others(void)
{
	struct timex t = { .modes = 0 };
	int zero[2] = { 5, 0 };
	say("old_adjtimex", syscall(303, memset(b, 0, sizeof b)) >= 0);
	adjtimex(&t);
	say("the time", labs(INT(72) - t.time.tv_sec) < 3 && LONG(80) == t.tick && LONG(48) == t.constant);
	say("settimeofday", syscall(122, (int[]){ 1, -5 }, 0));
	say("mount", syscall(21, 77, ".", 0, b));
	say("mount a CD", syscall(21, 6, "/nowhere", 0, (void *[]){ "/nowhere", 0 }));
	say("mount to nowhere", syscall(21, 6, "/nowhere", 0, 8));
	say("properties", syscall(244, 1, (long[]){ 0, 0, 1234, 0 }));
	say("get", syscall(244, 3, (long[]){ 0, 0, 0, 0, 0, (long)zero }));
	say("none", zero[0]);
	say("no such", syscall(244, 9, b));
	char *end = sbrk(0);
	say("attributes", syscall(43, 0, 0, end, 0x10000));
	say("heap", (char *)syscall(17, 0) == end + 0x10000);
	say("grows", (char *)syscall(17, end + 0x20000) == end + 0x20000);
	strcpy(end + 0x1fff0, "there");
	/* A heap where none can be. */
	const long places[] = { 0, 1, 0x3fffffff000, 0x40000000000, 0x7fff00000000, -8192, -1 };
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		syscall(43, 0, 0, places[i], 0);
		say("elsewhere", syscall(17, places[i] + 0x4000));
	}
}

int main(void)
{
	char dir[] = "osf-XXXXXX";
	mkdtemp(dir);
	chdir(dir);
	close(open("file", O_CREAT | O_WRONLY, 0640));
	symlink("file", "link");
	mkdir("sub", 0700);
	close(open("sub/one", O_CREAT | O_WRONLY, 0640));
	close(open("sub/other", O_CREAT | O_WRONLY, 0640));
	close(open("sub/abc", O_CREAT | O_WRONLY, 0640));
	stats();
	systems();
	directories();
	others();
	unlink("sub/one"), unlink("sub/other"), unlink("sub/abc"), rmdir("sub"), unlink("link"), unlink("file");
	chdir("..");
	return rmdir(dir) != 0;
}
