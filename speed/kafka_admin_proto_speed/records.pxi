# Records of batches of magic 2.


cdef inline int signed_varint(Reader* r, int most, int64_t* value) noexcept:
    """A number in zigzag of at most so many bytes: 5 give an int, 10 a long; else -1."""
    cdef uint64_t bits = 0
    cdef int i
    for i in range(most):
        if r.p >= r.end:
            return -1
        bits |= <uint64_t>(r.p[0] & 127) << (7 * i)
        r.p += 1
        if (r.p - 1)[0] < 128:
            if most == 5:
                bits &= 0xFFFFFFFF  # the others fall away, as in Java
            value[0] = <int64_t>((bits >> 1) ^ (0 - (bits & 1)))
            return 0
    return -1


cdef PyObject* record_blob(Reader* r) noexcept:
    """A key or a value with its length in front, a negative one is null: new."""
    cdef int64_t length
    cdef Py_ssize_t start
    if signed_varint(r, 5, &length) < 0:
        return NULL
    if length < 0:
        return held(Py_None)
    if length > r.end - r.p:
        return NULL
    r.p += length
    if r.view == NULL:
        return PyBytes_FromStringAndSize(<const char*>(r.p - length), <Py_ssize_t>length)
    start = r.p - length - r.begin
    return PySequence_GetSlice(r.view, start, start + <Py_ssize_t>length)


cdef PyObject* record_header(Reader* r) noexcept:
    """The pair of a header's name and value: new."""
    cdef int64_t length
    cdef PyObject* pair
    cdef PyObject* x
    if signed_varint(r, 5, &length) < 0 or length < 0 or length > r.end - r.p:
        return NULL
    pair = PyTuple_New(2)
    if pair == NULL:
        return NULL
    x = PyUnicode_DecodeUTF8(<const char*>r.p, <Py_ssize_t>length, b"surrogateescape")
    r.p += length
    if x != NULL:
        PyTuple_SET_ITEM(pair, 0, x)
        x = record_blob(r)
    if x == NULL:
        Py_DECREF(pair)
        return NULL
    PyTuple_SET_ITEM(pair, 1, x)
    return pair


cdef PyObject* record_headers(Reader* r, int64_t* items) noexcept:
    """All headers of a record, to its end: new. ``items`` is what is left of the limit."""
    cdef int64_t count
    cdef PyObject* made
    cdef PyObject* pair
    cdef Py_ssize_t i
    if signed_varint(r, 5, &count) < 0 or count < 0 or count > r.end - r.p:
        return NULL
    items[0] -= count
    if items[0] < 0:
        return NULL
    made = PyTuple_New(<Py_ssize_t>count)
    if made == NULL:
        return NULL
    for i in range(<Py_ssize_t>count):
        pair = record_header(r)
        if pair == NULL:
            Py_DECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, i, pair)
    return made


cdef int skim_blob(Reader* r, bint may_be_null, bint* is_null) noexcept:
    """Go behind what ``record_blob`` reads; -1 for what that refuses."""
    cdef int64_t length = 0
    if signed_varint(r, 5, &length) < 0 or length > r.end - r.p:
        return -1
    is_null[0] = length < 0
    if is_null[0]:
        return 0 if may_be_null else -1
    r.p += length
    return 0


cdef int skim_headers(Reader* r, int64_t* items) noexcept:
    """Go behind what ``record_headers`` reads; -1 for what that refuses."""
    cdef int64_t count, i
    cdef bint is_null
    if signed_varint(r, 5, &count) < 0 or count < 0 or count > r.end - r.p:
        return -1
    items[0] -= count
    if items[0] < 0:
        return -1
    for i in range(count):
        if skim_blob(r, False, &is_null) < 0 or skim_blob(r, True, &is_null) < 0:
            return -1
    return 0


cdef class RecordEngine:
    """Reads and writes the records of a batch; ``record_class`` is that of their values."""

    cdef object record_class
    cdef Py_ssize_t slots[5]

    def __cinit__(self, record_class):
        names = ("offset", "timestamp", "key", "value", "headers")
        if record_class.__struct_fields__ != names or kap_collected(<PyObject*>record_class):
            raise ValueError(f"{record_class.__name__} is no record")
        self.record_class = record_class
        for i, name in enumerate(names):
            descriptor = getattr(record_class, name)
            self.slots[i] = kap_slot(<PyObject*>record_class, <PyObject*>descriptor)
            if self.slots[i] < 0:
                raise ValueError(f"{record_class.__name__}.{name} is no slot")

    def read(
        self, data, Py_ssize_t start, int64_t count, int64_t base_offset, int64_t base_timestamp,
        append_time, list records not None, int64_t max_items,
    ):
        """Append ``count`` records to ``records``; Fallback, with none appended, for any fault.

        As ``read_records_v2``. Of a memoryview keys and values are views.
        """
        cdef Py_buffer view
        cdef Reader r
        cdef int64_t fixed_time = 0
        cdef bint has_time = append_time is not None
        cdef PyObject* made = NULL
        if has_time:
            fixed_time = append_time
        if PyObject_GetBuffer(<PyObject*>data, &view, PyBUF_SIMPLE) < 0:
            _refuse()
        if 0 <= start <= view.len and 0 <= count <= view.len - start and count <= max_items:
            r.begin = <const unsigned char*>view.buf
            r.p = r.begin + start
            r.end = r.begin + view.len
            r.view = <PyObject*>data if PyMemoryView_Check(<PyObject*>data) else NULL
            r.texts = NULL
            made = self.read_all(
                &r, count, base_offset, base_timestamp, has_time, fixed_time, max_items - count
            )
        PyBuffer_Release(&view)
        if made == NULL:
            _refuse()
        found = <object>made
        Py_DECREF(made)
        records.extend(found)

    def skim(
        self, data, Py_ssize_t start, int64_t count, int64_t base_timestamp, int64_t max_items
    ):
        """The lowest and highest timestamp, whether all have keys, and whether offsets count up.

        As ``read`` and for one record at least; Fallback for any fault. No value is made.
        """
        cdef Py_buffer view
        cdef Reader r, inner
        cdef int64_t size, since, delta, time, lowest = 0, highest = 0, items = max_items - count
        cdef int64_t i
        cdef bint is_null, is_keyed = True, is_in_order = True, is_good
        if PyObject_GetBuffer(<PyObject*>data, &view, PyBUF_SIMPLE) < 0:
            _refuse()
        is_good = 0 <= start <= view.len and 0 < count <= view.len - start and items >= 0
        if is_good:
            r.begin = <const unsigned char*>view.buf
            r.p = r.begin + start
            r.end = r.begin + view.len
            for i in range(count):
                is_good = not (signed_varint(&r, 5, &size) < 0 or size < 1 or size > r.end - r.p)
                if not is_good:
                    break
                inner = r
                inner.end = r.p + size
                inner.p += 1  # attributes
                r.p += size
                is_good = not (
                    signed_varint(&inner, 10, &since) < 0
                    or signed_varint(&inner, 5, &delta) < 0
                    or skim_blob(&inner, True, &is_null) < 0
                )
                if not is_good:
                    break
                is_keyed = is_keyed and not is_null
                is_in_order = is_in_order and delta == i
                time = <int64_t>(<uint64_t>base_timestamp + <uint64_t>since)
                lowest = time if i == 0 or time < lowest else lowest
                highest = time if i == 0 or time > highest else highest
                is_good = not (
                    skim_blob(&inner, True, &is_null) < 0
                    or skim_headers(&inner, &items) < 0
                    or inner.p != inner.end
                )
                if not is_good:
                    break
            is_good = is_good and r.p == r.end
        PyBuffer_Release(&view)
        if not is_good:
            _refuse()
        return lowest, highest, is_keyed, is_in_order

    cdef PyObject* read_all(
        self, Reader* r, int64_t count, int64_t base_offset, int64_t base_timestamp,
        bint has_time, int64_t fixed_time, int64_t items,
    ) noexcept:
        cdef PyObject* made
        cdef PyObject* x
        cdef Py_ssize_t i
        if count and not (-(1 << 62) < base_offset < (1 << 62)):
            return NULL
        made = PyList_New(<Py_ssize_t>count)
        if made == NULL:
            return NULL
        for i in range(<Py_ssize_t>count):
            x = self.read_one(r, base_offset, base_timestamp, has_time, fixed_time, &items)
            if x == NULL:
                Py_DECREF(made)
                return NULL
            PyList_SET_ITEM(made, i, x)
        if count and r.p != r.end:
            Py_DECREF(made)
            return NULL
        return made

    cdef PyObject* read_one(
        self, Reader* r, int64_t base_offset, int64_t base_timestamp, bint has_time,
        int64_t fixed_time, int64_t* items,
    ) noexcept:
        cdef Reader inner
        cdef int64_t size, since, delta
        cdef PyObject* made
        if signed_varint(r, 5, &size) < 0 or size < 1 or size > r.end - r.p:
            return NULL
        inner = r[0]
        inner.end = r.p + size
        inner.p += 1  # attributes
        r.p += size
        if signed_varint(&inner, 10, &since) < 0 or signed_varint(&inner, 5, &delta) < 0:
            return NULL
        if not has_time:  # Java's int64 wraps around
            fixed_time = <int64_t>(<uint64_t>base_timestamp + <uint64_t>since)
        made = kap_new(<PyTypeObject*>self.record_class)
        if made == NULL:
            return NULL
        if (
            self.fill(made, 0, PyLong_FromLongLong(base_offset + delta)) < 0
            or self.fill(made, 1, PyLong_FromLongLong(fixed_time)) < 0
            or self.fill(made, 2, record_blob(&inner)) < 0
            or self.fill(made, 3, record_blob(&inner)) < 0
            or self.fill(made, 4, record_headers(&inner, items)) < 0
            or inner.p != inner.end
        ):
            Py_DECREF(made)
            return NULL
        return made

    cdef int fill(self, PyObject* made, int index, PyObject* x) noexcept:
        if x == NULL:
            return -1
        (<PyObject**>(<char*>made + self.slots[index]))[0] = x
        return 0

    def write(self, records, int64_t base_offset, int64_t base_timestamp, append_time):
        """The bytes of the records, as ``write_records_v2``; Fallback for any fault."""
        cdef Writer w
        cdef int64_t fixed_time = 0
        cdef int done = 0
        if append_time is not None:
            fixed_time = append_time
        open_writer(&w, NULL)
        for record in list(records):
            if type(record) is not self.record_class:
                done = -1
            else:
                done = self.write_one(
                    <PyObject*>record, base_offset, base_timestamp,
                    append_time is not None, fixed_time, &w,
                )
            if done < 0:
                break
        return _bytes_of(&w, done)

    cdef int write_one(
        self, PyObject* record, int64_t base_offset, int64_t base_timestamp, bint has_time,
        int64_t fixed_time, Writer* w,
    ) noexcept:
        """A record behind its size, which is written in front of it in the end."""
        cdef Writer front
        cdef int64_t offset, time, delta
        cdef Py_ssize_t start, size, more
        if self.number(record, 0, &offset) < 0 or self.number(record, 1, &time) < 0:
            return -1
        delta = <int64_t>(<uint64_t>offset - <uint64_t>base_offset)
        if delta != <int32_t>delta or (offset < base_offset) != (delta < 0):
            return -1
        if has_time:
            if time != fixed_time:
                return -1
            time = 0
        else:
            time = <int64_t>(<uint64_t>time - <uint64_t>base_timestamp)
        start = w.p - w.begin
        if (
            put(w, b"\0", 1) < 0
            or put_varint(w, time) < 0
            or put_varint(w, delta) < 0
            or put_blob(w, self.slot(record, 2)) < 0
            or put_blob(w, self.slot(record, 3)) < 0
            or put_headers(w, self.slot(record, 4)) < 0
        ):
            return -1
        size = w.p - w.begin - start
        open_writer(&front, NULL)  # it stays in its small part
        put_varint(&front, size)
        more = front.p - front.begin
        if need(w, more) < 0:
            return -1
        memmove(w.begin + start + more, w.begin + start, size)
        memcpy(w.begin + start, front.begin, more)
        w.p += more
        return 0

    cdef PyObject* slot(self, PyObject* record, int index) noexcept:
        return (<PyObject**>(<char*>record + self.slots[index]))[0]

    cdef int number(self, PyObject* record, int index, int64_t* value) noexcept:
        cdef PyObject* x = self.slot(record, index)
        return -1 if x == NULL or not PyLong_CheckExact(x) else number_of(x, INT64, value)


cdef int put_varint(Writer* w, int64_t value) noexcept:
    return put_uvarint(w, (<uint64_t>value << 1) ^ (<uint64_t>0 - <uint64_t>(value < 0)))


cdef int put_blob(Writer* w, PyObject* x) noexcept:
    if x == Py_None:
        return put(w, b"\1", 1)
    if x == NULL or not PyBytes_Check(x) or PyBytes_GET_SIZE(x) > 0x7FFFFFFF:
        return -1
    if put_varint(w, PyBytes_GET_SIZE(x)) < 0:
        return -1
    return put(w, PyBytes_AS_STRING(x), PyBytes_GET_SIZE(x))


cdef int put_headers(Writer* w, PyObject* headers) noexcept:
    cdef PyObject* pair
    cdef PyObject* name
    cdef Py_ssize_t i
    cdef int done
    if headers == NULL or not PyTuple_Check(headers):
        return -1
    if put_varint(w, PyTuple_GET_SIZE(headers)) < 0:
        return -1
    for i in range(PyTuple_GET_SIZE(headers)):
        pair = PyTuple_GET_ITEM(headers, i)
        if not PyTuple_Check(pair) or PyTuple_GET_SIZE(pair) != 2:
            return -1
        name = PyTuple_GET_ITEM(pair, 0)
        if not PyUnicode_CheckExact(name):
            return -1
        name = utf8(name)
        if name == NULL:
            return -1
        done = put_blob(w, name)
        Py_DECREF(name)
        if done < 0 or put_blob(w, PyTuple_GET_ITEM(pair, 1)) < 0:
            return -1
    return 0
