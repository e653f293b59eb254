# Numbers, texts and bytes → bytes. What is written is held while that goes on: an integer's own
# methods may run, and take out of a value what was in it.


cdef int number_of(PyObject* x, int kind, int64_t* value) noexcept:
    """The integer in the bounds of the kind; what ``struct`` takes for one is taken."""
    cdef int overflow = 0
    cdef PyObject* index
    if PyLong_CheckExact(x):
        value[0] = PyLong_AsLongLongAndOverflow(x, &overflow)
    else:
        index = PyNumber_Index(x)
        if index == NULL:
            return -1
        value[0] = PyLong_AsLongLongAndOverflow(index, &overflow)
        Py_DECREF(index)
    if overflow:
        return -1
    if kind == INT32:
        return 0 if value[0] == <int32_t>value[0] else -1
    elif kind == INT16:
        return 0 if value[0] == <int16_t>value[0] else -1
    elif kind == INT8:
        return 0 if value[0] == <int8_t>value[0] else -1
    elif kind == UINT16:
        return 0 if value[0] == <uint16_t>value[0] else -1
    elif kind == UINT32:
        return 0 if value[0] == <uint32_t>value[0] else -1
    return 0


cdef inline int write_number(Node* n, PyObject* x, Writer* w) noexcept:
    cdef int64_t value
    if number_of(x, n.kind, &value) < 0 or need(w, 8) < 0:
        return -1
    if n.kind == INT32:
        put_be(w.p, <uint64_t>value, 4)
        w.p += 4
    elif n.kind == INT16 or n.kind == UINT16:
        put_be(w.p, <uint64_t>value, 2)
        w.p += 2
    elif n.kind == INT64:
        put_be(w.p, <uint64_t>value, 8)
        w.p += 8
    elif n.kind == INT8:
        w.p[0] = <unsigned char>value
        w.p += 1
    else:
        put_be(w.p, <uint64_t>value, 4)
        w.p += 4
    return 0


cdef int write_double(PyObject* x, Writer* w) noexcept:
    cdef double value = PyFloat_AsDouble(x)
    cdef uint64_t bits
    if value == -1.0 and PyErr_Occurred() != NULL:
        return -1
    if need(w, 8) < 0:
        return -1
    memcpy(&bits, &value, 8)
    put_be(w.p, bits, 8)
    w.p += 8
    return 0


cdef int uuid_bytes(PyObject* x, unsigned char* q) noexcept:
    """The 16 bytes of a UUID, at ``q``."""
    cdef PyObject* number
    cdef int done = -1
    if Py_TYPE(x) == _uuid_class:
        number = (<PyObject**>(<char*>x + _uuid_int))[0]
        if number == NULL:
            return -1
        Py_INCREF(number)
    elif PyObject_TypeCheck(x, _uuid_class):
        number = PyObject_GetAttr(x, _int_attribute)
        if number == NULL:
            return -1
    else:
        return -1
    if PyLong_Check(number):
        done = kap_long_as_bytes(number, q)
    Py_DECREF(number)
    return done


cdef int write_uuid(PyObject* x, Writer* w) noexcept:
    if need(w, 16) < 0 or uuid_bytes(x, w.p) < 0:
        return -1
    w.p += 16
    return 0


cdef int write_length(Node* n, Py_ssize_t length, Writer* w) noexcept:
    """The length of what follows, or -1 for null; room for that many bytes is made."""
    if length > n.max_length or (length < 0 and not n.nullable):
        return -1
    if need(w, 8 + (length if length > 0 else 0)) < 0:
        return -1
    if n.compact:
        if length < 127:
            w.p[0] = <unsigned char>(length + 1)
            w.p += 1
            return 0
        return put_uvarint(w, <uint64_t>(length + 1))
    put_be(w.p, <uint64_t>length, n.prefix_size)
    w.p += n.prefix_size
    return 0


cdef int write_bytes(Node* n, const void* data, Py_ssize_t length, Writer* w) noexcept:
    if write_length(n, length, w) < 0:
        return -1
    return put(w, data, length)


cdef PyObject* utf8(PyObject* x) noexcept:
    """The text as bytes, lone surrogates as what they stand for: new."""
    return PyUnicode_AsEncodedString(x, b"utf-8", b"surrogateescape")


cdef int write_text(Node* n, PyObject* x, Writer* w) noexcept:
    cdef PyObject* data
    cdef int done
    if x == Py_None:
        return write_length(n, -1, w)
    if PyUnicode_CheckExact(x) and PyUnicode_IS_COMPACT_ASCII(x):
        return write_bytes(n, PyUnicode_DATA(x), PyUnicode_GET_LENGTH(x), w)
    if not PyUnicode_Check(x):
        return -1
    data = utf8(x)
    if data == NULL:
        return -1
    done = write_bytes(n, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), w)
    Py_DECREF(data)
    return done


cdef PyObject* plain_bytes(PyObject* x) noexcept:
    """A copy, as bytes, of a view whose bytes do not stand together: new."""
    return PyObject_CallOneArg(_bytes_class, x)


cdef int write_blob(Node* n, PyObject* x, Writer* w) noexcept:
    cdef Py_buffer view
    cdef PyObject* copy
    cdef int done
    if x == Py_None:
        return write_length(n, -1, w)
    if PyBytes_Check(x):
        return write_bytes(n, PyBytes_AS_STRING(x), PyBytes_GET_SIZE(x), w)
    if not PyByteArray_Check(x) and not PyMemoryView_Check(x):
        return -1
    if PyObject_GetBuffer(x, &view, PyBUF_SIMPLE) == 0:
        done = write_bytes(n, view.buf, view.len, w)
        PyBuffer_Release(&view)
        return done
    PyErr_Clear()
    copy = plain_bytes(x)
    if copy == NULL:
        return -1
    done = write_bytes(n, PyBytes_AS_STRING(copy), PyBytes_GET_SIZE(copy), w)
    Py_DECREF(copy)
    return done
