import { RailheadError } from './errors.ts';
import { isHttpsUrl } from './httpsUrl.ts';
import { parseOciSource } from './ociReference.ts';

/** The longest source, in characters, as written and as stored. */
export const longestSource = 2048;

/**
 * Where caches pull an artifact from, in its one canonical spelling: an `https://` URL without a fragment, or
 * `oci://registry/repository[:tag][@sha256:…]`.
 * @throws RailheadError INVALID_INPUT, path `source`, for anything else: what no cache could pull, what a URL parser would mend, and
 *   credentials, which everybody would read who sees the image
 */
export function canonicalSource(source: string): string {
  if (!/^(https|oci):\/\//i.test(source)) throw refused('must be an https:// or oci:// URL');
  if (!source.isWellFormed() || /[\s\p{Cc}\\]/u.test(source))
    throw refused('must hold no blanks, control characters or backslashes: write them as %20 and the like');
  const canonical = /^oci:/i.test(source) ? canonicalOci(source) : canonicalHttps(source);
  if (canonical.length > longestSource)
    throw refused(`must not be longer than ${longestSource} characters, with its percent signs`);
  return canonical;
}

function canonicalHttps(source: string): string {
  const url = URL.parse(source);
  if (url === null || !isHttpsUrl(source.replace(/^https:/i, 'https:')))
    throw refused('must be an https:// URL with a host');
  refuseCredentials(url);
  url.hash = '';
  return url.href;
}

function canonicalOci(source: string): string {
  const url = URL.parse(source);
  if (url !== null) refuseCredentials(url);
  const { registry } = parseOciSource(source);
  return `oci://${registry.host}${url?.pathname ?? ''}`;
}

function refuseCredentials({ username, password }: URL): void {
  if (username !== '' || password !== '') throw refused('must not hold credentials');
}

function refused(why: string): RailheadError {
  return new RailheadError('INVALID_INPUT', `source ${why}`, { path: 'source' });
}
