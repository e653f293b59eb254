# JSON text as msgspec writes it: texts, numbers, base64, masks.

cdef enum:
    SECRETS = 64  # places of the cache of names

cdef struct Scan:
    PyObject* codes  # lists, borrowed
    PyObject* ids
    Writer* raw_ids  # where topic ids go as their bytes, in place of the list; or NULL
    bint invalid_utf8
    bint is_partial  # a masked value has fields inside, which were not looked at
    PyObject* logs  # bytes of the metadata log → an ordinal, borrowed; NULL where nobody asks
    int64_t ordinal
    bint has_new_log  # there are others, or some that are known from a later ordinal on

cdef struct Json:
    Scan* scan  # NULL where nothing is looked for
    bint mask
    bint record_sizes
    # Names that were asked about, as bytes of the data, and the answers.
    const unsigned char* names[SECRETS]
    Py_ssize_t name_sizes[SECRETS]
    bint secret[SECRETS]

cdef const char* HEX = b"0123456789abcdef"
cdef const char* BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
cdef const char* BASE64_URL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
cdef char _base64_pairs[4096][2]  # what twelve bits are


cdef void make_base64_pairs() noexcept:
    cdef int i
    for i in range(4096):
        _base64_pairs[i][0] = BASE64[i >> 6]
        _base64_pairs[i][1] = BASE64[i & 63]


cdef int put_int(Writer* w, int64_t value) noexcept:
    cdef char digits[20]
    cdef int i = 20
    cdef uint64_t left = <uint64_t>value
    if value < 0:
        left = 0 - left
    if need(w, 21) < 0:
        return -1
    while True:
        i -= 1
        digits[i] = <char>(48 + left % 10)
        left //= 10
        if left == 0:
            break
    if value < 0:
        w.p[0] = 45
        w.p += 1
    memcpy(w.p, digits + i, 20 - i)
    w.p += 20 - i
    return 0


cdef inline bint is_plain(unsigned char c) noexcept:
    return c >= 32 and c != 34 and c != 92


cdef int put_utf8(Writer* w, const unsigned char* q, Py_ssize_t size) noexcept:
    """A JSON string of valid UTF-8."""
    cdef const unsigned char* end = q + size
    cdef unsigned char c
    if size > PY_SSIZE_T_MAX // 16 or need(w, 6 * size + 2) < 0:  # each may become six
        return -1
    w.p[0] = 34
    w.p += 1
    while q < end:
        c = q[0]
        q += 1
        if is_plain(c):
            w.p[0] = c
            w.p += 1
            continue
        w.p[0] = 92
        if c == 34 or c == 92:
            w.p[1] = c
        elif c == 10:
            w.p[1] = 110  # n
        elif c == 13:
            w.p[1] = 114  # r
        elif c == 9:
            w.p[1] = 116  # t
        elif c == 8:
            w.p[1] = 98  # b
        elif c == 12:
            w.p[1] = 102  # f
        else:
            memcpy(w.p + 1, b"u00", 3)
            w.p[4] = HEX[c >> 4]
            w.p[5] = HEX[c & 15]
            w.p += 4
        w.p += 2
    w.p[0] = 34
    w.p += 1
    return 0


cdef int put_text(Writer* w, const unsigned char* q, Py_ssize_t size) noexcept:
    """A JSON string of any bytes; U+FFFD stands where they are not UTF-8."""
    cdef PyObject* text
    cdef PyObject* data
    cdef int done
    if is_ascii(q, size):
        return put_utf8(w, q, size)
    text = PyUnicode_DecodeUTF8(<const char*>q, size, b"replace")
    if text == NULL:
        return -1
    data = PyUnicode_AsEncodedString(text, b"utf-8", b"strict")
    Py_DECREF(text)
    if data == NULL:
        return -1
    done = put_utf8(w, <unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    Py_DECREF(data)
    return done


cdef int put_scanned_text(Writer* w, const unsigned char* q, Py_ssize_t size, Scan* scan) noexcept:
    """The same, with a look whether they are UTF-8."""
    cdef PyObject* text
    if is_ascii(q, size):
        return put_utf8(w, q, size)
    text = PyUnicode_DecodeUTF8(<const char*>q, size, NULL)
    if text != NULL:
        Py_DECREF(text)
        return put_utf8(w, q, size)
    if PyErr_ExceptionMatches(PyExc_MemoryError):
        return -1
    PyErr_Clear()
    scan.invalid_utf8 = True
    return put_text(w, q, size)


cdef int put_base64(Writer* w, const unsigned char* q, Py_ssize_t size) noexcept:
    cdef uint32_t v
    if size > PY_SSIZE_T_MAX // 16 or need(w, size // 3 * 4 + 6) < 0:
        return -1
    w.p[0] = 34
    w.p += 1
    while size >= 3:
        v = (<uint32_t>q[0] << 16) | (<uint32_t>q[1] << 8) | q[2]
        memcpy(w.p, _base64_pairs[v >> 12], 2)
        memcpy(w.p + 2, _base64_pairs[v & 4095], 2)
        w.p += 4
        q += 3
        size -= 3
    if size:
        v = (<uint32_t>q[0] << 16) | (<uint32_t>q[1] << 8 if size == 2 else 0)
        w.p[0] = BASE64[v >> 18]
        w.p[1] = BASE64[(v >> 12) & 63]
        w.p[2] = BASE64[(v >> 6) & 63] if size == 2 else 61
        w.p[3] = 61
        w.p += 4
    w.p[0] = 34
    w.p += 1
    return 0


cdef int put_uuid(Writer* w, const unsigned char* q) noexcept:
    """The 22 characters of Kafka's form."""
    cdef uint32_t v
    cdef int i
    if need(w, 24) < 0:
        return -1
    w.p[0] = 34
    for i in range(5):
        v = (<uint32_t>q[3 * i] << 16) | (<uint32_t>q[3 * i + 1] << 8) | q[3 * i + 2]
        w.p[1 + 4 * i] = BASE64_URL[v >> 18]
        w.p[2 + 4 * i] = BASE64_URL[(v >> 12) & 63]
        w.p[3 + 4 * i] = BASE64_URL[(v >> 6) & 63]
        w.p[4 + 4 * i] = BASE64_URL[v & 63]
    w.p[21] = BASE64_URL[q[15] >> 2]
    w.p[22] = BASE64_URL[(q[15] & 3) << 4]
    w.p[23] = 34
    w.p += 24
    return 0


cdef int put_double(Writer* w, PyObject* x) noexcept:
    """A float as the other road has it: rare, so that it is asked."""
    cdef PyObject* data = PyObject_CallOneArg(_double_text, x)
    cdef int done
    if data == NULL:
        return -1
    done = put(w, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    Py_DECREF(data)
    return done


cdef inline int put_mask(Writer* w) noexcept:
    return put(w, PyBytes_AS_STRING(_mask_text), PyBytes_GET_SIZE(_mask_text))


cdef int close_with(Writer* w, unsigned char mark) noexcept:
    """End an object or array: the mark takes the place of the comma behind its last item."""
    if (w.p - 1)[0] == 44:
        (w.p - 1)[0] = mark
        return 0
    return put(w, &mark, 1)


cdef int asks_secret(PyObject* name) noexcept:
    """Whether a config of that name is a secret; -1 with an exception."""
    cdef PyObject* answer = PyObject_CallOneArg(_is_secret_name, name)
    cdef int found
    if answer == NULL:
        return -1
    found = PyObject_IsTrue(answer)
    Py_DECREF(answer)
    return found


make_base64_pairs()
