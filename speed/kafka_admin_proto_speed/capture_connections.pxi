# Segments of connections that are open, in their turn, with no bytes before them missing.

cdef enum:
    MOST_LINES = 1 << 16  # bytes of rows that are kept before they are written


cdef class ConnectionReader(StreamReader):
    """Takes the segments of plain connections, and has plain Python take the others."""

    cdef Links links
    cdef Conversations conversations
    cdef object slow
    cdef object capture
    cdef int64_t until

    cdef bint packet(
        self, int64_t link, const unsigned char* q, Py_ssize_t size, int64_t ts
    ) except -1:
        """Take a packet: False for one of an unusual shape."""
        cdef Segment segment
        if not plain_segment(&self.links, link, q, size, &segment):
            return False
        if self.segment(&segment, ts):
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
        cdef Slots* s = &self.frames.slots
        cdef Side x
        cdef PyObject* buffer
        cdef int64_t sequence = 0, rest = 0
        cdef bint ends
        found = self.conversations.entries.get(
            <bytes>(<const char*>segment.key)[: segment.key_size]
        )
        if found is None:
            if not self.conversations.open(segment, &x):
                return False
            self.arrived(&x, ts)
            return True
        if not find_side(s, <PyObject*>found, &x):
            return False
        if segment.flags & SYN_FLAG:
            return self.syn(&x, segment, ts)
        ends = segment.flags & (FIN_FLAG | RST_FLAG)
        if x.ended_us >= 0:
            if segment.size or segment.flags & FIN_FLAG or ts - x.ended_us > LINGER_US:
                return False
            ends = ends and ts == x.ended_us
        if ends and (x.ended_us >= 0 or self.conversations.has_many_ended()):
            return False
        if segment.size:
            if not number_in(slot(x.reassembler, s.sequence), &sequence):
                return False
            if sequence != segment.sequence:
                return False
            if not number_in(slot(x.framer, s.rest), &rest) or rest:
                return False
            if slot(x.framer, s.synced) != Py_True:
                return False
            buffer = slot(x.framer, s.buffer)
            if buffer == NULL or not PyByteArray_Check(buffer):
                return False
        self.arrived(&x, ts)
        if segment.size:
            # What they belong to stays, whatever the methods do that are called in between.
            kept = (
                <object>x.connection,
                <object>slot(x.connection, s.streams),
                <object>x.endpoints,
                <object>x.exchange,
                <object>x.framer,
            )
            self.data(&x, segment, ts)
            if self.frames.rows.lines.p - self.frames.rows.lines.begin > MOST_LINES:
                self.frames.rows.flush()
        if ends:
            self.end(&x, segment, ts)
        return True

    cdef int arrived(self, Side* x, int64_t ts) except -1:
        """A packet of the conversation is here."""
        cdef Slots* s = &self.frames.slots
        self.ordinal += 1
        fill_number(x.conversation, s.conversation_ts, ts)
        fill_number(x.conversation, s.conversation_ordinal, self.ordinal)
        if slot(x.endpoints, s.capture) != <PyObject*>self.capture:
            fill(x.endpoints, s.capture, held(<PyObject*>self.capture))
        return 0

    cdef bint syn(self, Side* x, Segment* segment, int64_t ts) except -1:
        """Take the SYN with which a server answers that of its client: False for any other."""
        cdef Slots* s = &self.frames.slots
        cdef int64_t client = 0
        if segment.flags & (RST_FLAG | FIN_FLAG):
            return False
        if segment.size or x.ended_us >= 0 or not number_in(slot(x.endpoints, s.client), &client):
            return False
        if slot(x.reassembler, s.sequence) != Py_None or slot(x.framer, s.synced) != Py_True:
            return False
        self.arrived(x, ts)
        fill(x.stream, s.started, held(Py_True))
        return fill_number(
            x.reassembler, s.sequence, <int64_t>(<uint32_t>(segment.sequence + 1))
        ) == 0

    cdef int end(self, Side* x, Segment* segment, int64_t ts) except -1:
        """One end sends no more (`StreamReassembler.fin`), or has reset the connection."""
        cdef Slots* s = &self.frames.slots
        cdef int64_t sequence = 0, position = 0
        cdef int32_t beyond
        ended = self.conversations.ended
        if segment.flags & FIN_FLAG and number_in(slot(x.reassembler, s.sequence), &sequence):
            number_in(slot(x.reassembler, s.position), &position)
            beyond = <int32_t>(segment.sequence + <uint32_t>segment.size - <uint32_t>sequence)
            fill_number(x.reassembler, s.fin, position + beyond)
        if segment.flags & RST_FLAG or (has_ended(s, x.reassembler) and has_ended(s, x.receiver)):
            fill_number(x.conversation, s.ended_us, ts)
            key = <bytes>(<const char*>segment.key)[: segment.key_size]
            ended.append((ts, key, <object>x.conversation))
            if len(ended) == 1:
                self.until = self.conversations.table.next_end()
        return 0


cdef bint has_ended(Slots* s, PyObject* reassembler) noexcept:
    """`StreamReassembler.ended`."""
    cdef int64_t fin = 0, position = 0
    if not number_in(slot(reassembler, s.fin), &fin):
        return False
    return number_in(slot(reassembler, s.position), &position) and position >= fin
