# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions, family by family."""
