# Blocks of a capture file → packets. Plain Python takes what else a file has.

cdef enum:
    PCAP_HEADER = 16
    PCAPNG_HEADER = 28
    PCAPNG_LEAST = 32
    ENHANCED = 6  # the block of a packet
    MOST_INTERFACES = 16
    LARGEST_ORIGINAL = (1 << 24) - 1  # bytes of a packet, and of its block in pcapng
    LARGEST_BLOCK = (1 << 24) + 4096

cdef struct Interface:
    int64_t link
    int64_t ticks  # in a microsecond; 0 for an interface that is left to plain Python


cdef inline uint32_t u32(const unsigned char* q, bint is_big) noexcept:
    if is_big:
        return be32(q)
    return (<uint32_t>q[3] << 24) | (<uint32_t>q[2] << 16) | (<uint32_t>q[1] << 8) | q[0]


cdef class CaptureReader(ConnectionReader):
    """Decodes the plain packets of a capture, beside a `CaptureDecoder`, whose state it works on.

    ``out`` is where frames of plain Python go: the reader stops behind the packet that they are in,
    so that they come behind the rows before them. ``slow`` takes a segment that is not plain, with
    its time and ordinal, and returns when the next conversation is to be dropped. ``frames`` sees
    to the rows.
    """

    def __cinit__(
        self, dict link_headers not None, dict bare_headers not None,
        Conversations conversations not None, list out not None, slow, FrameReader frames not None
    ):
        fill_links(&self.links, link_headers, bare_headers)
        self.conversations, self.out = conversations, out
        self.slow, self.frames = slow, frames
        if not isinstance(frames.rows, RowWriter):
            raise TypeError("the rows of a capture are lines")
        self.rows = <RowWriter>frames.rows

    def read_pcap(
        self, source, header, str capture not None, int64_t ordinal, int64_t number
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
        self.begin(capture, ordinal, number)
        try:
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
        except:
            self.interrupted()
            raise
        return self.finish(source, start, at)

    def read_pcapng(
        self, source, order, list interfaces not None, str capture not None, int64_t ordinal,
        int64_t number
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
        self.begin(capture, ordinal, number)
        try:
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
        except:
            self.interrupted()
            raise
        return self.finish(source, start, at)

    cdef int begin(self, capture, int64_t ordinal, int64_t number) except -1:
        self.capture, self.ordinal = capture, ordinal
        self.until = self.conversations.table.next_end()
        self.rows.number = number
        return 0

    cdef int interrupted(self) except -1:
        """An exception goes through, Ctrl-C perhaps: have the rows written that are finished."""
        return self.rows.flush_finished()

    cdef object finish(self, source, Py_ssize_t start, Py_ssize_t at):
        """Have the rows written, and let the source be behind the last packet."""
        source.start, source.at = start, at
        self.note_ordinal()
        self.rows.flush()
        return self.ordinal, self.rows.number


cdef Interface interface_of(object described) noexcept:
    """An interface of pcapng whose ticks are whole parts of microseconds."""
    cdef Interface found
    found.link, found.ticks = 0, 0
    if described is not None and described.offset == 0:
        found.link = described.link
        found.ticks = {10**6: 1, 10**7: 10, 10**8: 100, 10**9: 1000}.get(described.resolution, 0)
    return found
