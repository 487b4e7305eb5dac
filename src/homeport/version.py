"""The version, in a module of its own so that no command imports package metadata to print it."""

VERSION = "0.1.0"
