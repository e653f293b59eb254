# Rows as lines of JSON, or of tab-separated values.

cdef bint is_safe(const unsigned char* q, Py_ssize_t size) noexcept:
    """Whether JSON is of characters that a terminal prints: of ASCII it has but one other."""
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, q, 8)
        # One more than 0x7F has the upper bit, as all beyond it have.
        if (word | (word + <uint64_t>0x0101010101010101)) & <uint64_t>0x8080808080808080:
            return False
        q += 8
        size -= 8
    while size > 0:
        if q[0] >= 127:
            return False
        q += 1
        size -= 1
    return True


cdef class RowWriter(RowCells):
    """Writes the rows of frames as lines.

    ``form`` is "jsonl" or "tsv". Raises ValueError for columns that it does not know.
    """

    cdef bint is_tsv
    cdef bytes keys
    cdef Py_ssize_t key_ends[MOST_COLUMNS]
    cdef Writer lines
    cdef Py_ssize_t guess
    cdef Py_ssize_t last  # where it begins
    cdef int64_t second
    cdef bytes second_text

    def __cinit__(self, options, form, columns, bint has_bodies):
        if form not in ("jsonl", "tsv"):
            raise ValueError(f"rows as {form}")
        self.columns_are(columns, TIME)
        self.is_tsv = form == "tsv"
        self.has_bodies = has_bodies
        self.keys = b""
        for i, name in enumerate(columns):
            if self.is_tsv:
                self.keys += b"\t" if i else b""
            else:
                self.keys += (b"," if i else b"{") + _json_text(name) + b":"
            self.key_ends[i] = len(self.keys)
        open_writer(&self.lines, &self.guess)
        self.second = -1

    def __dealloc__(self):
        drop_writer(&self.lines)

    cdef int flush(self) except -1:
        """Hand the lines over."""
        cdef PyObject* made
        if self.lines.p == self.lines.begin:
            return 0
        made = written(&self.lines)
        open_writer(&self.lines, &self.guess)
        if made == NULL:
            return _raise_set()
        lines = <object>made
        Py_DECREF(made)
        self.options.write(lines)
        return 0

    cdef int flush_finished(self) except -1:
        """Hand over the lines that are whole: an exception has ended the one behind them."""
        cdef Writer* w = &self.lines
        while w.p > w.begin and (w.p - 1)[0] != 10:
            w.p -= 1
        return self.flush()

    cdef int passed_over(self) except -1:
        self.last = self.lines.p - self.lines.begin
        return 1

    cdef int write_row(self, Slots* s, Side* x, Row* row, CapturePlan plan) except -1:
        cdef Writer* w = &self.lines
        cdef Py_ssize_t start = w.p - w.begin
        cdef const char* keys = PyBytes_AS_STRING(<PyObject*>self.keys)
        cdef Py_ssize_t before = 0
        cdef int i, done
        for i in range(self.count):
            if put(w, keys + before, self.key_ends[i] - before) < 0:
                return _raise_set()
            before = self.key_ends[i]
            done = self.cell(self.columns[i], s, x, row, plan)
            if done <= 0:
                w.p = w.begin + start
                return done
        if (put(w, b"\n", 1) if self.is_tsv else put(w, b"}\n", 2)) < 0:
            return _raise_set()
        if not self.is_tsv and self.make_safe(start, w.p - w.begin - 1) < 0:
            return -1
        self.number += 1
        self.last = start
        return 1

    cdef int take_back(self) except -1:
        self.lines.p = self.lines.begin + self.last
        self.number -= 1
        return 0

    cdef int null(self) except -1:
        if not self.is_tsv and put(&self.lines, b"null", 4) < 0:
            return _raise_set()
        return 1

    cdef int integer(self, int64_t number) except -1:
        return _raise_set() if put_int(&self.lines, number) < 0 else 1

    cdef int ascii(self, const char* text, Py_ssize_t size) except -1:
        cdef Writer* w = &self.lines
        if need(w, size + 2) < 0:
            return _raise_set()
        if not self.is_tsv:
            w.p[0] = 34
            w.p += 1
        memcpy(w.p, text, size)
        w.p += size
        if not self.is_tsv:
            w.p[0] = 34
            w.p += 1
        return 1

    cdef int flag(self, bint value) except -1:
        return self.json(b"true", 4) if value else self.json(b"false", 5)

    cdef int json(self, const char* text, Py_ssize_t size) except -1:
        cdef Writer* w = &self.lines
        cdef Py_ssize_t start = w.p - w.begin
        if put(w, text, size) < 0:
            return _raise_set()
        return self.make_safe(start, w.p - w.begin) if self.is_tsv else 1

    cdef int make_safe(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """Let JSON, the last that was written, be safe on a terminal."""
        cdef Writer* w = &self.lines
        cdef Py_ssize_t rest = w.p - w.begin - end
        if is_safe(w.begin + start, end - start):
            return 1
        # It is nearly as long: the line end, if there is one, comes again behind it.
        shown = self.options.printable(<bytes>(<char*>w.begin)[start:end])
        w.p = w.begin + start
        if put(w, PyBytes_AS_STRING(<PyObject*>shown), len(<bytes>shown)) < 0:
            return _raise_set()
        if rest and put(w, b"\n", 1) < 0:
            return _raise_set()
        return 1

    cdef int text(self, PyObject* text) except -1:
        """A text or None; 0 for one that is not UTF-8."""
        cdef Writer* w = &self.lines
        cdef const unsigned char* q
        cdef Py_ssize_t size, i
        cdef PyObject* data
        if text == Py_None:
            return self.null()
        if text == NULL or not PyUnicode_CheckExact(text):
            return 0
        if not PyUnicode_IS_COMPACT_ASCII(text):
            data = PyUnicode_AsEncodedString(text, b"utf-8", b"strict")
            if data == NULL:
                return _forget()
            q = <const unsigned char*>PyBytes_AS_STRING(data)
            i = 0 if self.is_tsv else put_utf8(w, q, PyBytes_GET_SIZE(data))
            Py_DECREF(data)
            if i < 0:
                return _raise_set()
            return self.odd_text(text) if self.is_tsv else 1
        q = <const unsigned char*>PyUnicode_DATA(text)
        size = PyUnicode_GET_LENGTH(text)
        if self.is_tsv:
            for i in range(size):
                if not is_plain(q[i]) or q[i] == 127:
                    return self.odd_text(text)
            return self.ascii(<const char*>q, size)
        return _raise_set() if put_utf8(w, q, size) < 0 else 1

    cdef int odd_text(self, PyObject* text) except -1:
        """A cell of a text that has characters to be escaped."""
        shown = self.options.text_cell(<object>text).encode()
        if put(&self.lines, PyBytes_AS_STRING(<PyObject*>shown), len(<bytes>shown)) < 0:
            return _raise_set()
        return 1

    cdef int error_codes(self, CapturePlan plan) except -1:
        if not self.codes:
            return self.json(b"[]", 2)
        names = self.options.error_names(plan.dialect, self.codes)
        return self.json(PyBytes_AS_STRING(<PyObject*>names), len(<bytes>names))

    cdef int time(self, int64_t ts) except -1:
        """A time as text; 0 for one that no calendar has."""
        cdef char text[32]
        cdef int64_t second = ts // 1_000_000
        cdef int64_t fraction = ts % 1_000_000
        cdef Py_ssize_t size
        cdef int i
        if ts < 0:
            return 0
        if second != self.second:
            found = self.options.second(second)
            if found is None or len(<bytes>found) > 20:
                return 0
            self.second, self.second_text = second, found
        size = len(self.second_text)
        memcpy(text, PyBytes_AS_STRING(<PyObject*>self.second_text), size)
        text[size] = 46  # .
        for i in range(6):
            text[size + 6 - i] = <char>(48 + fraction % 10)
            fraction //= 10
        text[size + 7] = 90  # Z
        return self.ascii(text, size + 8)

    cdef int topic_names(self) except -1:
        cdef Writer* w = &self.lines
        cdef Py_ssize_t start = w.p - w.begin
        cdef const unsigned char* q = self.ids.begin
        cdef _Topic found
        self.named += 1
        if put(w, b"{", 1) < 0:
            return _raise_set()
        while q < self.ids.p:
            found = self.topic(q)
            q += 16
            if found.text is None or found.shown == self.named:
                continue
            found.shown = self.named
            if put(w, PyBytes_AS_STRING(<PyObject*>found.text), len(found.text)) < 0:
                return _raise_set()
        if w.p - w.begin == start + 1:
            w.p = w.begin + start
            return self.null()
        if close_with(w, 125) < 0:
            return _raise_set()
        return self.make_safe(start, w.p - w.begin) if self.is_tsv else 1
