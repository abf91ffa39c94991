import { type MachineSecretAnswer, MachineSecretRequest } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import type { Session } from '../store/sessions.ts';
import type { MachineParts } from './parts.ts';

/**
 * `POST /v1/machine/secret`: what an open operation for this machine refers to, as the centre sealed it to this machine.
 * @throws RailheadError NOT_FOUND for a reference of no such operation
 */
export function giveSecret(body: unknown, { nodeId }: Session, { state }: MachineParts): MachineSecretAnswer {
  const { ref } = validate(MachineSecretRequest, body);
  const secrets = state.journal.open('ramdisk', nodeId).flatMap(({ operation }) => operation.secrets ?? []);
  // The newest operation's: a retry refers to the same document, sealed to a later boot.
  const found = secrets.findLast((secret) => secret.ref === ref);
  if (found !== undefined) return { sealed: found.sealed };
  throw new RailheadError('NOT_FOUND', `no operation for this machine refers to ${ref}`, { path: 'ref' });
}
