// Parquet files as DuckDB writes them: types, compression and row groups of another product than ours.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "../../../src/duckdb/database.ts";

export type ParquetBytes = Uint8Array<ArrayBuffer>;

/** A file with the rows of each statement. @param options of COPY, such as `compression zstd, row_group_size 2048` */
export async function parquetFiles(statements: readonly string[], options = ""): Promise<ParquetBytes[]> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-parquet-"));
  try {
    const files: ParquetBytes[] = [];
    const database = await Database.open({ memoryBytes: 1 << 30, threads: 1, tempDir: folder }, async (connection) => {
      for (const [i, statement] of statements.entries()) {
        const path = join(folder, `${i}.parquet`);
        await connection.run(`COPY (${statement}) TO '${path}' (FORMAT parquet${options === "" ? "" : `, ${options}`})`);
        files.push(new Uint8Array(readFileSync(path)));
      }
    });
    await database.close();
    return files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @see parquetFiles */
export async function parquetFile(statement: string, options = ""): Promise<ParquetBytes> {
  return (await parquetFiles([statement], options))[0]!;
}
