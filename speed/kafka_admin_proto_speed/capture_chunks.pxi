# Packets of captures → the chunks of their flows.


cdef class ChunkPacker(PacketTaker):
    """Adds the plain packets of a part of a file to chunks that are open.

    ``chunks`` has the flows' chunks, objects of ``chunk_class``. A packet whose chunk is not there,
    or would have more than ``most_bytes`` of payload, is left to plain Python. ``position`` is that
    of the last packet of a file whose packets are ``numbered``; ``base`` is added to positions.
    Packets with a time of ``since`` up to and without ``until`` are taken.
    """

    cdef Links links
    cdef dict chunks
    cdef PyTypeObject* chunk_class
    cdef object kept
    cdef Py_ssize_t segments
    cdef Py_ssize_t payload
    cdef object capture
    cdef Py_ssize_t of_capture
    cdef Py_ssize_t most_bytes
    cdef Py_ssize_t room
    cdef int64_t base
    cdef int64_t passed
    cdef int64_t since
    cdef int64_t until
    cdef int64_t position
    cdef int64_t most
    cdef bint numbered

    def __cinit__(
        self, dict link_headers not None, dict bare_headers not None, dict chunks not None,
        chunk_class, Py_ssize_t most_bytes
    ):
        fill_links(&self.links, link_headers, bare_headers)
        self.kept = chunk_class
        self.chunks, self.chunk_class = chunks, <PyTypeObject*>chunk_class
        self.segments = slot_named(chunk_class, "segments")
        self.payload = slot_named(chunk_class, "payload")
        self.of_capture = slot_named(chunk_class, "capture")
        self.most_bytes = most_bytes

    def read_part(
        self, str capture not None, int64_t base, int64_t most_positions, int64_t since, until,
        bint numbered
    ):
        """Begin with a part of a file; ``most_positions`` are those that ordinals have room for."""
        self.capture, self.base, self.most = capture, base, most_positions
        self.since, self.until, self.numbered = since, bound(until), numbered

    def pack_pcap(self, source, header, end, int64_t position, Py_ssize_t room):
        """Take the packets that follow in the source and begin before the byte ``end``, until about
        ``room`` bytes were added to chunks. Returns the position of the last packet, and the room
        that is left.
        """
        self.passed, self.position, self.room = source.passed, position, room
        self.pcap_packets(source, header, self.last(end))
        return self.position, self.room

    def pack_pcapng(
        self, source, order, list interfaces not None, end, int64_t position, Py_ssize_t room
    ):
        """The same in a pcapng file."""
        self.passed, self.position, self.room = source.passed, position, room
        self.pcapng_packets(source, order, interfaces, self.last(end))
        return self.position, self.room

    cdef Py_ssize_t last(self, end) except -1:
        return min(max(bound(end) - self.passed, 0), PY_SSIZE_T_MAX)

    cdef bint stops(self) except -1:
        return self.room < 0

    cdef bint packet(
        self, int64_t link, const unsigned char* q, Py_ssize_t size, int64_t ts
    ) except -1:
        cdef Segment s
        cdef PyObject* found
        cdef PyObject* segments
        cdef PyObject* payload
        cdef char flow[36]
        cdef unsigned char* to
        cdef int sender
        cdef int64_t position = self.position + 1 if self.numbered else self.passed + self.at
        if not plain_segment(&self.links, link, q, size, &s) or position >= self.most:
            return False
        if not self.since <= ts < self.until:
            self.position = position
            return True
        sender = flow_of(&s, flow)
        key = flow[: s.key_size]
        found = PyDict_GetItemWithError(<PyObject*>self.chunks, <PyObject*>key)
        if not is_a(found, self.chunk_class):
            return False
        segments, payload = slot(found, self.segments), slot(found, self.payload)
        if segments == NULL or payload == NULL or not PyByteArray_Check(segments):
            return False
        if not PyByteArray_Check(payload) or slot(found, self.of_capture) != <PyObject*>self.capture:
            return False
        if PyByteArray_GET_SIZE(payload) + s.size > self.most_bytes:
            return False
        size = PyByteArray_GET_SIZE(segments)
        if PyByteArray_Resize(segments, size + SEGMENT_BYTES) < 0:
            return _raise_set()
        to = <unsigned char*>PyByteArray_AS_STRING(segments) + size
        put_le(to, <uint64_t>(self.base + position), 8)
        put_le(to + 8, <uint64_t>ts, 8)
        put_le(to + 16, s.sequence, 4)
        put_le(to + 20, s.acknowledged, 4)
        put_le(to + 24, 0, 4)  # bytes that were not captured
        put_le(to + 28, <uint64_t>s.size, 4)
        put_le(to + 32, <uint64_t>s.flags, 2)
        to[34] = <unsigned char>sender
        if s.size:
            append_bytes(payload, s.payload, s.size)
        self.room -= SEGMENT_BYTES + s.size
        self.position = position
        return True


cdef int flow_of(Segment* s, char* flow) noexcept:
    """The key of a segment's flow: the lesser of the segment's and the reversed one. Returns which
    end of it is the sender.
    """
    cdef Py_ssize_t size = (s.key_size - 4) // 2
    memcpy(flow, s.key + size, size)
    memcpy(flow + size, s.key, size)
    memcpy(flow + 2 * size, s.key + 2 * size + 2, 2)
    memcpy(flow + 2 * size + 2, s.key + 2 * size, 2)
    if memcmp(s.key, flow, s.key_size) > 0:
        return 1
    memcpy(flow, s.key, s.key_size)
    return 0


cdef inline void put_le(unsigned char* q, uint64_t value, int size) noexcept:
    cdef int i
    for i in range(size):
        q[i] = <unsigned char>(value >> (8 * i))
