# Packets of captures → their TCP segments, for packets of the usual shape.

cdef enum:
    LINKS = 512  # link types below this are looked up
    PLAIN_BYTES = 34  # of an IPv4 header without options and TCP's header up to its flags


cdef class SegmentReader:
    """Reads the segments of plain IPv4 packets; ``slow`` reads all others.

    ``link_headers``: link type → the size of its header, and where the EtherType is in it.
    """

    cdef int sizes[LINKS]
    cdef int types[LINKS]
    cdef object slow

    def __cinit__(self, dict link_headers not None, slow):
        self.slow = slow
        memset(self.sizes, 0, sizeof(self.sizes))
        for link, (size, at) in link_headers.items():
            if not 0 <= link < LINKS or not 0 <= at <= size - 2:
                raise ValueError(f"link type {link} with its EtherType at {at} of {size}")
            self.sizes[link] = size
            self.types[link] = at

    def read(self, int64_t link, data):
        """The segment of a packet, as the slow function gives it."""
        cdef const unsigned char* q
        cdef const unsigned char* ip
        cdef Py_ssize_t size, whole, start, end
        if type(data) is not bytes or not 0 <= link < LINKS or self.sizes[link] == 0:
            return self.slow(link, data)
        q = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
        size = PyBytes_GET_SIZE(<PyObject*>data)
        start = self.sizes[link]
        if size < start + PLAIN_BYTES or be16(q + self.types[link]) != 0x0800:
            return self.slow(link, data)
        ip = q + start
        whole = be16(ip + 2)
        # As in the slow function: no options, TCP, no fragment, and a size.
        if ip[0] != 0x45 or ip[9] != 6 or be16(ip + 6) & 0x3FFF or whole == 0:
            return self.slow(link, data)
        end = start + whole
        start += 20 + ((ip[32] >> 2) & 0x3C)
        if end > size or start > end:
            return self.slow(link, data)
        return (
            <bytes>(<char*>ip)[12:24],
            be32(ip + 24),
            ip[33],
            <bytes>(<char*>q)[start:end],
            0,
            be32(ip + 28),
        )
