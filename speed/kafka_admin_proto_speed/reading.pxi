# Bytes → values.

cdef enum:
    TEXTS = 128  # places of the cache of texts
    LONGEST_CACHED = 40  # bytes of a text in it
    CACHE_FROM = 512  # bytes of data, for fewer of which it is not worth its while

cdef struct Reader:
    const unsigned char* begin
    const unsigned char* p
    const unsigned char* end
    PyObject* view  # a memoryview of the data, where bytes stay views of it; borrowed
    PyObject** texts  # the cache, or NULL; each a reference


cdef inline int64_t uvarint(Reader* r) noexcept:
    """The next varint, 0 to 2**31 - 1; -1 is refused."""
    if r.p < r.end and r.p[0] < 128:
        r.p += 1
        return (r.p - 1)[0]
    return long_uvarint(r)


cdef int64_t long_uvarint(Reader* r) noexcept:
    cdef uint64_t value = 0
    cdef int shift = 0
    while r.p < r.end and shift < 35:
        value |= <uint64_t>(r.p[0] & 127) << shift
        r.p += 1
        if (r.p - 1)[0] < 128:
            return <int64_t>value if value <= 0x7FFFFFFF else -1
        shift += 7
    return -1


cdef inline int64_t read_length(Node* n, Reader* r) noexcept:
    """A length, or -1 for null, as the node has it; -2 is refused. So many bytes are there."""
    cdef int64_t length
    if n.compact:
        length = uvarint(r) - 1
        if length < 0:
            return -1 if length == -1 and n.nullable else -2
    else:
        if r.end - r.p < n.prefix_size:
            return -2
        length = <int16_t>be16(r.p) if n.prefix_size == 2 else <int32_t>be32(r.p)
        r.p += n.prefix_size
        if length < 0:
            return -1 if length == -1 and n.nullable else -2
    if length > n.max_length or length > r.end - r.p:
        return -2
    return length


cdef inline bint is_ascii(const unsigned char* q, Py_ssize_t size) noexcept:
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, q, 8)
        if word & <uint64_t>0x8080808080808080:
            return False
        q += 8
        size -= 8
    while size > 0:
        if q[0] > 127:
            return False
        q += 1
        size -= 1
    return True


cdef inline unsigned int text_place(const unsigned char* q, Py_ssize_t size) noexcept:
    """The place in the cache of a text of at least 2 bytes."""
    cdef uint64_t first = 0, last = 0
    cdef Py_ssize_t part = size if size < 8 else 8
    memcpy(&first, q, part)
    memcpy(&last, q + size - part, part)
    first = (first ^ (last * 3) ^ <uint64_t>size) * <uint64_t>0x9E3779B97F4A7C15
    return <unsigned int>(first >> 57)


cdef PyObject* read_text(const unsigned char* q, Py_ssize_t size, Reader* r) noexcept:
    """A text: new. Bytes that are not UTF-8 are lone surrogates in it."""
    cdef PyObject* made
    cdef PyObject** place
    if size < 2 or not is_ascii(q, size):
        return PyUnicode_DecodeUTF8(<const char*>q, size, b"surrogateescape")
    if r.texts == NULL or size > LONGEST_CACHED:
        made = PyUnicode_New(size, 127)
        if made != NULL:
            memcpy(PyUnicode_DATA(made), q, size)
        return made
    place = &r.texts[text_place(q, size)]
    made = place[0]
    if (
        made != NULL
        and PyUnicode_GET_LENGTH(made) == size
        and memcmp(PyUnicode_DATA(made), q, size) == 0
    ):
        return held(made)
    made = PyUnicode_New(size, 127)
    if made == NULL:
        return NULL
    memcpy(PyUnicode_DATA(made), q, size)
    Py_XDECREF(place[0])
    place[0] = held(made)
    return made


cdef PyObject* read_uuid(const unsigned char* q) noexcept:
    """A UUID without its checks, which cost most of it; zero is shared: new."""
    cdef PyObject* made
    cdef PyObject* number
    if be64(q) == 0 and be64(q + 8) == 0:
        return held(_zero_uuid)
    made = kap_new(_uuid_class)
    if made == NULL:
        return NULL
    number = kap_long_from_bytes(q)
    if number == NULL:
        Py_DECREF(made)
        return NULL
    (<PyObject**>(<char*>made + _uuid_int))[0] = number
    (<PyObject**>(<char*>made + _uuid_safe))[0] = held(_uuid_unknown)
    return made


cdef PyObject* read_blob(Node* n, Reader* r) noexcept:
    cdef int64_t length = read_length(n, r)
    cdef Py_ssize_t start
    if length < 0:
        return held(Py_None) if length == -1 else NULL
    r.p += length
    if n.kind == STRING:
        return read_text(r.p - length, length, r)
    if r.view == NULL:
        return PyBytes_FromStringAndSize(<const char*>(r.p - length), length)
    start = r.p - length - r.begin
    return PySequence_GetSlice(r.view, start, start + length)


cdef PyObject* read_double(const unsigned char* q) noexcept:
    cdef uint64_t bits = be64(q)
    cdef double value
    memcpy(&value, &bits, 8)
    return PyFloat_FromDouble(value)


cdef inline int64_t read_count(Node* n, Reader* r) noexcept:
    """The count of an array, or -1 for null; -2 is refused."""
    cdef int64_t count
    if n.compact:
        count = uvarint(r) - 1
    else:
        if r.end - r.p < 4:
            return -2
        count = <int32_t>be32(r.p)
        r.p += 4
    if count < 0:
        return -1 if count == -1 and n.nullable else -2
    # As in the tree: without it a count that lies costs what the data can be made to hold.
    return count if count <= (r.end - r.p) // n.least else -2


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
