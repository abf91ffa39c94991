import type { Sqlite } from '#base/sqlite.ts';
import type { Operation, OperationResult } from '#contract/operations.ts';
import { openResults, type Results } from './results.ts';

/** An operation that has not ended, as the journal has it. `startedAt` (milliseconds) says that its act may have been done. */
export interface OpenOperation {
  operation: Operation;
  cancelled: boolean;
  startedAt?: number;
}

/**
 * What a site was asked to do, and what came of it. An operation is here before it is begun, marked before its act, and
 * ends once; its result stays until the centre has taken it. Every method is one transaction on stable storage.
 */
export interface Journal extends Results {
  /** Takes operations in; one that is known is not taken twice, and one that has ended is told again. */
  receive(operations: readonly Operation[]): void;
  /** Operations that have not ended, oldest first. */
  open(target: Operation['target'], nodeId?: string): OpenOperation[];
  find(operationId: string): OpenOperation | undefined;
  /** Marks that the act may begin. False when it had been marked or had ended before. */
  start(operationId: string, at: number): boolean;
  /** Ends an operation. False when it had ended before: the first result stands. Its input, which may hold secrets, is forgotten. */
  finish(result: OperationResult): boolean;
  /** Marks what the centre wants abandoned; returns the ids of those that have not ended. */
  cancel(operationIds: readonly string[]): string[];
  /** Forgets operations that ended, were told and expired before `before` (milliseconds). */
  prune(before: number): void;
}

interface Row {
  document: string;
  cancelled: number;
  started_at: number | null;
}

export function openJournal(database: Sqlite): Journal {
  const insert = database.prepare(
    `INSERT INTO operations (operation_id, node_id, target, document, state, expires_at) VALUES (?, ?, ?, ?, 'received', ?)
     ON CONFLICT (operation_id) DO UPDATE SET result_taken = 0`,
  );
  const open = database.prepare<[string, string | null], Row>(
    `SELECT document, cancelled, started_at FROM operations
     WHERE state <> 'finished' AND target = ? AND node_id = coalesce(?, node_id) ORDER BY sequence`,
  );
  const find = database.prepare<[string], Row>(
    "SELECT document, cancelled, started_at FROM operations WHERE operation_id = ? AND state <> 'finished'",
  );
  const start = database.prepare(
    "UPDATE operations SET state = 'started', started_at = ? WHERE operation_id = ? AND state = 'received'",
  );
  const finish = database.prepare(
    `UPDATE operations SET state = 'finished', finished_at = ?, result = ?, document = json_remove(document, '$.input', '$.jws', '$.secrets')
     WHERE operation_id = ? AND state <> 'finished'`,
  );
  const cancel = database.prepare(
    "UPDATE operations SET cancelled = 1 WHERE operation_id = ? AND state <> 'finished'",
  );
  const prune = database.prepare(
    "DELETE FROM operations WHERE state = 'finished' AND result_taken = 1 AND finished_at < ? AND expires_at < ?",
  );
  return {
    ...openResults(database),
    receive: database.transaction((operations: readonly Operation[]) => {
      for (const operation of operations) {
        const { operationId, nodeId, target, expiresAt } = operation;
        insert.run(operationId, nodeId, target, JSON.stringify(operation), Date.parse(expiresAt) || 0);
      }
    }),
    open: (target, nodeId) => open.all(target, nodeId ?? null).map(openOperation),
    find: (operationId) => {
      const row = find.get(operationId);
      return row && openOperation(row);
    },
    start: (operationId, at) => start.run(at, operationId).changes === 1,
    finish: (result) =>
      finish.run(Date.parse(result.finishedAt), JSON.stringify(result), result.operationId).changes === 1,
    cancel: database.transaction((operationIds: readonly string[]) =>
      operationIds.filter((operationId) => cancel.run(operationId).changes === 1),
    ),
    prune: (before) => void prune.run(before, before),
  };
}

function openOperation(row: Row): OpenOperation {
  const operation: Operation = JSON.parse(row.document);
  const cancelled = row.cancelled === 1;
  return row.started_at === null
    ? { operation, cancelled }
    : { operation, cancelled, startedAt: row.started_at };
}
