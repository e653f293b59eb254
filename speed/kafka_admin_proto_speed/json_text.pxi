# JSON text in the shape of to_json, as msgspec writes it: from bytes, without values in between,
# and from values.

cdef enum:
    SECRETS = 64  # places of the cache of names

cdef struct Json:
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


# From bytes.


cdef int name_is_secret(Json* j, Node* n, Reader* r) noexcept:
    """The same of the text that begins at the reader's position."""
    cdef int64_t length = read_length(n, r)
    cdef const unsigned char* q = r.p
    cdef PyObject* name
    cdef unsigned int place
    cdef int found
    if length < 2:
        place = SECRETS
    else:
        place = text_place(q, <Py_ssize_t>length) % SECRETS
        if j.name_sizes[place] == length and memcmp(j.names[place], q, <size_t>length) == 0:
            return j.secret[place]
    if length < 0:
        return 0
    name = PyUnicode_DecodeUTF8(<const char*>q, <Py_ssize_t>length, b"surrogateescape")
    if name == NULL:
        return -1
    found = asks_secret(name)
    Py_DECREF(name)
    if found >= 0 and place < SECRETS:
        j.names[place] = q
        j.name_sizes[place] = <Py_ssize_t>length
        j.secret[place] = found
    return found


cdef bint names_metadata(Shape* s, int index, Reader r) noexcept:
    """Whether the field at the reader's position says that records are the metadata log's."""
    cdef int64_t length
    cdef int i
    if index == s.topic_id:
        return memcmp(r.p, PyBytes_AS_STRING(_metadata_topic_id), 16) == 0
    for i in range(TOPIC_NAMES):
        if index == s.topic_names[i] and s.fields[index].node.kind == STRING:
            length = read_length(s.fields[index].node, &r)
            return length == PyBytes_GET_SIZE(_metadata_topic) and memcmp(
                r.p, PyBytes_AS_STRING(_metadata_topic), <size_t>length
            ) == 0
    return False


cdef int json_struct(Shape* s, Reader* r, Json* j, bint hides, Writer* w) noexcept:
    cdef Py_ssize_t marks[MOST_FIELDS]
    cdef const unsigned char* starts[MOST_FIELDS]
    cdef Field* f = s.fields
    cdef Reader decides
    cdef int i
    if put(w, b"{", 1) < 0:
        return -1
    for i in range(s.count):
        marks[i] = w.p - w.begin
        if f.node != NULL and f.tag < 0:
            starts[i] = r.p
            if json_field(s, f, starts, r, j, hides, w) < 0 or put(w, b",", 1) < 0:
                return -1
            if j.mask and s.may_be_metadata and not hides:
                decides = r[0]
                decides.p = starts[i]
                hides = names_metadata(s, i, decides)
        f += 1
    if s.flexible:
        if r.p < r.end and r.p[0] == 0:
            r.p += 1
        elif json_tags(s, marks, r, j, hides, w) < 0:
            return -1
    return close_with(w, 125)


cdef int json_field(
    Shape* s, Field* f, const unsigned char** starts, Reader* r, Json* j, bint hides, Writer* w
) noexcept:
    """The name and the value of a field, or what stands for the value."""
    cdef Reader name
    cdef Py_ssize_t start
    cdef const unsigned char* q
    cdef int64_t length
    cdef int secret = f.sensitive
    if f.node.kind == RECORDS and (j.record_sizes or hides):
        length = read_length(f.node, r)
        if length < -1:
            return -1
        if length >= 0:
            r.p += length
            if j.record_sizes:
                if put(w, f.size_key, f.size_key_size) < 0:
                    return -1
                return put_int(w, length)
            return -1 if put(w, f.key, f.key_size) < 0 else put_mask(w)
        return -1 if put(w, f.key, f.key_size) < 0 else put(w, b"null", 4)
    if put(w, f.key, f.key_size) < 0:
        return -1
    start = w.p - w.begin
    if json_value(f.node, r, j, hides, w) < 0:
        return -1
    if j.mask and not secret and f.named_by >= 0:
        name = r[0]
        name.p = starts[f.named_by]
        secret = name_is_secret(j, s.fields[f.named_by].node, &name)
        if secret < 0:
            return -1
    if j.mask and secret:
        q = w.begin + start
        if w.p - q != 4 or memcmp(q, b"null", 4) != 0:
            w.p = w.begin + start
            return put_mask(w)
    return 0


cdef int json_tags(
    Shape* s, Py_ssize_t* marks, Reader* r, Json* j, bint hides, Writer* w
) noexcept:
    """Known tags are read as values and put to their places; unknown ones come last."""
    cdef int64_t count = uvarint(r)
    cdef int64_t i, tag, size
    cdef Py_ssize_t unknown = -1
    cdef bint seen[MOST_FIELDS]
    cdef Field* f
    if count < 0 or 2 * count > r.end - r.p:
        return -1
    memset(seen, 0, sizeof(seen))
    for i in range(count):
        tag = uvarint(r)
        if tag < 0:
            return -1
        size = uvarint(r)
        if size < 0:
            return -1
        f = tagged_field(s, tag)
        if f != NULL:
            if seen[f - s.fields]:
                return -1  # the last one counts: that takes values
            seen[f - s.fields] = True
            if json_tagged(s, f, marks, r, j, hides, w) < 0:
                return -1
            continue
        if is_foreign(s, tag) or size > r.end - r.p:
            return -1
        if unknown < 0:
            unknown = 0
            if put(w, PyBytes_AS_STRING(_unknown_key), PyBytes_GET_SIZE(_unknown_key)) < 0:
                return -1
        if json_unknown(s, tag, r.p, <Py_ssize_t>size, j.mask and (s.secret_tags or hides), w) < 0:
            return -1
        r.p += size
    if unknown < 0:
        return 0
    return -1 if close_with(w, 93) < 0 else put(w, b",", 1)


cdef int json_unknown(
    Shape* s, int64_t tag, const unsigned char* q, Py_ssize_t size, bint hidden, Writer* w
) noexcept:
    if put(w, b'{"tag":', 7) < 0 or put_int(w, tag) < 0 or put(w, b',"data":', 8) < 0:
        return -1
    if (put_mask(w) if hidden else put_base64(w, q, size)) < 0:
        return -1
    return put(w, b"},", 2)


cdef int json_tagged(
    Shape* s, Field* f, Py_ssize_t* marks, Reader* r, Json* j, bint hides, Writer* w
) noexcept:
    """A known tag: written behind the others, then moved to the place of its field."""
    cdef Py_ssize_t place, start, size
    cdef PyObject* x = read_value(f.node, r)
    cdef void* moved
    cdef int i, done, index = <int>(f - s.fields)
    if x == NULL:
        return -1
    done = is_default(f, x)
    if done != 0:
        Py_DECREF(x)
        return 0 if done > 0 else -1
    start = w.p - w.begin
    done = json_item(f, x, f.sensitive, j, hides, w)
    Py_DECREF(x)
    if done < 0:
        return -1
    size = w.p - w.begin - start
    place = marks[index + 1] if index + 1 < s.count else start
    moved = calloc(1, <size_t>size)
    if moved == NULL:
        PyErr_NoMemory()
        return -1
    memcpy(moved, w.begin + start, size)
    memmove(w.begin + place + size, w.begin + place, start - place)
    memcpy(w.begin + place, moved, size)
    free(moved)
    for i in range(index + 1, s.count):
        marks[i] += size
    return 0


cdef int json_value(Node* n, Reader* r, Json* j, bint hides, Writer* w) noexcept:
    cdef const unsigned char* q = r.p
    cdef Py_ssize_t left = r.end - q
    cdef int kind = n.kind
    cdef int64_t number
    cdef PyObject* x
    if kind == STRING or kind == BYTES or kind == RECORDS:
        number = read_length(n, r)
        if number < 0:
            return put(w, b"null", 4) if number == -1 else -1
        r.p += number
        if kind == STRING:
            return put_text(w, r.p - number, <Py_ssize_t>number)
        return put_base64(w, r.p - number, <Py_ssize_t>number)
    elif kind == STRUCT:
        return json_struct(n.shape, r, j, hides, w)
    elif kind == ARRAY:
        return json_array(n, r, j, hides, w)
    elif kind == INT32:
        if left < 4:
            return -1
        r.p = q + 4
        return put_int(w, <int32_t>be32(q))
    elif kind == INT16:
        if left < 2:
            return -1
        r.p = q + 2
        return put_int(w, <int16_t>be16(q))
    elif kind == BOOL:
        if left < 1:
            return -1
        r.p = q + 1
        return put(w, b"true", 4) if q[0] else put(w, b"false", 5)
    elif kind == UUID_:
        if left < 16:
            return -1
        r.p = q + 16
        return put_uuid(w, q)
    elif kind == INT64:
        if left < 8:
            return -1
        r.p = q + 8
        return put_int(w, <int64_t>be64(q))
    elif kind == INT8:
        if left < 1:
            return -1
        r.p = q + 1
        return put_int(w, <int8_t>q[0])
    elif kind == UINT16:
        if left < 2:
            return -1
        r.p = q + 2
        return put_int(w, be16(q))
    elif kind == UINT32:
        if left < 4:
            return -1
        r.p = q + 4
        return put_int(w, be32(q))
    elif kind == FLOAT64:
        x = read_value(n, r)
        if x == NULL:
            return -1
        kind = put_double(w, x)
        Py_DECREF(x)
        return kind
    elif kind == NULLABLE:
        if n.tagged:
            number = uvarint(r) - 1
            if number < -1:
                return -1
        else:
            if left < 1:
                return -1
            r.p = q + 1
            number = <int8_t>q[0]
        return put(w, b"null", 4) if number < 0 else json_struct(n.shape, r, j, hides, w)
    return -1


cdef int json_array(Node* n, Reader* r, Json* j, bint hides, Writer* w) noexcept:
    cdef int64_t count, i
    if n.compact:
        count = uvarint(r) - 1
    else:
        if r.end - r.p < 4:
            return -1
        count = <int32_t>be32(r.p)
        r.p += 4
    if count < 0:
        return put(w, b"null", 4) if count == -1 and n.nullable else -1
    if count > (r.end - r.p) // n.least or put(w, b"[", 1) < 0:
        return -1
    for i in range(count):
        if json_value(n.element, r, j, hides, w) < 0 or put(w, b",", 1) < 0:
            return -1
    return close_with(w, 93)


# From values.


cdef int json_item(Field* f, PyObject* x, int secret, Json* j, bint hides, Writer* w) noexcept:
    """A field's name, value and comma."""
    cdef Py_buffer view
    if x != Py_None and f.node.kind == RECORDS and (j.record_sizes or hides):
        if j.record_sizes:
            if PyObject_GetBuffer(x, &view, PyBUF_SIMPLE) < 0:
                return -1
            secret = put(w, f.size_key, f.size_key_size)
            if secret == 0:
                secret = put_int(w, view.len)
            PyBuffer_Release(&view)
            return -1 if secret < 0 else put(w, b",", 1)
        secret = True
    if put(w, f.key, f.key_size) < 0:
        return -1
    if x != Py_None and j.mask and secret:
        return -1 if put_mask(w) < 0 else put(w, b",", 1)
    return -1 if json_of(f.node, x, j, hides, w) < 0 else put(w, b",", 1)


cdef int is_metadata(Shape* s, PyObject* x) noexcept:
    """Whether a struct is about the metadata log; -1 is refused."""
    cdef unsigned char raw[16]
    cdef PyObject* value
    cdef int i
    if s.topic_id >= 0:
        value = slot_of(x, &s.fields[s.topic_id])[0]
        if value == NULL or uuid_bytes(value, raw) < 0:
            return -1
        if memcmp(raw, PyBytes_AS_STRING(_metadata_topic_id), 16) == 0:
            return 1
    for i in range(TOPIC_NAMES):
        if s.topic_names[i] < 0:
            continue
        value = slot_of(x, &s.fields[s.topic_names[i]])[0]
        if value == Py_None:
            continue
        if value == NULL or not PyUnicode_CheckExact(value):
            return -1
        if PyUnicode_IS_COMPACT_ASCII(value) and (
            PyUnicode_GET_LENGTH(value) == PyBytes_GET_SIZE(_metadata_topic)
            and memcmp(
                PyUnicode_DATA(value),
                PyBytes_AS_STRING(_metadata_topic),
                PyBytes_GET_SIZE(_metadata_topic),
            )
            == 0
        ):
            return 1
    return 0


cdef int json_of_struct(Shape* s, PyObject* x, Json* j, bint hides, Writer* w) noexcept:
    cdef Field* f = s.fields
    cdef PyObject* value
    cdef int i, done, secret
    if Py_TYPE(x) != s.value_class or put(w, b"{", 1) < 0:
        return -1
    if j.mask and s.holds_records and not hides:
        done = is_metadata(s, x)
        if done < 0:
            return -1
        hides = done
    for i in range(s.count):
        if f.node == NULL:
            f += 1
            continue
        value = field_of(x, f, True)
        if value == NULL:
            return -1
        done = 0 if f.tag < 0 else is_default(f, value)
        secret = f.sensitive
        if done == 0 and j.mask and f.named_by >= 0 and not secret:
            secret = asks_secret_of(x, &s.fields[f.named_by])
        if done == 0:
            done = -1 if secret < 0 else json_item(f, value, secret, j, hides, w)
        Py_DECREF(value)
        if done < 0:
            return -1
        f += 1
    if s.flexible:
        value = field_of(x, &s.fields[s.unknown], True)
        if value == NULL:
            return -1
        done = json_of_tags(s, value, j.mask and (s.secret_tags or hides), w)
        Py_DECREF(value)
        if done < 0:
            return -1
    return close_with(w, 125)


cdef int asks_secret_of(PyObject* owner, Field* name) noexcept:
    cdef PyObject* value = field_of(owner, name, True)
    cdef int found
    if value == NULL:
        return -1
    found = asks_secret(value)
    Py_DECREF(value)
    return found


cdef int json_of_tags(Shape* s, PyObject* unknown, bint hidden, Writer* w) noexcept:
    cdef PyObject* pair
    cdef PyObject* data
    cdef int64_t tag
    cdef Py_ssize_t i
    if not PyTuple_Check(unknown):
        return -1
    if PyTuple_GET_SIZE(unknown) == 0:
        return 0
    if put(w, PyBytes_AS_STRING(_unknown_key), PyBytes_GET_SIZE(_unknown_key)) < 0:
        return -1
    for i in range(PyTuple_GET_SIZE(unknown)):
        pair = PyTuple_GET_ITEM(unknown, i)
        if put_unknown(s, pair, NULL, &tag) < 0:
            return -1
        data = PyTuple_GET_ITEM(pair, 1)
        if json_unknown(
            s, tag, <unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), hidden, w
        ) < 0:
            return -1
    return -1 if close_with(w, 93) < 0 else put(w, b",", 1)


cdef int json_of_bytes(PyObject* x, Writer* w) noexcept:
    cdef Py_buffer view
    cdef int done
    if not PyBytes_Check(x) and not PyByteArray_Check(x) and not PyMemoryView_Check(x):
        return -1
    if PyObject_GetBuffer(x, &view, PyBUF_SIMPLE) < 0:
        return -1
    done = put_base64(w, <const unsigned char*>view.buf, view.len)
    PyBuffer_Release(&view)
    return done


cdef int json_of_text(PyObject* x, Writer* w) noexcept:
    cdef PyObject* data
    cdef int done
    if not PyUnicode_CheckExact(x):
        return -1
    if PyUnicode_IS_COMPACT_ASCII(x):
        return put_utf8(w, <unsigned char*>PyUnicode_DATA(x), PyUnicode_GET_LENGTH(x))
    data = utf8(x)
    if data == NULL:
        return -1
    done = put_text(w, <unsigned char*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    Py_DECREF(data)
    return done


cdef int json_of_array(Node* n, PyObject* x, Json* j, bint hides, Writer* w) noexcept:
    cdef PyObject* item
    cdef Py_ssize_t i = 0
    cdef int done
    if not PyList_CheckExact(x) or put(w, b"[", 1) < 0:
        return -1
    while i < PyList_GET_SIZE(x):
        item = held(PyList_GET_ITEM(x, i))
        done = json_of(n.element, item, j, hides, w)
        Py_DECREF(item)
        if done < 0 or put(w, b",", 1) < 0:
            return -1
        i += 1
    return close_with(w, 93)


cdef int json_of(Node* n, PyObject* x, Json* j, bint hides, Writer* w) noexcept:
    """The JSON of a value; what to_json takes and this does not is refused."""
    cdef unsigned char raw[16]
    cdef int64_t number
    cdef int kind = n.kind
    if x == Py_None and kind >= STRING and kind != STRUCT:
        return put(w, b"null", 4)
    if kind == STRING:
        return json_of_text(x, w)
    elif kind == STRUCT or kind == NULLABLE:
        return json_of_struct(n.shape, x, j, hides, w)
    elif kind == ARRAY:
        return json_of_array(n, x, j, hides, w)
    elif kind == BYTES or kind == RECORDS:
        return json_of_bytes(x, w)
    elif kind == BOOL:
        if x == Py_True:
            return put(w, b"true", 4)
        return put(w, b"false", 5) if x == Py_False else -1
    elif kind == UUID_:
        return -1 if uuid_bytes(x, raw) < 0 else put_uuid(w, raw)
    elif kind == FLOAT64:
        return put_double(w, x) if PyFloat_CheckExact(x) else -1
    if not PyLong_CheckExact(x) or number_of(x, kind, &number) < 0:
        return -1
    return put_int(w, number)


make_base64_pairs()
