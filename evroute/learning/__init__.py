"""Learning from measured trips: tables, beliefs on disk.

Here lie the parts that all beliefs share, such as intervals, the size of the battery and the test
for changes. Kinds of beliefs, readers of logs, recorded trips and their roads have rooms of their
own.
"""
