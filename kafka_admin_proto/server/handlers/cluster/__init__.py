"""Handlers of the apis for the cluster itself: versions, features, log folders, brokers."""
