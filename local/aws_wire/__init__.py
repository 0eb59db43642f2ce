"""The wire formats of AWS that the stand-ins share: signatures, event streams and HTTP."""
