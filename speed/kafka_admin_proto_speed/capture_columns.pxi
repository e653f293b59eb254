# Rows as the buffers of Arrow's columns. Rows that plain Python has made go between the others.

cdef enum:  # kinds of columns
    NUMBERS
    FLAGS
    TEXT_
    TEXT_LISTS  # lists of them
    NULLS  # nothing but null
    LARGEST_TEXTS = 0x7FFFFFFF  # bytes of the texts of a column: ends have 32 bits
    ROW_OVERHEAD = 200  # bytes of a row beside its texts, about

# Widths of numbers, and the other types of columns.
_KINDS = {
    "int16": (NUMBERS, 2), "int32": (NUMBERS, 4), "int64": (NUMBERS, 8), "bool": (FLAGS, 1),
    "text": (TEXT_, 0), "texts": (TEXT_LISTS, 0), "null": (NULLS, 0),
}

cdef struct Column:
    int kind
    int width  # of a number
    Py_ssize_t guesses[4]
    Writer valid  # a byte for each row
    Writer values  # numbers, flags as bytes, or texts one behind the other
    Writer ends  # 0, and where the text of each row ends, or its list in ``text_ends``
    Writer text_ends


cdef class RowColumns(RowCells):
    """Gathers rows in columns; each of ``columns`` has a name and one of `_KINDS`.

    It is full with ``most_rows`` or about ``most_bytes``. ``logs`` are the bytes of the metadata
    log that have rows of other tables, and ``topics`` the topic ids, as bytes, whose names have:
    with the ordinal of the packet from which on. Rows of other tables are made of frames with
    others, of requests of the api keys ``at_once``, and of responses to those of the keys
    ``waiting``. None for ``logs``: there are no other tables. Raises ValueError for columns that it
    does not know.
    """

    cdef Column cells[MOST_COLUMNS]
    cdef Column* to  # the column of the next cell
    cdef Py_ssize_t bytes
    cdef Py_ssize_t most_rows
    cdef Py_ssize_t most_bytes
    cdef dict named_topics
    cdef bint waiting[KEYS]
    cdef bint at_once[KEYS]

    def __cinit__(
        self, options, columns, bint has_bodies, Py_ssize_t most_rows, Py_ssize_t most_bytes,
        *, dict logs, dict topics, at_once, waiting
    ):
        cdef Column* c
        self.columns_are([name for name, _ in columns], MOST_COLUMNS)
        for i, (_, kind) in enumerate(columns):
            c = &self.cells[i]
            c.kind, c.width = _KINDS[kind]
        self.has_bodies = has_bodies
        self.most_rows, self.most_bytes = most_rows, most_bytes
        self.logs, self.named_topics = logs, topics
        self.derives = logs is not None
        for key in range(KEYS):
            self.waiting[key], self.at_once[key] = key in waiting, key in at_once
        self.begin()

    def __dealloc__(self):
        self.drop()

    cdef void drop(self) noexcept:
        cdef int i
        for i in range(self.count):
            drop_writer(&self.cells[i].valid)
            drop_writer(&self.cells[i].values)
            drop_writer(&self.cells[i].ends)
            drop_writer(&self.cells[i].text_ends)

    cdef int begin(self) except -1:
        """Have no rows."""
        cdef Column* c
        self.drop()
        for i in range(self.count):
            c = &self.cells[i]
            open_writer(&c.valid, &c.guesses[0])
            open_writer(&c.values, &c.guesses[1])
            open_writer(&c.ends, &c.guesses[2])
            open_writer(&c.text_ends, &c.guesses[3])
            if c.kind == TEXT_ or c.kind == TEXT_LISTS:
                self.end(&c.ends, 0)
            if c.kind == TEXT_LISTS:
                self.end(&c.text_ends, 0)
        self.number = self.bytes = 0
        return 0

    @property
    def is_full(self):
        """Whether there is enough for a batch."""
        return self.has_enough()

    cdef bint has_enough(self) noexcept:
        return (
            self.number >= self.most_rows
            or self.bytes + ROW_OVERHEAD * self.number >= self.most_bytes
        )

    def add(self, tuple row not None):
        """Add a row of values in the order of the columns."""
        if len(row) != self.count:
            raise ValueError(f"a row of {len(row)} values for {self.count} columns")
        try:
            for i in range(self.count):
                self.to = &self.cells[i]
                if self.value(row[i]) != 1:
                    raise OverflowError(f"{_COLUMNS[self.columns[i]]} has no room for its value")
        except BaseException:
            self.cut()
            raise
        self.number += 1

    def take(self):
        """The number of rows, and the buffers of each column: those of what is valid, of values,
        of ends, and of the ends of texts in lists. There are no rows then.
        """
        cdef Column* c
        made, count = [], self.number
        try:
            for i in range(self.count):
                c = &self.cells[i]
                valid = self.bits(&c.valid)
                values = self.bits(&c.values) if c.kind == FLAGS else taken_bytes(&c.values)
                made.append((valid, values, taken_bytes(&c.ends), taken_bytes(&c.text_ends)))
        finally:
            self.begin()
        return count, made

    cdef bytes bits(self, Writer* w):
        """A bit for each byte, as Arrow has them."""
        cdef Py_ssize_t size = w.p - w.begin, i
        cdef PyObject* raw = PyBytes_FromStringAndSize(NULL, (size + 7) // 8)
        cdef unsigned char* q
        if raw == NULL:
            _raise_set()
        made = <bytes>raw
        Py_DECREF(raw)
        q = <unsigned char*>PyBytes_AS_STRING(raw)
        memset(q, 0, (size + 7) // 8)
        for i in range(size):
            q[i >> 3] |= w.begin[i] << (i & 7)
        drop_writer(w)
        return made

    # Rows of plain frames ---------------------------------------------------------------------

    cdef int write_row(self, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        cdef int i, done = 1
        try:
            for i in range(self.count):
                self.to = &self.cells[i]
                done = self.null() if self.to.kind == NULLS else self.cell(
                    self.columns[i], s, x, row, plan
                )
                if done <= 0:
                    break
        except BaseException:
            self.cut()
            raise
        if done <= 0:
            self.cut()
            return done
        self.number += 1
        return 1

    cdef int take_back(self) except -1:
        self.number -= 1
        return self.cut()

    cdef int cut(self) except -1:
        """Have ``number`` rows in all columns; none, where memory ran out and took some away."""
        for i in range(self.count):
            if not cut_column(&self.cells[i], self.number):
                return self.begin() + 1
        return 1

    cdef bint waits(self, int api_key) noexcept:
        return 0 <= api_key < KEYS and self.waiting[api_key]

    cdef bint has_rows_at_once(self, int api_key) noexcept:
        return 0 <= api_key < KEYS and self.at_once[api_key]

    cdef int derived(self) except -1:
        made = self.options.derived(self.about, self.ordinal)
        if made is None:
            return self.null()
        return self.ascii(PyBytes_AS_STRING(<PyObject*>made), len(<bytes>made))

    cdef bint names_matter(self) noexcept:
        return False

    cdef bint knows_all_topics(self) except -1:
        cdef const unsigned char* q = self.ids.begin
        if self.named_topics is None:
            return True
        while q < self.ids.p:
            since = self.named_topics.get(<bytes>(<const char*>q)[:16])
            if since is None or <int64_t>since > self.ordinal:
                return False
            q += 16
        return True

    # Cells ------------------------------------------------------------------------------------

    cdef int valid(self, unsigned char is_valid) except -1:
        return _raise_set() if put(&self.to.valid, &is_valid, 1) < 0 else 1

    cdef int null(self) except -1:
        cdef int64_t zero = 0
        if self.to.kind == NUMBERS or self.to.kind == FLAGS:
            if put(&self.to.values, &zero, self.to.width) < 0:
                return _raise_set()
        elif self.to.kind == TEXT_:
            self.end(&self.to.ends, self.to.values.p - self.to.values.begin)
        elif self.to.kind == TEXT_LISTS:
            self.end(&self.to.ends, (self.to.text_ends.p - self.to.text_ends.begin) // 4 - 1)
        return self.valid(0)

    cdef int integer(self, int64_t number) except -1:
        cdef int64_t shifted = number >> (8 * self.to.width - 1)
        if self.to.kind != NUMBERS or (shifted != 0 and shifted != -1):
            return 0
        # The bytes of a smaller number are the first ones only where these are the lower ones.
        cdef int16_t two = <int16_t>number
        cdef int32_t four = <int32_t>number
        cdef const void* q = &number
        if self.to.width == 2:
            q = &two
        elif self.to.width == 4:
            q = &four
        return _raise_set() if put(&self.to.values, q, self.to.width) < 0 else self.valid(1)

    cdef int flag(self, bint value) except -1:
        cdef unsigned char byte = value
        if self.to.kind != FLAGS:
            return 0
        return _raise_set() if put(&self.to.values, &byte, 1) < 0 else self.valid(1)

    cdef int ascii(self, const char* text, Py_ssize_t size) except -1:
        if self.to.kind != TEXT_ or not self.append(text, size):
            return 0
        self.end(&self.to.ends, self.to.values.p - self.to.values.begin)
        return self.valid(1)

    cdef int json(self, const char* text, Py_ssize_t size) except -1:
        return self.ascii(text, size)

    cdef int text(self, PyObject* text) except -1:
        cdef PyObject* data
        cdef int done
        if text == Py_None:
            return self.null()
        if text == NULL or not PyUnicode_CheckExact(text):
            return 0
        if PyUnicode_IS_COMPACT_ASCII(text):
            return self.ascii(<const char*>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))
        data = PyUnicode_AsEncodedString(text, b"utf-8", b"strict")
        if data == NULL:
            return _forget()
        done = self.ascii(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        Py_DECREF(data)
        return done

    cdef int error_codes(self, CapturePlan plan) except -1:
        return self.texts(self.options.errors(plan.dialect, self.codes) if self.codes else ())

    cdef int topic_ids(self) except -1:
        cdef const unsigned char* q = self.ids.begin
        cdef _Topic found
        self.named += 1
        while q < self.ids.p:
            found = self.topic(q)
            q += 16
            if found.shown == self.named:
                continue
            found.shown = self.named
            if not self.item(PyBytes_AS_STRING(<PyObject*>found.text), len(found.text)):
                return 0
        return self.end_texts()

    cdef int texts(self, found) except -1:
        """A list of texts."""
        for each in found:
            data = (<str?>each).encode()
            if not self.item(PyBytes_AS_STRING(<PyObject*>data), len(<bytes>data)):
                return 0
        return self.end_texts()

    cdef bint item(self, const char* text, Py_ssize_t size) except -1:
        if self.to.kind != TEXT_LISTS or not self.append(text, size):
            return False
        self.end(&self.to.text_ends, self.to.values.p - self.to.values.begin)
        return True

    cdef int end_texts(self) except -1:
        if self.to.kind != TEXT_LISTS:
            return 0
        self.end(&self.to.ends, (self.to.text_ends.p - self.to.text_ends.begin) // 4 - 1)
        return self.valid(1)

    cdef bint append(self, const char* text, Py_ssize_t size) except -1:
        cdef Writer* w = &self.to.values
        if size > LARGEST_TEXTS - (w.p - w.begin):
            return False
        self.bytes += size
        return True if put(w, text, size) == 0 else _raise_set()

    cdef int end(self, Writer* w, Py_ssize_t at) except -1:
        cdef int32_t number = <int32_t>at
        return _raise_set() if put(w, &number, 4) < 0 else 0

    cdef int value(self, value) except -1:
        """A cell of a value of Python's; 0 for one that has no room."""
        if value is None:
            return self.null()
        if self.to.kind == NUMBERS:
            return self.integer(value)
        if self.to.kind == FLAGS:
            return self.flag(value)
        if self.to.kind == TEXT_LISTS:
            return self.texts(value)
        data = value if type(value) is bytes else (<str?>value).encode()
        return self.ascii(PyBytes_AS_STRING(<PyObject*>data), len(<bytes>data))


cdef bint cut_column(Column* c, Py_ssize_t rows) noexcept:
    """Have that many rows: False where they are not there."""
    if not cut_to(&c.valid, rows):
        return False
    if c.kind == NULLS:
        return True
    if c.kind == NUMBERS or c.kind == FLAGS:
        return cut_to(&c.values, rows * c.width)
    if not cut_to(&c.ends, 4 * (rows + 1)):
        return False
    if c.kind == TEXT_:
        return cut_to(&c.values, last_end(&c.ends))
    return (
        cut_to(&c.text_ends, 4 * (last_end(&c.ends) + 1))
        and cut_to(&c.values, last_end(&c.text_ends))
    )


cdef inline bint cut_to(Writer* w, Py_ssize_t size) noexcept:
    if w.p - w.begin < size:
        return False
    w.p = w.begin + size
    return True


cdef inline int64_t last_end(Writer* ends) noexcept:
    """The last of some ends, of which the first is 0."""
    cdef int32_t found
    memcpy(&found, ends.p - 4, 4)
    return found


cdef bytes taken_bytes(Writer* w):
    cdef PyObject* made = written(w)
    if made == NULL:
        _raise_set()
    found = <bytes>made
    Py_DECREF(made)
    return found
