/* A host for programs of C alone: it takes memory from malloc, and no operation is done for an entry.

   Every array is a block: what it is, then its items. */
#ifndef PB_STANDALONE_H
#define PB_STANDALONE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "arrays.h"

typedef struct {
    size_t bytes;
    int32_t rank;
    int64_t n[8];
} pb_block;

enum { PB_BLOCK_HEAD = (sizeof(pb_block) + 63) / 64 * 64 };

/* The bytes of one item, by the code of its dtype. */
static const uint8_t pb_item_bytes[] __attribute__((unused)) = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};

/* A block; NULL where there is no memory.  The entry has seen that its size is one. */
PB_ONCE void *pb_new_block(pb_host *host, int32_t dtype, int32_t rank, const int64_t *shape, char **data) {
    size_t bytes = pb_item_bytes[dtype];
    (void)host;
    for (int32_t k = 0; k < rank; k++)
        if (__builtin_mul_overflow(bytes, (size_t)shape[k], &bytes)) return NULL;
    pb_block *made = bytes < SIZE_MAX - PB_BLOCK_HEAD ? malloc(PB_BLOCK_HEAD + bytes) : NULL;
    if (!made) return NULL;
    made->bytes = bytes;
    made->rank = rank;
    for (int32_t k = 0; k < rank; k++) made->n[k] = shape[k];
    *data = (char *)made + PB_BLOCK_HEAD;
    return made;
}

/* Give a block back. */
PB_ONCE void pb_drop_block(pb_host *host, void *block) {
    (void)host;
    free(block);
}

/* A host as it is before a call. */
PB_ONCE pb_host pb_standalone(void) {
    pb_host host = {0};
    host.new_array = pb_new_block;
    host.drop_array = pb_drop_block;
    host.line = -1;
#ifdef _OPENMP
    host.threads = omp_get_max_threads();
#else
    host.threads = 1;
#endif
    return host;
}

/* Copy a result's items to where the caller wants them (nowhere, if that is NULL), and free them. */
PB_ONCE void pb_take_items(void *block, void *to, size_t most) {
    const pb_block *made = block;
    if (to) memcpy(to, (const char *)block + PB_BLOCK_HEAD, made->bytes < most ? made->bytes : most);
    free(block);
}

/* Hand a result's items and lengths over to the caller, who frees them; free them where that is not wanted. */
PB_ONCE void pb_give_items(void *block, void **items, int64_t *lengths) {
    const pb_block *made = block;
    for (int32_t k = 0; lengths && k < made->rank; k++) lengths[k] = made->n[k];
    if (items) *items = (char *)block + PB_BLOCK_HEAD;
    else free(block);
}

#endif
