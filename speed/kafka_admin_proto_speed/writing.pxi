# Values → bytes. What is written is held while that goes on: an integer's or a list's own methods
# may run, and take out of a value what was in it.


cdef inline PyObject* field_of(PyObject* owner, Field* f, bint exact) noexcept:
    """The value of a field: new. A subclass may have something else where the slot is."""
    cdef PyObject* x
    if exact:
        x = slot_of(owner, f)[0]
        if x != NULL:
            Py_INCREF(x)
        return x
    return PyObject_GetAttr(owner, f.attribute)


cdef inline int is_exact(Shape* s, PyObject* x) noexcept:
    """1 for a value of the struct's class, 0 for one of a subclass; -1 is refused."""
    if Py_TYPE(x) == s.value_class:
        return 1
    return 0 if PyObject_TypeCheck(x, s.value_class) else -1


cdef int is_default(Field* f, PyObject* x) noexcept:
    """Whether a value equals the field's default; -1 with an exception."""
    cdef PyObject* other
    cdef PyObject* equal
    cdef int found
    if f.how_default == SHARED_DEFAULT and x == f.default and not PyFloat_CheckExact(x):
        return 1  # a float may not equal itself
    if f.how_default == LIST_DEFAULT and PyList_CheckExact(x):
        return PyList_GET_SIZE(x) == 0
    other = default_of(f)
    if other == NULL:
        return -1
    equal = PyObject_RichCompare(x, other, Py_EQ)
    Py_DECREF(other)
    if equal == NULL:
        return -1
    found = PyObject_IsTrue(equal)
    Py_DECREF(equal)
    return found


cdef int write_items(Node* n, PyObject* items, bint is_list, Writer* w) noexcept:
    cdef Py_ssize_t count = PyList_GET_SIZE(items) if is_list else PyTuple_GET_SIZE(items)
    cdef Py_ssize_t i
    cdef PyObject* x
    cdef int done
    if count >= 0x7FFFFFFF or need(w, 8) < 0:
        return -1
    if n.compact:
        if put_uvarint(w, <uint64_t>(count + 1)) < 0:
            return -1
    else:
        put_be(w.p, <uint64_t>count, 4)
        w.p += 4
    for i in range(count):
        # The list may change while its items are written, where they are Python's.
        if is_list and i >= PyList_GET_SIZE(items):
            break
        x = PyList_GET_ITEM(items, i) if is_list else PyTuple_GET_ITEM(items, i)
        Py_INCREF(x)
        done = write_value(n.element, x, w)
        Py_DECREF(x)
        if done < 0:
            return -1
    if is_list and PyList_GET_SIZE(items) != count:
        PyErr_SetNone(_value_changed)
        return -1
    return 0


cdef PyObject* list_of(PyObject* x) noexcept:
    """The items of a list or tuple in a list of their own: new.

    Items that are in a subclass count, whatever its own methods say.
    """
    cdef PyObject* made
    cdef Py_ssize_t i
    if PyList_Check(x):
        return PyList_GetSlice(x, 0, PyList_GET_SIZE(x))
    made = PyList_New(PyTuple_GET_SIZE(x))
    if made != NULL:
        for i in range(PyTuple_GET_SIZE(x)):
            PyList_SET_ITEM(made, i, held(PyTuple_GET_ITEM(x, i)))
    return made


cdef int write_array(Node* n, PyObject* x, Writer* w) noexcept:
    cdef PyObject* items
    cdef int done
    if PyList_CheckExact(x):
        return write_items(n, x, True, w)
    if x == Py_None:
        if not n.nullable or need(w, 4) < 0:
            return -1
        if n.compact:
            w.p[0] = 0
            w.p += 1
        else:
            memset(w.p, 255, 4)
            w.p += 4
        return 0
    if not PyList_Check(x) and not PyTuple_Check(x):
        return -1
    items = list_of(x)
    if items == NULL:
        return -1
    done = write_items(n, items, True, w)
    Py_DECREF(items)
    return done


cdef int check_absent(Field* f, PyObject* x, Writer* w) noexcept:
    """Refuse what is lost, or of a wrong type; an ignorable value is written and taken back."""
    cdef Py_ssize_t start = w.p - w.begin
    cdef int done
    if not f.ignorable:
        return is_default(f, x) - 1
    if f.how_default == SHARED_DEFAULT and x == f.default:
        return 0
    if f.how_default == LIST_DEFAULT and PyList_CheckExact(x) and PyList_GET_SIZE(x) == 0:
        return 0
    done = write_value(f.absent, x, w)
    w.p = w.begin + start
    return done


cdef int write_struct(Shape* s, PyObject* x, Writer* w) noexcept:
    cdef int exact = is_exact(s, x)
    cdef Field* f = s.fields
    cdef PyObject* value
    cdef int i, done
    if exact < 0:
        return -1
    for i in range(s.count):
        if f.tag >= 0 or i == s.unknown:
            f += 1
            continue
        value = field_of(x, f, exact)
        if value == NULL:
            return -1
        if f.node != NULL:
            done = write_value(f.node, value, w)
        else:
            done = check_absent(f, value, w)
        Py_DECREF(value)
        if done != 0:
            return -1
        f += 1
    return write_tags(s, x, exact, w)


cdef int write_tags(Shape* s, PyObject* x, bint exact, Writer* w) noexcept:
    cdef bint filled[MOST_FIELDS]
    cdef PyObject* unknown = NULL
    cdef PyObject* value
    cdef int64_t known = 0
    cdef int i, equal, done, has_unknown
    if s.unknown >= 0:
        unknown = field_of(x, &s.fields[s.unknown], exact)
        if unknown == NULL:
            return -1
    for i in range(s.tagged_count):
        value = field_of(x, &s.fields[s.tagged[i]], exact)
        equal = -1 if value == NULL else is_default(&s.fields[s.tagged[i]], value)
        Py_XDECREF(value)
        if equal < 0:
            Py_XDECREF(unknown)
            return -1
        filled[i] = equal == 0
        known += filled[i]
    has_unknown = 0 if unknown == NULL or unknown == _no_tags else PyObject_IsTrue(unknown)
    if has_unknown < 0:
        done = -1
    elif has_unknown:
        done = write_unknown(s, x, exact, unknown, filled, known, w)
    elif not s.flexible:
        done = 0
    elif known == 0:
        done = need(w, 1)
        if done == 0:
            w.p[0] = 0
            w.p += 1
    else:
        done = put_uvarint(w, known)
        for i in range(s.tagged_count):
            if done == 0 and filled[i]:
                done = write_tagged(&s.fields[s.tagged[i]], x, exact, w)
    Py_XDECREF(unknown)
    return done


cdef int write_tagged(Field* f, PyObject* owner, bint exact, Writer* w) noexcept:
    """A tag, the size of its value, and the value, which moves to make room for the two."""
    cdef Writer front
    cdef Py_ssize_t start, size, more
    cdef PyObject* value = field_of(owner, f, exact)
    cdef int done
    if value == NULL:
        return -1
    start = w.p - w.begin
    done = write_value(f.node, value, w)
    Py_DECREF(value)
    if done < 0:
        return -1
    size = w.p - w.begin - start
    if size > 0x7FFFFFFF:
        return -1
    open_writer(&front, NULL)  # it stays in its small part
    put_uvarint(&front, <uint64_t>f.tag)
    put_uvarint(&front, <uint64_t>size)
    more = front.p - front.begin
    if need(w, more) < 0:
        return -1
    memmove(w.begin + start + more, w.begin + start, size)
    memcpy(w.begin + start, front.begin, more)
    w.p += more
    return 0


cdef int put_unknown(Shape* s, PyObject* pair, Writer* w, int64_t* tag) noexcept:
    """Write an unknown tag, or without a writer only look at it: its number goes to ``tag``."""
    cdef PyObject* data
    cdef int overflow = 0
    if not PyTuple_Check(pair) or PyTuple_GET_SIZE(pair) != 2:
        return -1
    data = PyTuple_GET_ITEM(pair, 0)
    if not PyLong_Check(data) or data == Py_True:
        return -1
    tag[0] = PyLong_AsLongLongAndOverflow(data, &overflow)
    if overflow or tag[0] < 0 or tag[0] > 0x7FFFFFFF:
        return -1
    if tagged_field(s, tag[0]) != NULL or is_foreign(s, tag[0]):
        return -1
    data = PyTuple_GET_ITEM(pair, 1)
    if not PyBytes_Check(data):
        return -1
    if w == NULL:
        return 0
    if put_uvarint(w, <uint64_t>tag[0]) < 0:
        return -1
    if put_uvarint(w, <uint64_t>PyBytes_GET_SIZE(data)) < 0:
        return -1
    return put(w, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef int write_unknown(
    Shape* s, PyObject* x, bint exact, PyObject* unknown, bint* filled, int64_t known, Writer* w
) noexcept:
    """Tagged fields and unknown tags, in the order of their tags."""
    cdef PyObject* pairs
    cdef PyObject* ordered
    cdef int64_t tag = -1, previous = -1
    cdef Py_ssize_t i, count
    cdef bint is_ordered = True
    cdef int place = 0, done = 0
    if not PyTuple_Check(unknown) and not PyList_Check(unknown):
        return -1
    pairs = list_of(unknown)
    if pairs == NULL:
        return -1
    count = PyList_GET_SIZE(pairs)
    if not s.flexible:
        done = -1
    for i in range(count):
        if done == 0:
            done = put_unknown(s, PyList_GET_ITEM(pairs, i), NULL, &tag)
            is_ordered = is_ordered and previous <= tag
            previous = tag
    if done == 0 and not is_ordered:
        ordered = PyObject_CallOneArg(_by_tag, pairs)
        Py_DECREF(pairs)
        if ordered == NULL:
            return -1
        pairs = ordered
    if done == 0:
        done = put_uvarint(w, <uint64_t>(known + count))
    for i in range(count):
        if done < 0:
            break
        done = put_unknown(s, PyList_GET_ITEM(pairs, i), NULL, &tag)
        while done == 0 and place < s.tagged_count and s.fields[s.tagged[place]].tag < tag:
            if filled[place]:
                done = write_tagged(&s.fields[s.tagged[place]], x, exact, w)
            place += 1
        if done == 0:
            done = put_unknown(s, PyList_GET_ITEM(pairs, i), w, &tag)
    while done == 0 and place < s.tagged_count:
        if filled[place]:
            done = write_tagged(&s.fields[s.tagged[place]], x, exact, w)
        place += 1
    Py_DECREF(pairs)
    return done


cdef int write_value(Node* n, PyObject* x, Writer* w) noexcept:
    """Write a value; -1 where it is refused or an exception is set."""
    cdef int kind = n.kind
    if kind == STRING:
        return write_text(n, x, w)
    elif kind == STRUCT:
        return write_struct(n.shape, x, w)
    elif kind == ARRAY:
        return write_array(n, x, w)
    elif kind == BYTES or kind == RECORDS:
        return write_blob(n, x, w)
    elif kind == BOOL:
        if x != Py_True and x != Py_False:
            return -1
        if need(w, 1) < 0:
            return -1
        w.p[0] = x == Py_True
        w.p += 1
        return 0
    elif kind == UUID_:
        return write_uuid(x, w)
    elif kind == FLOAT64:
        return write_double(x, w)
    elif kind == NULLABLE:
        if need(w, 1) < 0:
            return -1
        if x == Py_None:
            w.p[0] = 0 if n.tagged else 255
            w.p += 1
            return 0
        w.p[0] = 1
        w.p += 1
        return write_struct(n.shape, x, w)
    return write_number(n, x, w)
