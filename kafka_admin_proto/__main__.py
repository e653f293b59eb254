"""``python -m kafka_admin_proto`` is the command line, as ``kap``."""

from kafka_admin_proto_start import main

if __name__ == "__main__":  # workers that are started afresh import this module too
    main()
