# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Policies and recipes: configuration, events, decisions and snapshot of each."""
