/* IPC: System V's and POSIX's message queues. Prints the same on every 64-bit Linux. A line a fact. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

#define FAILED ((void *)-1)

static void shared_memory(void)
{
	/* 20000 bytes: on Alpha they are three pages, on a host with pages of 4 KiB five. */
	int id = shmget(IPC_PRIVATE, 20000, IPC_CREAT | 0640);
	struct shmid_ds ds;
	char *p = shmat(id, NULL, 0), *q = shmat(id, NULL, SHM_RDONLY);

	say("shmat", p == FAILED || q == FAILED ? -1 : 0);
	strcpy(p, "shared");
	p[19999] = 5;
	printf("%s %d, elsewhere %d\n", q, q[19999], p != q);
	p[24575] = 1;	/* The last of Alpha's pages. */
	if (fork() == 0) {
		strcpy(p + 100, "by the child");
		_exit(0);
	}
	wait(NULL);
	puts(q + 100);
	say("IPC_STAT", shmctl(id, IPC_STAT, &ds));
	printf("size %ld, attached %ld, creator %d, mode %o, uid %d\n", (long)ds.shm_segsz, (long)ds.shm_nattch,
	       ds.shm_cpid == getpid(), ds.shm_perm.mode, ds.shm_perm.uid == getuid());
	ds.shm_perm.mode = 0600;
	say("IPC_SET", shmctl(id, IPC_SET, &ds));
	shmctl(id, IPC_STAT, &ds);
	printf("mode %o, changed %d\n", ds.shm_perm.mode, ds.shm_ctime > 1000000000);
	say("IPC_STAT to nowhere", shmctl(id, IPC_STAT, (void *)1));
	say("at one that is taken", shmat(id, p, 0) == FAILED ? -1 : 0);
	say("at an odd address", shmat(id, p + 1, 0) == FAILED ? -1 : 0);
	say("remapped", shmat(id, p, SHM_REMAP) == p);
	say("remapped nowhere", shmat(id, NULL, SHM_REMAP) == FAILED ? -1 : 0);
	say("shmdt inside", shmdt(p + 8192));
	say("shmdt", shmdt(p));
	say("again", shmdt(p));
	say("at the freed address", shmat(id, p + 5, SHM_RND) == p);
	puts(p);
	munmap(p, 8192);
	say("shmdt of what is left", shmdt(p));
	say("IPC_RMID", shmctl(id, IPC_RMID, NULL));
	puts(q);
	say("shmdt", shmdt(q));
	say("shmat of none", shmat(id, NULL, 0) == FAILED ? -1 : 0);
	say("a command that isn't", shmctl(id, 999, NULL));
	say("of size 0", shmget(IPC_PRIVATE, 0, IPC_CREAT | 0600));
}

static void semaphores(void)
{
	int id = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600);
	union semun { int val; struct semid_ds *buf; unsigned short *array; struct seminfo *info; } u;
	unsigned short values[4] = { 5, 6, 7, 99 };
	struct semid_ds ds;
	struct sembuf one = { 1, -6, IPC_NOWAIT }, undo = { 0, -2, SEM_UNDO }, wait_for[2] = { { 2, -7, 0 }, { 0, 0, 0 } };
	struct timespec ts = { 0, 1000000 };
	struct seminfo info;

	u.array = values;
	say("SETALL", semctl(id, 0, SETALL, u));
	u.val = 11;
	say("SETVAL", semctl(id, 2, SETVAL, u));
	say("GETVAL", semctl(id, 2, GETVAL));
	say("semop", semop(id, &one, 1));
	say("again", semop(id, &one, 1));
	say("GETPID", semctl(id, 1, GETPID) == getpid());
	u.array = values;
	say("GETALL", semctl(id, 0, GETALL, u));
	printf("%d %d %d %d\n", values[0], values[1], values[2], values[3]);
	say("semtimedop", semtimedop(id, wait_for, 2, &ts));
	fflush(stdout);
	if (fork() == 0) {
		semop(id, &undo, 1);
		say("in the child", semctl(id, 0, GETVAL));
		exit(0);
	}
	wait(NULL);
	say("undone", semctl(id, 0, GETVAL));
	u.buf = &ds;
	say("IPC_STAT", semctl(id, 0, IPC_STAT, u));
	printf("%ld semaphores, used %d, made %d, mode %o\n", (long)ds.sem_nsems, ds.sem_otime > 1000000000,
	       ds.sem_ctime > 1000000000, ds.sem_perm.mode);
	ds.sem_perm.mode = 0660;
	say("IPC_SET", semctl(id, 0, IPC_SET, u));
	semctl(id, 0, IPC_STAT, u);
	printf("mode %o\n", ds.sem_perm.mode);
	u.info = &info;
	say("IPC_INFO", semctl(id, 0, IPC_INFO, u) >= 0);
	printf("%d\n", info.semmsl > 0);
	u.array = (void *)1;
	say("GETALL to nowhere", semctl(id, 0, GETALL, u));
	say("a semaphore that isn't", semctl(id, 3, GETVAL));
	say("semop of nowhere", semop(id, (void *)1, 1));
	one.sem_num = 7;
	say("beyond", semop(id, &one, 1));
	say("IPC_RMID", semctl(id, 0, IPC_RMID));
	say("semop", semop(id, &one, 1));
}

static volatile sig_atomic_t caught;
static void on_signal(int signal) { caught++; }

static void messages(void)
{
	struct { long type; char text[16]; } m = { 3, "three" };
	struct msqid_ds ds;
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

	say("msgsnd", msgsnd(id, &m, 6, 0));
	m.type = 1, strcpy(m.text, "one");
	say("msgsnd", msgsnd(id, &m, 4, 0));
	m.type = 0;
	say("type 0", msgsnd(id, &m, 4, 0));
	say("IPC_STAT", msgctl(id, IPC_STAT, &ds));
	printf("%ld messages, %ld bytes, sender %d\n", (long)ds.msg_qnum, (long)ds.msg_cbytes, ds.msg_lspid == getpid());
	say("msgrcv", msgrcv(id, &m, 16, 1, 0));
	printf("%ld %s\n", m.type, m.text);
	say("too short", msgrcv(id, &m, 2, 0, 0));
	say("cut", msgrcv(id, &m, 2, 0, MSG_NOERROR));
	printf("%ld %.2s\n", m.type, m.text);
	say("none", msgrcv(id, &m, 16, 0, IPC_NOWAIT));
	say("from nowhere", msgsnd(id, (void *)1, 4, 0));
	/* A handler makes it EINTR, SA_RESTART or not. */
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigaction(SIGALRM, &sa, NULL);
	ualarm(20000, 0);
	say("interrupted", msgrcv(id, &m, 16, 0, 0));
	say("handled", caught);
	say("IPC_RMID", msgctl(id, IPC_RMID, NULL));
	say("msgsnd", msgsnd(id, &m, 4, 0));
	say("msgget of none", msgget(0x7654321a, 0));
}

static void queues(void)
{
	char name[40], text[64] = "";
	unsigned priority;
	struct mq_attr attr = { .mq_maxmsg = 3, .mq_msgsize = 64 }, old;
	struct timespec past = { 1, 0 };

	snprintf(name, sizeof name, "/ipc-%d", getpid());
	mqd_t q = mq_open(name, O_CREAT | O_EXCL | O_RDWR | O_NONBLOCK, 0600, &attr);
	say("mq_open", q == -1 ? -1 : 0);
	say("again", mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, NULL));
	say("mq_send", mq_send(q, "low", 4, 1));
	say("mq_send", mq_send(q, "high", 5, 9));
	say("mq_getattr", mq_getattr(q, &old));
	printf("nonblock %d, %ld of %ld messages of %ld\n", old.mq_flags == O_NONBLOCK, old.mq_curmsgs, old.mq_maxmsg, old.mq_msgsize);
	say("mq_receive", mq_receive(q, text, 64, &priority));
	printf("%s %u\n", text, priority);
	say("too short", mq_receive(q, text, 10, NULL));
	mq_receive(q, text, 64, NULL);
	say("none", mq_receive(q, text, 64, NULL));
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	signal(SIGUSR1, on_signal);
	caught = 0;
	say("mq_notify", mq_notify(q, &se));
	mq_send(q, "x", 1, 0);
	say("notified", caught);
	se.sigev_signo = 5000;
	say("mq_notify by a signal that isn't", mq_notify(q, &se));
	mq_receive(q, text, 64, NULL);
	attr.mq_flags = 0;
	say("mq_setattr", mq_setattr(q, &attr, &old));
	printf("nonblock %d\n", old.mq_flags == O_NONBLOCK);
	say("in the past", mq_timedreceive(q, text, 64, NULL, &past));
	say("mq_unlink", mq_unlink(name));
	say("again", mq_unlink(name));
	mq_close(q);
}

int main(void)
{
	shared_memory();
	semaphores();
	messages();
	queues();
	return 0;
}
