"""The warm engine: it judges, and nothing else (docs/decisions/0006-the-engine.md)."""
