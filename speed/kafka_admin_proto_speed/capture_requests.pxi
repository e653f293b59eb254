# Requests of plain connections: what connection/exchange.py does with those that decode to their
# end.
#
# A function here returns 1 for a frame that it has taken, and 0 for one that plain Python has to
# take, whose state is as it was before. So do those of capture_frames.pxi.


cdef class RequestReader(HeaderReader):
    """Reads the requests of plain connections, and has their rows written."""

    cdef int request(
        self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t offset, int64_t ts
    ) except -1:
        cdef Slots* s = &self.slots
        cdef PyObject* guard = slot(x.exchange, s.guard)
        cdef PyObject* made
        cdef Reader r
        cdef CapturePlan plan
        cdef Row row
        cdef bint expects = True, at_once, waits
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
            software = self.options.software(plan.codec, <bytes>(<const char*>r.p)[: r.end - r.p])
            if software is not None:
                fill(x.exchange, s.software, held(<PyObject*>software))
        row.is_response, row.is_read, row.is_forwarded = False, plan.reads, False
        row.ts, row.offset, row.latency, row.size = ts, offset, -1, size
        row.body, row.end = r.p, r.end
        row.principal = slot(slot(x.exchange, s.sasl), s.principal)
        row.software = slot(x.exchange, s.software)
        row.is_wanted = self.rows.is_wanted(s, x, &row)
        kept = None
        at_once, waits = self.rows.has_rows_at_once(row.api_key), self.rows.waits(row.api_key)
        if at_once or waits:
            if not plan.reads:
                return 0
            self.note_ordinal()
            kept = self.options.request(<object>x.exchange, <bytes>(<const char*>q)[:size], offset, ts)
        if self.row_about(kept if at_once else None, x, &row, plan) <= 0:
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
            table = <object>slot(x.exchange, s.pending)
            if enclosed is not None:
                fill(made, s.enclosed, held(<PyObject*>enclosed))
            if waits:
                fill(made, s.frame, held(<PyObject*>kept))
                table.expect(row.correlation_id, request)
            else:
                self.expect(<PyObject*>table, row.correlation_id, request)
            if enclosed is not None and slot(<PyObject*>enclosed, s.frame) != Py_None:
                table._keep(<object>slot(<PyObject*>enclosed, s.frame))
        fill(x.exchange, s.kafka_seen, held(Py_True))
        return 1

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
        cdef bint at_once, waits
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
        row.body, row.end = r.p, r.end
        row.principal, row.software = <PyObject*>name, Py_None
        row.is_wanted = self.rows.is_wanted(s, x, &row)
        kept = None
        at_once, waits = self.rows.has_rows_at_once(row.api_key), self.rows.waits(row.api_key)
        if at_once or waits:
            self.note_ordinal()
            kept = self.options.enclosed_request(
                <object>x.exchange, <bytes>(<const char*>start)[: of_outer.size], of_outer.offset,
                row.ts,
            )
        if self.row_about(kept if at_once else None, x, &row, plan) <= 0:
            return None
        made = new_request(s, row.api_key, row.api_version, row.ts, <PyObject*>client_id)
        if made == NULL:
            _raise_set()
        request = <object>made
        Py_DECREF(made)
        if waits:
            fill(made, s.frame, held(<PyObject*>kept))
        return request

    cdef int row_about(self, about, Side* x, Row* row, CapturePlan plan) except -1:
        """Write a row, and what is made for other tables."""
        self.rows.about = about
        try:
            return self.rows.row(&self.slots, x, row, plan)
        finally:
            self.rows.about = None

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


cdef bint has_acks(Shape* root, Reader r) noexcept:
    """Whether the body of a Produce, which has decoded, asks for a response."""
    cdef int64_t length
    cdef int i
    for i in range(root.count):
        if root.fields[i].node == NULL or root.fields[i].tag >= 0:
            continue
        if root.fields[i].node.kind == INT16:
            return be16(r.p) != 0  # acks is the first of them, behind the transactional id
        if root.fields[i].node.kind != STRING:
            return True
        length = read_length(root.fields[i].node, &r)
        r.p += max(length, 0)
    return True


cdef Py_ssize_t first_place(
    const unsigned char* q, const unsigned char* end, const unsigned char* data, int64_t size
) noexcept:
    """Where some bytes come first in a frame: at their own place, if not before it."""
    cdef const unsigned char* p = q
    if size == 0:
        return 0
    while p < data and p != NULL:
        p = <const unsigned char*>memchr(p, data[0], <size_t>(data - p))
        if p == NULL:
            break
        if memcmp(p, data, <size_t>size) == 0:
            return p - q
        p += 1
    return data - q
