/* Specs of arguments and results, as `extension.py` packs them, and numbers between Python and `pb_arg`. */
#ifndef PULLBACK_SPECS_H
#define PULLBACK_SPECS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/npy_math.h>
#include <stdbool.h>

#include "pullback.h"

_Static_assert(sizeof(npy_intp) == sizeof(int64_t), "lengths and strides of arrays are 64 bits wide");

enum { FLOAT = 0, INT = 1, BOOL = 2, COMPLEX = 3, ARRAY = 4 };

/* What one argument or result is.  `type` is NumPy's number of the dtype, `same` another number of a dtype that is the
   same (as of `long` and `long long`); `ones` and `equal` have an item for each axis, or are NULL if they ask nothing. */
typedef struct {
    int kind;
    int dtype; /* a code, or -1 for a number of Python */
    int type, same;
    int rank;
    bool writes;
    int8_t *ones;   /* 1: length 1; 0: not 1; -1: any */
    int32_t *equal; /* index into the call's table of lengths; -1: any */
    PyTypeObject *scalar; /* the type of a NumPy scalar; borrowed from the dtype, which NumPy keeps */
    PyArray_Descr *descr; /* owned */
} Spec;

static const int TYPES[] = {NPY_BOOL,   NPY_INT8,   NPY_UINT8,   NPY_INT16,   NPY_UINT16,    NPY_INT32,     NPY_UINT32,
                            NPY_INT64,  NPY_UINT64, NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};

/* Another number that NumPy gives to the same integers. */
static int same_type(int type) {
    if (sizeof(long) == sizeof(long long)) {
        if (type == NPY_LONG) return NPY_LONGLONG;
        if (type == NPY_ULONG) return NPY_ULONGLONG;
    }
    if (sizeof(long) == sizeof(int)) {
        if (type == NPY_INT) return NPY_LONG;
        if (type == NPY_UINT) return NPY_ULONG;
    }
    return type;
}

static void free_spec(Spec *spec) {
    PyMem_Free(spec->ones);
    PyMem_Free(spec->equal);
    Py_XDECREF(spec->descr);
}

/* The items of a tuple of ints, if any is not -1; `wide` says whether they are int32 or int8. */
static bool read_axes(PyObject *tuple, int rank, bool wide, void **into) {
    bool any = false;
    if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) != rank) {
        PyErr_SetString(PyExc_ValueError, "a spec has an item for each axis");
        return false;
    }
    void *items = PyMem_Malloc((size_t)rank * (wide ? sizeof(int32_t) : 1) + 1);
    if (items == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (int k = 0; k < rank; k++) {
        long item = PyLong_AsLong(PyTuple_GET_ITEM(tuple, k));
        any |= item != -1;
        if (wide) ((int32_t *)items)[k] = (int32_t)item;
        else ((int8_t *)items)[k] = (int8_t)item;
    }
    if (any) *into = items;
    else PyMem_Free(items);
    return !PyErr_Occurred();
}

/* One spec from its tuple (kind, dtype, rank, writes, ones, equal). */
static bool read_spec(PyObject *packed, Spec *spec) {
    PyObject *ones, *equal;
    int writes;
    if (!PyArg_ParseTuple(packed, "iiipOO", &spec->kind, &spec->dtype, &spec->rank, &writes, &ones, &equal)) return false;
    spec->writes = writes;
    if (spec->dtype >= 0) {
        spec->type = TYPES[spec->dtype];
        spec->same = same_type(spec->type);
        spec->descr = PyArray_DescrFromType(spec->type);
        if (spec->descr == NULL) return false;
        spec->scalar = spec->descr->typeobj;
    }
    return read_axes(ones, spec->rank, false, (void **)&spec->ones) &&
           read_axes(equal, spec->rank, true, (void **)&spec->equal);
}

static void free_specs(Spec *specs, Py_ssize_t number) {
    if (specs != NULL)
        for (Py_ssize_t k = 0; k < number; k++) free_spec(&specs[k]);
    PyMem_Free(specs);
}

/* The specs of a tuple; NULL with an error set if they cannot be read. */
static Spec *read_specs(PyObject *tuple) {
    Py_ssize_t number = PyTuple_GET_SIZE(tuple);
    Spec *specs = PyMem_Calloc((size_t)number + 1, sizeof(Spec));
    if (specs == NULL) return (Spec *)PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < number; k++)
        if (!read_spec(PyTuple_GET_ITEM(tuple, k), &specs[k])) {
            free_specs(specs, number);
            return NULL;
        }
    return specs;
}

/* A Python number of exactly the kind; false (no error is set) if it is another, or does not fit. */
static inline bool take_python(const Spec *spec, PyObject *object, pb_arg *arg) {
    int overflow = 0;
    switch (spec->kind) {
    case FLOAT:
        if (!PyFloat_CheckExact(object)) return false;
        arg->f = PyFloat_AS_DOUBLE(object);
        return true;
    case INT:
        if (!PyLong_CheckExact(object)) return false;
        arg->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        return !overflow;
    case BOOL:
        if (!PyBool_Check(object)) return false;
        arg->i = object == Py_True;
        return true;
    default:
        if (!PyComplex_CheckExact(object)) return false;
        arg->c[0] = PyComplex_RealAsDouble(object);
        arg->c[1] = PyComplex_ImagAsDouble(object);
        return true;
    }
}

/* A scalar of NumPy, or a Python number. */
static inline bool take_number(const Spec *spec, PyObject *object, pb_arg *arg) {
    if (spec->dtype < 0) return take_python(spec, object, arg);
    if (Py_TYPE(object) != spec->scalar) return false;
    switch (spec->dtype) {
    case PB_BOOL: arg->i = PyArrayScalar_VAL(object, Bool); return true;
    case PB_INT8: arg->i = PyArrayScalar_VAL(object, Int8); return true;
    case PB_UINT8: arg->i = PyArrayScalar_VAL(object, UInt8); return true;
    case PB_INT16: arg->i = PyArrayScalar_VAL(object, Int16); return true;
    case PB_UINT16: arg->i = PyArrayScalar_VAL(object, UInt16); return true;
    case PB_INT32: arg->i = PyArrayScalar_VAL(object, Int32); return true;
    case PB_UINT32: arg->i = PyArrayScalar_VAL(object, UInt32); return true;
    case PB_INT64: arg->i = PyArrayScalar_VAL(object, Int64); return true;
    case PB_UINT64: arg->i = (int64_t)PyArrayScalar_VAL(object, UInt64); return true;
    case PB_FLOAT32: arg->f = PyArrayScalar_VAL(object, Float32); return true;
    case PB_FLOAT64: arg->f = PyArrayScalar_VAL(object, Float64); return true;
    case PB_COMPLEX64: {
        npy_complex64 value = PyArrayScalar_VAL(object, Complex64);
        arg->c[0] = npy_crealf(value);
        arg->c[1] = npy_cimagf(value);
        return true;
    }
    default: {
        npy_complex128 value = PyArrayScalar_VAL(object, Complex128);
        arg->c[0] = npy_creal(value);
        arg->c[1] = npy_cimag(value);
        return true;
    }
    }
}

/* A Python number from a `pb_arg`. */
static PyObject *python_number(const Spec *spec, const pb_arg *arg) {
    switch (spec->kind) {
    case FLOAT: return PyFloat_FromDouble(arg->f);
    case INT: return PyLong_FromLongLong(arg->i);
    case BOOL: return PyBool_FromLong(arg->i != 0);
    default: return PyComplex_FromDoubles(arg->c[0], arg->c[1]);
    }
}

/* A NumPy scalar or a Python number from a `pb_arg`. */
static PyObject *give_number(const Spec *spec, const pb_arg *arg) {
    union { int8_t i1; int16_t i2; int32_t i4; int64_t i8; float f4; double f8; float c8[2]; double c16[2]; } value;
    if (spec->dtype < 0) return python_number(spec, arg);
    switch (spec->dtype) {
    case PB_BOOL: value.i1 = arg->i != 0; break;
    case PB_INT8: case PB_UINT8: value.i1 = (int8_t)arg->i; break;
    case PB_INT16: case PB_UINT16: value.i2 = (int16_t)arg->i; break;
    case PB_INT32: case PB_UINT32: value.i4 = (int32_t)arg->i; break;
    case PB_INT64: case PB_UINT64: value.i8 = arg->i; break;
    case PB_FLOAT32: value.f4 = (float)arg->f; break;
    case PB_FLOAT64: value.f8 = arg->f; break;
    case PB_COMPLEX64: value.c8[0] = (float)arg->c[0]; value.c8[1] = (float)arg->c[1]; break;
    default: value.c16[0] = arg->c[0]; value.c16[1] = arg->c[1];
    }
    return PyArray_Scalar(&value, spec->descr, NULL);
}

/* A number that an operation gave, as a `pb_arg`; one that does not fit is an error, never cut. */
static bool convert_number(const Spec *spec, PyObject *object, pb_arg *arg) {
    if (spec->kind == FLOAT) {
        arg->f = PyFloat_AsDouble(object);
    } else if (spec->kind == COMPLEX) {
        Py_complex value = PyComplex_AsCComplex(object);
        arg->c[0] = value.real;
        arg->c[1] = value.imag;
    } else if (spec->kind == BOOL) {
        int value = PyObject_IsTrue(object);
        arg->i = value;
    } else {
        PyObject *index = PyNumber_Index(object);
        if (index == NULL) return false;
        arg->i = spec->dtype == PB_UINT64 ? (int64_t)PyLong_AsUnsignedLongLong(index) : PyLong_AsLongLong(index);
        Py_DECREF(index);
    }
    return !PyErr_Occurred();
}

#endif
