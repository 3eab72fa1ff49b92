/* The C half of the bridge by ctypes: checks arguments, and runs entries, without Python's headers.

   It reads the fields of arrays where NumPy's C interface has them; `memory.py` has tried that they are there, or gives
   copies of the fields in this form.  Nothing of Python is called here, but through the callbacks of a frame. */

#include "pullback.h"

#include <stdbool.h>
#include <string.h>

/* An array, as NumPy's C interface has it. */
typedef struct {
    intptr_t references;
    void *type;
    char *data;
    int rank;
    const int64_t *shape;
    const int64_t *strides;
    void *base;
    void *dtype;
    int flags;
} Array;

/* What one argument is.  Of numbers Python has checked the type; `ones` and `equal` may be NULL. */
typedef struct {
    int32_t is_array, rank, flags, unused;
    void *dtype;
    const int8_t *ones;   /* for each axis 1: length 1; 0: not 1; -1: any */
    const int32_t *equal; /* for each axis its number in the table of lengths, or -1 */
} Spec;

/* What all calls of an entry share. */
typedef struct {
    pb_entry *entry;
    const Spec *specs;
    int64_t number_args, number_lengths;
    void *array_type;
    void *dtypes[13];
} Bound;

/* What one call has.  The host is first: a host is the address of its frame. */
typedef struct {
    pb_host host;
    void *(*new_array)(pb_host *, int32_t, int32_t, const int64_t *, char **); /* Python makes it */
    const Bound *bound;
    pb_arg *in, *out;
    int64_t *lengths;
    const Array *const *ready; /* arrays that Python has made because the last call asked for such */
    int64_t number_ready, used;
} Frame;

/* A slot of an argument: a number, or the address of an array. */
typedef union {
    double f[2];
    int64_t i;
    const Array *array;
} Slot;

enum { FINE = 0, MISSED = 1, OTHER_DTYPE = 2, FAILED = 3 };

/* Whether an array is what an entry asks for. */
static bool is_such(const Array *array, void *dtype, int32_t rank, const int64_t *shape) {
    if (array->dtype != dtype || array->rank != rank) return false;
    for (int k = 0; k < rank; k++)
        if (array->shape[k] != shape[k]) return false;
    return true;
}

/* A fresh array: the next of those that are ready, if it is such a one; from the first that is not on, Python makes them. */
static void *new_array(pb_host *host, int32_t dtype, int32_t rank, const int64_t *shape, char **data) {
    Frame *frame = (Frame *)host;
    if (frame->used < frame->number_ready) {
        const Array *array = frame->ready[frame->used];
        if (is_such(array, frame->bound->dtypes[dtype], rank, shape)) {
            frame->used++;
            *data = array->data;
            return (void *)array;
        }
        frame->number_ready = frame->used;
    }
    return frame->new_array(host, dtype, rank, shape, data);
}

/* Whether the lengths of an array are as specified, and agree with those seen so far. */
static bool fits(const Spec *spec, const int64_t *shape, int64_t *lengths) {
    for (int k = 0; spec->ones && k < spec->rank; k++)
        if (spec->ones[k] >= 0 && (shape[k] == 1) != spec->ones[k]) return false;
    for (int k = 0; spec->equal && k < spec->rank; k++) {
        if (spec->equal[k] < 0) continue;
        int64_t *seen = &lengths[spec->equal[k]];
        if (*seen < 0) *seen = shape[k];
        if (*seen != shape[k]) return false;
    }
    return true;
}

/* An array as an argument.  A dtype is known by its object; if it is another one, Python looks whether it is equal. */
static int32_t take(const Spec *spec, const Array *array, void *array_type, bool any_dtype, pb_arg *arg, int64_t *lengths) {
    if (array->type != array_type || array->rank != spec->rank || (array->flags & spec->flags) != spec->flags) return MISSED;
    if (!fits(spec, array->shape, lengths)) return MISSED;
    if (array->dtype != spec->dtype && !any_dtype) return OTHER_DTYPE;
    arg->a = (pb_array_arg){array->data, array->shape, array->strides, (void *)array};
    return FINE;
}

/* Run an entry on arguments, if they are as specified.  `given` has the number of arrays that are ready and whether
   Python has seen that the dtypes are right, then the arguments, then the arrays that are ready. */
PB_EXPORT int32_t pb_foreign_call(Frame *frame, const int64_t *given) {
    const Bound *bound = frame->bound;
    const Slot *slots = (const Slot *)(given + 2);
    const bool any_dtype = given[1];
    int32_t result = FINE;
    for (int64_t k = 0; k < bound->number_lengths; k++) frame->lengths[k] = -1;
    for (int64_t k = 0; k < bound->number_args; k++) {
        pb_arg *arg = &frame->in[k];
        const Spec *spec = &bound->specs[k];
        int32_t found = FINE;
        if (spec->is_array) found = take(spec, slots[k].array, bound->array_type, any_dtype, arg, frame->lengths);
        else memcpy(arg, &slots[k], sizeof(Slot));
        if (found == MISSED) return MISSED;
        if (found != FINE) result = found;
    }
    if (result != FINE) return result;
    frame->host.new_array = new_array;
    frame->host.error = 0;
    frame->host.line = -1;
    frame->host.message = NULL;
    frame->ready = (const Array *const *)(slots + bound->number_args);
    frame->number_ready = given[0];
    frame->used = 0;
    return bound->entry(&frame->host, frame->in, frame->out) == 0 ? FINE : FAILED;
}
