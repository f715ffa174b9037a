"""Tables as programs write them: encodings, widths of rows, numbers and repeats."""
