# Copies of objects of plain Python that are as new: these know their slots, and what is in them
# at first.

from collections import deque as _deque
from types import MethodType as _Method

cdef enum:
    MOST_PARTS = 32
    MOST_LINKS = 128

cdef enum:  # kinds of parts
    WITH_SLOTS
    CONTAINER  # an empty one
    TUPLE
    METHOD

# One of the objects that are made for a copy.

cdef struct Part:
    int kind
    PyObject* made_by  # its class; of a method its function
    Py_ssize_t size  # of a tuple
    int owner  # of a method, the part that it is bound to

# What is in a slot of a part, or in a tuple.

cdef struct Link:
    int owner
    Py_ssize_t at
    int part
    PyObject* shared  # where it is no part

_CONTAINERS = (list, dict, bytearray, _deque)
_IMMUTABLE = (type(None), bool, int, str, bytes)


cdef class Pattern:
    """Makes copies of an object, with all that is in it.

    Objects of ``classes``, which have slots, empty containers, tuples and bound methods are copied;
    what is ``shared``, or cannot change, is in all copies. Raises ValueError for anything else.
    """

    cdef Part parts[MOST_PARTS]
    cdef Link links[MOST_LINKS]
    cdef int part_count
    cdef int link_count
    cdef tuple classes
    cdef dict numbers  # id of an object → its part
    cdef list kept

    def __cinit__(self, pattern, tuple classes not None, tuple shared not None):
        self.classes = classes
        self.numbers = {id(each): -1 for each in shared}
        self.kept = [pattern, shared]
        if self.part(pattern) != 0:
            raise ValueError("the pattern is shared by all its copies")

    cdef int part(self, x) except -2:
        """The part that an object is; -1 for one that is shared."""
        cdef Part* made
        cdef int number
        kind = type(x)
        found = self.numbers.get(id(x))
        if found is not None:
            return found
        if kind in _IMMUTABLE or (kind is tuple and all(type(each) in _IMMUTABLE for each in x)):
            return -1
        if self.part_count == MOST_PARTS:
            raise ValueError(f"more than {MOST_PARTS} objects in a pattern")
        number = self.numbers[id(x)] = self.part_count
        self.part_count += 1
        self.kept.append(x)
        made = &self.parts[number]
        made.made_by = <PyObject*>kind
        if kind in self.classes:
            made.kind = WITH_SLOTS
            names = getattr(kind, "__struct_fields__", None) or kind.__slots__
            for name in names:
                self.link(number, slot_named(kind, name), getattr(x, name))
        elif kind in _CONTAINERS and not x:
            made.kind = CONTAINER
        elif kind is tuple:
            made.kind, made.size = TUPLE, len(x)
            for at, each in enumerate(x):
                self.link(number, at, each)
        elif kind is _Method and 0 <= self.numbers.get(id(x.__self__), -1) < number:
            made.kind, made.owner = METHOD, self.numbers[id(x.__self__)]
            made.made_by = <PyObject*>x.__func__
        else:
            raise ValueError(f"{x!r} in a pattern is neither copied nor shared")
        return number

    cdef int link(self, int owner, Py_ssize_t at, x) except -1:
        cdef Link* made
        cdef int part = self.part(x)
        if self.link_count == MOST_LINKS:
            raise ValueError(f"more than {MOST_LINKS} slots in a pattern")
        made = &self.links[self.link_count]
        self.link_count += 1
        made.owner, made.at, made.part, made.shared = owner, at, part, <PyObject*>x
        self.kept.append(x)
        return 0

    cdef object copy(self):
        cdef PyObject* made[MOST_PARTS]
        cdef PyObject* x
        cdef Link* each
        cdef int i
        cdef int count = 0
        while count < self.part_count:
            made[count] = new_part(&self.parts[count], made)
            if made[count] == NULL:
                for i in range(count):
                    Py_DECREF(made[i])
                _raise_set()
            count += 1
        for i in range(self.link_count):
            each = &self.links[i]
            x = held(each.shared if each.part < 0 else made[each.part])
            if self.parts[each.owner].kind == TUPLE:
                PyTuple_SET_ITEM(made[each.owner], each.at, x)
            else:
                fill(made[each.owner], each.at, x)
        for i in range(1, count):
            Py_DECREF(made[i])  # the parts have each other
        found = <object>made[0]
        Py_DECREF(made[0])
        return found


cdef PyObject* new_part(Part* part, PyObject** before) noexcept:
    """A part without what is in it: new."""
    if part.kind == WITH_SLOTS:
        return kap_new(<PyTypeObject*>part.made_by)
    if part.kind == CONTAINER:
        return PyObject_CallNoArgs(part.made_by)
    if part.kind == TUPLE:
        return PyTuple_New(part.size)
    return PyMethod_New(part.made_by, before[part.owner])
