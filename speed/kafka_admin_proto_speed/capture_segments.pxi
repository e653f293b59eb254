# Segments of connections that are open, in their turn, with no bytes before them missing.

cdef enum:
    FIN_FLAG = 1
    SYN_FLAG = 2
    RST_FLAG = 4
    ACK_FLAG = 16
    LINGER_US = 5_000_000  # as in connection/conversation.py


cdef class PlainSegments(StreamReader):
    """Takes the segments of plain connections; ``ordinal`` is that of the last one."""

    cdef object capture

    cdef bint taken(self, PyObject* entry, Segment* segment, int64_t ts) except -1:
        """Take a segment of a conversation: False for one that plain Python has to take.

        ``entry`` is the conversation and the number of the end that sends.
        """
        cdef Slots* s = &self.frames.slots
        cdef Side x
        cdef PyObject* buffer
        cdef int64_t sequence = 0, rest = 0
        cdef bint ends
        if not find_side(s, entry, &x):
            return False
        if segment.flags & SYN_FLAG:
            return self.syn(&x, segment, ts)
        ends = segment.flags & (FIN_FLAG | RST_FLAG)
        if x.ended_us >= 0:
            if segment.size or segment.flags & FIN_FLAG or ts - x.ended_us > LINGER_US:
                return False
            ends = ends and ts == x.ended_us
        if ends and (x.ended_us >= 0 or not self.may_end()):
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
        if ends:
            self.end(&x, segment, ts)
        return True

    cdef int arrived(self, Side* x, int64_t ts) except -1:
        """A packet of the conversation is here."""
        cdef Slots* s = &self.frames.slots
        self.ordinal += 1
        self.frames.rows.ordinal = self.ordinal
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
        if segment.flags & FIN_FLAG and number_in(slot(x.reassembler, s.sequence), &sequence):
            number_in(slot(x.reassembler, s.position), &position)
            beyond = <int32_t>(segment.sequence + <uint32_t>segment.size - <uint32_t>sequence)
            fill_number(x.reassembler, s.fin, position + beyond)
        if segment.flags & RST_FLAG or (has_ended(s, x.reassembler) and has_ended(s, x.receiver)):
            fill_number(x.conversation, s.ended_us, ts)
            self.note_end(x, segment, ts)
        return 0

    cdef bint may_end(self) except -1:
        """Whether the end of a connection need not be taken by plain Python."""
        return True

    cdef int note_end(self, Side* x, Segment* segment, int64_t ts) except -1:
        """A connection has ended."""
        return 0


cdef bint has_ended(Slots* s, PyObject* reassembler) noexcept:
    """`StreamReassembler.ended`."""
    cdef int64_t fin = 0, position = 0
    if not number_in(slot(reassembler, s.fin), &fin):
        return False
    return number_in(slot(reassembler, s.position), &position) and position >= fin
