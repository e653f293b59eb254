# The packets of a capture, whose conversations are in a table.

cdef enum:
    MOST_LINES = 1 << 16  # bytes of rows that are kept before they are written


cdef class ConnectionReader(PlainSegments):
    """Takes the segments of plain connections, and has plain Python take the others."""

    cdef Links links
    cdef Conversations conversations
    cdef object slow
    cdef RowWriter rows
    cdef int64_t until

    cdef bint packet(
        self, int64_t link, const unsigned char* q, Py_ssize_t size, int64_t ts
    ) except -1:
        """Take a packet: False for one of an unusual shape."""
        cdef Segment segment
        if not plain_segment(&self.links, link, q, size, &segment):
            return False
        if self.segment(&segment, ts):
            if self.rows.lines.p - self.rows.lines.begin > MOST_LINES:
                self.rows.flush()
            if ts > self.until:
                self.until = self.conversations.forget(ts)
        else:
            self.until = self.slow(
                (
                    <bytes>(<const char*>segment.key)[: segment.key_size],
                    segment.sequence,
                    segment.flags,
                    <bytes>(<const char*>segment.payload)[: segment.size],
                    0,
                    segment.acknowledged,
                ),
                ts,
                self.ordinal + 1,
            )
            self.ordinal += 1
        return True

    cdef bint segment(self, Segment* segment, int64_t ts) except -1:
        """Take a segment: False for one that plain Python has to take."""
        cdef Side x
        found = self.conversations.entries.get(
            <bytes>(<const char*>segment.key)[: segment.key_size]
        )
        if found is not None:
            return self.taken(<PyObject*>found, segment, ts)
        if not self.conversations.open(segment, &x):
            return False
        self.arrived(&x, ts)
        return True

    cdef bint may_end(self) except -1:
        return not self.conversations.has_many_ended()

    cdef int note_end(self, Side* x, Segment* segment, int64_t ts) except -1:
        ended = self.conversations.ended
        key = <bytes>(<const char*>segment.key)[: segment.key_size]
        ended.append((ts, key, <object>x.conversation))
        if len(ended) == 1:
            self.until = self.conversations.table.next_end()
        return 0
