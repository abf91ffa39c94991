import { createPrivateKey, type KeyObject } from 'node:crypto';
import { openText } from '#base/jwe.ts';
import { RailheadError } from '#contract/errors.ts';
import { type SecretAnswer, SecretContent, secretTyp } from '#contract/secrets.ts';
import { validate } from '#contract/validate.ts';

/**
 * Opens the secrets of an answer with the site's own key.
 * @throws RailheadError DRIVER_ERROR (`sealed`) for one that was sealed to another key, or is another one than it says
 */
export function openSecrets({ secrets }: SecretAnswer, sealingPrivateKey: string): Promise<SecretContent[]> {
  const key = createPrivateKey(sealingPrivateKey);
  return Promise.all(secrets.map((secret) => openOne(secret, key)));
}

async function openOne(
  { secretId, version, sealed }: SecretAnswer['secrets'][number],
  key: KeyObject,
): Promise<SecretContent> {
  const content = await unsealed(sealed, key);
  if (content?.secretId === secretId && content.version === version) return content;
  const message = `${secretId} was not sealed to this site's key, or is another secret: let the site join again`;
  throw new RailheadError('DRIVER_ERROR', message, { reason: 'sealed', secretId, version });
}

/** What was inside; nothing of it is told when it is not a secret. */
async function unsealed(sealed: string, key: KeyObject): Promise<SecretContent | undefined> {
  try {
    return validate(SecretContent, JSON.parse(await openText(secretTyp, sealed, key)));
  } catch {
    return undefined;
  }
}
