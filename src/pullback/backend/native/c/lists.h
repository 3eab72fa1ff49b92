/* Lists of run-time length: items of one struct each, counted as buffers are.  NULL is an empty list. */
#ifndef PB_LISTS_H
#define PB_LISTS_H

#include "arrays.h"

typedef void (*pb_dropper)(pb_host *, void *item);

typedef struct pb_list {
    int64_t refs;
    int64_t length;
    int64_t room;
    int64_t size;
    pb_dropper drop; /* what an item holds is given back by this; NULL: it holds nothing */
    char *items;
} pb_list;

PB_FORCED int64_t pb_list_length(const pb_list *list) {
    return list ? list->length : 0;
}

PB_FORCED void *pb_list_item(const pb_list *list, int64_t at) {
    return list->items + at * list->size;
}

/* One name of a list less; the last frees it and what it holds. */
static __attribute__((unused)) void pb_release_list(pb_host *host, pb_list *list) {
    if (!list || --list->refs > 0) return;
    if (list->drop)
        for (int64_t i = 0; i < list->length; i++) list->drop(host, pb_list_item(list, i));
    free(list->items);
    free(list);
}

/* Append an item; a list that is not there yet is made.  Non-zero where there is no memory. */
static __attribute__((unused)) int32_t pb_append(pb_host *host, pb_list **list, int64_t size, const void *item, pb_dropper drop, int32_t place) {
    pb_list *to = *list;
    if (!to) {
        to = calloc(1, sizeof(pb_list));
        if (!to) goto fail;
        to->refs = 1;
        to->size = size;
        to->drop = drop;
        *list = to;
    }
    if (to->length == to->room) {
        int64_t room = to->room ? 2 * to->room : 8;
        char *items = realloc(to->items, (size_t)(room * size));
        if (!items) goto fail;
        to->items = items;
        to->room = room;
    }
    memcpy(to->items + to->length * size, item, (size_t)size);
    to->length++;
    return 0;
fail:
    host->error = 5;
    host->line = place;
    host->message = "out of memory";
    return 1;
}

/* How many numbers a range has. */
PB_FORCED int64_t pb_range(int64_t start, int64_t stop, int64_t step) {
    if (step > 0) return start < stop ? (int64_t)(((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1) : 0;
    return stop < start ? (int64_t)(((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1) : 0;
}

#define PB_RETAIN_LIST(list) \
    do { \
        if (list) (list)->refs++; \
    } while (0)
#define PB_RELEASE_LIST(list) pb_release_list(host, list)
#define PB_SET_LIST(to, from) \
    do { \
        pb_list *pb_source = (from); \
        if (pb_source) pb_source->refs++; \
        pb_release_list(host, (to)); \
        (to) = pb_source; \
    } while (0)

#endif
