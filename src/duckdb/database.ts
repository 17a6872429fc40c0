// An in-memory DuckDB that can access only its own memory, its spill folder and the folders it is given.
import type duckdbTypes from "@duckdb/node-bindings";
import { duckdb } from "./binding.ts";
import { Connection } from "./connection.ts";
import { engineError } from "./errors.ts";
import { nativeCalls } from "./native-calls.ts";

export interface DatabaseOptions {
  /** Memory for tables, hash tables and sorts; beyond it DuckDB spills to `tempDir` or fails. */
  readonly memoryBytes: number;
  readonly threads: number;
  /** Spill folder; null: no spilling. */
  readonly tempDir: string | null;
  /** Maximum bytes spilled. */
  readonly tempBytesMax?: number;
  /** Folders whose Parquet files may be read. */
  readonly readableDirs?: readonly string[];
}

/** A DuckDB database. Owned: call `close`. */
export class Database {
  private readonly connections = new Set<Connection>();

  private constructor(private readonly handle: duckdbTypes.Database) {}

  /** Opens the database, runs `setup` (macros, table functions) on a first connection, then locks the configuration. */
  static async open(options: DatabaseOptions, setup: (connection: Connection) => Promise<void> = async () => {}): Promise<Database> {
    const config = duckdb.create_config();
    duckdb.set_config(config, "threads", String(options.threads));
    duckdb.set_config(config, "memory_limit", `${Math.floor(options.memoryBytes / 1024)}KiB`);
    duckdb.set_config(config, "temp_directory", options.tempDir ?? "");
    duckdb.set_config(config, "max_temp_directory_size", `${Math.floor((options.tempBytesMax ?? 64 * 2 ** 30) / 1024)}KiB`);
    duckdb.set_config(config, "autoinstall_known_extensions", "false");
    duckdb.set_config(config, "autoload_known_extensions", "false");
    duckdb.set_config(config, "allow_community_extensions", "false");
    const database = new Database(await nativeCalls.track(duckdb.open(":memory:", config)));
    const connection = await database.connect();
    const dirs = [...(options.readableDirs ?? []), ...(options.tempDir === null ? [] : [options.tempDir])];
    // The order matters: once external access is disabled, the list of folders cannot be changed.
    await connection.run(`SET allowed_directories = [${dirs.map((dir) => `'${dir.replaceAll("'", "''")}'`).join(", ")}]`);
    for (const setting of SETTINGS) await connection.run(`SET GLOBAL ${setting}`);
    await setup(connection);
    await connection.run("SET enable_external_access = false");
    await connection.run("SET lock_configuration = true");
    connection.close();
    return database;
  }

  async connect(): Promise<Connection> {
    try {
      const handle = await nativeCalls.track(duckdb.connect(this.handle));
      const connection = new Connection(handle, () => void this.connections.delete(connection));
      this.connections.add(connection);
      return connection;
    } catch (error) {
      throw engineError(error);
    }
  }

  /** Stops all running statements. */
  interrupt(): void {
    for (const connection of this.connections) connection.interrupt();
  }

  /** Resolves when no thread executes a statement of its connections any more, including half-read results. */
  async settle(): Promise<void> {
    await Promise.all([...this.connections].map((connection) => connection.settle().catch(() => {})));
  }

  /** Closes the database and its connections, on which nothing may be running. */
  close(): void {
    for (const connection of [...this.connections]) connection.close();
    duckdb.close_sync(this.handle);
  }
}

const SETTINGS: readonly string[] = [
  "TimeZone = 'UTC'",
  "Calendar = 'gregorian'",
  // 7 / 2 is 3, as in the dialect; floats still divide as floats
  "integer_division = true",
  "errors_as_json = true",
  // ORDER BY 'name' orders nothing
  "order_by_non_integer_literal = true",
  "default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'",
  // Returns memory freed by a statement to the system a second later. Otherwise only a thread's next call would return it, and each of the
  // pool's many threads would keep the memory of its last heavy statement.
  "allocator_background_threads = true",
];
