"""Modules that the guest tests, the benches and the tools of the unwind cases share."""
