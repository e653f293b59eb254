"""Message sets of magic 0 and 1, which brokers of release 3.9 take and give: logs have none."""
