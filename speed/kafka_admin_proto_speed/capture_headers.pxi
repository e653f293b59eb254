# Headers and bodies of frames, each read by the plan of its message.


cdef class HeaderReader:
    """Reads headers and bodies.

    ``options.plan(is_response, api_key, api_version)`` gives a `CapturePlan`, or None for a message
    that is left to plain Python; see `kafka_admin_proto.capture.plain_frames`.
    """

    cdef Slots slots
    cdef RowCells rows
    cdef object options
    cdef bint mask
    cdef PyObject* names  # the index of the names of topics, which ``options`` keeps
    cdef list kept
    cdef object client_id  # of the last header
    cdef PyObject* plans[2][KEYS][VERSIONS]
    cdef bint naming[KEYS]

    def __cinit__(self, options, dict classes, RowCells rows not None, names, naming, bint mask):
        find_slots(&self.slots, classes)
        if not is_a(<PyObject*>names, self.slots.names_class):
            raise TypeError("the names of topics are in a TopicNameIndex")
        self.kept = [classes, names]
        self.names = <PyObject*>names
        self.options, self.rows, self.mask = options, rows, mask
        for key in naming:
            if 0 <= key < KEYS:
                self.naming[key] = True

    cdef CapturePlan plan(self, int kind, int64_t api_key, int64_t api_version):
        """The plan of a message; None for one that plain Python takes."""
        cdef PyObject* found
        if not 0 <= api_key < KEYS or not 0 <= api_version < VERSIONS:
            return None
        found = self.plans[kind][api_key][api_version]
        if found == NULL:
            made = self.options.plan(bool(kind), api_key, api_version)
            if made is not None and not isinstance(made, CapturePlan):
                raise TypeError("a plan is a CapturePlan")
            self.kept.append(made)
            found = self.plans[kind][api_key][api_version] = <PyObject*>made
        return None if found == Py_None else <CapturePlan>found

    cdef int body(self, CapturePlan plan, Reader r) except -1:
        """Decode a body to its end: its JSON, error codes and topic ids are with the rows then."""
        cdef RowCells rows = self.rows
        cdef Json j
        cdef Scan scan
        if not plan.shows_body():
            return 0
        restart(&rows.body)
        restart(&rows.ids)
        if rows.codes:
            rows.codes = []
        r.view = NULL
        r.texts = NULL
        scan.codes, scan.ids, scan.raw_ids = <PyObject*>rows.codes, NULL, &rows.ids
        scan.invalid_utf8 = scan.is_partial = scan.has_new_log = False
        scan.logs = NULL if rows.logs is None else <PyObject*>rows.logs
        scan.ordinal = rows.ordinal
        _open_json(&j, self.mask, False)
        j.scan = &scan
        if json_struct(plan.engine.root, &r, &j, False, &rows.body) < 0:
            return _forget()
        if r.p != r.end or scan.is_partial or (rows.has_bodies and scan.invalid_utf8):
            return 0
        rows.has_new_log = scan.has_new_log
        if plan.embeds and rows.has_bodies:
            text = <bytes>(<char*>rows.body.begin)[: rows.body.p - rows.body.begin]
            shown = self.options.with_embedded(plan.codec, text)
            restart(&rows.body)
            if put(&rows.body, PyBytes_AS_STRING(<PyObject*>shown), len(<bytes>shown)) < 0:
                return _raise_set()
        return 1

    cdef int note_ordinal(self) except -1:
        """The names of topics that are known now are those of the current packet."""
        return fill_number(self.names, self.slots.names_ordinal, self.rows.ordinal)

    cdef bint must_decode(self, PyObject* guard) noexcept:
        """`TokenGuard.must_decode`."""
        cdef Slots* s = &self.slots
        return (
            slot(guard, s.may_have_tokens) != Py_False
            or slot(guard, s.unsettled) != Py_False
            or slot(guard, s.has_sasl) != Py_False
            or slot(guard, s.proven) != Py_True
        )

    cdef CapturePlan request_header(self, Side* x, Reader* r, Row* row):
        """Read the header of a request, whose client id is in ``client_id`` then.

        None for a request that plain Python takes.
        """
        cdef CapturePlan plan
        cdef const unsigned char* q = r.p
        cdef int length
        if r.end - q < 10:
            return None
        row.api_key, row.api_version = <int16_t>be16(q), <int16_t>be16(q + 2)
        plan = self.plan(REQUEST, row.api_key, row.api_version)
        if plan is None:
            return None
        row.correlation_id = <int32_t>be32(q + 4)
        length = <int16_t>be16(q + 8)
        r.p = q + 10
        if length < -1 or length > r.end - r.p:
            return None
        self.client_id = None
        if length >= 0:
            self.client_id = self.client_text(x, r.p, length)
            if self.client_id is None:
                return None
            r.p += length
        row.client_id = <PyObject*>self.client_id
        if plan.flexible:
            if r.p >= r.end or r.p[0]:
                return None
            r.p += 1
        return plan

    cdef object client_text(self, Side* x, const unsigned char* q, int length):
        """The client id of a header; None for one that is not UTF-8."""
        cdef PyObject* known = slot(x.exchange, self.slots.client_id)
        cdef PyObject* made
        if (
            known != NULL
            and PyUnicode_CheckExact(known)
            and PyUnicode_IS_COMPACT_ASCII(known)
            and PyUnicode_GET_LENGTH(known) == length
            and memcmp(PyUnicode_DATA(known), q, length) == 0
        ):
            return <object>known
        made = PyUnicode_DecodeUTF8(<const char*>q, length, NULL)
        if made == NULL:
            _forget()
            return None
        text = <object>made
        Py_DECREF(made)
        return text


cdef bint response_header(CapturePlan plan, Reader* r, Row* row) noexcept:
    """Whether a response has a plain header; the reader is at its body then."""
    if r.end - r.p < 4 + plan.flexible:
        return False
    row.correlation_id = <int32_t>be32(r.p)
    r.p += 4
    if plan.flexible:
        r.p += 1
        return (r.p - 1)[0] == 0
    return True


cdef inline void restart(Writer* w) noexcept:
    """Begin anew in the memory that is there, unless it is a lot."""
    if w.end - w.begin > LARGEST_KEPT:
        drop_writer(w)
        open_writer(w, w.guess)
    w.p = w.begin


cdef enum:
    LARGEST_KEPT = 1 << 22


cdef inline bint is_empty_buffer(PyObject* buffer) noexcept:
    return buffer != NULL and PyByteArray_Check(buffer) and PyByteArray_GET_SIZE(buffer) == 0
