/* What a program finds on its stack: arguments, environment, auxiliary vector. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	int count = 0;

	printf("%s has %d arguments\n", name ? name + 1 : argv[0], argc - 1);
	for (int i = 1; i < argc; i++)
		printf("%d: [%s]\n", i, argv[i]);
	printf("ends %s\n", argv[argc] ? "badly" : "well");

	for (char **entry = environ; *entry; entry++)
		if (!strncmp(*entry, "GUEST_", 6))
			printf("%s\n", *entry);
	setenv("GUEST_NEW", "value with spaces", 1);
	printf("%s %s\n", getenv("GUEST_NEW"), getenv("GUEST_NONE") ? "there" : "none");
	unsetenv("GUEST_NEW");
	printf("%s\n", getenv("GUEST_NEW") ? "there" : "gone");

	printf("page %d\n", getauxval(AT_PAGESZ) == (unsigned long)sysconf(_SC_PAGESIZE));
	printf("entry %d, headers %d\n", getauxval(AT_ENTRY) != 0, getauxval(AT_PHNUM) > 0);
	printf("secure %lu, uid %d\n", getauxval(AT_SECURE), getauxval(AT_UID) == getuid());
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
	for (int i = 0; random && i < 16; i++)
		count += random[i] != 0;
	printf("random %d\n", count > 4);
	/* The strings lie above the vectors, and the stack grows away from both. */
	printf("order %d\n", (void *)&count < (void *)argv && (char *)argv < argv[0]);
	return 3;
}
