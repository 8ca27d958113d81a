/* System calls whose numbers, flags or structures are Alpha's own: prints the same on every 64-bit
   Linux. A line a fact. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Negative is an error: print its text, for its number differs. */
static void say(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

static char dir[4096];
static char *in_dir(const char *name)
{
	static char path[8192];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static volatile sig_atomic_t caught;
static void on_signal(int signal) { caught = signal; }

static void errors(void)
{
	char long_name[5000];

	memset(long_name, 'x', sizeof long_name);
	long_name[sizeof long_name - 1] = 0;
	say("open nothing", open("/nonexistent/x", O_RDONLY));
	say("open a long name", open(long_name, O_RDONLY));
	symlink("loop", in_dir("loop"));
	say("open a loop", open(in_dir("loop"), O_RDONLY));
	mkdir(in_dir("full"), 0755);
	close(open(in_dir("full/file"), O_CREAT | O_WRONLY, 0644));
	say("rmdir a full directory", rmdir(in_dir("full")));
	say("close nothing", close(777));
	say("connect to nobody", ({
		    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(1) };
		    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		    connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a);
	    }));
	say("listen on a file", listen(1, 1));
	say("a protocol that isn't", socket(AF_INET, SOCK_STREAM, 255));
	say("setsockopt that isn't", setsockopt(socket(AF_INET, SOCK_STREAM, 0), SOL_SOCKET, 9999, &errno, 4));
	say("wait for nobody", wait(NULL));
	say("a call that isn't", syscall(7777));
	say("kill nobody", kill(0x7ffffff, 0));
	say("lseek on a pipe", ({ int p[2]; pipe(p); lseek(p[0], 0, SEEK_SET); }));
	/* setpriority below 0 may be allowed. */
	say("getpriority", getpriority(PRIO_PROCESS, 0));
}

static void faults(void)
{
	char *none = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bad[] = { (void *)1, none, (void *)0x3fffffffff0, (void *)0x40000000000, (void *)-8l };
	int p[2];
	unsigned i;

	pipe(p);
	write(p[1], "abc", 3);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		void *b = bad[i];
		struct { const char *name; long result; int error; } r[] = {
#define TRY(call) { #call, (errno = 0, call), errno }
			TRY(syscall(SYS_read, p[0], b, 3)),
			TRY(syscall(SYS_write, p[1], b, 3)),
			TRY(open(b, O_RDONLY)),
			TRY(access(b, F_OK)),
			TRY(syscall(SYS_getcwd, b, 4096)),
			TRY(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", b, 10)),
			TRY(syscall(SYS_poll, b, 1, 0)),
			TRY(syscall(SYS_nanosleep, b, NULL)),
			TRY(syscall(SYS_clock_gettime, 0, b)),
			TRY(syscall(SYS_rt_sigprocmask, SIG_BLOCK, b, NULL, 8)),
			TRY(syscall(SYS_sigaltstack, b, NULL)),
			TRY(syscall(SYS_writev, p[1], b, 1)),
			TRY(syscall(SYS_uname, b)),
			TRY(syscall(SYS_pipe2, b, 0)),
			TRY(syscall(SYS_getrlimit, RLIMIT_STACK, b)),
			TRY(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, b)),
			TRY(syscall(SYS_getdents64, open("/", O_RDONLY | O_DIRECTORY), b, 4096)),
			TRY(syscall(SYS_futex, b, 0, 0, NULL, NULL, 0)),
			TRY(syscall(SYS_execve, b, NULL, NULL)),
		};
		unsigned j;
		for (j = 0; j < sizeof r / sizeof *r; j++)
			if (r[j].result != -1 || r[j].error != EFAULT)
				printf("%u %s: %ld %s\n", i, r[j].name, r[j].result, strerror(r[j].error));
	}
	/* Inside a vector. */
	struct iovec iov[2] = { { bad[0], 1 }, { "x", 1 } };
	say("writev of a bad part", writev(p[1], iov, 2));
	/* A page that may be written but not read. */
	mprotect(none, 4096, PROT_WRITE);
	say("read into a write-only page", read(p[0], none, 3));
	munmap(none, 65536);
}

static void descriptors(void)
{
	int fd = open(in_dir("f"), O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0640);
	int flags = fcntl(fd, F_GETFL);

	printf("flags %d %d %d %d, cloexec %d\n", (flags & O_ACCMODE) == O_RDWR, !!(flags & O_APPEND),
	       !!(flags & O_NONBLOCK), !!(flags & O_DIRECTORY), fcntl(fd, F_GETFD));
	say("exclusive again", open(in_dir("f"), O_CREAT | O_EXCL | O_RDWR, 0640));
	say("a file as a directory", open(in_dir("f"), O_RDONLY | O_DIRECTORY));
	fcntl(fd, F_SETFL, 0);
	printf("cleared %d\n", !!(fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK)));
	say("dup2 to the last", dup2(1, getdtablesize() - 1) == getdtablesize() - 1);
	say("dup2 beyond", dup2(1, getdtablesize()));
	close(getdtablesize() - 1);
	int p[2];
	say("pipe2", pipe2(p, O_NONBLOCK | O_CLOEXEC));
	char c;
	say("read an empty pipe", read(p[0], &c, 1));
	printf("pipe cloexec %d, nonblock %d\n", fcntl(p[0], F_GETFD), !!(fcntl(p[1], F_GETFL) & O_NONBLOCK));
	write(p[1], "hello", 5);
	int n = 0;
	say("FIONREAD", ioctl(p[0], FIONREAD, &n));
	printf("%d bytes\n", n);
	say("dup3", dup3(p[0], 50, O_CLOEXEC));
	say("F_DUPFD", fcntl(p[0], F_DUPFD, 60));
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 20 };
	say("F_SETLK", fcntl(fd, F_SETLK, &lock));
	fflush(stdout);
	if (fork() == 0) {
		struct flock other = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
		fcntl(fd, F_GETLK, &other);
		printf("locked: write %d, from %ld, %ld bytes, by parent %d\n", other.l_type == F_WRLCK,
		       (long)other.l_start, (long)other.l_len, other.l_pid == getppid());
		other.l_type = F_RDLCK;
		say("F_SETLK in the child", fcntl(fd, F_SETLK, &other));
		exit(0);
	}
	wait(NULL);
	lock.l_type = F_UNLCK;
	say("unlock", fcntl(fd, F_SETLK, &lock));
	say("flock", flock(fd, LOCK_EX | LOCK_NB));
	close(fd);
}

static void files(void)
{
	int fd = open(in_dir("g"), O_CREAT | O_RDWR | O_TRUNC, 0600);
	struct iovec iov[2] = { { "hello ", 6 }, { "world\n", 6 } };
	struct stat st, sl;
	struct statfs sf;
	char a[8], b[8];
	struct timeval tv[2] = { { 1000000000, 250000 }, { 1100000000, 750000 } };
	struct timespec ts[2] = { { 1200000000, 5 }, { 1300000000, 123456789 } };

	say("writev", writev(fd, iov, 2));
	say("pread", pread(fd, a, 5, 6));
	printf("%.5s\n", a);
	say("pwrite", pwrite(fd, "W", 1, 6));
	iov[0] = (struct iovec){ a, 3 }, iov[1] = (struct iovec){ b, 4 };
	say("preadv", preadv(fd, iov, 2, 5));
	printf("%.3s|%.4s\n", a, b);
	say("ftruncate", ftruncate(fd, 100000));
	symlink("g", in_dir("link"));
	stat(in_dir("link"), &st);
	lstat(in_dir("link"), &sl);
	printf("size %ld, mode %o, links %d, link %d %ld, same %d\n", (long)st.st_size, st.st_mode,
	       (int)st.st_nlink, S_ISLNK(sl.st_mode), (long)sl.st_size, st.st_ino != sl.st_ino);
	utimes(in_dir("g"), tv);
	fstat(fd, &st);
	printf("times %ld %ld %ld %ld\n", st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	futimens(fd, ts);
	fstatat(AT_FDCWD, in_dir("g"), &st, 0);
	printf("times %ld %ld %ld %ld\n", st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	printf("owner %d, blocks %d, block size %d\n", st.st_uid == getuid() && st.st_gid == getgid(),
	       st.st_blocks > 0, st.st_blksize >= 512);
	struct statx sx;
	say("statx", statx(AT_FDCWD, in_dir("link"), AT_SYMLINK_NOFOLLOW, STATX_SIZE, &sx));
	printf("%lld bytes\n", (long long)sx.stx_size);
	stat("/dev/null", &st);
	printf("device %lx, a device %d\n", (long)st.st_rdev, S_ISCHR(st.st_mode));
	say("statfs", statfs("/proc", &sf));
	printf("type %lx, names %ld\n", (long)sf.f_type, (long)sf.f_namelen);
	char target[100];
	say("readlink", readlink(in_dir("link"), target, sizeof target));
	say("readlink in part", readlink("/proc/self/exe", target, 3));
	char *h = strdup(in_dir("h"));
	say("rename", rename(in_dir("g"), h));
	unlink(in_dir("link"));
	say("access", access(in_dir("h"), R_OK | W_OK));
	say("fallocate", posix_fallocate(fd, 0, 200000));
	say("copy", sendfile(open("/dev/null", O_WRONLY), fd, NULL, 10));
	close(fd);
	char *cwd = getcwd(NULL, 0);
	chdir(dir);
	printf("cwd %d\n", !strcmp(getcwd(NULL, 0), realpath(dir, NULL)));
	chdir(cwd);
	int o = open("/proc/self/exe", O_RDONLY);
	unsigned char elf[20];
	say("read own executable", read(o, elf, 20));
	printf("%d\n", !memcmp(elf, "\177ELF", 4));
}

static void memory(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit r;

	p[0] = 1, p[7 * page] = 7;
	munmap(p + 4 * page, page);
	say("mremap that can't grow", mremap(p, 4 * page, 5 * page, 0) == p);
	say("mprotect of a hole", mprotect(p, 8 * page, PROT_READ));
	/* What is beside it is taken: in place there is no room. */
	mmap(p + 4 * page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	say("mremap into a neighbour", mremap(p, 4 * page, 6 * page, 0) == MAP_FAILED ? -1 : 0);
	mprotect(p, 4 * page, PROT_READ | PROT_WRITE);
	char *q = mremap(p, 4 * page, 64 * page, MREMAP_MAYMOVE);
	printf("moved %d, content %d\n", q != p, q[0]);
	say("MADV_DONTNEED", madvise(q, page, MADV_DONTNEED));
	printf("zero %d\n", q[0]);
	say("madvise that isn't", madvise(q, page, 4711));
	say("MAP_FIXED_NOREPLACE", mmap(q, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ? -1 : 0);
	int fd = open(in_dir("m"), O_CREAT | O_RDWR, 0600);
	write(fd, "mapped", 6);
	char *m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	m[0] = 'M';
	say("msync", msync(m, page, MS_SYNC));
	char buf[8] = "";
	pread(fd, buf, 6, 0);
	/* The page beyond the file's end reads as zero, to its end. */
	printf("%s %d\n", buf, m[6] | m[page - 1]);
	say("mmap at an odd offset", mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 512) == MAP_FAILED ? -1 : 0);
	char *end = sbrk(0);
	sbrk(100000);
	end[99999] = 5;
	printf("brk %d\n", (char *)sbrk(0) - end == 100000);
	sbrk(-100000);
	getrlimit(RLIMIT_NOFILE, &r);
	printf("nofile %d\n", r.rlim_cur == (rlim_t)getdtablesize());
	getrlimit(RLIMIT_AS, &r);
	printf("as unlimited %d\n", r.rlim_cur == RLIM_INFINITY);
	r.rlim_cur = 64 << 20;
	say("setrlimit", setrlimit(RLIMIT_AS, &r));
	printf("big %d, small %d\n", malloc(200 << 20) != NULL, malloc(1 << 20) != NULL);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_AS, &r);
	say("a limit that isn't", getrlimit(99, &r));
}

static void waiting(void)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 0x1122334455667788 }, out[4];
	int ep = epoll_create1(EPOLL_CLOEXEC), ev = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint64_t value = 5;
	struct timeval tv = { 0, 1000 };
	struct timespec ts = { 0, 1000000 };
	fd_set set;
	sigset_t usr1, none;

	printf("epoll cloexec %d, eventfd nonblock %d\n", fcntl(ep, F_GETFD), !!(fcntl(ev, F_GETFL) & O_NONBLOCK));
	say("epoll_ctl", epoll_ctl(ep, EPOLL_CTL_ADD, ev, &e));
	say("epoll_wait nothing", epoll_wait(ep, out, 4, 0));
	write(ev, &value, 8);
	say("epoll_wait", epoll_wait(ep, out, 4, 100));
	printf("%x %lx\n", out[0].events, (long)out[0].data.u64);
	FD_ZERO(&set);
	FD_SET(ev, &set);
	say("select", select(ev + 1, &set, NULL, NULL, &tv));
	printf("set %d\n", FD_ISSET(ev, &set));
	read(ev, &value, 8);
	printf("eventfd %ld\n", (long)value);
	say("select times out", select(ev + 1, &set, NULL, NULL, &tv));
	struct pollfd pfd = { ev, POLLIN | POLLOUT, 0 };
	say("poll", poll(&pfd, 1, 10));
	printf("%x\n", pfd.revents);
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct itimerspec its = { { 0, 0 }, { 0, 2000000 } };
	timerfd_settime(t, 0, &its, NULL);
	say("timerfd", read(t, &value, 8));
	int in = inotify_init1(IN_NONBLOCK);
	say("inotify", inotify_add_watch(in, dir, IN_CREATE) >= 0);

	/* A signal that only the call's mask lets through. */
	signal(SIGUSR1, on_signal);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	caught = 0;
	say("pselect", pselect(0, NULL, NULL, NULL, &ts, &none));
	printf("caught %d\n", caught == SIGUSR1);
	raise(SIGUSR1);
	caught = 0;
	say("ppoll", ppoll(NULL, 0, &ts, &none));
	printf("caught %d\n", caught == SIGUSR1);
	raise(SIGUSR1);
	caught = 0;
	say("epoll_pwait", epoll_pwait(ep, out, 4, 100, &none));
	printf("caught %d\n", caught == SIGUSR1);
	union sigval sv = { .sival_int = 99 };
	sigqueue(getpid(), SIGUSR1, sv);
	siginfo_t info;
	say("sigwaitinfo", sigwaitinfo(&usr1, &info) == SIGUSR1);
	printf("value %d, code %d, pid %d\n", info.si_value.sival_int, info.si_code, info.si_pid == getpid());
	say("sigtimedwait", sigtimedwait(&usr1, &info, &ts));
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	stack_t old = { .ss_flags = SS_DISABLE };
	say("sigaltstack off", sigaltstack(&old, &old));
	printf("was off %d\n", !!(old.ss_flags & SS_DISABLE));
	/* An alarm ends a sleep. */
	struct itimerval alarm = { { 0, 0 }, { 0, 20000 } };
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &alarm, NULL);
	struct timespec five = { 5, 0 }, left;
	say("nanosleep", nanosleep(&five, &left));
	printf("left %ld, caught %d\n", (long)left.tv_sec, caught == SIGALRM);
	timer_t timer;
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	signal(SIGUSR2, on_signal);
	say("timer_create", timer_create(CLOCK_MONOTONIC, &se, &timer));
	timer_settime(timer, 0, &its, NULL);
	pause();
	printf("caught %d\n", caught == SIGUSR2);
}

static void sockets(void)
{
	int s[2], yes = 1, p[2];
	socklen_t len = sizeof yes;
	char data[16] = "", control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { "fd", 2 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };

	say("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s));
	printf("cloexec %d\n", fcntl(s[0], F_GETFD));
	pipe(p);
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &p[1], sizeof(int));
	say("sendmsg", sendmsg(s[0], &msg, 0));
	iov = (struct iovec){ data, sizeof data };
	memset(control, 0, sizeof control);
	say("recvmsg", recvmsg(s[1], &msg, 0));
	c = CMSG_FIRSTHDR(&msg);
	int fd = -1;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	printf("level %d, type %d, data %s\n", c->cmsg_level == SOL_SOCKET, c->cmsg_type == SCM_RIGHTS, data);
	say("write to what came", write(fd, "x", 1));
	say("read it", read(p[0], data, 1));
	int l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	printf("nonblock %d\n", !!(fcntl(l, F_GETFL) & O_NONBLOCK));
	say("setsockopt", setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
	say("getsockopt", getsockopt(l, SOL_SOCKET, SO_TYPE, &yes, &len));
	printf("type %d, length %d\n", yes == SOCK_STREAM, (int)len);
	struct sockaddr_in a = { .sin_family = AF_INET };
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	say("bind", bind(l, (struct sockaddr *)&a, sizeof a));
	say("listen", listen(l, 5));
	len = sizeof a;
	getsockname(l, (struct sockaddr *)&a, &len);
	say("accept nobody", accept(l, NULL, NULL));
	int k = socket(AF_INET, SOCK_STREAM, 0);
	say("connect", connect(k, (struct sockaddr *)&a, sizeof a));
	int b = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	printf("accepted cloexec %d\n", fcntl(b, F_GETFD));
	say("send", send(k, "abc", 3, MSG_NOSIGNAL));
	say("recv", recv(b, data, sizeof data, MSG_WAITALL & 0));
	struct timeval tv = { 0, 10000 };
	setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	say("recv times out", recv(b, data, sizeof data, 0));
}

static void terminals(void)
{
	int m = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios t;
	struct winsize w = { 24, 80, 1, 2 };

	if (m < 0) {
		puts("no terminals");
		return;
	}
	say("grantpt", grantpt(m));
	say("unlockpt", unlockpt(m));
	int s = open(ptsname(m), O_RDWR | O_NOCTTY);
	say("tcgetattr", tcgetattr(s, &t));
	printf("%d %d %d %d %d %d %d\n", !!(t.c_iflag & ICRNL), !!(t.c_iflag & IXON), !!(t.c_oflag & OPOST),
	       !!(t.c_oflag & ONLCR), (t.c_cflag & CSIZE) == CS8, !!(t.c_lflag & ICANON), !!(t.c_lflag & ECHO));
	printf("intr %d, eof %d, min %d, speed %d\n", t.c_cc[VINTR], t.c_cc[VEOF], t.c_cc[VMIN], cfgetospeed(&t) == B38400);
	t.c_lflag &= ~(ICANON | ECHO);
	t.c_oflag &= ~OPOST;
	t.c_cc[VMIN] = 3;
	cfsetspeed(&t, B115200);
	say("tcsetattr", tcsetattr(s, TCSANOW, &t));
	memset(&t, 0, sizeof t);
	tcgetattr(m, &t);
	printf("%d %d %d, min %d, speed %d\n", !!(t.c_lflag & ICANON), !!(t.c_oflag & OPOST), !!(t.c_lflag & ISIG), t.c_cc[VMIN], cfgetispeed(&t) == B115200);
	say("TIOCSWINSZ", ioctl(m, TIOCSWINSZ, &w));
	memset(&w, 0, sizeof w);
	say("TIOCGWINSZ", ioctl(s, TIOCGWINSZ, &w));
	printf("%d %d %d %d\n", w.ws_row, w.ws_col, w.ws_xpixel, w.ws_ypixel);
	say("isatty of a file", isatty(open("/dev/null", O_RDONLY)) - 1);
}

static void processes(char *self)
{
	int status;
	siginfo_t info;
	struct rusage ru;
	struct tms tms;
	pid_t pid;
	char name[16] = "";
	struct sysinfo si;
	struct utsname u;
	struct timespec ts;
	struct rlimit r;

	fflush(stdout);
	if ((pid = fork()) == 0)
		raise(SIGSTOP), _exit(0);
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGSTOP);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	printf("exited %d\n", WIFEXITED(status));
	if ((pid = fork()) == 0)
		kill(getpid(), SIGBUS);
	say("waitid", waitid(P_PID, pid, &info, WEXITED));
	printf("code %d, by %d, pid %d, %d\n", info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED, info.si_status == SIGBUS, info.si_pid == pid, info.si_signo == SIGCHLD);
	char *argv[] = { self, "spawned", NULL };
	say("posix_spawn", posix_spawn(&pid, self, NULL, NULL, argv, environ));
	waitpid(pid, &status, 0);
	printf("exit %d\n", WEXITSTATUS(status));
	errno = posix_spawn(&pid, "/nonexistent/program", NULL, NULL, argv, environ);
	say("posix_spawn of nothing", errno ? -1 : 0);
	volatile int shared = 1;
	if ((pid = vfork()) == 0) {
		shared = 2;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("vfork shares %d\n", shared);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), kept = dup(null);
	snprintf(name, sizeof name, "%d", null);
	char other[16];
	snprintf(other, sizeof other, "%d", kept);
	fflush(stdout);
	if ((pid = fork()) == 0) {
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR2, on_signal);
		/* exec deletes it. */
		timer_t timer;
		struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
		struct itimerspec soon = { { 0, 0 }, { 0, 50000000 } };
		timer_create(CLOCK_MONOTONIC, &se, &timer);
		timer_settime(timer, 0, &soon, NULL);
		execl(self, self, "executed", name, other, NULL);
	}
	waitpid(pid, &status, 0);
	printf("exit %d\n", WEXITSTATUS(status));
	say("execve of text", ({
		    int fd = open(in_dir("text"), O_CREAT | O_WRONLY, 0755);
		    write(fd, "hello\n", 6);
		    close(fd);
		    execl(in_dir("text"), "text", NULL);
	    }));
	say("execve of a directory", execl(dir, "dir", NULL));
	say("script", ({
		    int fd = open(in_dir("script"), O_CREAT | O_WRONLY | O_TRUNC, 0755);
		    dprintf(fd, "#!%s scripted\n", self);
		    close(fd);
		    if ((pid = fork()) == 0)
			    execl(in_dir("script"), "script", "more", NULL);
		    waitpid(pid, &status, 0);
		    WEXITSTATUS(status);
	    }));
	prctl(PR_SET_NAME, "a rather long name");
	prctl(PR_GET_NAME, name);
	printf("name %s\n", name);
	say("getrusage", getrusage(RUSAGE_SELF, &ru));
	printf("maxrss %d\n", ru.ru_maxrss > 0);
	printf("times %d, ticks %d\n", times(&tms) > 0, sysconf(_SC_CLK_TCK) > 0);
	say("sysinfo", sysinfo(&si));
	printf("memory %d\n", si.totalram > 0);
	uname(&u);
	printf("%s\n", u.sysname);
	printf("ids %d %d %d\n", getpid() > 0 && getppid() > 0, getuid() == geteuid(), getgid() == getegid());
	say("clock_getres", clock_getres(CLOCK_MONOTONIC, &ts));
	say("sched_yield", sched_yield());
	cpu_set_t cpus;
	say("sched_getaffinity", sched_getaffinity(0, sizeof cpus, &cpus));
	printf("cpus %d\n", CPU_COUNT(&cpus) > 0);
	unsigned char random[8] = { 0 };
	say("getrandom", syscall(SYS_getrandom, random, 8, 0));
	say("rseq or not", syscall(SYS_getpid) == getpid());
	getrlimit(RLIMIT_CORE, &r);
	r.rlim_cur = 0;
	say("core", setrlimit(RLIMIT_CORE, &r));
	setpgid(0, 0);
	printf("group %d\n", getpgrp() == getpid());
	printf("session %d\n", getsid(0) > 0);
	umask(027);
	printf("umask %o\n", umask(0));
}

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "spawned"))
		return 33;
	if (argc > 1 && !strcmp(argv[1], "executed")) {
		struct sigaction a, b;
		usleep(100000);
		sigaction(SIGUSR1, NULL, &a);
		sigaction(SIGUSR2, NULL, &b);
		printf("closed %d, kept %d, ignored %d, reset %d\n", fcntl(atoi(argv[2]), F_GETFD) == -1,
		       fcntl(atoi(argv[3]), F_GETFD), a.sa_handler == SIG_IGN, b.sa_handler == SIG_DFL);
		return 34;
	}
	if (argc > 1 && !strcmp(argv[1], "scripted")) {
		printf("scripted: %d arguments, last %s\n", argc, argv[argc - 1]);
		return 35;
	}
	if (argc > 1 && !strcmp(argv[1], "exec-in-thread")) {
		return 36;
	}
	char *tmp = getenv("TMPDIR");
	snprintf(dir, sizeof dir, "%s/calls-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	errors();
	faults();
	descriptors();
	files();
	memory();
	waiting();
	sockets();
	terminals();
	processes(argv[0]);
	/* Another thread goes on with a new program. */
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t a;
		pthread_create(&a, NULL, sleeper, NULL);
		pid_t before = getpid();
		execl(argv[0], argv[0], "exec-in-thread", NULL);
		return before != 0;
	}
	int status;
	waitpid(pid, &status, 0);
	printf("exec with threads: exit %d\n", WEXITSTATUS(status));
	fflush(stdout);
	/* There may be no shell for this machine, so not by rm. */
	DIR *d;
	const char *subs[] = { "full", "" };
	for (int i = 0; i < 2; i++) {
		char path[8192];
		snprintf(path, sizeof path, "%s/%s", dir, subs[i]);
		if ((d = opendir(path))) {
			struct dirent *e;
			while ((e = readdir(d)))
				unlinkat(dirfd(d), e->d_name, e->d_type == DT_DIR ? AT_REMOVEDIR : 0);
			closedir(d);
		}
	}
	say("rmdir", rmdir(dir));
	return 0;
}
