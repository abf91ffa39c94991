import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/**
 * The certificates of `cache.sourceCaFile`, as PEM.
 * @throws RailheadError INVALID_CONFIG when the file cannot be read or holds none
 */
export async function readSourceCa(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw refused(file, `cannot be read (${systemCode(error) ?? 'unreadable'})`, error);
  });
  try {
    new X509Certificate(text);
  } catch (error) {
    throw refused(file, 'holds no certificate in PEM', error);
  }
  return text;
}

function refused(file: string, what: string, cause: unknown): RailheadError {
  const path = 'cache.sourceCaFile';
  return new RailheadError('INVALID_CONFIG', `${path}: ${file} ${what}`, { path, file }, cause);
}
