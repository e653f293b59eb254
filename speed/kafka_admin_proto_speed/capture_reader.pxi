# Blocks of a capture file → packets → the bytes of plain connections → their frames.
#
# Plain is a segment of a connection that is open, in its turn, with no bytes before it missing. Other
# segments go to Python, and so do packets of unusual shapes and whatever else a file has.

cdef enum:
    FIN_FLAG = 1
    SYN_RST_FLAGS = 6
    PCAP_HEADER = 16
    PCAPNG_HEADER = 28
    PCAPNG_LEAST = 32
    ENHANCED = 6  # the block of a packet
    MOST_INTERFACES = 16
    LINGER_US = 5_000_000  # as in connection/conversation.py
    MOST_ENDED = 4096  # fewer than captures.py remembers
    MOST_LINES = 1 << 16  # bytes of rows that are kept before they are written
    MOST_ARRIVALS = 16_000  # beyond which the framer itself sees to them
    LARGEST_ORIGINAL = (1 << 24) - 1  # bytes of a packet, and of its block in pcapng
    LARGEST_BLOCK = (1 << 24) + 4096

cdef struct Interface:
    int64_t link
    int64_t ticks  # in a microsecond; 0 for an interface that is left to plain Python


cdef inline uint32_t u32(const unsigned char* q, bint is_big) noexcept:
    if is_big:
        return be32(q)
    return (<uint32_t>q[3] << 24) | (<uint32_t>q[2] << 16) | (<uint32_t>q[1] << 8) | q[0]


cdef class CaptureReader:
    """Decodes the plain packets of a capture, beside a `CaptureDecoder`, whose state it works on.

    ``table`` is that of the conversations, and ``out`` where frames of plain Python go: the reader
    stops behind the packet that they are in, so that they come behind the rows before them.
    ``ended`` are conversations whose connection has ended, as there. ``slow`` takes a segment that
    is not plain, with its time and ordinal, and ``forget`` drops conversations by a time, which is
    due when that is later than ``until``; both return the new ``until``. ``frames`` sees to the rows.
    """

    cdef Links links
    cdef FrameReader frames
    cdef dict table
    cdef list out
    cdef object ended
    cdef object slow
    cdef object forget
    cdef object capture
    cdef int64_t ordinal
    cdef int64_t until

    def __cinit__(
        self, dict link_headers not None, dict bare_headers not None, dict table not None,
        list out not None, ended, slow, forget, FrameReader frames not None
    ):
        fill_links(&self.links, link_headers, bare_headers)
        self.table, self.out, self.ended, self.slow = table, out, ended, slow
        self.forget, self.frames = forget, frames

    def read_pcap(
        self, source, header, str capture not None, int64_t ordinal, int64_t until, int64_t number
    ):
        """Read on from the source's position in a pcap file.

        ``ordinal`` counts the segments so far, and ``number`` the frames; both are returned.
        """
        cdef bytes data = source.data
        cdef const unsigned char* q = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
        cdef Py_ssize_t end = len(data)
        cdef Py_ssize_t at = source.at
        cdef Py_ssize_t start = source.start
        cdef bint is_big = header.order == ">"
        cdef bint is_nano = header.resolution == 1_000_000_000
        cdef int64_t link = header.link
        cdef int64_t largest = header.largest
        cdef int64_t size, original, fraction
        self.begin(capture, ordinal, until, number)
        while end - at >= PCAP_HEADER and not self.out:
            fraction = u32(q + at + 4, is_big)
            size, original = u32(q + at + 8, is_big), u32(q + at + 12, is_big)
            if size > end - at - PCAP_HEADER or not 0 < size <= largest:
                break
            if not size <= original <= LARGEST_ORIGINAL:
                break
            if is_nano:
                fraction //= 1000
            if not self.packet(
                link, q + at + PCAP_HEADER, size, <int64_t>u32(q + at, is_big) * 1_000_000 + fraction
            ):
                break
            start, at = at, at + PCAP_HEADER + size
        return self.finish(source, start, at)

    def read_pcapng(
        self, source, order, list interfaces not None, str capture not None, int64_t ordinal,
        int64_t until, int64_t number
    ):
        """The same in a pcapng file, of whose interfaces link type, resolution and offset count."""
        cdef Interface known[MOST_INTERFACES]
        cdef bytes data = source.data
        cdef const unsigned char* q = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
        cdef const unsigned char* block
        cdef Py_ssize_t end = len(data)
        cdef Py_ssize_t at = source.at
        cdef Py_ssize_t start = source.start
        cdef bint is_big = order == ">"
        cdef int count = min(len(interfaces), MOST_INTERFACES)
        cdef int64_t size, captured, number_of, ticks
        for i in range(count):
            known[i] = interface_of(interfaces[i])
        self.begin(capture, ordinal, until, number)
        while end - at >= PCAPNG_LEAST and not self.out:
            block = q + at
            size = u32(block + 4, is_big)
            if u32(block, is_big) != ENHANCED or size < PCAPNG_LEAST or size % 4 or size > end - at:
                break
            number_of, captured = u32(block + 8, is_big), u32(block + 20, is_big)
            if size > LARGEST_BLOCK or captured > size - PCAPNG_LEAST or number_of >= count:
                break
            if u32(block + size - 4, is_big) != size or known[number_of].ticks == 0:
                break
            if u32(block + 12, is_big) >> 31:
                break
            ticks = (<int64_t>u32(block + 12, is_big) << 32) | u32(block + 16, is_big)
            if not self.packet(
                known[number_of].link, block + PCAPNG_HEADER, captured,
                ticks // known[number_of].ticks,
            ):
                break
            start, at = at, at + size
        return self.finish(source, start, at)

    cdef int begin(self, capture, int64_t ordinal, int64_t until, int64_t number) except -1:
        self.capture, self.ordinal, self.until = capture, ordinal, until
        self.frames.rows.number = number
        return 0

    cdef object finish(self, source, Py_ssize_t start, Py_ssize_t at):
        """Have the rows written, and let the source be behind the last packet."""
        source.start, source.at = start, at
        self.note_ordinal()
        self.frames.rows.flush()
        return self.ordinal, self.frames.rows.number

    cdef int note_ordinal(self) except -1:
        return fill_number(self.frames.names, self.frames.slots.names_ordinal, self.ordinal)

    cdef bint packet(
        self, int64_t link, const unsigned char* q, Py_ssize_t size, int64_t ts
    ) except -1:
        """Take a packet: False for one of an unusual shape."""
        cdef Segment segment
        if not plain_segment(&self.links, link, q, size, &segment):
            return False
        if self.segment(&segment, ts):
            if ts > self.until:
                self.until = self.forget(ts)
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
        cdef bint is_fin
        if segment.flags & SYN_RST_FLAGS:
            return False
        found = self.table.get(<bytes>(<const char*>segment.key)[: segment.key_size])
        if found is None or not find_side(s, <PyObject*>found, &x):
            return False
        is_fin = segment.flags & FIN_FLAG
        if x.ended_us >= 0 and (segment.size or is_fin or ts - x.ended_us > LINGER_US):
            return False
        if is_fin and len(self.ended) >= MOST_ENDED:
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
        self.ordinal += 1
        fill_number(x.conversation, s.conversation_ts, ts)
        fill_number(x.conversation, s.conversation_ordinal, self.ordinal)
        if slot(x.endpoints, s.capture) != <PyObject*>self.capture:
            fill(x.endpoints, s.capture, held(<PyObject*>self.capture))
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
        if is_fin:
            self.end(&x, segment, ts)
        return True

    cdef int end(self, Side* x, Segment* segment, int64_t ts) except -1:
        """One end has announced that it sends no more: `StreamReassembler.fin`."""
        cdef Slots* s = &self.frames.slots
        cdef int64_t sequence = 0, position = 0
        cdef int32_t beyond
        if number_in(slot(x.reassembler, s.sequence), &sequence):
            number_in(slot(x.reassembler, s.position), &position)
            beyond = <int32_t>(segment.sequence + <uint32_t>segment.size - <uint32_t>sequence)
            fill_number(x.reassembler, s.fin, position + beyond)
        if has_ended(s, x.reassembler) and has_ended(s, x.receiver):
            fill_number(x.conversation, s.ended_us, ts)
            key = <bytes>(<const char*>segment.key)[: segment.key_size]
            self.ended.append((ts, key, <object>x.conversation))
            if len(self.ended) == 1:
                self.until = ts + LINGER_US
        return 0

    cdef int data(self, Side* x, Segment* segment, int64_t ts) except -1:
        """The next bytes of a stream: `StreamReassembler.segment` and `Framer.data`."""
        cdef Slots* s = &self.frames.slots
        cdef PyObject* buffer = slot(x.framer, s.buffer)
        cdef PyObject* arrivals = slot(x.framer, s.arrivals)
        cdef PyObject* made
        cdef Py_ssize_t waiting = PyByteArray_GET_SIZE(buffer)
        cdef int64_t position = 0, wanted = 0, offset = 0
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
            number_in(slot(x.framer, s.offset), &offset)
            if PyObject_Size(arrivals) < MOST_ARRIVALS:
                (<object>arrivals).append((offset + waiting, ts))
            else:
                (<object>x.framer)._arrived(ts)
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
        cdef PyObject* arrivals
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
                when = (<object>x.framer)._time_of(offset + length, ts)
            if self.out or not is_plain or not self.frames.frame(x, p, length, offset, when):
                self.note_ordinal()
                (<object>x.stream).frame(<bytes>(<const char*>p)[:length], offset, when)
            p += length
        if p < end:
            append_bytes(slot(x.framer, s.buffer), p, end - p)
            arrivals = slot(x.framer, s.arrivals)
            if not PyObject_Size(arrivals):
                (<object>x.framer)._arrived(ts)
        return 0


cdef bint has_ended(Slots* s, PyObject* reassembler) noexcept:
    """`StreamReassembler.ended`."""
    cdef int64_t fin = 0, position = 0
    if not number_in(slot(reassembler, s.fin), &fin):
        return False
    return number_in(slot(reassembler, s.position), &position) and position >= fin


cdef int append_bytes(PyObject* buffer, const unsigned char* q, Py_ssize_t size) except -1:
    cdef Py_ssize_t before = PyByteArray_GET_SIZE(buffer)
    if PyByteArray_Resize(buffer, before + size) < 0:
        return _raise_set()
    memcpy(PyByteArray_AS_STRING(buffer) + before, q, size)
    return 0


cdef Interface interface_of(object described) noexcept:
    """An interface of pcapng whose ticks are whole parts of microseconds."""
    cdef Interface found
    found.link, found.ticks = 0, 0
    if described is not None and described.offset == 0:
        found.link = described.link
        found.ticks = {10**6: 1, 10**7: 10, 10**8: 100, 10**9: 1000}.get(described.resolution, 0)
    return found
