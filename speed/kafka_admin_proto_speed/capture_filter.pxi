# Which frames have rows.

cdef enum:
    MOST_CONNECTIONS = 20_000  # whose answers are kept
    MOST_VALUES = 1000  # that are counted, as in cli/captures/no_match.py


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


cdef int count_value(dict counts, value) except -1:
    if counts is not None and value is not None and (value in counts or len(counts) < MOST_VALUES):
        counts[value] = counts.get(value, 0) + 1
    return 0


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
    cdef object unseen  # api keys whose frames are left to plain Python, as it has seen none of them
    cdef object others  # counts frames that are not wanted, as long as none was: `OtherFrames`
    cdef dict other_apis  # how many there are of each, as of the next two; None: they do not matter
    cdef dict other_client_ids
    cdef dict other_connections
    cdef int64_t other_count
    cdef int64_t other_times[2]  # the first and the last; 0 where there is none
    cdef int64_t other_latency  # the largest; -1 where there is none

    def __cinit__(self, *_, **__):
        self.connections = {}
        self.codes = []
        self.begin_others()

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
        self.unseen, self.others = wanted.unseen or None, wanted.others
        if self.others is not None:
            self.other_apis, self.other_client_ids = self.others.apis, self.others.client_ids
            self.other_connections = self.others.connections
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

    def note_others(self):
        """Tell `OtherFrames` of those that were counted."""
        if self.other_count:
            self.others.add_all(
                self.other_count,
                [each for each in (self.other_times[0], self.other_times[1]) if each],
                None if self.other_latency < 0 else self.other_latency,
            )
            self.begin_others()

    cdef void begin_others(self) noexcept:
        self.other_count = self.other_times[0] = self.other_times[1] = 0
        self.other_latency = -1

    cdef int count_other(self, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        """Count a frame that is not wanted."""
        self.other_count += 1
        count_value(self.other_apis, plan.api)
        count_value(self.other_client_ids, <object>row.client_id)
        count_value(self.other_connections, <object>slot(x.endpoints, s.name))
        if row.ts:
            if not self.other_times[0] or row.ts < self.other_times[0]:
                self.other_times[0] = row.ts
            self.other_times[1] = max(self.other_times[1], row.ts)
        self.other_latency = max(self.other_latency, row.latency)
        return 0

    cdef bint is_left(self, Row* row) except -1:
        """Whether plain Python is to take a frame that is wanted."""
        if self.others is not None:
            return True
        return self.unseen is not None and row.api_key in self.unseen

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
