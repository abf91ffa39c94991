/** Every hop beyond these is taken for a loop. */
export const redirectLimit = 5;

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * Where a redirect leads, or why it is not followed. Only https: an image may not be moved to where anyone can
 * change it.
 */
export function nextHop(from: URL, location: string | undefined): URL | string {
  if (location === undefined || !URL.canParse(location, from)) return 'no usable Location';
  const target = new URL(location, from);
  if (target.protocol !== 'https:') return `it leads from https to ${target.protocol.slice(0, -1)}`;
  return target;
}

/** A URL without what may be secret in it: user, password, query (presigned URLs) and fragment. */
export function publicPart(url: URL): string {
  return url.origin + url.pathname;
}

/**
 * The credentials of a source are those written in its URL; they belong to its origin (scheme, host, port) and
 * are never shown to another, where a presigned URL would even be refused because of them.
 */
export function authorizationFor(source: URL, target: URL): Record<string, string> {
  if (source.username === '' || source.origin !== target.origin) return {};
  const pair = `${decodeURIComponent(source.username)}:${decodeURIComponent(source.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
