import type { KeyObject } from 'node:crypto';
import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { Operation, type OperationAction, type OperationInput, operations } from '#contract/operations.ts';
import { validate } from '#contract/validate.ts';

/** The actions that the ramdisk carries out. */
export type RamdiskAction = {
  [Action in OperationAction]: (typeof operations)[Action]['target'] extends 'ramdisk' ? Action : never;
}[OperationAction];

/** An operation that the centre signed for this machine, its input checked. */
export type VerifiedOperation = {
  [Action in RamdiskAction]: {
    operationId: string;
    action: Action;
    input: OperationInput<Action>;
    expiresAt: number;
  };
}[RamdiskAction];

export interface Expectation {
  /** The centre's keys that this machine believes. */
  signingKeys: readonly KeyObject[];
  nodeId: string;
  /** The thumbprint of this boot's keys. */
  machine: string;
  /** The id under which the site relayed it. */
  operationId: string;
}

/**
 * What a relayed JWS tells this machine to do. The site that relays it is believed in nothing: signature, machine, boot,
 * id, target and input are checked here. Whether it is expired or was used before is the caller's question.
 * @throws RailheadError FORBIDDEN for what the centre did not order, UNSUPPORTED for an unknown action, INVALID_INPUT
 */
export async function verifyOperation(jws: string, expected: Expectation): Promise<VerifiedOperation> {
  const operation = validate(Operation, await signedDocument(jws, expected.signingKeys), 'FORBIDDEN');
  if (operation.operationId !== expected.operationId)
    throw refusal('operation-id', 'it has another id inside');
  if (operation.nodeId !== expected.nodeId) throw refusal('node', `it is for node ${operation.nodeId}`);
  if (operation.machine !== expected.machine)
    throw refusal('machine', 'it is for another boot, or another machine, that joined as this node');
  if (operation.target !== 'ramdisk') throw refusal('target', `it is for the ${operation.target}`);
  const { operationId, action } = operation;
  if (!isRamdiskAction(action))
    throw new RailheadError(
      'UNSUPPORTED',
      `this ramdisk does not know ${action}: boot a newer ramdisk image`,
      {
        action,
      },
    );
  const input = validate(operations[action].input, operation.input);
  const expiresAt = Date.parse(operation.expiresAt);
  if (Number.isNaN(expiresAt)) throw refusal('expiry', 'its expiry is no date');
  return { operationId, action, input, expiresAt } as VerifiedOperation;
}

async function signedDocument(jws: string, keys: readonly KeyObject[]): Promise<unknown> {
  try {
    return await verifyDocument('railhead-operation', jws, keys);
  } catch (cause) {
    throw refusal('signature', "it is not signed by this ramdisk's centre", cause);
  }
}

function isRamdiskAction(action: string): action is RamdiskAction {
  return (
    Object.hasOwn(operations, action) && operations[action as keyof typeof operations].target === 'ramdisk'
  );
}

export function refusal(reason: string, why: string, cause?: unknown): RailheadError {
  return new RailheadError('FORBIDDEN', `the operation is refused: ${why}`, { reason }, cause);
}
