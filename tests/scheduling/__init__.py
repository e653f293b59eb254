"""Which group of tests starts when, and how long the tests of a file may take."""
