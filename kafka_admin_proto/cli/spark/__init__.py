"""Commands that start Spark: the pipeline and its report."""
