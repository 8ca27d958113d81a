/* How many threads the program has, after enough work for its code to be translated. */
/* alpha-flags: -O1 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 3000000; i++)
        sum += i;
    int tasks = 0, threads = 0, number = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        tasks += e->d_name[0] != '.';
    char line[1024];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "Threads: %d", &threads);
    f = fopen("/proc/self/stat", "r");
    if (f && fgets(line, sizeof line, f))
        sscanf(strrchr(line, ')') + 1,
               " %*c %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %d", &number);
    printf("%u: %d tasks, %d threads, %d\n", sum, tasks, threads, number);
    return 0;
}
