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


cdef class PacketTaker:
    """Goes through the packets in a source's buffer, up to one that it does not take.

    ``at`` is where the current packet begins in the buffer.
    """

    cdef Py_ssize_t at

    cdef bint packet(
        self, int64_t link, const unsigned char* q, Py_ssize_t size, int64_t ts
    ) except -1:
        """Take a packet: False for one that is left to plain Python."""
        return False

    cdef bint stops(self) except -1:
        """Whether no packet is to be taken for now."""
        return False

    cdef int pcap_packets(self, source, header, Py_ssize_t last) except -1:
        """Take the packets of a pcap file that begin before ``last`` in the buffer."""
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
        try:
            while end - at >= PCAP_HEADER and at < last and not self.stops():
                fraction = u32(q + at + 4, is_big)
                size, original = u32(q + at + 8, is_big), u32(q + at + 12, is_big)
                if size > end - at - PCAP_HEADER or not 0 < size <= largest:
                    break
                if not size <= original <= LARGEST_ORIGINAL:
                    break
                if is_nano:
                    fraction //= 1000
                self.at = at
                if not self.packet(
                    link, q + at + PCAP_HEADER, size, <int64_t>u32(q + at, is_big) * 1_000_000 + fraction
                ):
                    break
                start, at = at, at + PCAP_HEADER + size
        finally:
            source.start, source.at = start, at
        return 0

    cdef int pcapng_packets(self, source, order, list interfaces, Py_ssize_t last) except -1:
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
        try:
            while end - at >= PCAPNG_LEAST and at < last and not self.stops():
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
                self.at = at
                if not self.packet(
                    known[number_of].link, block + PCAPNG_HEADER, captured,
                    ticks // known[number_of].ticks,
                ):
                    break
                start, at = at, at + size
        finally:
            source.start, source.at = start, at
        return 0


cdef Interface interface_of(object described) noexcept:
    """An interface of pcapng whose ticks are whole parts of microseconds."""
    cdef Interface found
    found.link, found.ticks = 0, 0
    if described is not None and described.offset == 0:
        found.link = described.link
        found.ticks = {10**6: 1, 10**7: 10, 10**8: 100, 10**9: 1000}.get(described.resolution, 0)
    return found
