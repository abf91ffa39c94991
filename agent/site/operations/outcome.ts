import { type RailheadError, toWireError } from '#contract/errors.ts';
import type { OperationResult } from '#contract/operations.ts';

/** The forms in which an operation ends. */
export function succeeded(operationId: string, result: Record<string, unknown>): OperationResult {
  return { operationId, outcome: 'succeeded', result, finishedAt: new Date().toISOString() };
}

export function failed(operationId: string, error: unknown): OperationResult {
  return { operationId, outcome: 'failed', error: toWireError(error), finishedAt: new Date().toISOString() };
}

/** What it did could not be found out; `error` says why and what was found. */
export function unknown(operationId: string, error: RailheadError): OperationResult {
  return { operationId, outcome: 'unknown', error: toWireError(error), finishedAt: new Date().toISOString() };
}
