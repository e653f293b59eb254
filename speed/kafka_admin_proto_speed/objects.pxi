# The objects that the functions refer to, and what becomes of exceptions.

_UNKNOWN = TaggedFields.ATTRIBUTE
_json_text = msgspec.json.encode


def _encoded_double(x):
    if isnan(x):
        return b'"NaN"'
    if isinf(x):
        return b'"Infinity"' if x > 0 else b'"-Infinity"'
    return _json_text(x)


def _in_order_of_tags(pairs):
    # By the numbers that are written, whatever methods pairs and tags have.
    return sorted(pairs, key=lambda pair: index(tuple.__getitem__(pair, 0)))


# Objects that the functions refer to, for as long as the module lives.
_KEPT = (
    _json_text(MASK),
    METADATA_TOPIC.encode(),
    METADATA_TOPIC_ID.bytes,
    _json_text(TaggedFields.JSON_NAME) + b":[",
    "int",
    _UUID.int,
    _UUID.is_safe,
    SafeUUID.unknown,
    (),
)
cdef PyObject* _mask_text = <PyObject*>_KEPT[0]
cdef PyObject* _metadata_topic = <PyObject*>_KEPT[1]
cdef PyObject* _metadata_topic_id = <PyObject*>_KEPT[2]
cdef PyObject* _unknown_key = <PyObject*>_KEPT[3]
cdef PyObject* _int_attribute = <PyObject*>_KEPT[4]
cdef PyObject* _uuid_unknown = <PyObject*>_KEPT[7]
cdef PyObject* _no_tags = <PyObject*>_KEPT[8]
cdef PyObject* _zero_uuid = <PyObject*>ZERO_UUID
cdef PyObject* _is_secret_name = <PyObject*>is_secret_name
cdef PyObject* _double_text = <PyObject*>_encoded_double
cdef PyObject* _by_tag = <PyObject*>_in_order_of_tags
cdef PyObject* _value_changed = <PyObject*>ValueChanged
cdef PyObject* _bytes_class = <PyObject*>bytes
cdef PyTypeObject* _uuid_class = <PyTypeObject*>_UUID
cdef Py_ssize_t _uuid_int = kap_slot(<PyObject*>_UUID, <PyObject*>_KEPT[5])
cdef Py_ssize_t _uuid_safe = kap_slot(<PyObject*>_UUID, <PyObject*>_KEPT[6])
if _uuid_int < 0 or _uuid_safe < 0 or not kap_slotted(<PyObject*>_UUID):
    raise ImportError("this Python's UUID has other slots than the engine fills")
if len(_TOPIC_NAMES) != TOPIC_NAMES:
    raise ImportError("this kafka_admin_proto knows other names of topics than the engine")

cdef int _refuse() except -1:
    """Raise what is set, or Fallback."""
    if PyErr_Occurred() == NULL:
        raise Fallback
    return _raise_set()


cdef int _forget() except -1:
    """Clear what is set, as the slow way will say it better.

    What a second try does not mend is raised: memory or the stack that ends, and Ctrl-C.
    """
    if PyErr_Occurred() != NULL:
        if (
            PyErr_ExceptionMatches(PyExc_MemoryError)
            or PyErr_ExceptionMatches(PyExc_RecursionError)
            or not PyErr_ExceptionMatches(PyExc_Exception)
        ):
            return _raise_set()
        PyErr_Clear()
    return 0


cdef int _raise_set() except? -1:
    return -1
