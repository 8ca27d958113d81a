/* Binary trees: built, walked, searched and freed. */
#include <stdio.h>
#include "scale.h"

struct node {
    struct node *left, *right;
    int key;
};

__attribute__((noinline)) static struct node *grow(int depth, int key)
{
    struct node *n = malloc(sizeof *n);
    if (n == NULL)
        abort();
    n->key = key;
    n->left = depth > 0 ? grow(depth - 1, 2 * key) : NULL;
    n->right = depth > 0 ? grow(depth - 1, 2 * key + 1) : NULL;
    return n;
}

__attribute__((noinline)) static long total(const struct node *n)
{
    return n == NULL ? 0 : n->key + total(n->left) - total(n->right);
}

__attribute__((noinline)) static int height(const struct node *n)
{
    if (n == NULL)
        return 0;
    int l = height(n->left), r = height(n->right);
    return 1 + (l > r ? l : r);
}

static void cut(struct node *n)
{
    if (n != NULL) {
        cut(n->left);
        cut(n->right);
        free(n);
    }
}

int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = scale(argc, argv); i > 0; i--) {
        struct node *n = grow(11, 1 + (i & 1));
        for (int k = 0; k < 8; k++)
            sum += total(n) + height(n);
        cut(n);
    }
    printf("tree %ld\n", sum);
    return 0;
}
