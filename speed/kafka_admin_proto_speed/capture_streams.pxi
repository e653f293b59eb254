# The next bytes of plain streams → their frames: what StreamDecoder and Framer do with them.

cdef enum:
    MOST_ARRIVALS = 16_000  # beyond which the framer itself sees to them


cdef class StreamReader(PacketTaker):
    """Takes the next bytes of streams; ``out`` is where frames of plain Python go."""

    cdef FrameReader frames
    cdef list out
    cdef int64_t ordinal

    cdef int note_ordinal(self) except -1:
        return fill_number(self.frames.names, self.frames.slots.names_ordinal, self.ordinal)

    cdef int data(self, Side* x, Segment* segment, int64_t ts) except -1:
        """The next bytes of a stream: `StreamReassembler.segment` and `Framer.data`."""
        cdef Slots* s = &self.frames.slots
        cdef PyObject* buffer = slot(x.framer, s.buffer)
        cdef PyObject* made
        cdef Py_ssize_t waiting = PyByteArray_GET_SIZE(buffer)
        cdef int64_t position = 0, wanted = 0
        number_in(slot(x.reassembler, s.position), &position)
        fill_number(x.reassembler, s.position, position + segment.size)
        fill_number(
            x.reassembler, s.sequence, <int64_t>(<uint32_t>(segment.sequence + segment.size))
        )
        if slot(x.stream, s.silent) != Py_False:
            fill(x.stream, s.silent, held(Py_False))
            self.note_ordinal()
            payload = <bytes>(<const char*>segment.payload)[: segment.size]
            (<object>x.connection).first_bytes(<object>x.stream, payload)
            if slot(x.connection, s.foreign) != Py_None:
                (<object>slot(x.connection, s.foreign)).add(x.side, payload)
                return 0
        if waiting == 0:
            self.cut(x, segment.payload, segment.size, ts)
        else:
            append_bytes(buffer, segment.payload, segment.size)
            waiting += segment.size
            self.note_arrival(x, ts)
            number_in(slot(x.framer, s.wanted), &wanted)
            if waiting < wanted:
                return 0
            made = PyBytes_FromStringAndSize(PyByteArray_AS_STRING(buffer), waiting)
            if made == NULL:
                return _raise_set()
            whole = <bytes>made
            Py_DECREF(made)
            if PyByteArray_Resize(buffer, 0) < 0:
                return _raise_set()
            self.cut(x, <const unsigned char*>PyBytes_AS_STRING(<PyObject*>whole), waiting, ts)
        if slot(x.framer, s.synced) != Py_True and PyByteArray_GET_SIZE(slot(x.framer, s.buffer)):
            self.note_ordinal()
            (<object>x.framer).go_on(ts)
        return 0

    cdef int cut(self, Side* x, const unsigned char* q, Py_ssize_t size, int64_t ts) except -1:
        """Take the frames in some bytes: `Framer._cut`."""
        cdef Slots* s = &self.frames.slots
        cdef const unsigned char* end = q + size
        cdef const unsigned char* p = q
        cdef int64_t length, offset = 0, when, limit = 0
        cdef bint is_alone = True
        cdef bint is_plain = number_in(slot(x.framer, s.limit), &limit)
        if not is_plain:
            limit = 1 << 40  # beyond all sizes
        fill_number(x.framer, s.wanted, 0)
        is_plain = True
        while end - p >= 4:
            length = be32(p)
            if length > limit:
                self.note_ordinal()
                (<object>x.framer)._lose_sync(<bytes>(<const char*>p)[: end - p], ts)
                return 0
            length += 4
            if length > end - p:
                fill_number(x.framer, s.wanted, length)
                break
            if is_alone and length < end - p:
                is_alone = False
                is_plain = not self.frames.names_topics(x, p, end - p, limit)
            number_in(slot(x.framer, s.offset), &offset)
            fill_number(x.framer, s.offset, offset + length)
            when = ts
            if PyObject_Size(slot(x.framer, s.arrivals)):
                when = self.time_of(x, offset + length, ts)
            if self.out or not is_plain or not self.frames.frame(x, p, length, offset, when):
                self.note_ordinal()
                (<object>x.stream).frame(<bytes>(<const char*>p)[:length], offset, when)
            p += length
        if p < end:
            append_bytes(slot(x.framer, s.buffer), p, end - p)
            if not PyObject_Size(slot(x.framer, s.arrivals)):
                self.note_arrival(x, ts)
        return 0

    cdef int note_arrival(self, Side* x, int64_t ts) except -1:
        """`Framer._arrived`."""
        cdef Slots* s = &self.frames.slots
        cdef PyObject* arrivals = slot(x.framer, s.arrivals)
        cdef int64_t offset = 0
        if not number_in(slot(x.framer, s.offset), &offset) or PyObject_Size(arrivals) >= MOST_ARRIVALS:
            (<object>x.framer)._arrived(ts)
            return 0
        offset += PyByteArray_GET_SIZE(slot(x.framer, s.buffer))
        (<object>arrivals).append((offset, ts))
        return 0

    cdef int64_t time_of(self, Side* x, int64_t end, int64_t ts) except? -1:
        """`Framer._time_of`."""
        cdef int64_t latest = ts, last, came
        cdef bint is_first = True
        arrivals = <object>slot(x.framer, self.frames.slots.arrivals)
        while arrivals:
            last, came = arrivals[0]
            latest = came if is_first else max(latest, came)
            is_first = False
            if last > end:
                break
            arrivals.popleft()
            if last == end:
                break
        return latest


cdef int append_bytes(PyObject* buffer, const unsigned char* q, Py_ssize_t size) except -1:
    cdef Py_ssize_t before = PyByteArray_GET_SIZE(buffer)
    if PyByteArray_Resize(buffer, before + size) < 0:
        return _raise_set()
    memcpy(PyByteArray_AS_STRING(buffer) + before, q, size)
    return 0
