import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import {
  type ActionOf,
  isActionOf,
  Operation,
  type OperationInput,
  operations,
} from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';

/** A machine's two agents. */
export type MachineTarget = 'ramdisk' | 'node';

/** An operation that the centre signed for this agent of this machine, its input checked. */
export type VerifiedOperation<Target extends MachineTarget = 'ramdisk'> = {
  [Action in ActionOf<Target>]: {
    operationId: string;
    action: Action;
    input: OperationInput<Action>;
    /** Milliseconds since the epoch. */
    expiresAt: number;
  };
}[ActionOf<Target>];

export interface Expectation<Target extends MachineTarget> {
  target: Target;
  /** The centre's keys that this machine believes. */
  signingKeys: readonly KeyObject[];
  nodeId: string;
  /** What tells this agent's key from every other: the thumbprint of a boot's keys, the pin of an installed OS's. */
  machine: string;
  /** The id under which it came. */
  operationId: string;
}

/**
 * What a JWS tells this machine to do. Whoever brings it is believed in nothing: signature, machine, boot,
 * id, target and input are checked here. Whether it is expired or was used before is the caller's question.
 * @throws RailheadError FORBIDDEN for what the centre did not order, UNSUPPORTED for an unknown action, INVALID_INPUT
 */
export async function verifyOperation<Target extends MachineTarget>(
  jws: string,
  expected: Expectation<Target>,
): Promise<VerifiedOperation<Target>> {
  const operation = validate(Operation, await signedDocument(jws, expected.signingKeys), 'FORBIDDEN');
  if (operation.operationId !== expected.operationId)
    throw refusal('operation-id', 'it has another id inside');
  if (operation.nodeId !== expected.nodeId) throw refusal('node', `it is for node ${operation.nodeId}`);
  if (operation.machine !== expected.machine)
    throw refusal('machine', 'it is for another boot, or another machine, that joined as this node');
  if (operation.target !== expected.target) throw refusal('target', `it is for the ${operation.target}`);
  const { operationId, action } = operation;
  if (!isActionOf(expected.target, action)) throw unknownAction(expected.target, action);
  const input = validate(operations[action].input, operation.input);
  const expiresAt = Date.parse(operation.expiresAt);
  if (Number.isNaN(expiresAt)) throw refusal('expiry', 'its expiry is no date');
  return { operationId, action, input, expiresAt } as VerifiedOperation<Target>;
}

async function signedDocument(jws: string, keys: readonly KeyObject[]): Promise<unknown> {
  try {
    return await verifyDocument('railhead-operation', jws, keys);
  } catch (cause) {
    throw refusal('signature', "it is not signed by this machine's centre", cause);
  }
}

function unknownAction(target: MachineTarget, action: string): RailheadError {
  const cure = target === 'ramdisk' ? 'boot a newer ramdisk image' : 'give its OS a newer bcd';
  return new RailheadError('UNSUPPORTED', `this ${target} does not know ${action}: ${cure}`, { action });
}

export function refusal(reason: string, why: string, cause?: unknown): RailheadError {
  return new RailheadError('FORBIDDEN', `the operation is refused: ${why}`, { reason }, cause);
}
