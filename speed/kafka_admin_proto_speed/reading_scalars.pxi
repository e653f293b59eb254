# Bytes → numbers, texts, bytes, and the lengths in front of them.

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
