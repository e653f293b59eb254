# Bytes → JSON text in the shape of to_json, without values in between.


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


cdef int find_log(Scan* scan, Reader* r, int64_t length) noexcept:
    """Note whether bytes of the metadata log are known up to the ordinal."""
    cdef PyObject* known
    cdef PyObject* log
    if length > r.end - r.p:
        return -1
    log = PyBytes_FromStringAndSize(<const char*>r.p, length)
    if log == NULL:
        return -1
    known = PyDict_GetItemWithError(scan.logs, log)
    Py_DECREF(log)
    if known == NULL:
        if PyErr_Occurred() != NULL:
            return -1
        scan.has_new_log = True
    elif PyLong_AsLongLong(known) > scan.ordinal:
        scan.has_new_log = True
    return 0


cdef Py_ssize_t scan_bytes(int scanned, Node* n, Reader r, Scan* scan) noexcept:
    """Look at a field that holds error codes or topic ids; what is left behind its first value."""
    cdef int64_t number = 0
    cdef int64_t i, count
    cdef Py_ssize_t left = r.end - r.p
    cdef PyObject* x
    cdef int done
    if n.kind == ARRAY:
        count = read_count(n, &r)
        for i in range(count):
            left = scan_bytes(scanned, n.element, r, scan)
            if left < 0:
                return -1
            r.p = r.end - left
        return r.end - r.p
    if scanned == TOPIC_ID and n.kind == UUID_ and left >= 16:
        if (be64(r.p) or be64(r.p + 8)) and put(scan.raw_ids, r.p, 16) < 0:
            return -1
        return left - 16
    if scanned != ERROR_CODE or not INT8 <= n.kind <= INT64:
        return left
    if n.kind == INT16 and left >= 2:
        number, left = <int16_t>be16(r.p), left - 2
    elif n.kind == INT32 and left >= 4:
        number, left = <int32_t>be32(r.p), left - 4
    else:
        return -1  # no error code of Kafka's has such a size
    if number == 0:
        return left
    x = PyLong_FromLongLong(number)
    if x == NULL:
        return -1
    done = PyList_Append(scan.codes, x)
    Py_DECREF(x)
    return left if done == 0 else -1


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
            if length and hides and j.scan != NULL and j.scan.logs != NULL:
                if find_log(j.scan, r, length) < 0:
                    return -1
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
    if j.scan != NULL and f.scanned and scan_bytes(f.scanned, f.node, r[0], j.scan) < 0:
        return -1
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
    cdef Py_ssize_t place, start = w.p - w.begin, size
    cdef PyObject* x
    cdef void* moved
    cdef int i, done, index = <int>(f - s.fields)
    if f.node.kind == UUID_ and f.default == _zero_uuid and not f.sensitive and not f.scanned:
        # Followers have one in each partition that they fetch.
        if r.end - r.p < 16:
            return -1
        r.p += 16
        if not (be64(r.p - 16) or be64(r.p - 8)):
            return 0
        if put(w, f.key, f.key_size) < 0 or put_uuid(w, r.p - 16) < 0 or put(w, b",", 1) < 0:
            return -1
    else:
        x = read_value(f.node, r)
        if x == NULL:
            return -1
        done = is_default(f, x)
        if done != 0:
            Py_DECREF(x)
            return 0 if done > 0 else -1
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
            if j.scan != NULL:
                return put_scanned_text(w, r.p - number, <Py_ssize_t>number, j.scan)
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
    cdef int64_t count = read_count(n, r)
    cdef int64_t i
    if count < 0:
        return put(w, b"null", 4) if count == -1 else -1
    if put(w, b"[", 1) < 0:
        return -1
    for i in range(count):
        if json_value(n.element, r, j, hides, w) < 0 or put(w, b",", 1) < 0:
            return -1
    return close_with(w, 93)
