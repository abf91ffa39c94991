import type { Sqlite } from '#base/sqlite.ts';
import type { OperationResult } from '#contract/operations.ts';

/** What came of operations: each result stays until the centre has taken it. */
export interface Results {
  /** Results that the centre has not taken, oldest first: at most `limit`, and as many as are of `mostBytes` together, but one at least. */
  results(limit: number, mostBytes?: number): OperationResult[];
  taken(results: readonly OperationResult[]): void;
  /** How many results the centre has not taken. */
  untold(): number;
}

export function openResults(database: Sqlite): Results {
  const results = database.prepare<[number], { result: string }>(
    "SELECT result FROM operations WHERE state = 'finished' AND result_taken = 0 ORDER BY sequence LIMIT ?",
  );
  const untold = database.prepare<[], { count: number }>(
    "SELECT count(*) AS count FROM operations WHERE state = 'finished' AND result_taken = 0",
  );
  const take = database.prepare('UPDATE operations SET result_taken = 1 WHERE operation_id = ?');
  return {
    results: (limit, mostBytes = Number.POSITIVE_INFINITY) => {
      const taken: OperationResult[] = [];
      let bytes = 0;
      for (const { result } of results.iterate(limit)) {
        bytes += Buffer.byteLength(result);
        if (bytes > mostBytes && taken.length > 0) break;
        taken.push(JSON.parse(result));
      }
      return taken;
    },
    taken: database.transaction((told: readonly OperationResult[]) => {
      for (const { operationId } of told) take.run(operationId);
    }),
    untold: () => untold.get()?.count ?? 0,
  };
}
