# Reads an exported file with pyarrow, pandas' engine, and prints what it found as JSON.
# Usage: exported_files.py FILE
import json
import sys

import pyarrow
import pyarrow.compute as compute
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet

path = sys.argv[1]
file = parquet.ParquetFile(path)
table = file.read()
time = table.column("time").cast(pyarrow.int64())
rows = table.set_column(table.schema.get_field_index("time"), "time", time)
column_of = lambda name: [file.metadata.row_group(0).column(i) for i in range(file.metadata.num_columns) if file.metadata.row_group(0).column(i).path_in_schema == name][0]
statistics = {name: column_of(name).statistics for name in table.schema.names}
print(
    json.dumps(
        {
            "version": pyarrow.__version__,
            "types": {field.name: str(field.type) for field in table.schema},
            "nullable": [field.name for field in table.schema if field.nullable],
            "kinds": {field.name: (field.metadata or {}).get(b"iox::column::type", b"").decode() for field in table.schema},
            "groups": file.metadata.num_row_groups,
            "rowCount": file.metadata.num_rows,
            "nulls": {name: found.null_count for name, found in statistics.items()},
            "bounds": {name: [str(found.min), str(found.max)] for name, found in statistics.items() if found.has_min_max and name not in ("time",)},
            "first": rows.slice(0, 3).to_pylist(),
            "sums": {name: compute.sum(rows.column(name)).as_py() for name in ("n", "f")},
            "hosts": sorted(compute.unique(table.column("host").cast(pyarrow.string())).to_pylist()),
            "filtered": dataset.dataset(path).to_table(filter=dataset.field("n") >= 49_990).num_rows,
        }
    )
)
