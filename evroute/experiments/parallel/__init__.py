"""One engine for runs of experiments and blocks of tables: processes, executors, Dask clusters."""
