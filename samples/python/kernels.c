/* SPDX-License-Identifier: Apache-2.0 */
/* An extension of Python: kernels.smooth(values, rounds, each=None) has scopes of its own, below
 * the scope that calls it, and calls back into Python, whose scopes are below its own. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stint/stint.h>

static double smooth_once(double *value, Py_ssize_t count) {
    STINT_TIMER("smooth.pass");
    double change = 0;
    for (Py_ssize_t i = 1; i + 1 < count; ++i) {
        double mean = (value[i - 1] + value[i] + value[i + 1]) / 3;
        change += mean > value[i] ? mean - value[i] : value[i] - mean;
        value[i] = mean;
    }
    return change;
}

static int take_values(PyObject *list, double *out, Py_ssize_t count) {
    STINT_TIMER("smooth.unpack");
    for (Py_ssize_t i = 0; i < count; ++i) {
        out[i] = PyFloat_AsDouble(PyList_GET_ITEM(list, i));
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* The sum of changes in the last pass. each(change) is called after each pass. */
static PyObject *smooth(PyObject *module, PyObject *arguments) {
    STINT_TIMER("smooth");
    PyObject *list, *each = Py_None;
    int rounds;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!i|O", &PyList_Type, &list, &rounds, &each)) {
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(list);
    double change = 0, *value = PyMem_New(double, (size_t)count + 1);
    int failed = !value || take_values(list, value, count);
    for (int i = 0; i < rounds && !failed; ++i) {
        change = smooth_once(value, count);
        if (each != Py_None) {
            PyObject *result = PyObject_CallFunction(each, "d", change);
            failed = !result;
            Py_XDECREF(result);
        }
    }
    PyMem_Free(value);
    return failed ? NULL : PyFloat_FromDouble(change);
}

static PyMethodDef methods[] = {
    {"smooth", smooth, METH_VARARGS, "smooth(values, rounds, each=None) -> change"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "kernels", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_kernels(void);

PyMODINIT_FUNC PyInit_kernels(void) {
    return PyModule_Create(&definition);
}
