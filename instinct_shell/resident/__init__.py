"""The warm engine: it judges, and nothing else (docs/decisions/0007-the-engine.md)."""
