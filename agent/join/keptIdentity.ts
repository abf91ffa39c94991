import type { KeyObject } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { publicKeyFromJwk } from '#base/jws.ts';
import type { Sealer } from '#base/sealing.ts';
import { type Identity, readIdentity, writeIdentity } from './identity.ts';

/**
 * The identity of a running agent, whichever its role. It changes while the agent runs: by renewals, by new keys of the centre, by being
 * revoked. Whoever holds a part of it (a TLS client, a listener) follows the changes.
 */
export interface KeptIdentity {
  readonly current: Identity;
  /** The centre's keys that sign, newest first. */
  signingKeys(): readonly KeyObject[];
  /** Changes it, on disk first. One change after the other: each sees what the one before has left. */
  change(make: (current: Identity) => Identity): Promise<void>;
  /** Notes, for good, that the centre has refused this agent. */
  markRevoked(message: string): Promise<void>;
  /** Calls `listener` after each change; returns what ends that. */
  onChange(listener: (identity: Identity) => void): () => void;
}

/**
 * With `sealer` the private keys are encrypted from the first change on.
 * @throws RailheadError INVALID_STATE when this agent has not joined, joined in another role, or its keys cannot be opened
 */
export async function keepIdentity(
  stateDirectory: string,
  role: Identity['role'],
  sealer?: Sealer,
): Promise<KeptIdentity> {
  let current = await readIdentity(stateDirectory, role, sealer);
  let signingKeys = current.signingKeys.map(publicKeyFromJwk);
  let last: Promise<void> = Promise.resolve();
  const changes = new EventEmitter<{ change: [Identity] }>().setMaxListeners(0);

  async function changeNow(make: (current: Identity) => Identity): Promise<void> {
    const changed = make(current);
    await writeIdentity(stateDirectory, changed, sealer);
    current = changed;
    signingKeys = changed.signingKeys.map(publicKeyFromJwk);
    changes.emit('change', changed);
  }

  const kept: KeptIdentity = {
    get current() {
      return current;
    },
    signingKeys: () => signingKeys,
    change: (make) => {
      const done = last.then(() => changeNow(make));
      last = done.catch(() => {});
      return done;
    },
    markRevoked: (message) =>
      kept.change((identity) => ({
        ...identity,
        revoked: identity.revoked ?? { at: new Date().toISOString(), message },
      })),
    onChange: (listener) => {
      changes.on('change', listener);
      return () => void changes.off('change', listener);
    },
  };
  return kept;
}
