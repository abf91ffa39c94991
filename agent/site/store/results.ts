import type { Sqlite } from '#base/sqlite.ts';
import type { OperationResult } from '#contract/operations.ts';

/** What came of operations: each result stays until the centre has taken it. */
export interface Results {
  /** Results that the centre has not taken, oldest first. */
  results(limit: number): OperationResult[];
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
    results: (limit) => results.all(limit).map((row) => JSON.parse(row.result)),
    taken: database.transaction((told: readonly OperationResult[]) => {
      for (const { operationId } of told) take.run(operationId);
    }),
    untold: () => untold.get()?.count ?? 0,
  };
}
