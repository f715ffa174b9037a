"""Pages: a run folder, a plan or a belief as HTML."""
