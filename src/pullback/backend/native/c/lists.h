/* Lists of run-time length: items of one struct each, counted as buffers are.  NULL is an empty list. */
#ifndef PB_LISTS_H
#define PB_LISTS_H

#include "arrays.h"

typedef void (*pb_dropper)(pb_host *, void *item);
typedef void (*pb_keeper)(void *item);

/* Where the stack of an entry begins, for the functions that it calls. */
static __thread const char *pb_base __attribute__((unused));

typedef struct pb_list {
    struct pb_list *next; /* of those kept for the next new list */
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

/* Small lists that are free are kept for the next new ones, so that a loop that saves some numbers each time makes no
   memory.  Whoever begins a stretch of work in a thread gives them back at its end (`pb_end_lists`). */
#define PB_SPARE_LISTS 8
#define PB_SPARE_BYTES 65536
static __thread struct { pb_list *first; int32_t count; } pb_spare __attribute__((unused));

PB_ONCE void pb_end_lists(void) {
    while (pb_spare.first) {
        pb_list *list = pb_spare.first;
        pb_spare.first = list->next;
        free(list->items);
        free(list);
    }
    pb_spare.count = 0;
}

/* Free a list that has no name, and what it holds. */
PB_ONCE void pb_free_list(pb_host *host, pb_list *list) {
    if (list->drop)
        for (int64_t i = 0; i < list->length; i++) list->drop(host, pb_list_item(list, i));
    if (pb_spare.count < PB_SPARE_LISTS && list->room * list->size <= PB_SPARE_BYTES) {
        list->next = pb_spare.first;
        pb_spare.first = list;
        pb_spare.count++;
        return;
    }
    free(list->items);
    free(list);
}

/* One name of a list less; the last frees it. */
PB_FORCED void pb_release_list(pb_host *host, pb_list *list) {
    if (list && --list->refs <= 0) pb_free_list(host, list);
}

/* A new list; one that was kept is as good. */
PB_FORCED pb_list *pb_new_list(int64_t size, pb_dropper drop) {
    pb_list *to = pb_spare.first;
    if (to) {
        pb_spare.first = to->next;
        pb_spare.count--;
        to->room = to->room * to->size / size;
        to->length = 0;
        to->kind = 0;
    } else if (!(to = calloc(1, sizeof(pb_list)))) {
        return NULL;
    }
    to->refs = 1;
    to->size = size;
    to->drop = drop;
    return to;
}

/* Room for `more` items after those of a list; one that is not there yet is made.  Non-zero where there is no memory. */
PB_ONCE int32_t pb_reserve(pb_host *host, pb_list **list, int64_t more, int64_t size, pb_dropper drop, int32_t place) {
    pb_list *to = *list;
    if (!to) *list = to = pb_new_list(size, drop);
    if (!to) goto fail;
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
PB_FORCED int32_t pb_append(pb_host *host, pb_list **list, int64_t size, void *item, pb_dropper drop, int32_t place) {
    pb_list *to = *list;
    if (PB_RARE(!to || to->length == to->room)) {
        if (pb_reserve(host, list, 1, size, drop, place)) {
            if (drop) drop(host, item);
            return 1;
        }
        to = *list;
    }
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
