"""The cluster itself: its brokers and controller, their api versions, features and log dirs."""
