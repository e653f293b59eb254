# What the columns of a frame's row have, however the row is written.

cdef enum:
    MOST_COLUMNS = 40

cdef enum:  # columns, in the order of _COLUMNS
    CAPTURE
    CONNECTION
    DIRECTION
    TS
    CLIENT
    SERVER
    STREAM_OFFSET
    SIZE
    API_KEY
    API
    API_VERSION
    CORRELATION_ID
    CLIENT_ID
    PRINCIPAL
    LATENCY
    ERROR_CODES
    BODY
    PROBLEM
    RAW
    TOPIC_NAMES_
    CLIENT_SOFTWARE
    FORWARDED
    LINE
    NUMBER
    TIME
    ORDINAL
    TOPIC_IDS_
    DERIVED  # from here on of Python's rows alone

_COLUMNS = [
    "capture", "connection", "direction", "ts", "client", "server", "stream_offset", "size",
    "api_key", "api", "api_version", "correlation_id", "client_id", "principal", "latency_us",
    "error_codes", "body", "problem", "raw", "topic_names", "client_software", "forwarded", "line",
    "number", "time", "packet_ordinal", "topic_ids", "derived", "flow", "watermark", "state",
]


cdef class RowCells(TopicReader):
    """Describes the row of a frame; the classes below it write what its cells have.

    Their functions return 1, or 0 for what plain Python has to write. ``options`` has the functions
    for what is rare, see `kafka_admin_proto.capture.plain_frames`.
    """

    cdef bint has_bodies
    cdef int count
    cdef int columns[MOST_COLUMNS]
    cdef Writer body  # the JSON of the frame's body
    cdef int64_t named  # how many rows were given names
    cdef int64_t number  # of the last row
    cdef int64_t ordinal  # of the current packet
    cdef bint derives  # a row may have those of other tables in a column
    cdef object about  # what these are made of, for the current row; None: there are none
    cdef bint has_new_log  # in the body, see `Scan`
    cdef dict logs  # bytes of the metadata log that are known, see `Scan`; None: they do not matter

    def __cinit__(self, *_, **__):
        open_writer(&self.body, NULL)

    def __dealloc__(self):
        drop_writer(&self.body)

    cdef int columns_are(self, columns, int last) except -1:
        """Have these columns. Raises ValueError for one that is not known, or behind ``last``."""
        if len(columns) > MOST_COLUMNS:
            raise ValueError(f"{len(columns)} columns")
        self.count = len(columns)
        for i, name in enumerate(columns):
            self.columns[i] = _COLUMNS.index(name, 0, last + 1)
        return 0

    cdef int row(self, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        """Write a row, if it is wanted: 1, or 0 for one that plain Python has to write."""
        if not (row.is_wanted and self.is_about(row, plan)):
            if self.others is not None:
                if plan.encloses:
                    return 0  # whether the frame within is wanted is not known yet
                self.count_other(s, x, row, plan)
            self.number += 1
            return self.passed_over()
        if self.chooses and self.is_left(row):
            return 0
        if self.has_bodies and not row.is_read:
            return 0  # its bytes are shown in the place of its body
        return self.write_row(s, x, row, plan)

    cdef int passed_over(self) except -1:
        """A frame has no row."""
        return 1

    cdef int write_row(self, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        return 0

    cdef int take_back(self) except -1:
        """Remove the last row."""
        return 0

    cdef bint waits(self, int api_key) noexcept:
        """Whether rows are made of a request when its response is there."""
        return False

    cdef bint has_rows_at_once(self, int api_key) noexcept:
        """Whether rows are made of a request alone."""
        return False

    cdef int derived(self) except -1:
        """The rows of other tables, which are the last to be made: what follows cannot fail."""
        return 0

    cdef bint names_matter(self) noexcept:
        """Whether the row of a frame depends on the names in others of its packet."""
        return self.has_bodies or self.topic_wanted is not None

    cdef int cell(self, int column, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        cdef Py_ssize_t size
        if column == CAPTURE:
            return self.text(slot(x.endpoints, s.capture))
        elif column == CONNECTION:
            return self.text(slot(x.endpoints, s.name))
        elif column == DIRECTION:
            return self.ascii(b"response" if row.is_response else b"request", 7 + row.is_response)
        elif column == TS:
            return self.integer(row.ts) if row.ts else self.null()
        elif column == CLIENT:
            return self.text(slot(x.endpoints, s.client_text))
        elif column == SERVER:
            return self.text(slot(x.endpoints, s.server_text))
        elif column == STREAM_OFFSET:
            return self.integer(row.offset)
        elif column == SIZE:
            return self.integer(row.size)
        elif column == API_KEY:
            return self.integer(row.api_key)
        elif column == API:
            return self.text(<PyObject*>plan.api)
        elif column == API_VERSION:
            return self.integer(row.api_version)
        elif column == CORRELATION_ID:
            return self.integer(row.correlation_id)
        elif column == CLIENT_ID:
            return self.text(row.client_id)
        elif column == PRINCIPAL:
            return self.text(row.principal)
        elif column == LATENCY:
            return self.null() if row.latency < 0 else self.integer(row.latency)
        elif column == ERROR_CODES:
            if not row.is_read:
                return self.null()
            return self.error_codes(plan)
        elif column == BODY:
            if not self.has_bodies:
                return self.null()
            size = self.body.p - self.body.begin
            return self.json(<const char*>self.body.begin, size)
        elif column == TOPIC_NAMES_:
            if not self.has_bodies or self.ids.p == self.ids.begin:
                return self.null()
            return self.topic_names()
        elif column == CLIENT_SOFTWARE:
            return self.text(row.software)
        elif column == FORWARDED:
            return self.flag(row.is_forwarded)
        elif column == NUMBER:
            return self.integer(self.number + 1)
        elif column == TIME:
            return self.time(row.ts) if row.ts else self.null()
        elif column == ORDINAL:
            return self.integer(self.ordinal)
        elif column == TOPIC_IDS_:
            return self.topic_ids() if self.has_bodies else self.null()
        elif column == DERIVED and self.about is not None:
            return self.derived()
        return self.null()  # of a plain frame: no problem, no raw bytes, no line of a dump

    cdef int null(self) except -1:
        return 0

    cdef int integer(self, int64_t number) except -1:
        return 0

    cdef int flag(self, bint value) except -1:
        return 0

    cdef int ascii(self, const char* text, Py_ssize_t size) except -1:
        """A text without characters that have to be escaped."""
        return 0

    cdef int text(self, PyObject* text) except -1:
        """A text or None."""
        return 0

    cdef int json(self, const char* text, Py_ssize_t size) except -1:
        return 0

    cdef int time(self, int64_t ts) except -1:
        return 0

    cdef int error_codes(self, CapturePlan plan) except -1:
        """The names of the distinct error codes in the body."""
        return 0

    cdef int topic_names(self) except -1:
        """The names that are known of the topic ids in the body."""
        return 0

    cdef int topic_ids(self) except -1:
        """The distinct topic ids in the body."""
        return 0
