"""Stand-ins for AWS on loopback, and the commands that run the whole path on one machine."""
