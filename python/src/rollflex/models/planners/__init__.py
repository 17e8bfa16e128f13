# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Planners: input and plan of each."""
