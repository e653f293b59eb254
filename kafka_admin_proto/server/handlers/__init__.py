"""The handlers of the apis: a folder for each subject, and a module for each api (``apis.py``)."""
