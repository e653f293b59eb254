# Which frames have rows.

cdef enum:
    MOST_CONNECTIONS = 20_000  # whose answers are kept


cdef int64_t bound(number) except? -1:
    """A number of microseconds, up to what plain packets may have; -1 for None."""
    return -1 if number is None else min(max(number, 0), 0x7FFFFFFFFFFFFFFF)


cdef bint has_bytes(const unsigned char* q, const unsigned char* end, bytes wanted) noexcept:
    cdef const unsigned char* first = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>wanted)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(<PyObject*>wanted)
    if size == 0:
        return True
    while end - q >= size:
        q = <const unsigned char*>memchr(q, first[0], <size_t>(end - q - size + 1))
        if q == NULL:
            return False
        if memcmp(q, first, <size_t>size) == 0:
            return True
        q += 1
    return False


cdef class RowChooser:
    """Chooses among frames: all of them, before `choose`."""

    cdef bint chooses
    cdef object keys_wanted
    cdef object client_wanted
    cdef object connection_wanted
    cdef dict connections  # name → whether it is wanted
    cdef object topic_wanted
    cdef bytes topic_bytes
    cdef bint errors_only
    cdef int64_t slower_than  # -1 where all are, as of the next two
    cdef int64_t since
    cdef int64_t until
    cdef list codes  # the error codes in the frame's body

    def __cinit__(self, *_, **__):
        self.connections = {}
        self.codes = []

    def choose(self, wanted):
        """Write the rows of these frames alone: ``wanted`` is a `RowFilter`."""
        self.keys_wanted = wanted.api_keys
        self.client_wanted = wanted.client_id
        self.connection_wanted = wanted.connection
        self.connections.clear()
        self.topic_wanted = wanted.topic
        self.topic_bytes = (wanted.topic or "").encode("utf-8", "surrogateescape")
        self.errors_only = wanted.errors_only
        self.slower_than = bound(wanted.slower_than_us)
        self.since, self.until = bound(wanted.since), bound(wanted.until)
        self.chooses = (
            self.keys_wanted is not None
            or self.client_wanted is not None
            or self.connection_wanted is not None
            or self.topic_wanted is not None
            or self.errors_only
            or self.slower_than >= 0
            or self.since >= 0
            or self.until >= 0
        )

    cdef bint is_wanted(self, Slots* s, Side* x, Row* row) except -1:
        """What `Filter` of the command line says of a frame, whatever is in its body."""
        if not self.chooses:
            return True
        if self.keys_wanted is not None and row.api_key not in self.keys_wanted:
            return False
        if self.client_wanted is not None and <object>row.client_id != self.client_wanted:
            return False
        if self.connection_wanted is not None and not self.is_of_connection(s, x):
            return False
        if (self.since >= 0 or self.until >= 0) and not row.ts:
            return False
        if row.ts < self.since or (self.until >= 0 and row.ts >= self.until):
            return False
        return row.latency >= self.slower_than

    cdef bint is_of_connection(self, Slots* s, Side* x) except -1:
        name = <object>slot(x.endpoints, s.name)
        found = self.connections.get(name)
        if found is None:
            found = self.connection_wanted(
                name,
                <object>slot(x.endpoints, s.client_text),
                <object>slot(x.endpoints, s.server_text),
            )
            if len(self.connections) >= MOST_CONNECTIONS:
                self.connections.clear()
            self.connections[name] = found
        return found
