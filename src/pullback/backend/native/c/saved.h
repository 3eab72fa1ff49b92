/* What a primal saves, as the bytes of one array: a record of numbers, arrays and lists, which the pullback reads back.

   Everything stands at a multiple of eight bytes.  A number: its bytes.  An array: 1, or 0 where there is none; its
   lengths; its items in C order.  A list: its length; then its items, which are the bytes of all numbers at once where
   an item is one number.  `backend/native/saved.py` reads the same. */
#ifndef PB_SAVED_H
#define PB_SAVED_H

#include "arrays.h"
#include "lists.h"

enum { PB_SAVED_NUMBER, PB_SAVED_ARRAY, PB_SAVED_LIST };

struct pb_layout;
typedef struct pb_field {
    int32_t kind;
    int32_t size; /* bytes of a number, or of an item of an array */
    int32_t rank;
    int32_t offset; /* in the struct of an item */
    const struct pb_layout *items; /* of a list */
} pb_field;
typedef struct pb_layout {
    int64_t size;
    int32_t count;
    const pb_field *fields;
    pb_dropper drop;
} pb_layout;

/* Bytes with what fills them up. */
PB_FORCED int64_t pb_padded(int64_t bytes) {
    return (bytes + 7) & ~(int64_t)7;
}

/* Whether the items of a list are single numbers, one after the other. */
PB_FORCED int pb_is_row(const pb_layout *layout) {
    return layout->count == 1 && layout->fields[0].kind == PB_SAVED_NUMBER;
}

/* The lengths of an array of any rank: they stand behind its address and its owner. */
PB_FORCED int64_t *pb_lengths(const void *array) {
    return (int64_t *)((char *)array + offsetof(pb_array1, n));
}

/* The strides of an array, behind its lengths. */
PB_FORCED int64_t *pb_strides(const void *array, int32_t rank) {
    return pb_lengths(array) + (rank ? rank : 1);
}

/* How many bytes a list takes. */
PB_ONCE int64_t pb_saved_bytes(const pb_layout *layout, const pb_list *list) {
    const int64_t length = pb_list_length(list);
    if (pb_is_row(layout)) return 8 + pb_padded(length * layout->fields[0].size);
    int64_t bytes = 8;
    for (int64_t i = 0; i < length; i++) {
        const char *item = pb_list_item(list, i);
        for (int32_t k = 0; k < layout->count; k++) {
            const pb_field *field = &layout->fields[k];
            const char *at = item + field->offset;
            if (field->kind == PB_SAVED_NUMBER)
                bytes += pb_padded(field->size);
            else if (field->kind == PB_SAVED_LIST)
                bytes += pb_saved_bytes(field->items, *(pb_list *const *)at);
            else if (!*(char *const *)at)
                bytes += 8;
            else
                bytes += 8 + 8 * field->rank + pb_padded(field->size * pb_count(field->rank, pb_lengths(at)));
        }
    }
    return bytes;
}

/* Write an integer; where what follows stands. */
PB_FORCED char *pb_put(char *to, int64_t value) {
    memcpy(to, &value, 8);
    return to + 8;
}

/* Write bytes; where what follows stands. */
PB_FORCED char *pb_put_bytes(char *to, const void *from, int64_t bytes) {
    memset(to + (bytes & ~(int64_t)7), 0, (size_t)(pb_padded(bytes) - (bytes & ~(int64_t)7)));
    if (bytes) memcpy(to, from, (size_t)bytes);
    return to + pb_padded(bytes);
}

/* Write an array; where what follows stands. */
PB_ONCE char *pb_put_array(char *to, const pb_field *field, const char *array) {
    const char *data = *(char *const *)array;
    to = pb_put(to, data != NULL);
    if (!data) return to;
    const int64_t *n = pb_lengths(array);
    for (int32_t k = 0; k < field->rank; k++) to = pb_put(to, n[k]);
    const int64_t bytes = field->size * pb_count(field->rank, n);
    int64_t strides[PB_MAX_RANK];
    pb_c_strides(field->rank, field->size, n, strides);
    if (bytes & 7) memset(to + (bytes & ~(int64_t)7), 0, 8);
    pb_copy_items(field->rank, n, field->size, to, strides, data, pb_strides(array, field->rank));
    return to + pb_padded(bytes);
}

/* Write a list, as many bytes as `pb_saved_bytes` says; where what follows stands. */
PB_ONCE char *pb_write_saved(const pb_layout *layout, const pb_list *list, char *to) {
    const int64_t length = pb_list_length(list);
    to = pb_put(to, length);
    if (pb_is_row(layout)) return pb_put_bytes(to, list ? list->items : NULL, length * layout->fields[0].size);
    for (int64_t i = 0; i < length; i++) {
        const char *item = pb_list_item(list, i);
        for (int32_t k = 0; k < layout->count; k++) {
            const pb_field *field = &layout->fields[k];
            const char *at = item + field->offset;
            if (field->kind == PB_SAVED_NUMBER)
                to = pb_put_bytes(to, at, field->size);
            else if (field->kind == PB_SAVED_LIST)
                to = pb_write_saved(field->items, *(pb_list *const *)at, to);
            else
                to = pb_put_array(to, field, at);
        }
    }
    return to;
}

/* What is read: from where, up to where. */
typedef struct pb_reader {
    const char *at;
    const char *end;
} pb_reader;

/* The next bytes, or NULL where there are not so many. */
PB_FORCED const char *pb_take_bytes(pb_reader *from, int64_t bytes) {
    if (bytes < 0 || bytes > from->end - from->at || pb_padded(bytes) > from->end - from->at) return NULL;
    const char *found = from->at;
    from->at += pb_padded(bytes);
    return found;
}

/* Read an array, as a view of the bytes; 0 where they do not hold one. */
PB_ONCE int pb_take_array(pb_reader *from, const pb_field *field, char *array) {
    int64_t there, *n = pb_lengths(array), bytes = field->size;
    const char *found = pb_take_bytes(from, 8);
    if (!found) return 0;
    memcpy(&there, found, 8);
    if (!there) return 1;
    for (int32_t k = 0; k < field->rank; k++) {
        found = pb_take_bytes(from, 8);
        if (!found) return 0;
        memcpy(&n[k], found, 8);
        if (n[k] < 0 || __builtin_mul_overflow(bytes, n[k], &bytes)) return 0;
    }
    found = pb_take_bytes(from, bytes);
    if (!found) return 0;
    memcpy(array, &found, sizeof(found));
    pb_c_strides(field->rank, field->size, n, pb_strides(array, field->rank));
    return 1;
}

/* Read a list; what it has read by the time that it fails is in the list.  Non-zero where the bytes hold none, or where
   there is no memory: the host's error is set.  Arrays are views of the bytes, which must live as long. */
static __attribute__((unused)) int32_t pb_read_saved(pb_host *host, const pb_layout *layout, pb_reader *from, pb_list **list, int32_t place) {
    int64_t length;
    const char *found = pb_take_bytes(from, 8);
    if (!found) goto fail;
    memcpy(&length, found, 8);
    if (length < 0 || (layout->count && length > from->end - from->at)) goto fail;
    if (pb_append_zeros(host, list, length, layout->size, layout->drop, place)) return 1;
    if (!length) return 0;
    if (pb_is_row(layout)) {
        found = pb_take_bytes(from, length * layout->fields[0].size);
        if (!found) goto fail;
        memcpy((*list)->items, found, (size_t)(length * layout->fields[0].size));
        return 0;
    }
    for (int64_t i = 0; i < length; i++) {
        char *item = pb_list_item(*list, i);
        for (int32_t k = 0; k < layout->count; k++) {
            const pb_field *field = &layout->fields[k];
            char *at = item + field->offset;
            if (field->kind == PB_SAVED_LIST) {
                if (pb_read_saved(host, field->items, from, (pb_list **)at, place)) return 1;
            } else if (field->kind == PB_SAVED_ARRAY) {
                if (!pb_take_array(from, field, at)) goto fail;
            } else {
                found = pb_take_bytes(from, field->size);
                if (!found) goto fail;
                memcpy(at, found, (size_t)field->size);
            }
        }
    }
    return 0;
fail:
    if (host->error != PB_MEMORY_ERROR) {
        host->error = PB_VALUE_ERROR;
        host->line = place;
        host->message = "what was saved is damaged";
    }
    return 1;
}

#endif
