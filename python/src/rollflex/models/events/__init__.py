# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events, family by family."""
