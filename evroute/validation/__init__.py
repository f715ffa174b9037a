"""Validation: fields that are declared once, their texts, and errors in one clause."""
