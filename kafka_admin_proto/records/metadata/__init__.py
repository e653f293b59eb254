"""The KRaft metadata log: its records, the rules that apply them, and the state of the cluster."""
