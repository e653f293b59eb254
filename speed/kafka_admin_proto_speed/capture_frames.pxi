# Frames of plain connections: the requests, and the responses to those that are in the table.


cdef class FrameReader(RequestReader):
    """Reads the frames of plain connections, and has their rows written."""

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
        cdef bint wanted, is_kept
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
            or (slot(asked, s.frame) != Py_None and not self.rows.derives)
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
        row.is_response, row.is_read, row.is_forwarded = True, plan.reads, False
        row.api_key, row.api_version = <int>api_key, <int>api_version
        row.client_id = slot(asked, s.request_client_id)
        row.ts, row.offset, row.size = ts, offset, size
        row.body, row.end = r.p, r.end
        row.principal = slot(slot(x.exchange, s.sasl), s.principal)
        row.software = slot(x.exchange, s.software)
        row.is_wanted = self.rows.is_wanted(s, x, &row) and self.rows.may_be_about(&row, plan)
        is_kept = slot(asked, s.frame) != Py_None
        about = None
        # Whether a body without names decodes is then of its own row alone.
        wanted = plan.reads and (row.is_wanted or plan.names or plan.encloses)
        if wanted or self.must_decode(slot(x.exchange, s.guard)):
            if self.body(plan, r) <= 0:
                return 0
        if is_kept and not plan.reads:
            return 0
        if plan.reads and (is_kept or self.has_news(plan, &row)):
            if not self.rows.derives:
                return 0  # there are names to be learned
            self.note_ordinal()
            latency = None if row.latency < 0 else row.latency
            about = (<object>x.exchange, request, <bytes>(<const char*>q)[:size], offset, ts, latency)
        if self.row_about(about, x, &row, plan) <= 0:
            return 0
        if slot(asked, s.enclosed) != Py_None:
            if self.enclosed_response(x, plan, r, &row, request) <= 0:
                self.rows.take_back()
                return 0
            is_kept = is_kept or slot(slot(asked, s.enclosed), s.frame) != Py_None
        if is_kept:
            (<object>table).take(key)
        elif len(same_id) == 1:
            del waiting[key]
        else:
            del same_id[0]
        fill(x.exchange, s.kafka_seen, held(Py_True))
        return 1

    cdef bint has_news(self, CapturePlan plan, Row* row) except -1:
        """Whether the body has names of topics, or parts of the metadata log, that are new."""
        if plan.names and not self.rows.knows_all_topics():
            return True
        return self.rows.derives and row.api_key == FETCH and self.rows.has_new_log

    cdef int enclosed_response(
        self, Side* x, CapturePlan outer, Reader body, Row* of_outer, request
    ) except -1:
        """Write the row of the response in an Envelope's, if there is one."""
        cdef Slots* s = &self.slots
        cdef PyObject* asked = slot(<PyObject*>request, s.enclosed)
        cdef const unsigned char* start = body.begin
        cdef int64_t api_key = 0, api_version = 0
        cdef int64_t size
        cdef bint is_kept
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
        is_kept = slot(asked, s.frame) != Py_None
        if plan is None or plan.falls_back or (is_kept and not self.rows.derives):
            return 0
        if not response_header(plan, &r, &row) or self.body(plan, r) <= 0:
            return 0
        row.is_response, row.is_read, row.is_forwarded = True, True, True
        row.api_key, row.api_version = <int>api_key, <int>api_version
        row.client_id = slot(asked, s.request_client_id)
        row.ts, row.latency, row.size = of_outer.ts, of_outer.latency, <Py_ssize_t>size
        row.offset = of_outer.offset + first_place(start, body.end, body.p, size)
        row.body, row.end = r.p, r.end
        row.principal, row.software = Py_None, Py_None
        row.is_wanted = self.rows.is_wanted(s, x, &row)
        about = None
        if is_kept or self.has_news(plan, &row):
            if not self.rows.derives:
                return 0
            self.note_ordinal()
            latency = None if row.latency < 0 else row.latency
            about = (
                <object>x.exchange, request, <bytes>(<const char*>start)[: of_outer.size],
                of_outer.offset, row.ts, latency, True,
            )
        return self.row_about(about, x, &row, plan)

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
        if not self.rows.names_matter():
            return False
        if not is_a(table, s.table_class):
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
