import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { type Credentials, parseCredentials } from '#contract/secrets.ts';

/** Where the secrets are that an operator keeps at the site as files. */
export interface SecretPlaces {
  directory: string;
  /** `$CREDENTIALS_DIRECTORY` of systemd; its names hold no `/`, so each is written `.` there. */
  credentialsDirectory?: string;
}

/**
 * The user name and password that `secret://a/b` stands for: one line `username:password`. Read at each use, so that a
 * changed password needs no restart.
 * @throws RailheadError INVALID_CONFIG that names the reference and never the secret
 */
export async function readCredentials(reference: string, places: SecretPlaces): Promise<Credentials> {
  const name = reference.slice('secret://'.length);
  if (name.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw unusable(reference, `${reference} is not the name of a secret`, 'name');
  for (const file of candidates(name, places)) {
    const text = await readIfThere(file, reference);
    if (text !== undefined) return credentialsFrom(text, reference);
  }
  throw unusable(
    reference,
    `no secret ${reference}: set it at the centre, or write 'username:password' to ${places.directory}/${name}`,
    'missing',
  );
}

function candidates(name: string, { directory, credentialsDirectory }: SecretPlaces): string[] {
  const file = path.join(directory, name);
  if (credentialsDirectory === undefined) return [file];
  return [path.join(credentialsDirectory, name.replaceAll('/', '.')), file];
}

async function readIfThere(file: string, reference: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw unusable(
      reference,
      `the file of ${reference} cannot be read: check its owner and mode`,
      'unreadable',
      error,
    );
  }
}

/** @throws RailheadError INVALID_CONFIG that does not tell the text */
export function credentialsFrom(text: string, reference: string): Credentials {
  const credentials = parseCredentials(text);
  if (credentials !== undefined) return credentials;
  throw unusable(reference, `${reference} must be one line 'username:password'`, 'form');
}

function unusable(path: string, message: string, reason: string, cause?: unknown): RailheadError {
  return new RailheadError('INVALID_CONFIG', message, { path, reason }, cause);
}
