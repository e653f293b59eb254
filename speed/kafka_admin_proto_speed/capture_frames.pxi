# Requests and responses of plain connections: what connection/exchange.py does with them, for those
# that decode to their end and change nothing but the table of requests.
#
# A function here returns 1 for a frame that it has taken, and 0 for one that plain Python has to
# take, whose state is as it was before.

cdef enum:
    KEYS = 128  # api keys and versions below these are looked up
    VERSIONS = 64
    REQUEST = 0
    RESPONSE = 1
    PRODUCE = 0
    UNSUPPORTED_VERSION = 35


cdef class FrameReader:
    """Reads the frames of plain connections, and has their rows written.

    ``options.plan(is_response, api_key, api_version)`` gives a `CapturePlan`, or None for a message
    that is left to plain Python; see `kafka_admin_proto.capture.plain_rows`.
    """

    cdef Slots slots
    cdef RowWriter rows
    cdef object options
    cdef bint mask
    cdef PyObject* names  # the index of the names of topics, which ``options`` keeps
    cdef list kept
    cdef object client_id  # of the last header
    cdef PyObject* plans[2][KEYS][VERSIONS]
    cdef bint naming[KEYS]

    def __cinit__(self, options, dict classes, RowWriter rows not None, names, naming, bint mask):
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
        cdef RowWriter rows = self.rows
        cdef Json j
        cdef Scan scan
        restart(&rows.body)
        restart(&rows.ids)
        if rows.codes:
            rows.codes = []
        if rows.has_bodies and plan.takes_values:
            return 0
        r.view = NULL
        r.texts = NULL
        scan.codes, scan.ids, scan.raw_ids = <PyObject*>rows.codes, NULL, &rows.ids
        scan.invalid_utf8 = scan.is_partial = False
        _open_json(&j, self.mask, False)
        j.scan = &scan
        if json_struct(plan.engine.root, &r, &j, False, &rows.body) < 0:
            return _forget()
        return r.p == r.end and not scan.is_partial and not (rows.has_bodies and scan.invalid_utf8)

    cdef bint must_decode(self, PyObject* guard) noexcept:
        """`TokenGuard.must_decode`."""
        cdef Slots* s = &self.slots
        return (
            slot(guard, s.may_have_tokens) != Py_False
            or slot(guard, s.unsettled) != Py_False
            or slot(guard, s.has_sasl) != Py_False
            or slot(guard, s.proven) != Py_True
        )

    cdef int frame(
        self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t offset, int64_t ts
    ) except -1:
        """Take a whole frame, its size in front: `Connection.frame`."""
        cdef Slots* s = &self.slots
        cdef PyObject* early = slot(x.exchange, s.early)
        cdef PyObject* framer = slot(x.other, s.framer)
        cdef int64_t client = 0
        if slot(x.connection, s.foreign) != Py_None:
            return 0
        if not number_in(slot(x.endpoints, s.client), &client):
            return 0
        if not is_a(early, s.early_class) or PyObject_Size(slot(early, s.waiting)) != 0:
            return 0
        if not is_a(slot(x.exchange, s.guard), s.guard_class):
            return 0
        if not is_a(slot(x.exchange, s.sasl), s.sasl_class):
            return 0
        if slot(slot(x.exchange, s.sasl), s.raw_tokens) != Py_False:
            return 0
        if not is_a(slot(x.exchange, s.pending), s.table_class):
            return 0
        self.rows.follow_names(slot(self.names, s.changes))
        if client != x.side:
            return self.response(x, q, size, offset, ts)
        # Its response may be what the other stream is searched for.
        if slot(framer, s.synced) != Py_True and not is_empty_buffer(slot(framer, s.buffer)):
            return 0
        return self.request(x, q, size, offset, ts)

    cdef int request(
        self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t offset, int64_t ts
    ) except -1:
        cdef Slots* s = &self.slots
        cdef PyObject* guard = slot(x.exchange, s.guard)
        cdef PyObject* made
        cdef Reader r
        cdef CapturePlan plan
        cdef Row row
        cdef bint expects = True
        r.begin = q
        r.p, r.end = q + 4, q + size
        plan = self.request_header(x, &r, &row)
        if plan is None:
            return 0
        client_id = self.client_id
        if plan.reads or self.must_decode(guard):
            if self.body(plan, r) <= 0:
                return 0
            if row.api_key == PRODUCE and plan.reads:
                expects = has_acks(plan.engine.root, r)
        if plan.software:
            # Of all connections the first request or two: its value is worth its time.
            value, _ = plan.engine.read(<bytes>(<const char*>r.p)[: r.end - r.p], 0)
            (<object>x.exchange)._read_software(value)
        row.is_response, row.is_read, row.is_forwarded = False, plan.reads, False
        row.ts, row.offset, row.latency, row.size = ts, offset, -1, size
        row.principal = slot(slot(x.exchange, s.sasl), s.principal)
        row.software = slot(x.exchange, s.software)
        if self.rows.row(s, x, &row, plan) <= 0:
            return 0
        if plan.encloses:
            enclosed = self.enclosed_request(x, plan, r, &row)
            if enclosed is None:
                self.rows.take_back()
                return 0
        else:
            enclosed = None
        if client_id is not None:
            fill(x.exchange, s.client_id, held(<PyObject*>client_id))
        fill(guard, s.proven, held(Py_True))
        if plan.ends_login:
            fill(guard, s.unsettled, held(Py_False))
        if expects:
            made = new_request(s, row.api_key, row.api_version, ts, <PyObject*>client_id)
            if made == NULL:
                return _raise_set()
            request = <object>made
            Py_DECREF(made)
            if enclosed is not None:
                fill(made, s.enclosed, held(<PyObject*>enclosed))
            self.expect(slot(x.exchange, s.pending), row.correlation_id, request)
        fill(x.exchange, s.kafka_seen, held(Py_True))
        return 1

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

    cdef object enclosed_request(self, Side* x, CapturePlan outer, Reader body, Row* of_outer):
        """Write the row of the request in an Envelope; None for one that plain Python takes.

        Returns the pending request.
        """
        cdef Slots* s = &self.slots
        cdef PyObject* made
        cdef const unsigned char* start = body.begin
        cdef const unsigned char* data
        cdef const unsigned char* principal
        cdef int64_t size = read_length(outer.engine.root.fields[0].node, &body)
        cdef int64_t principal_size
        cdef Reader r
        cdef CapturePlan plan
        cdef Row row
        if size < 0:
            return None
        data = body.p
        body.p += size
        principal_size = read_length(outer.engine.root.fields[1].node, &body)
        principal = body.p
        r.begin = r.p = data
        r.end = data + size
        plan = self.request_header(x, &r, &row)
        if plan is None or self.body(plan, r) <= 0:
            return None
        client_id = self.client_id
        name = None
        if principal_size >= 0:
            name = self.options.principal(<bytes>(<const char*>principal)[:principal_size])
        row.is_response, row.is_read, row.is_forwarded = False, True, True
        row.ts, row.latency, row.size = of_outer.ts, -1, <Py_ssize_t>size
        row.offset = of_outer.offset + first_place(start, body.end, data, size)
        row.principal, row.software = <PyObject*>name, Py_None
        if self.rows.row(s, x, &row, plan) <= 0:
            return None
        made = new_request(s, row.api_key, row.api_version, row.ts, <PyObject*>client_id)
        if made == NULL:
            _raise_set()
        request = <object>made
        Py_DECREF(made)
        return request

    cdef int expect(self, PyObject* table, int64_t correlation_id, object request) except -1:
        """`RequestTable.expect`."""
        cdef Slots* s = &self.slots
        cdef PyObject* holes = slot(table, s.holes)
        cdef int64_t last = 0, most = 0
        cdef object key = correlation_id
        waiting = <dict>slot(table, s.by_id)
        number_in(slot(table, s.max_ids), &most)
        if key in waiting or len(waiting) >= most or not is_a(holes, s.holes_class):
            (<object>table).expect(key, request)
            return 0
        if number_in(slot(holes, s.last_id), &last) and last == correlation_id:
            fill(holes, s.ids_repeat, held(Py_True))
        fill(holes, s.last_id, held(<PyObject*>key))
        fill(holes, s.last_ts, held(slot(<PyObject*>request, s.request_ts)))
        waiting[key] = [request]
        return 0

    cdef int response(
        self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t offset, int64_t ts
    ) except -1:
        cdef Slots* s = &self.slots
        cdef PyObject* table = slot(x.exchange, s.pending)
        cdef PyObject* holes = slot(table, s.holes)
        cdef PyObject* asked
        cdef int64_t api_key = 0, api_version = 0, asked_ts = 0, count = 0
        cdef Reader r
        cdef CapturePlan plan
        cdef Row row
        cdef list same_id
        cdef object key
        if size < 8 or not is_a(holes, s.holes_class):
            return 0
        if slot(holes, s.ids_repeat) != Py_False and slot(holes, s.hole_seen) != Py_False:
            return 0
        row.correlation_id = <int32_t>be32(q + 4)
        key = row.correlation_id
        waiting = <dict>slot(table, s.by_id)
        found = waiting.get(key)
        if type(found) is not list or not found:
            return 0
        same_id = <list>found
        request = same_id[0]
        asked = <PyObject*>request
        if (
            not is_a(asked, s.request_class)
            or slot(asked, s.frame) != Py_None
            or slot(asked, s.frames) != Py_None
            or not number_in(slot(asked, s.count), &count)
            or count != 1
            or not number_in(slot(asked, s.request_api_key), &api_key)
            or not number_in(slot(asked, s.request_api_version), &api_version)
            or not number_in(slot(asked, s.request_ts), &asked_ts)
        ):
            return 0
        plan = self.plan(RESPONSE, api_key, api_version)
        if plan is None:
            return 0
        row.latency = -1
        if asked_ts and ts:
            row.latency = ts - asked_ts
            if row.latency < 0:
                return 0
        r.begin = q
        r.p, r.end = q + 4, q + size
        if not response_header(plan, &r, &row):
            return 0
        if plan.falls_back and (r.end - r.p < 2 or be16(r.p) == UNSUPPORTED_VERSION):
            return 0
        if plan.reads or self.must_decode(slot(x.exchange, s.guard)):
            if self.body(plan, r) <= 0:
                return 0
            if plan.names and plan.reads and not self.rows.knows_all_topics():
                return 0  # there are names to be learned
        row.is_response, row.is_read, row.is_forwarded = True, plan.reads, False
        row.api_key, row.api_version = <int>api_key, <int>api_version
        row.client_id = slot(asked, s.request_client_id)
        row.ts, row.offset, row.size = ts, offset, size
        row.principal = slot(slot(x.exchange, s.sasl), s.principal)
        row.software = slot(x.exchange, s.software)
        if self.rows.row(s, x, &row, plan) <= 0:
            return 0
        if slot(asked, s.enclosed) != Py_None:
            if self.enclosed_response(x, plan, r, &row, slot(asked, s.enclosed)) <= 0:
                self.rows.take_back()
                return 0
        if len(same_id) == 1:
            del waiting[key]
        else:
            del same_id[0]
        fill(x.exchange, s.kafka_seen, held(Py_True))
        return 1

    cdef int enclosed_response(
        self, Side* x, CapturePlan outer, Reader body, Row* of_outer, PyObject* asked
    ) except -1:
        """Write the row of the response in an Envelope's, if there is one."""
        cdef Slots* s = &self.slots
        cdef const unsigned char* start = body.begin
        cdef int64_t api_key = 0, api_version = 0
        cdef int64_t size
        cdef Reader r
        cdef CapturePlan plan
        cdef Row row
        if not outer.encloses or not is_a(asked, s.request_class):
            return 0
        size = read_length(outer.engine.root.fields[0].node, &body)
        if size < 0:
            return size == -1  # null
        if not number_in(slot(asked, s.request_api_key), &api_key):
            return 0
        if not number_in(slot(asked, s.request_api_version), &api_version):
            return 0
        plan = self.plan(RESPONSE, api_key, api_version)
        r.begin = r.p = body.p
        r.end = body.p + size
        if plan is None or plan.falls_back or slot(asked, s.frame) != Py_None:
            return 0
        if not response_header(plan, &r, &row) or self.body(plan, r) <= 0:
            return 0
        if plan.names and not self.rows.knows_all_topics():
            return 0
        row.is_response, row.is_read, row.is_forwarded = True, True, True
        row.api_key, row.api_version = <int>api_key, <int>api_version
        row.client_id = slot(asked, s.request_client_id)
        row.ts, row.latency, row.size = of_outer.ts, of_outer.latency, <Py_ssize_t>size
        row.offset = of_outer.offset + first_place(start, body.end, body.p, size)
        row.principal, row.software = Py_None, Py_None
        return self.rows.row(s, x, &row, plan)

    cdef bint names_topics(
        self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t limit
    ) except -1:
        """Whether one of several frames may have names, which those before it in its packet get.

        Behind a size above the ``limit`` nobody knows what frames a search finds.
        """
        cdef Slots* s = &self.slots
        cdef PyObject* table = slot(x.exchange, s.pending)
        cdef const unsigned char* end = q + size
        cdef int64_t length, correlation_id, last = -1 << 40, api_key = 0
        if not self.rows.has_bodies or not is_a(table, s.table_class):
            return False
        waiting = <dict>slot(table, s.by_id)
        while end - q >= 8:
            length = be32(q)
            if length > limit:
                return True
            correlation_id = <int32_t>be32(q + 4)
            # Clients that have one id for all have many requests under it: one look is enough.
            for request in () if correlation_id == last else waiting.get(correlation_id, ()):
                if not is_a(<PyObject*>request, s.request_class):
                    return True
                if not number_in(slot(<PyObject*>request, s.request_api_key), &api_key):
                    return True
                if not 0 <= api_key < KEYS or self.naming[api_key]:
                    return True
            last = correlation_id
            if length > end - q - 4:
                break
            q += 4 + length
        return False


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
