import { readFile } from 'node:fs/promises';
import { systemCode } from '#base/errors.ts';
import type { SourceProxy } from '#cache/pull/proxy.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteConfig } from '../config.ts';

/**
 * The proxy that the configuration names, with what `cache.proxyCredentialsFile` holds.
 * @throws RailheadError INVALID_CONFIG when that file cannot be read or holds no `user:password`
 */
export async function readSourceProxy({
  proxy: url,
  proxyCredentialsFile: file,
  proxyExcept: except,
}: SiteConfig['cache']): Promise<SourceProxy | undefined> {
  if (url === undefined) return undefined;
  if (file === undefined) return { url, except };
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw refused(file, `cannot be read (${systemCode(error) ?? 'unreadable'})`, error);
  });
  const credentials = text.trim();
  if (!/^[^:\s]+:\S*$/.test(credentials)) throw refused(file, 'holds no user:password');
  return { url, except, credentials };
}

function refused(file: string, what: string, cause?: unknown): RailheadError {
  const path = 'cache.proxyCredentialsFile';
  return new RailheadError('INVALID_CONFIG', `${path}: ${file} ${what}`, { path, file }, cause);
}
