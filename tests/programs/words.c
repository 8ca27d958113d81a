/* Strings: a hash table of words, sorted by frequency, then a search for patterns. */
#include <stdio.h>
#include <string.h>
#include "scale.h"

enum { BUCKETS = 1021, WORDS = 4096 };

struct entry {
    struct entry *next;
    int count;
    char word[20];
};

static struct entry *buckets[BUCKETS], entries[WORDS], *order[WORDS];
static int used;

static struct entry *look_up(const char *word)
{
    unsigned h = 0;
    for (const char *p = word; *p; p++)
        h = 31 * h + (unsigned char)*p;
    struct entry **bucket = &buckets[h % BUCKETS];
    for (struct entry *e = *bucket; e; e = e->next)
        if (strcmp(e->word, word) == 0)
            return e;
    if (used == WORDS)
        return NULL;
    struct entry *e = &entries[used++];
    strcpy(e->word, word);
    e->count = 0;
    e->next = *bucket;
    return *bucket = e;
}

static int before(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    return x->count != y->count ? y->count - x->count : strcmp(x->word, y->word);
}

int main(int argc, char **argv)
{
    static const char *const syllables[8] = {"al", "pha", "re", "gi", "ster", "lo", "ad", "er"};
    static char line[1 << 14];
    unsigned seed = 7;
    unsigned long sum = 0;
    for (int i = scale(argc, argv); i > 0; i--) {
        memset(buckets, 0, sizeof buckets);
        used = 0;
        size_t end = 0;
        for (int k = 0; k < 3000; k++) {
            char word[20] = "";
            seed = seed * 1664525 + 1013904223;
            for (unsigned n = 1 + (seed >> 30), s = seed >> 12; n > 0; n--, s >>= 3)
                strcat(word, syllables[s & 7]);
            struct entry *e = look_up(word);
            if (e)
                e->count++;
            if (end + 24 < sizeof line)
                end += (size_t)sprintf(line + end, "%s ", word);
        }
        for (int k = 0; k < used; k++)
            order[k] = &entries[k];
        qsort(order, (size_t)used, sizeof *order, before);
        for (int k = 0; k < used; k++)
            sum = sum * 33 + (unsigned)(order[k]->count * (k + 1)) + (unsigned char)order[k]->word[0];
        for (const char *p = line; (p = strstr(p, "ster")) != NULL; p++)
            sum++;
    }
    printf("words %d %lu\n", used, sum);
    return 0;
}
