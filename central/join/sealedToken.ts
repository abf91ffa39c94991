import type { KeyObject } from 'node:crypto';
import { openSealed } from '#base/jwe.ts';
import { RailheadError } from '#contract/errors.ts';
import { type JoinRequest, joinParty, joinTokenTyp } from '#contract/join.ts';
import type { CentralKeys } from './keys.ts';

/**
 * The token of a join request, which must be sealed for the keys of that very request. It may be sealed to a key that a rotation has
 * replaced since its pin was handed out.
 * @throws RailheadError INVALID_INPUT (`token`; `other-key` when it was sealed for other keys)
 */
export async function openJoinToken(
  { joinEncryption, older }: CentralKeys,
  request: JoinRequest,
): Promise<string> {
  const { text, party } = await openByOne(request.token, [joinEncryption, ...older.joinEncryption]);
  if (party?.equals(joinParty(request))) return text;
  const message = 'token was sealed for another csr or sealingKey: somebody has put others beside it';
  throw new RailheadError('INVALID_INPUT', message, { path: 'token', reason: 'other-key' });
}

async function openByOne(sealed: string, keys: readonly KeyObject[]) {
  try {
    return await Promise.any(keys.map((key) => openSealed(joinTokenTyp, sealed, key)));
  } catch (error) {
    const message = 'token must be the join token sealed (JWE, ECDH-ES) to the join encryption key';
    throw new RailheadError('INVALID_INPUT', message, { path: 'token' }, error);
  }
}
