import { readFile } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import type { Sealer } from '#base/sealing.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { issueBootServer, type KeyAndCertificate, makeBootAuthority } from './issue.ts';

/** The file: what firmware is to trust, and the key behind it, as it is or encrypted like other secrets at rest. */
const BootTlsFile = Type.Object(
  {
    /** PEM. */
    authority: Type.String(),
    authorityKey: Type.Optional(Type.String()),
    sealedAuthorityKey: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
type BootTlsFile = Static<typeof BootTlsFile>;

const fileName = 'boot-tls.json';

/** What firmware must be told to trust, PEM. @throws RailheadError NOT_FOUND before the agent has run with `boot.httpsPort` */
export async function readBootAuthority(stateDirectory: string): Promise<string> {
  const found = await readFileIn(stateDirectory);
  if (found !== undefined) return found.authority;
  const message =
    'this site has no HTTPS boot yet: set boot.httpsPort in config.toml and start the agent once';
  throw new RailheadError('NOT_FOUND', message, { path: 'boot.httpsPort' });
}

/**
 * A certificate for the HTTPS boot of these addresses, new at each start and each call, by the CA of this site, which is made when there
 * is none. With `sealer` the CA's key is encrypted on the disk.
 * @throws RailheadError INVALID_STATE when the file cannot be read
 */
export async function bootServerCertificate(
  { stateDirectory, siteId, sealer }: { stateDirectory: string; siteId: string; sealer?: Sealer | undefined },
  addresses: readonly string[],
): Promise<KeyAndCertificate> {
  const authority = (await readAuthority(stateDirectory, sealer)) ?? (await makeBootAuthority(siteId));
  // Written each time, so that its key is encrypted by the newest of the keys at rest.
  await writeAuthority(stateDirectory, authority, sealer);
  return issueBootServer(authority, addresses);
}

async function readAuthority(
  stateDirectory: string,
  sealer: Sealer | undefined,
): Promise<KeyAndCertificate | undefined> {
  const found = await readFileIn(stateDirectory);
  if (found === undefined) return undefined;
  const { authority: certificate, authorityKey, sealedAuthorityKey } = found;
  const key = authorityKey ?? unsealed(stateDirectory, sealedAuthorityKey, sealer);
  return { key, certificate };
}

function unsealed(stateDirectory: string, sealed = '', sealer: Sealer | undefined): string {
  try {
    if (sealer !== undefined) return sealer.open(Buffer.from(sealed, 'base64'));
  } catch {
    // Said below, as for a key that is not there at all.
  }
  const file = path.join(stateDirectory, fileName);
  const message = `${file}: its key was encrypted by a key at rest that is not there; bring that one back, or remove the file and enrol the new CA in every machine`;
  throw new RailheadError('INVALID_STATE', message, { path: file, reason: 'at-rest-key' });
}

async function writeAuthority(
  stateDirectory: string,
  { key, certificate }: KeyAndCertificate,
  sealer: Sealer | undefined,
): Promise<void> {
  const secret =
    sealer === undefined
      ? { authorityKey: key }
      : { sealedAuthorityKey: sealer.seal(key).toString('base64') };
  const text = `${JSON.stringify({ authority: certificate, ...secret }, null, 2)}\n`;
  await writeDurably(path.join(stateDirectory, fileName), text, 0o600);
}

async function readFileIn(stateDirectory: string): Promise<BootTlsFile | undefined> {
  try {
    const text = await readFile(path.join(stateDirectory, fileName), 'utf8');
    return validate(BootTlsFile, JSON.parse(text), 'INVALID_STATE');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
