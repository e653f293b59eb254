# What all parts share: Python's C functions, numbers in memory, and the buffer that is written.
#
# The functions of this package are C but for their notation: they hold PyObject pointers and count
# references by hand. Each comment "new" marks a reference that the caller owns. A function that
# returns NULL or -1 either has set a Python exception, or has refused what it was given, for which
# the methods of Engine raise Fallback in the end.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

cdef extern from "Python.h":
    ctypedef struct PyObject:
        pass
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_basicsize
    Py_ssize_t PY_SSIZE_T_MAX
    PyObject* Py_None
    PyObject* Py_True
    PyObject* Py_False
    void Py_INCREF(PyObject*) noexcept
    void Py_DECREF(PyObject*) noexcept
    void Py_XDECREF(PyObject*) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept
    PyObject* PyErr_Occurred() noexcept
    PyObject* PyErr_NoMemory() noexcept
    void PyErr_Clear() noexcept
    void PyErr_SetNone(PyObject*) noexcept
    bint PyErr_ExceptionMatches(PyObject*) noexcept
    PyObject* PyExc_Exception
    PyObject* PyExc_MemoryError
    PyObject* PyExc_RecursionError

    PyObject* PyLong_FromLong(long) noexcept
    PyObject* PyLong_FromLongLong(long long) noexcept
    PyObject* PyLong_FromUnsignedLong(unsigned long) noexcept
    bint PyLong_CheckExact(PyObject*) noexcept
    bint PyLong_Check(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept
    long long PyLong_AsLongLong(PyObject*) noexcept
    PyObject* PyDict_GetItemWithError(PyObject*, PyObject*) noexcept
    PyObject* PyNumber_Index(PyObject*) noexcept
    PyObject* PyFloat_FromDouble(double) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept
    bint PyFloat_CheckExact(PyObject*) noexcept

    PyObject* PyUnicode_New(Py_ssize_t, uint32_t) noexcept
    void* PyUnicode_DATA(PyObject*) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject*) noexcept
    bint PyUnicode_CheckExact(PyObject*) noexcept
    bint PyUnicode_Check(PyObject*) noexcept
    bint PyUnicode_IS_COMPACT_ASCII(PyObject*) noexcept
    PyObject* PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*) noexcept
    PyObject* PyUnicode_AsEncodedString(PyObject*, const char*, const char*) noexcept

    PyObject* PyBytes_FromStringAndSize(const char*, Py_ssize_t) noexcept
    char* PyBytes_AS_STRING(PyObject*) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject*) noexcept
    bint PyBytes_Check(PyObject*) noexcept
    int _PyBytes_Resize(PyObject**, Py_ssize_t) noexcept
    bint PyByteArray_Check(PyObject*) noexcept
    char* PyByteArray_AS_STRING(PyObject*) noexcept
    Py_ssize_t PyByteArray_GET_SIZE(PyObject*) noexcept
    int PyByteArray_Resize(PyObject*, Py_ssize_t) noexcept

    bint PyMemoryView_Check(PyObject*) noexcept
    PyObject* PyMemoryView_FromObject(PyObject*) noexcept
    PyObject* PySequence_GetSlice(PyObject*, Py_ssize_t, Py_ssize_t) noexcept
    int PySequence_DelSlice(PyObject*, Py_ssize_t, Py_ssize_t) noexcept
    int PyObject_GetBuffer(PyObject*, Py_buffer*, int) noexcept
    void PyBuffer_Release(Py_buffer*) noexcept
    int PyBUF_SIMPLE

    PyObject* PyList_New(Py_ssize_t) noexcept
    void PyList_SET_ITEM(PyObject*, Py_ssize_t, PyObject*) noexcept
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject*) noexcept
    bint PyList_CheckExact(PyObject*) noexcept
    bint PyList_Check(PyObject*) noexcept
    int PyList_Append(PyObject*, PyObject*) noexcept
    int PyList_Sort(PyObject*) noexcept
    PyObject* PyList_GetSlice(PyObject*, Py_ssize_t, Py_ssize_t) noexcept
    PyObject* PyTuple_New(Py_ssize_t) noexcept
    void PyTuple_SET_ITEM(PyObject*, Py_ssize_t, PyObject*) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    bint PyTuple_Check(PyObject*) noexcept
    bint PyTuple_CheckExact(PyObject*) noexcept
    PyObject* PyList_AsTuple(PyObject*) noexcept

    PyObject* PyMethod_New(PyObject*, PyObject*) noexcept
    PyObject* PyObject_CallNoArgs(PyObject*) noexcept
    PyObject* PyObject_CallOneArg(PyObject*, PyObject*) noexcept
    PyObject* PyObject_GetAttr(PyObject*, PyObject*) noexcept
    PyObject* PyObject_RichCompare(PyObject*, PyObject*, int) noexcept
    int PyObject_IsTrue(PyObject*) noexcept
    Py_ssize_t PyObject_Size(PyObject*) noexcept
    int PyObject_IsInstance(PyObject*, PyObject*) noexcept
    bint PyObject_TypeCheck(PyObject*, PyTypeObject*) noexcept
    int Py_EQ

cdef extern from *:
    """
    #include <structmember.h>

    #if PY_VERSION_HEX < 0x030D0000
    #define kap_long_as_bytes(number, bytes) \\
        _PyLong_AsByteArray((PyLongObject *)(number), (bytes), 16, 0, 0)
    #else
    #define kap_long_as_bytes(number, bytes) \\
        _PyLong_AsByteArray((PyLongObject *)(number), (bytes), 16, 0, 0, 1)
    #endif
    #define kap_long_from_bytes(bytes) _PyLong_FromByteArray((bytes), 16, 0, 0)

    /* An instance of a class with all its slots empty. */
    static inline PyObject *kap_new(PyTypeObject *type) { return type->tp_alloc(type, 0); }

    /* Where an instance has that attribute, if it is a slot; else -1. */
    static Py_ssize_t kap_slot(PyObject *type, PyObject *descriptor) {
        PyMemberDescrObject *found = (PyMemberDescrObject *)descriptor;
        if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type) || !PyType_Check(type)) return -1;
        if (!PyType_IsSubtype((PyTypeObject *)type, PyDescr_TYPE(found))) return -1;
        if (found->d_member->type != T_OBJECT_EX || found->d_member->flags & READONLY) return -1;
        Py_ssize_t offset = found->d_member->offset;
        Py_ssize_t last = ((PyTypeObject *)type)->tp_basicsize - (Py_ssize_t)sizeof(PyObject *);
        return offset < (Py_ssize_t)sizeof(PyObject) || offset > last ? -1 : offset;
    }
    static inline int kap_collected(PyObject *type) { return PyType_IS_GC((PyTypeObject *)type); }
    static inline int kap_slotted(PyObject *type) {
        return ((PyTypeObject *)type)->tp_itemsize == 0 && ((PyTypeObject *)type)->tp_alloc != NULL;
    }
    """
    int kap_long_as_bytes(PyObject*, unsigned char*) noexcept
    PyObject* kap_long_from_bytes(const unsigned char*) noexcept
    PyObject* kap_new(PyTypeObject*) noexcept
    Py_ssize_t kap_slot(PyObject*, PyObject*) noexcept
    bint kap_collected(PyObject*) noexcept
    bint kap_slotted(PyObject*) noexcept


cdef inline PyObject* held(PyObject* x) noexcept:
    """The object with one reference more: new."""
    Py_INCREF(x)
    return x


cdef inline uint16_t be16(const unsigned char* q) noexcept:
    return <uint16_t>((q[0] << 8) | q[1])


cdef inline uint32_t be32(const unsigned char* q) noexcept:
    return (<uint32_t>q[0] << 24) | (<uint32_t>q[1] << 16) | (<uint32_t>q[2] << 8) | q[3]


cdef inline uint64_t be64(const unsigned char* q) noexcept:
    return (<uint64_t>be32(q) << 32) | be32(q + 4)


cdef inline void put_be(unsigned char* q, uint64_t value, int size) noexcept:
    cdef int i
    for i in range(size):
        q[i] = <unsigned char>(value >> (8 * (size - 1 - i)))


# The buffer that is written. It begins as a piece of the stack, and goes to bytes when that is
# full, which are cut to their size in the end.

cdef enum:
    SMALL_BYTES = 1024
    LARGEST_GUESS = 1 << 26

cdef struct Writer:
    unsigned char* begin
    unsigned char* p
    unsigned char* end
    PyObject* whole  # the bytes, once there are any
    Py_ssize_t* guess  # how many the last ones of the kind were
    unsigned char small[SMALL_BYTES]


cdef inline void open_writer(Writer* w, Py_ssize_t* guess) noexcept:
    """Begin to write; ``guess`` is kept by the caller from one to the next, and may be NULL."""
    w.guess = guess
    w.begin = w.p = w.small
    w.end = w.small + SMALL_BYTES
    w.whole = NULL


cdef int grow(Writer* w, Py_ssize_t size) noexcept:
    """Make room for ``size`` bytes more; -1 without memory for them."""
    cdef Py_ssize_t used = w.p - w.begin
    cdef Py_ssize_t room = w.end - w.begin
    if size > PY_SSIZE_T_MAX // 4 - used:
        PyErr_NoMemory()
        return -1
    room = max(2 * room, used + size + 64)
    if w.whole == NULL:
        if w.guess != NULL:
            room = max(room, w.guess[0])
        w.whole = PyBytes_FromStringAndSize(NULL, room)
        if w.whole == NULL:
            return -1
        memcpy(PyBytes_AS_STRING(w.whole), w.begin, used)
    elif _PyBytes_Resize(&w.whole, room) < 0:
        # The bytes are gone: what goes on in spite of it begins anew.
        open_writer(w, w.guess)
        return -1
    w.begin = <unsigned char*>PyBytes_AS_STRING(w.whole)
    w.p = w.begin + used
    w.end = w.begin + room
    return 0


cdef inline int need(Writer* w, Py_ssize_t size) noexcept:
    """Whether ``size`` bytes may be written from ``w.p`` on: 0, or -1 without memory for them."""
    if size <= w.end - w.p:
        return 0
    return grow(w, size)


cdef void drop_writer(Writer* w) noexcept:
    Py_XDECREF(w.whole)
    w.whole = NULL


cdef PyObject* written(Writer* w) noexcept:
    """All that was written, as bytes: new. The writer is closed, whatever the outcome."""
    cdef PyObject* made = w.whole
    w.whole = NULL
    if made == NULL:
        return PyBytes_FromStringAndSize(<char*>w.begin, w.p - w.begin)
    if w.guess != NULL:
        w.guess[0] = min(w.p - w.begin + (w.p - w.begin) // 16, LARGEST_GUESS)
    if _PyBytes_Resize(&made, w.p - w.begin) < 0:
        return NULL
    return made


cdef inline int put(Writer* w, const void* data, Py_ssize_t size) noexcept:
    if need(w, size) < 0:
        return -1
    memcpy(w.p, data, size)
    w.p += size
    return 0


cdef inline int put_uvarint(Writer* w, uint64_t value) noexcept:
    if need(w, 10) < 0:
        return -1
    while value >= 128:
        w.p[0] = <unsigned char>(value | 128)
        w.p += 1
        value >>= 7
    w.p[0] = <unsigned char>value
    w.p += 1
    return 0
