# Values → JSON text in the shape of to_json.


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
    if j.scan != NULL and f.scanned and scan_item(f.scanned, f.node, x, j.scan) < 0:
        return -1
    if x != Py_None and j.mask and secret:
        if j.scan != NULL and scan_masked(f.node, x, j.scan) < 0:
            return -1
        return -1 if put_mask(w) < 0 else put(w, b",", 1)
    return -1 if json_of(f.node, x, j, hides, w) < 0 else put(w, b",", 1)


cdef int scan_item(int scanned, Node* n, PyObject* x, Scan* scan) noexcept:
    """Look at a field that holds error codes or topic ids."""
    cdef unsigned char raw[16]
    cdef PyObject* item
    cdef Py_ssize_t i = 0
    cdef int done
    if n.kind == ARRAY and PyList_CheckExact(x):
        while i < PyList_GET_SIZE(x):
            item = held(PyList_GET_ITEM(x, i))
            done = scan_item(scanned, n.element, item, scan)
            Py_DECREF(item)
            if done < 0:
                return -1
            i += 1
    elif scanned == ERROR_CODE and INT8 <= n.kind <= INT64 and PyLong_CheckExact(x):
        done = PyObject_IsTrue(x)
        return PyList_Append(scan.codes, x) if done == 1 else done
    elif scanned == TOPIC_ID and n.kind == UUID_:
        if uuid_bytes(x, raw) < 0:
            return -1
        for i in range(16):
            if raw[i]:
                return PyList_Append(scan.ids, x) if scan.raw_ids == NULL else put(
                    scan.raw_ids, raw, 16
                )
    return 0


cdef int scan_text(PyObject* x, Scan* scan) noexcept:
    """Look whether a text that is not ASCII stands for bytes that are not UTF-8."""
    cdef PyObject* data = PyUnicode_AsEncodedString(x, b"utf-8", b"strict")
    if data != NULL:
        Py_DECREF(data)
        return 0
    if PyErr_ExceptionMatches(PyExc_MemoryError):
        return -1
    PyErr_Clear()
    scan.invalid_utf8 = True
    return 0


cdef int scan_masked(Node* n, PyObject* x, Scan* scan) noexcept:
    """Look at a value that is not shown."""
    if n.kind == STRING:
        if PyUnicode_CheckExact(x) and not PyUnicode_IS_COMPACT_ASCII(x):
            return scan_text(x, scan)
    elif n.kind != BYTES and n.kind != RECORDS:
        scan.is_partial = True
    return 0


cdef int is_metadata(Shape* s, PyObject* x) noexcept:
    """Whether a struct is about the metadata log; -1 is refused."""
    cdef unsigned char raw[16]
    cdef PyObject* value
    cdef int i, done
    if s.topic_id >= 0:
        # Held: a subclass of UUID may have methods, which take it out of the struct.
        value = field_of(x, &s.fields[s.topic_id], True)
        done = -1 if value == NULL else uuid_bytes(value, raw)
        Py_XDECREF(value)
        if done < 0:
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
    if not PyTuple_CheckExact(unknown):
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


cdef int json_of_text(PyObject* x, Json* j, Writer* w) noexcept:
    cdef PyObject* data
    cdef int done
    if not PyUnicode_CheckExact(x):
        return -1
    if PyUnicode_IS_COMPACT_ASCII(x):
        return put_utf8(w, <unsigned char*>PyUnicode_DATA(x), PyUnicode_GET_LENGTH(x))
    if j.scan != NULL and scan_text(x, j.scan) < 0:
        return -1
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
        return json_of_text(x, j, w)
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
