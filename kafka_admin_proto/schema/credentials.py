"""Fields that look like credentials by their names.

The notations cannot say what a credential is, and a field that nobody thought of would be shown.
``make generate`` therefore asks for each of these fields (``schemas/overlay.json``). Where
definitions are loaded at run time nobody can be asked, and each of them counts as a credential.
"""

from __future__ import annotations

import re

from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.scalars import SCALARS

#: In a name without its underscores. "Auth" but for author, authorize, authorized operations.
_NAMES = re.compile(
    r"secret|passw|passphrase|passcode|pwd|token|hmac|salt|credential|private|jaas|license"
    r"|(api|access|account|stored|server|encryption|signing)key|auth(?!or)|signature|proof",
    re.IGNORECASE,
)


def looks_like_credential(name: str) -> bool:
    """Whether a field of that name may be a password, a key, a token or the like."""
    return _NAMES.search(name.replace("_", "")) is not None


def credential_paths(spec: MessageSpec) -> list[str]:
    """Paths of the fields that look like credentials, as the overlay writes them.

    Text and bytes can be one, and arrays of these; a struct if it has any inside.
    """
    structs = spec.structs()

    def can_be_one(field: FieldSpec) -> bool:
        if field.type.is_struct:
            return any(map(can_be_one, structs[field.type.element].fields))
        return SCALARS[field.type.element].has_length

    def paths(fields: tuple[FieldSpec, ...], prefix: str) -> list[str]:
        credentials = []
        for field in fields:
            if looks_like_credential(field.name) and can_be_one(field):
                credentials.append(f"{prefix}{field.name}")
            credentials += paths(field.fields or (), f"{prefix}{field.name}.")
        return credentials

    credentials = paths(spec.fields, "")
    for struct in spec.common_structs:
        credentials += paths(struct.fields, f"{struct.name}.")
    return credentials
