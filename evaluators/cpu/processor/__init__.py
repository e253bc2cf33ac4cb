"""The processor of this machine: what it does at best, and what kernel writers are told of it."""
