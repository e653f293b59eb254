# Bytes → values.


cdef PyObject* read_array(Node* n, Reader* r) noexcept:
    cdef Node* element = n.element
    cdef PyObject* made
    cdef PyObject* x
    cdef int64_t count = read_count(n, r)
    cdef Py_ssize_t i
    if count < 0:
        return held(Py_None) if count == -1 else NULL
    made = PyList_New(<Py_ssize_t>count)
    if made == NULL:
        return NULL
    if element.kind == INT32:
        for i in range(<Py_ssize_t>count):
            x = PyLong_FromLong(<int32_t>be32(r.p))
            if x == NULL:
                Py_DECREF(made)
                return NULL
            PyList_SET_ITEM(made, i, x)
            r.p += 4
        return made
    for i in range(<Py_ssize_t>count):
        x = read_value(element, r)
        if x == NULL:
            Py_DECREF(made)
            return NULL
        PyList_SET_ITEM(made, i, x)
    return made


cdef PyObject* default_of(Field* f) noexcept:
    """The value of a field that is not on the wire: new."""
    if f.how_default == SHARED_DEFAULT:
        return held(f.default)
    if f.how_default == LIST_DEFAULT:
        return PyList_New(0)
    return PyObject_CallNoArgs(f.default)


cdef inline PyObject** slot_of(PyObject* owner, Field* f) noexcept:
    return <PyObject**>(<char*>owner + f.offset)


cdef PyObject* read_struct(Shape* s, Reader* r) noexcept:
    """A value of the struct's class: new. Its slots are filled in place, all of them."""
    cdef PyObject* made = kap_new(s.value_class)
    cdef PyObject* x
    cdef Field* f = s.fields
    cdef int i
    if made == NULL:
        return NULL
    for i in range(s.count):
        if f.node != NULL and f.tag < 0:
            x = read_value(f.node, r)
        else:
            x = default_of(f)
        if x == NULL:
            Py_DECREF(made)
            return NULL
        slot_of(made, f)[0] = x
        f += 1
    if s.flexible:
        if r.p < r.end and r.p[0] == 0:
            r.p += 1
        elif read_tags(s, made, r) < 0:
            Py_DECREF(made)
            return NULL
    return made


cdef Field* tagged_field(Shape* s, int64_t tag) noexcept:
    cdef int i
    for i in range(s.tagged_count):
        if s.fields[s.tagged[i]].tag == tag:
            return &s.fields[s.tagged[i]]
    return NULL


cdef bint is_foreign(Shape* s, int64_t tag) noexcept:
    cdef int i
    for i in range(s.foreign_count):
        if s.foreign[i] == tag:
            return True
    return False


cdef PyObject* read_unknown(int64_t tag, int64_t size, Reader* r) noexcept:
    """The pair of an unknown tag and its bytes: new."""
    cdef PyObject* pair
    cdef PyObject* x
    if size > r.end - r.p:
        return NULL
    pair = PyTuple_New(2)
    if pair == NULL:
        return NULL
    x = PyLong_FromLongLong(tag)
    if x == NULL:
        Py_DECREF(pair)
        return NULL
    PyTuple_SET_ITEM(pair, 0, x)
    x = PyBytes_FromStringAndSize(<const char*>r.p, <Py_ssize_t>size)
    if x == NULL:
        Py_DECREF(pair)
        return NULL
    PyTuple_SET_ITEM(pair, 1, x)
    r.p += size
    return pair


cdef int read_tags(Shape* s, PyObject* made, Reader* r) noexcept:
    """Known tags go to their slots; unknown ones become the last slot."""
    cdef int64_t count = uvarint(r)
    cdef int64_t i, tag, size
    cdef PyObject* unknown = NULL
    cdef PyObject* x
    cdef PyObject* before
    cdef Field* f
    cdef int failed = 0
    if count < 0 or 2 * count > r.end - r.p:
        return -1
    for i in range(count):
        tag = uvarint(r)
        if tag < 0:
            break
        size = uvarint(r)
        if size < 0:
            break
        f = tagged_field(s, tag)
        if f != NULL:
            x = read_value(f.node, r)
            if x == NULL:
                break
            before = slot_of(made, f)[0]
            slot_of(made, f)[0] = x
            Py_XDECREF(before)
            continue
        if is_foreign(s, tag):
            break
        x = read_unknown(tag, size, r)
        if x == NULL:
            break
        if unknown == NULL:
            unknown = PyList_New(0)
        failed = -1 if unknown == NULL else PyList_Append(unknown, x)
        Py_DECREF(x)
        if failed < 0:
            break
    else:
        if unknown == NULL:
            return 0
        x = PyList_AsTuple(unknown)
        Py_DECREF(unknown)
        if x == NULL:
            return -1
        f = &s.fields[s.unknown]
        before = slot_of(made, f)[0]
        slot_of(made, f)[0] = x
        Py_XDECREF(before)
        return 0
    Py_XDECREF(unknown)
    return -1


cdef PyObject* read_nullable(Node* n, Reader* r) noexcept:
    cdef int64_t marker
    if n.tagged:
        marker = uvarint(r)
        if marker < 0:
            return NULL
        if marker == 0:
            return held(Py_None)
    else:
        if r.p >= r.end:
            return NULL
        r.p += 1
        if (r.p - 1)[0] > 127:
            return held(Py_None)
    return read_struct(n.shape, r)


cdef PyObject* read_value(Node* n, Reader* r) noexcept:
    """The next value: new; NULL where it is refused or an exception is set."""
    cdef const unsigned char* q = r.p
    cdef Py_ssize_t left = r.end - q
    cdef int kind = n.kind
    if kind == STRING or kind == BYTES or kind == RECORDS:
        return read_blob(n, r)
    elif kind == INT32:
        if left < 4:
            return NULL
        r.p = q + 4
        return PyLong_FromLong(<int32_t>be32(q))
    elif kind == STRUCT:
        return read_struct(n.shape, r)
    elif kind == ARRAY:
        return read_array(n, r)
    elif kind == INT16:
        if left < 2:
            return NULL
        r.p = q + 2
        return PyLong_FromLong(<int16_t>be16(q))
    elif kind == BOOL:
        if left < 1:
            return NULL
        r.p = q + 1
        return held(Py_True if q[0] else Py_False)
    elif kind == UUID_:
        if left < 16:
            return NULL
        r.p = q + 16
        return read_uuid(q)
    elif kind == INT64:
        if left < 8:
            return NULL
        r.p = q + 8
        return PyLong_FromLongLong(<int64_t>be64(q))
    elif kind == INT8:
        if left < 1:
            return NULL
        r.p = q + 1
        return PyLong_FromLong(<int8_t>q[0])
    elif kind == UINT16:
        if left < 2:
            return NULL
        r.p = q + 2
        return PyLong_FromLong(be16(q))
    elif kind == UINT32:
        if left < 4:
            return NULL
        r.p = q + 4
        return PyLong_FromUnsignedLong(be32(q))
    elif kind == FLOAT64:
        if left < 8:
            return NULL
        r.p = q + 8
        return read_double(q)
    elif kind == NULLABLE:
        return read_nullable(n, r)
    return NULL
