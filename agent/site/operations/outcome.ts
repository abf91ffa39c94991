import { RailheadError, toWireError, type WireError } from '#contract/errors.ts';
import type { OperationResult } from '#contract/operations.ts';

/** The centre takes no longer sentence, and would leave out the result that holds it. */
const longestMessage = 2000;
/** A report holds many results, and takes 8 MiB in all. */
const longestResult = 1024 * 1024;

/** The forms in which an operation ends. */
export function succeeded(operationId: string, result: Record<string, unknown>): OperationResult {
  if (Buffer.byteLength(JSON.stringify(result)) > longestResult) return failed(operationId, tooLong());
  return { operationId, outcome: 'succeeded', result, finishedAt: new Date().toISOString() };
}

export function failed(operationId: string, error: unknown): OperationResult {
  return { operationId, outcome: 'failed', error: told(error), finishedAt: new Date().toISOString() };
}

/** What it did could not be found out; `error` says why and what was found. */
export function unknown(operationId: string, error: RailheadError): OperationResult {
  return { operationId, outcome: 'unknown', error: told(error), finishedAt: new Date().toISOString() };
}

function told(error: unknown): WireError {
  const wire = toWireError(error);
  return { ...wire, message: wire.message.slice(0, longestMessage) };
}

function tooLong(): RailheadError {
  const message = `done, but what came of it is longer than ${longestResult >> 20} MiB and cannot be told: ask for less`;
  return new RailheadError('DRIVER_ERROR', message, { reason: 'malformed' });
}
