"""Regular expressions of clients, with RE2's syntax, matched in steps that are bounded.

Python's own may take time that grows exponentially with the text.
"""

from kafka_admin_proto.server.patterns.pattern import Pattern as Pattern
from kafka_admin_proto.server.patterns.syntax import PatternError as PatternError
