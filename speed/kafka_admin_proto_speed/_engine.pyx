# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, nonecheck=False, auto_pickle=False
"""The engine: nodes for a message's wire tree, which read, write and show it as JSON."""

from math import isinf, isnan
from operator import index
from uuid import UUID as _UUID, SafeUUID

import msgspec

from kafka_admin_proto.wire.field_names import is_error_field, is_topic_id_field
from kafka_admin_proto.wire.emit.runtime import Fallback, ValueChanged
from kafka_admin_proto.wire.secrets import (
    MASK,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    TOPIC_NAMES as _TOPIC_NAMES,
    is_secret_name,
)
from kafka_admin_proto.wire.types.tagged import TaggedFields
from kafka_admin_proto.schema.scalars import ZERO_UUID

include "bytes.pxi"
include "nodes.pxi"
include "reading_scalars.pxi"
include "reading.pxi"
include "writing_scalars.pxi"
include "writing.pxi"
include "json_text.pxi"
include "json_of_values.pxi"
include "json_of_bytes.pxi"
include "checksum.pxi"
include "records.pxi"
include "packets.pxi"
include "capture_blocks.pxi"
include "capture_state.pxi"
include "capture_copies.pxi"
include "capture_conversations.pxi"
include "capture_plans.pxi"
include "capture_filter.pxi"
include "capture_topics.pxi"
include "capture_cells.pxi"
include "capture_rows.pxi"
include "capture_columns.pxi"
include "capture_headers.pxi"
include "capture_requests.pxi"
include "capture_frames.pxi"
include "capture_streams.pxi"
include "capture_segments.pxi"
include "capture_connections.pxi"
include "capture_reader.pxi"
include "capture_flows.pxi"
include "capture_chunks.pxi"
include "objects.pxi"

cdef enum:
    # Bytes up to which a body is read without the cache of texts, and without a pause of the
    # cyclic collector, which the slow decode sees to.
    FEW_BYTES = 1024


cdef object _bytes_of(Writer* w, int done):
    cdef PyObject* made
    if done < 0:
        drop_writer(w)
        _refuse()
    made = written(w)
    if made == NULL:
        _refuse()
    found = <object>made
    Py_DECREF(made)
    return found


cdef class Engine:
    """Reads and writes one message at one version; made of what its tree's ``node()`` says.

    Raises ValueError for a message that it cannot have nodes for.
    """

    cdef _Nodes nodes
    cdef Shape* root
    cdef object slow_decode
    cdef object slow_encode
    cdef object slow_json
    cdef Py_ssize_t guess
    cdef Py_ssize_t json_guess

    def __cinit__(self, description):
        self.nodes = _Nodes()
        self.root = self.nodes.shape(description, 0)

    def stand_before(self, decode, encode, decode_to_json_text):
        """Have the functions of these names call those for all that they do not do."""
        self.slow_decode = decode
        self.slow_encode = encode
        self.slow_json = decode_to_json_text

    def decode(self, data, *, bint strict=False, bint zero_copy=False):
        """The value that all of some bytes are; what is refused goes to the slow ``decode``."""
        cdef Reader r
        cdef PyObject* made
        if type(data) is not bytes or strict or zero_copy or len(<bytes>data) > FEW_BYTES:
            return self.slow_decode(data, strict=strict, zero_copy=zero_copy)
        r.begin = r.p = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
        r.end = r.begin + len(<bytes>data)
        r.view = NULL
        r.texts = NULL
        made = read_struct(self.root, &r)
        if made == NULL:
            _forget()
            return self.slow_decode(data)
        value = <object>made
        Py_DECREF(made)
        return value if r.p == r.end else self.slow_decode(data)

    def encode(self, value, *, bint lenient=False):
        """The bytes of a value; what is refused goes to the slow ``encode``."""
        cdef Writer w
        cdef PyObject* made
        if lenient:
            return self.slow_encode(value, lenient=lenient)
        open_writer(&w, &self.guess)
        if write_struct(self.root, <PyObject*>value, &w) < 0:
            drop_writer(&w)
            _forget()
            return self.slow_encode(value)
        made = written(&w)
        if made == NULL:
            _refuse()
        found = <object>made
        Py_DECREF(made)
        return found

    def decode_to_json_text(self, data, *, bint mask=False, records="base64"):
        """The JSON text of all of some bytes; what is refused goes to the slow function."""
        cdef Reader r
        cdef Writer w
        cdef Json j
        if type(data) is bytes and self.nodes.in_json_order:
            r.begin = r.p = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
            r.end = r.begin + len(<bytes>data)
            r.view = NULL
            r.texts = NULL
            _open_json(&j, mask, records == "size")
            open_writer(&w, &self.json_guess)
            if json_struct(self.root, &r, &j, False, &w) == 0 and r.p == r.end:
                return _bytes_of(&w, 0)
            drop_writer(&w)
            _forget()
        return self.slow_json(data, mask=mask, records=records)

    cdef PyObject* _read(self, PyObject* data, Py_ssize_t* offset, bint views) noexcept:
        """The value that starts at ``offset``, which then is where it ends: new."""
        cdef PyObject* texts[TEXTS]
        cdef Py_buffer view
        cdef Reader r
        cdef PyObject* made = NULL
        cdef PyObject* base = NULL
        cdef int i
        if PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0:
            return NULL
        if offset[0] < 0 or offset[0] > view.len:
            PyBuffer_Release(&view)
            return NULL
        r.begin = <const unsigned char*>view.buf
        r.p = r.begin + offset[0]
        r.end = r.begin + view.len
        r.texts = NULL
        if view.len >= CACHE_FROM:
            memset(texts, 0, sizeof(texts))
            r.texts = texts
        if views:
            base = PyMemoryView_FromObject(data)
        r.view = base
        if base != NULL or not views:
            made = read_struct(self.root, &r)
        offset[0] = r.p - r.begin
        if r.texts != NULL:
            for i in range(TEXTS):
                Py_XDECREF(texts[i])
        Py_XDECREF(base)
        PyBuffer_Release(&view)
        return made

    def read(self, data, Py_ssize_t offset):
        """The value that starts at ``offset``, and where it ends; Fallback, or any exception."""
        return self._read_from(data, offset, False)

    def read_views(self, data, Py_ssize_t offset):
        """The same with bytes and records as memoryviews of the data."""
        return self._read_from(data, offset, True)

    cdef object _read_from(self, data, Py_ssize_t offset, bint views):
        cdef PyObject* made = self._read(<PyObject*>data, &offset, views)
        if made == NULL:
            _refuse()
        value = <object>made
        Py_DECREF(made)
        return value, offset

    def write(self, value):
        """The bytes of a value; Fallback, or any exception."""
        cdef Writer w
        open_writer(&w, &self.guess)
        return _bytes_of(&w, write_struct(self.root, <PyObject*>value, &w))

    def read_behind(self, Engine header not None, bytes data not None, Py_ssize_t offset):
        """The header at ``offset``, where it ends, and the value that all behind it is."""
        cdef Reader r
        cdef PyObject* made
        cdef PyObject* front
        if offset < 0 or offset > len(data):
            raise Fallback
        r.begin = <const unsigned char*>PyBytes_AS_STRING(<PyObject*>data)
        r.p = r.begin + offset
        r.end = r.begin + len(data)
        r.view = NULL
        r.texts = NULL
        front = read_struct(header.root, &r)
        if front == NULL:
            _refuse()
        first = <object>front
        Py_DECREF(front)
        offset = r.p - r.begin
        made = read_struct(self.root, &r)
        if made == NULL:
            _refuse()
        value = <object>made
        Py_DECREF(made)
        if r.p != r.end:
            raise Fallback
        return first, offset, value

    def write_behind(self, Engine header not None, front, value):
        """The bytes of a header's value, then those of a value."""
        cdef Writer w
        cdef int done
        open_writer(&w, &self.guess)
        done = write_struct(header.root, <PyObject*>front, &w)
        if done == 0:
            done = write_struct(self.root, <PyObject*>value, &w)
        return _bytes_of(&w, done)

    def write_into(self, value, bytearray buffer not None):
        """Write to the end of ``buffer``, which stays as it is if that fails."""
        cdef Writer w
        cdef Py_ssize_t before, size
        open_writer(&w, &self.guess)
        if write_struct(self.root, <PyObject*>value, &w) < 0:
            drop_writer(&w)
            _refuse()
        before, size = PyByteArray_GET_SIZE(<PyObject*>buffer), w.p - w.begin
        if PyByteArray_Resize(<PyObject*>buffer, before + size) < 0:
            drop_writer(&w)
            _refuse()
        memcpy(PyByteArray_AS_STRING(<PyObject*>buffer) + before, w.begin, size)
        drop_writer(&w)

    def json(self, data, Py_ssize_t offset, bint mask, bint record_sizes):
        """The JSON text of the body that starts at ``offset`` and where it ends, without values.

        Fallback, or any exception, for what has to go through values.
        """
        cdef Py_buffer view
        cdef Reader r
        cdef Writer w
        cdef Json j
        cdef int done = -1
        if not self.nodes.in_json_order:
            raise Fallback
        if PyObject_GetBuffer(<PyObject*>data, &view, PyBUF_SIMPLE) < 0:
            _refuse()
        open_writer(&w, &self.json_guess)
        if 0 <= offset <= view.len:
            _open_json(&j, mask, record_sizes)
            r.begin = <const unsigned char*>view.buf
            r.p = r.begin + offset
            r.end = r.begin + view.len
            r.view = NULL
            r.texts = NULL
            done = json_struct(self.root, &r, &j, False, &w)
            offset = r.p - r.begin
        PyBuffer_Release(&view)
        return _bytes_of(&w, done), offset

    def json_of(self, value, bint mask, bint record_sizes):
        """The JSON text of a value; Fallback, or any exception, for what this does not take."""
        cdef Writer w
        cdef Json j
        open_writer(&w, &self.json_guess)
        _open_json(&j, mask, record_sizes)
        return _bytes_of(&w, json_of_struct(self.root, <PyObject*>value, &j, False, &w))

    def scanned_json_of(self, value, bint mask):
        """The JSON text of a value, and what scans of its fields find, in one pass.

        Error codes that are not 0, topic ids that are not zero, in order and with repetitions, and
        whether some text is not UTF-8. Fallback, or any exception, for what this does not take.
        """
        cdef Writer w
        cdef Json j
        cdef Scan scan
        codes, ids = [], []
        scan.codes, scan.ids, scan.raw_ids = <PyObject*>codes, <PyObject*>ids, NULL
        scan.invalid_utf8 = scan.is_partial = False
        scan.logs = NULL
        open_writer(&w, &self.json_guess)
        _open_json(&j, mask, False)
        j.scan = &scan
        text = _bytes_of(&w, json_of_struct(self.root, <PyObject*>value, &j, False, &w))
        if scan.is_partial:
            raise Fallback
        return text, codes, ids, bool(scan.invalid_utf8)


cdef void _open_json(Json* j, bint mask, bint record_sizes) noexcept:
    j.mask = mask
    j.record_sizes = record_sizes
    j.scan = NULL
    memset(j.name_sizes, 0, sizeof(j.name_sizes))


def cut_frame(bytearray buffer not None, int64_t limit):
    """Take the first payload out of the buffer; None if it is not whole, or its size cannot be."""
    cdef const unsigned char* q = <const unsigned char*>PyByteArray_AS_STRING(<PyObject*>buffer)
    cdef Py_ssize_t left = PyByteArray_GET_SIZE(<PyObject*>buffer) - 4
    cdef PyObject* made
    cdef int32_t size
    if left < 0:
        return None
    size = <int32_t>be32(q)
    if size < 0 or size > limit or size > left:
        return None
    made = PyBytes_FromStringAndSize(<const char*>(q + 4), size)
    if made == NULL:
        _refuse()
    payload = <object>made
    Py_DECREF(made)
    if PySequence_DelSlice(<PyObject*>buffer, 0, <Py_ssize_t>size + 4) < 0:
        _refuse()
    return payload
