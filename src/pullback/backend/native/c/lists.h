/* Lists of run-time length: items of one struct each, counted as buffers are.  NULL is an empty list. */
#ifndef PB_LISTS_H
#define PB_LISTS_H

#include "arrays.h"

typedef void (*pb_dropper)(pb_host *, void *item);
typedef void (*pb_keeper)(void *item);

/* Where the stack of an entry begins, for the functions that it calls. */
static __thread const char *pb_base __attribute__((unused));

typedef struct pb_list {
    int64_t refs;
    int64_t length;
    int64_t room;
    int64_t size;
    int64_t kind; /* of a box: which struct its item is */
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

/* Room for `more` items after those of a list; one that is not there yet is made.  Non-zero where there is no memory. */
static __attribute__((unused)) int32_t pb_reserve(pb_host *host, pb_list **list, int64_t more, int64_t size, pb_dropper drop, int32_t place) {
    pb_list *to = *list;
    if (!to) {
        to = calloc(1, sizeof(pb_list));
        if (!to) goto fail;
        to->refs = 1;
        to->size = size;
        to->drop = drop;
        *list = to;
    }
    if (to->length + more > to->room) {
        int64_t room = to->room ? 2 * to->room : 8, bytes;
        if (room < to->length + more) room = to->length + more;
        if (__builtin_mul_overflow(room, size, &bytes)) goto fail;
        char *items = realloc(to->items, (size_t)bytes);
        if (!items) goto fail;
        to->items = items;
        to->room = room;
    }
    return 0;
fail:
    host->error = PB_MEMORY_ERROR;
    host->line = place;
    host->message = NULL;
    return 1;
}

/* Append an item: the list takes over what it holds. */
static __attribute__((unused)) int32_t pb_append(pb_host *host, pb_list **list, int64_t size, void *item, pb_dropper drop, int32_t place) {
    if (pb_reserve(host, list, 1, size, drop, place)) {
        if (drop) drop(host, item);
        return 1;
    }
    pb_list *to = *list;
    memcpy(to->items + to->length * size, item, (size_t)size);
    to->length++;
    return 0;
}

/* Append `count` items of a list (perhaps the same one), `step` apart from `start` on. */
static __attribute__((unused)) int32_t pb_extend(pb_host *host, pb_list **list, const pb_list *from, int64_t start, int64_t count,
                                                 int64_t step, int64_t size, pb_keeper keep, pb_dropper drop, int32_t place) {
    if (count <= 0) return 0;
    if (pb_reserve(host, list, count, size, drop, place)) return 1;
    pb_list *to = *list;
    for (int64_t k = 0; k < count; k++) {
        char *item = to->items + to->length * size;
        memcpy(item, pb_list_item(from, start + k * step), (size_t)size);
        if (keep) keep(item);
        to->length++;
    }
    return 0;
}

/* Append `count` items that hold nothing: zeros. */
static __attribute__((unused)) int32_t pb_append_zeros(pb_host *host, pb_list **list, int64_t count, int64_t size, pb_dropper drop, int32_t place) {
    if (count <= 0) return 0;
    if (pb_reserve(host, list, count, size, drop, place)) return 1;
    memset((*list)->items + (*list)->length * size, 0, (size_t)(count * size));
    (*list)->length += count;
    return 0;
}

/* Take the last item away, if there is one. */
static __attribute__((unused)) void pb_list_drop(pb_host *host, pb_list *list) {
    if (!list || !list->length) return;
    list->length--;
    if (list->drop) list->drop(host, pb_list_item(list, list->length));
}

/* How many numbers a range has. */
PB_FORCED int64_t pb_range(int64_t start, int64_t stop, int64_t step) {
    if (step > 0) return start < stop ? (int64_t)(((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1) : 0;
    return stop < start ? (int64_t)(((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1) : 0;
}

/* An integer to a power that is not negative; 0 where it has more than 64 bits. */
PB_ONCE int pb_checked_power(int64_t base, int64_t exponent, int64_t *out) {
    int64_t power = 1;
    for (;;) {
        if ((exponent & 1) && __builtin_mul_overflow(power, base, &power)) return 0;
        exponent >>= 1;
        if (!exponent) break;
        if (__builtin_mul_overflow(base, base, &base)) return 0;
    }
    *out = power;
    return 1;
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
