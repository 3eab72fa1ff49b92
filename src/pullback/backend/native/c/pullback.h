/* What compiled code and the Python side agree on: how arguments and results pass, and what the host does for an entry.
   Described in docs/decisions/0010-native-abi.md; `interface.py` holds the same numbers. */
#ifndef PULLBACK_H
#define PULLBACK_H

#include <stddef.h>
#include <stdint.h>

#define PB_ABI 1

#ifndef PB_EXPORT
#if defined(_WIN32)
#define PB_EXPORT __declspec(dllexport)
#else
#define PB_EXPORT __attribute__((visibility("default")))
#endif
#endif

/* Codes of dtypes. */
enum {
    PB_BOOL = 0, PB_INT8 = 1, PB_UINT8 = 2, PB_INT16 = 3, PB_UINT16 = 4, PB_INT32 = 5, PB_UINT32 = 6,
    PB_INT64 = 7, PB_UINT64 = 8, PB_FLOAT32 = 9, PB_FLOAT64 = 10, PB_COMPLEX64 = 11, PB_COMPLEX128 = 12
};

/* Codes of errors, in `pb_host.error`.  A header for people has them already. */
#ifndef PB_ERROR_CODES
enum {
    PB_INDEX_ERROR = 1, PB_VALUE_ERROR = 2, PB_ZERO_DIVISION_ERROR = 3, PB_OVERFLOW_ERROR = 4, PB_MEMORY_ERROR = 5,
    PB_UNBOUND_LOCAL_ERROR = 6, PB_ASSERTION_ERROR = 7, PB_TYPE_ERROR = 8, PB_HOST_ERROR = 9,
    PB_FLOATING_POINT_ERROR = 10
};
#endif

/* An array.  Strides are in bytes; elements are aligned and in native byte order: the bridge has checked that.
   `handle` is the host's reference to the array that owns the memory: borrowed in what an entry is given, new in what
   `pb_host.call` returns, and NULL for memory of the entry's own. */
typedef struct {
    char *data;
    const int64_t *shape;
    const int64_t *strides;
    void *handle;
} pb_array_arg;

/* An argument or a result.  Floats of any width are in `f`, complex numbers in `c`, bools and integers in `i` (of a
   uint64 the same 64 bits). */
typedef union {
    double f;
    int64_t i;
    double c[2];
    pb_array_arg a;
} pb_arg;

typedef struct pb_host pb_host;

/* What an entry may ask of the side that called it. */
struct pb_host {
    void *context; /* the host's own */
    /* A fresh array in C order; the entry owns the reference.  NULL: an error is set, the entry returns PB_HOST_ERROR. */
    void *(*new_array)(pb_host *, int32_t dtype, int32_t rank, const int64_t *shape, char **data);
    /* Give a reference back. */
    void (*drop_array)(pb_host *, void *array);
    /* An operation that NumPy does, by its number in the module's table.  0 is fine; else an error is set, and there is
       nothing in `out`.  The entry owns the references of arrays in `out`. */
    int32_t (*call)(pb_host *, int32_t op, const pb_arg *in, pb_arg *out);
    int64_t threads; /* at most so many */
    /* What the entry sets before it returns other than 0. */
    int32_t error;       /* the code */
    int32_t line;        /* index of the place in the user's source, or -1 */
    int64_t detail[4];   /* PB_INDEX_ERROR without a message: index, axis, length */
    const char *message; /* a text that lives as long as the library, or NULL */
};

/* An entry: 0 is fine, and the results are in `out`: numbers as in `pb_arg`, of arrays the handle in `a.data`, whose
   reference passes to the host.  Otherwise the host's `error` and `line` are set, `out` is not read, and the entry has
   given back every array that it made. */
typedef int32_t pb_entry(pb_host *host, const pb_arg *in, pb_arg *out);

#endif
