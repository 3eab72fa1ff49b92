/* The bridge as an extension of Python: compiled entries as objects that are called without a detour.

   `bind` makes such an object from the address of an entry.  A call checks its arguments against their specs, runs the
   entry with the interpreter's lock held, and converts the results.  Everything that is rare (errors, with the user's
   line) is done by the Python function `fail` that the object holds. */

#include "specs.h"

enum { FEW = 32 }; /* arguments, or lengths that must agree, that a call keeps on the stack */

/* An operation that NumPy does for an entry. */
typedef struct {
    PyObject *function;
    Spec *args, *results;
    Py_ssize_t number_args, number_results;
} Operation;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pb_entry *entry;
    PyObject *name, *keep, *miss, *fail;
    Spec *args, *results;
    Operation *operations;
    Py_ssize_t number_args, number_results, number_operations, number_lengths;
    int64_t threads;
    long long calls; /* how often the entry has been run */
} Bound;

/* What one call owns: the caller's buffers (a tuple of arrays, or NULL), and which of them new arrays have taken. */
typedef struct {
    Bound *bound;
    PyObject *buffers;
    uint64_t taken;
} Call;

enum { MOST_BUFFERS = 64 }; /* more are not taken */

static int64_t most_threads = 1; /* at most so many, whatever is asked; 1 in a fork */
static int64_t all_threads = 1;  /* so many where nothing is asked */

/* -- what an entry asks of its host -- */

/* One of the caller's buffers that is as a new array is to be, and that has not been taken; NULL if there is none. */
static PyObject *take_buffer(Call *call, int type, int32_t rank, const int64_t *shape) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(call->buffers) && k < MOST_BUFFERS; k++) {
        PyArrayObject *buffer = (PyArrayObject *)PyTuple_GET_ITEM(call->buffers, k);
        if (call->taken >> k & 1 || PyArray_TYPE(buffer) != type || PyArray_NDIM(buffer) != rank) continue;
        if (rank > 0 && memcmp(PyArray_DIMS(buffer), shape, (size_t)rank * sizeof(int64_t)) != 0) continue;
        call->taken |= (uint64_t)1 << k;
        Py_INCREF(buffer);
        return (PyObject *)buffer;
    }
    return NULL;
}

/* A fresh array for an entry. */
static void *new_array(pb_host *host, int32_t dtype, int32_t rank, const int64_t *shape, char **data) {
    Call *call = host->context;
    PyObject *array = call->buffers != NULL ? take_buffer(call, TYPES[dtype], rank, shape) : NULL;
    if (array == NULL) array = PyArray_EMPTY(rank, (npy_intp *)shape, TYPES[dtype], 0);
    if (array != NULL) *data = PyArray_BYTES((PyArrayObject *)array);
    return array;
}

/* An entry gives an array back; a buffer of the caller's may be taken again. */
static void drop_array(pb_host *host, void *array) {
    Call *call = host->context;
    if (call->buffers != NULL)
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(call->buffers) && k < MOST_BUFFERS; k++)
            if (PyTuple_GET_ITEM(call->buffers, k) == array) call->taken &= ~((uint64_t)1 << k);
    Py_DECREF((PyObject *)array);
}

/* An argument of an operation as an object: arrays are views on their owners, and copies of what has none. */
static PyObject *taken(const Spec *spec, const pb_arg *arg) {
    if (spec->kind != ARRAY) return give_number(spec, arg);
    PyObject *owner = arg->a.handle;
    int flags = spec->writes ? NPY_ARRAY_WRITEABLE : 0;
    Py_INCREF(spec->descr);
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, spec->descr, spec->rank, (npy_intp *)arg->a.shape,
                                          (npy_intp *)arg->a.strides, arg->a.data, flags, NULL);
    if (view == NULL) return NULL;
    if (owner != NULL) {
        Py_INCREF(owner);
        if (PyArray_SetBaseObject((PyArrayObject *)view, owner) < 0) {
            Py_DECREF(view);
            return NULL;
        }
    } else if (!spec->writes) {
        PyObject *copy = PyArray_NewCopy((PyArrayObject *)view, NPY_CORDER);
        Py_DECREF(view);
        return copy;
    }
    return view;
}

/* Whether nobody else can see an array's memory: then it need not be copied.  `held` is how often we hold it ourselves. */
static bool is_fresh(PyArrayObject *array, int held) {
#ifdef Py_GIL_DISABLED
    return false;
#else
    return Py_REFCNT(array) == held && PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_CARRAY) &&
           PyArray_BASE(array) == NULL && PyArray_CheckExact((PyObject *)array) && PyArray_ISNOTSWAPPED(array);
#endif
}

/* A result of an operation, whose reference is taken, as an array of its own in C order. */
static PyObject *fresh(const Spec *spec, PyObject *value, int held) {
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_O(value);
    Py_DECREF(value);
    if (array == NULL) return NULL;
    int type = PyArray_TYPE(array);
    PyObject *result = NULL;
    if ((type != spec->type && type != spec->same) || PyArray_NDIM(array) != spec->rank)
        PyErr_Format(PyExc_TypeError, "an operation gave %S of rank %d, not %S of rank %d", PyArray_DESCR(array),
                     PyArray_NDIM(array), spec->descr, spec->rank);
    else if (is_fresh(array, held))
        return (PyObject *)array;
    else {
        Py_INCREF(spec->descr);
        result = PyArray_FromArray(array, spec->descr, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_ENSUREARRAY);
    }
    Py_DECREF(array);
    return result;
}

/* Put a result, whose reference is taken, into a `pb_arg`.  `held`: our references of it, with this one. */
static bool give(const Spec *spec, PyObject *value, int held, pb_arg *arg) {
    if (spec->kind != ARRAY) {
        bool fine = convert_number(spec, value, arg);
        Py_DECREF(value);
        return fine;
    }
    PyArrayObject *array = (PyArrayObject *)fresh(spec, value, held);
    if (array == NULL) return false;
    arg->a.data = PyArray_BYTES(array);
    arg->a.shape = (const int64_t *)PyArray_DIMS(array);
    arg->a.strides = (const int64_t *)PyArray_STRIDES(array);
    arg->a.handle = array;
    return true;
}

/* Put the several results of an operation into `out`; on an error nothing stays there. */
static bool give_all(const Operation *operation, PyObject *value, pb_arg *out) {
    Py_ssize_t number = operation->number_results;
    int held = PyTuple_CheckExact(value) && Py_REFCNT(value) == 1 ? 2 : 0; /* our tuple holds its items, and we do */
    PyObject *items = PySequence_Fast(value, "an operation with several results returns a tuple");
    if (items == NULL) return false;
    Py_ssize_t k = 0;
    if (PySequence_Fast_GET_SIZE(items) != number)
        PyErr_Format(PyExc_ValueError, "an operation gave %zd results, not %zd", PySequence_Fast_GET_SIZE(items), number);
    else
        for (; k < number; k++) {
            PyObject *item = PySequence_Fast_GET_ITEM(items, k);
            Py_INCREF(item);
            if (!give(&operation->results[k], item, held, &out[k])) break;
        }
    Py_DECREF(items);
    if (k == number) return true;
    while (k-- > 0)
        if (operation->results[k].kind == ARRAY) Py_DECREF((PyObject *)out[k].a.handle);
    return false;
}

/* Run an operation for an entry. */
static int32_t call_operation(pb_host *host, int32_t number, const pb_arg *in, pb_arg *out) {
    const Operation *operation = &((Call *)host->context)->bound->operations[number];
    PyObject *few[FEW], **args = few, *value = NULL;
    Py_ssize_t count = operation->number_args, made = 0;
    if (count > FEW) args = PyMem_Malloc((size_t)count * sizeof(PyObject *));
    if (args == NULL) PyErr_NoMemory();
    else {
        while (made < count && (args[made] = taken(&operation->args[made], &in[made])) != NULL) made++;
        if (made == count) value = PyObject_Vectorcall(operation->function, args, (size_t)count, NULL);
        while (made-- > 0) Py_DECREF(args[made]);
    }
    if (args != few) PyMem_Free(args);
    bool fine = value != NULL;
    if (fine && operation->number_results == 1) fine = give(&operation->results[0], value, 1, &out[0]);
    else if (fine) {
        fine = give_all(operation, value, out);
        Py_DECREF(value);
    }
    return fine ? 0 : PB_HOST_ERROR;
}

/* -- a call -- */

/* An array as an argument; false if it is not as specified.  `lengths` are those seen so far, by number; -1: none. */
static inline bool take_array(const Spec *spec, PyObject *object, pb_arg *arg, int64_t *lengths) {
    if (!PyArray_CheckExact(object)) return false;
    PyArrayObject *array = (PyArrayObject *)object;
    int type = PyArray_TYPE(array), needed = NPY_ARRAY_ALIGNED | (spec->writes ? NPY_ARRAY_WRITEABLE : 0);
    if ((type != spec->type && type != spec->same) || PyArray_NDIM(array) != spec->rank ||
        !PyArray_CHKFLAGS(array, needed) || PyArray_ISBYTESWAPPED(array))
        return false;
    const npy_intp *shape = PyArray_DIMS(array);
    if (spec->ones != NULL)
        for (int k = 0; k < spec->rank; k++)
            if (spec->ones[k] >= 0 && (shape[k] == 1) != spec->ones[k]) return false;
    if (spec->equal != NULL)
        for (int k = 0; k < spec->rank; k++) {
            if (spec->equal[k] < 0) continue;
            int64_t *seen = &lengths[spec->equal[k]];
            if (*seen < 0) *seen = shape[k];
            else if (*seen != shape[k]) return false;
        }
    arg->a.data = PyArray_BYTES(array);
    arg->a.shape = (const int64_t *)shape;
    arg->a.strides = (const int64_t *)PyArray_STRIDES(array);
    arg->a.handle = object;
    return true;
}

/* Whether all arguments are as specified; then they are in `in`. */
static inline bool take_all(const Bound *bound, PyObject *const *args, pb_arg *in, int64_t *lengths) {
    for (Py_ssize_t k = 0; k < bound->number_lengths; k++) lengths[k] = -1;
    for (Py_ssize_t k = 0; k < bound->number_args; k++) {
        const Spec *spec = &bound->args[k];
        if (spec->kind == ARRAY ? !take_array(spec, args[k], &in[k], lengths) : !take_number(spec, args[k], &in[k]))
            return false;
    }
    return true;
}

/* The exception that is set, or None; afterwards none is set. */
static PyObject *pending(void) {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *error = PyErr_GetRaisedException();
    return error != NULL ? error : Py_NewRef(Py_None);
#else
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (type == NULL) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) PyException_SetTraceback(error, traceback);
    Py_DECREF(type);
    Py_XDECREF(traceback);
    return error;
#endif
}

/* An entry failed: the result of `fail`, which raises, or says what is returned instead. */
static PyObject *failed(const Bound *bound, const pb_host *host) {
    PyObject *error = pending();
    return PyObject_CallFunction(bound->fail, "ii(LLLL)zN", error != Py_None ? PB_HOST_ERROR : host->error, host->line,
                                 (long long)host->detail[0], (long long)host->detail[1], (long long)host->detail[2],
                                 (long long)host->detail[3], host->message, error);
}

/* The tuple of results.  Arrays pass to it; those that are left when it fails are given back. */
static PyObject *given(const Bound *bound, const pb_arg *out) {
    PyObject *results = PyTuple_New(bound->number_results);
    for (Py_ssize_t k = 0; k < bound->number_results; k++) {
        const Spec *spec = &bound->results[k];
        PyObject *value;
        if (spec->kind == ARRAY) value = (PyObject *)out[k].a.data;
        else value = results != NULL ? give_number(spec, &out[k]) : NULL;
        if (results != NULL && value != NULL) PyTuple_SET_ITEM(results, k, value);
        else {
            if (spec->kind == ARRAY) Py_XDECREF(value);
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a compiled function gave no array");
            Py_CLEAR(results);
        }
    }
    return results;
}

/* Run the entry on arguments that were taken. */
static PyObject *run(Bound *bound, PyObject *buffers, const pb_arg *in, pb_arg *out) {
    Call call = {bound, buffers, 0};
    pb_host host = {&call, new_array, drop_array, call_operation, 1, 0, -1, {0, 0, 0, 0}, NULL};
    host.threads = bound->threads > 0 ? bound->threads : all_threads;
    if (host.threads > most_threads) host.threads = most_threads;
    bound->calls++;
    if (bound->entry(&host, in, out) != 0 || PyErr_Occurred()) return failed(bound, &host);
    return given(bound, out);
}

/* The tuple of results for so many arguments, or the mark of a miss. */
static PyObject *serve(Bound *bound, PyObject *buffers, PyObject *const *args, Py_ssize_t number) {
    if (bound->entry == NULL) return PyErr_Format(PyExc_RuntimeError, "%U is going away", bound->name);
    if (number != bound->number_args)
        return PyErr_Format(PyExc_TypeError, "%U takes %zd arguments, not %zd", bound->name, bound->number_args, number);
    pb_arg few[FEW], *all = few;
    int64_t few_lengths[FEW], *lengths = few_lengths;
    Py_ssize_t room = number + bound->number_results;
    if (room > FEW) all = PyMem_Malloc((size_t)room * sizeof(pb_arg));
    if (bound->number_lengths > FEW) lengths = PyMem_Malloc((size_t)bound->number_lengths * sizeof(int64_t));
    PyObject *result = NULL;
    if (all == NULL || lengths == NULL) PyErr_NoMemory();
    else if (take_all(bound, args, all, lengths)) result = run(bound, buffers, all, all + number);
    else {
        result = bound->miss;
        Py_INCREF(result);
    }
    if (all != few) PyMem_Free(all);
    if (lengths != few_lengths) PyMem_Free(lengths);
    return result;
}

/* A call. */
static PyObject *call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *keywords) {
    Bound *bound = (Bound *)self;
    if (keywords != NULL && PyTuple_GET_SIZE(keywords) > 0)
        return PyErr_Format(PyExc_TypeError, "%U takes no keywords", bound->name);
    return serve(bound, NULL, args, PyVectorcall_NARGS(flagged));
}

/* into(buffers, *args): a call whose new arrays are those of a tuple, as far as they are alike. */
static PyObject *into(PyObject *self, PyObject *const *args, Py_ssize_t number) {
    if (number < 1 || !PyTuple_CheckExact(args[0])) return PyErr_Format(PyExc_TypeError, "a tuple of arrays is needed");
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[0]); k++)
        if (!PyArray_CheckExact(PyTuple_GET_ITEM(args[0], k)))
            return PyErr_Format(PyExc_TypeError, "a tuple of arrays is needed");
    return serve((Bound *)self, args[0], args + 1, number - 1);
}

/* -- the type -- */

static void free_operations(Operation *operations, Py_ssize_t number) {
    for (Py_ssize_t k = 0; operations != NULL && k < number; k++) {
        Py_XDECREF(operations[k].function);
        free_specs(operations[k].args, operations[k].number_args);
        free_specs(operations[k].results, operations[k].number_results);
    }
    PyMem_Free(operations);
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg) {
    Bound *bound = (Bound *)self;
    Py_VISIT(bound->keep);
    Py_VISIT(bound->fail);
    for (Py_ssize_t k = 0; bound->operations != NULL && k < bound->number_operations; k++)
        Py_VISIT(bound->operations[k].function);
    return 0;
}

/* Break cycles: the functions go, and a call is an error. */
static int bound_clear(PyObject *self) {
    Bound *bound = (Bound *)self;
    bound->entry = NULL;
    Py_CLEAR(bound->keep);
    Py_CLEAR(bound->fail);
    for (Py_ssize_t k = 0; bound->operations != NULL && k < bound->number_operations; k++)
        Py_CLEAR(bound->operations[k].function);
    return 0;
}

static void bound_dealloc(PyObject *self) {
    Bound *bound = (Bound *)self;
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    Py_XDECREF(bound->name);
    Py_XDECREF(bound->miss);
    free_specs(bound->args, bound->number_args);
    free_specs(bound->results, bound->number_results);
    free_operations(bound->operations, bound->number_operations);
    PyObject_GC_Del(self);
}

static PyObject *bound_repr(PyObject *self) { return PyUnicode_FromFormat("<compiled %U>", ((Bound *)self)->name); }

static PyMemberDef bound_members[] = {
    {"calls", T_LONGLONG, offsetof(Bound, calls), READONLY, PyDoc_STR("How often the entry has been run.")},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef bound_methods[] = {
    {"into", (PyCFunction)(void (*)(void))into, METH_FASTCALL, PyDoc_STR("A call that uses the caller's arrays.")},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject Bound_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pullback.compiled",
    .tp_basicsize = sizeof(Bound),
    .tp_dealloc = bound_dealloc,
    .tp_vectorcall_offset = offsetof(Bound, vectorcall),
    .tp_repr = bound_repr,
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = PyDoc_STR("A compiled entry: the tuple of its results, or MISS if an argument is not as specified."),
    .tp_traverse = bound_traverse,
    .tp_clear = bound_clear,
    .tp_members = bound_members,
    .tp_methods = bound_methods,
};

/* The operations of a tuple of (function, args, results). */
static bool read_operations(Bound *bound, PyObject *packed) {
    Py_ssize_t number = PyTuple_GET_SIZE(packed);
    bound->operations = PyMem_Calloc((size_t)number + 1, sizeof(Operation));
    if (bound->operations == NULL) return PyErr_NoMemory() != NULL;
    bound->number_operations = number;
    for (Py_ssize_t k = 0; k < number; k++) {
        Operation *operation = &bound->operations[k];
        PyObject *function, *args, *results;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(packed, k), "OO!O!", &function, &PyTuple_Type, &args, &PyTuple_Type,
                              &results))
            return false;
        Py_INCREF(function);
        operation->function = function;
        if ((operation->args = read_specs(args)) == NULL) return false;
        operation->number_args = PyTuple_GET_SIZE(args);
        if ((operation->results = read_specs(results)) == NULL) return false;
        operation->number_results = PyTuple_GET_SIZE(results);
    }
    return true;
}

/* How many different numbers the arguments' `equal` have: they are 0, 1, ... */
static Py_ssize_t count_lengths(const Spec *specs, Py_ssize_t number) {
    Py_ssize_t most = 0;
    for (Py_ssize_t k = 0; k < number; k++)
        for (int axis = 0; specs[k].equal != NULL && axis < specs[k].rank; axis++)
            if (specs[k].equal[axis] + 1 > most) most = specs[k].equal[axis] + 1;
    return most;
}

/* bind(address, name, args, results, operations, threads, keep, miss, fail): an entry as a callable. */
static PyObject *bind(PyObject *module, PyObject *given_args) {
    (void)module;
    unsigned long long address;
    long long threads;
    PyObject *name, *args, *results, *operations, *keep, *miss, *fail;
    if (!PyArg_ParseTuple(given_args, "KUO!O!O!LOOO", &address, &name, &PyTuple_Type, &args, &PyTuple_Type, &results,
                          &PyTuple_Type, &operations, &threads, &keep, &miss, &fail))
        return NULL;
    Bound *bound = PyObject_GC_New(Bound, &Bound_Type);
    if (bound == NULL) return NULL;
    memset((char *)bound + sizeof(PyObject), 0, sizeof(Bound) - sizeof(PyObject));
    bound->vectorcall = call;
    bound->entry = (pb_entry *)(uintptr_t)address;
    bound->threads = threads;
    Py_INCREF(bound->name = name);
    Py_INCREF(bound->keep = keep);
    Py_INCREF(bound->miss = miss);
    Py_INCREF(bound->fail = fail);
    PyObject_GC_Track(bound);
    bool fine = (bound->args = read_specs(args)) != NULL;
    if (fine) bound->number_args = PyTuple_GET_SIZE(args);
    fine = fine && (bound->results = read_specs(results)) != NULL;
    if (fine) bound->number_results = PyTuple_GET_SIZE(results);
    if (!fine || !read_operations(bound, operations)) {
        Py_DECREF(bound);
        return NULL;
    }
    bound->number_lengths = count_lengths(bound->args, bound->number_args);
    return (PyObject *)bound;
}

/* set_threads(all, most): how many threads calls use that ask for none, and at most. */
static PyObject *set_threads(PyObject *module, PyObject *args) {
    (void)module;
    long long all, most;
    if (!PyArg_ParseTuple(args, "LL", &all, &most)) return NULL;
    all_threads = all;
    most_threads = most;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, PyDoc_STR("An entry as a callable.")},
    {"set_threads", set_threads, METH_VARARGS, PyDoc_STR("How many threads a call uses, and at most.")},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "pullback_bridge", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_pullback_bridge(void) {
    import_array();
    if (PyType_Ready(&Bound_Type) < 0) return NULL;
    return PyModule_Create(&definition);
}
