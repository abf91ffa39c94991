/** What a registry asks for when it answers 401. */
export type Challenge =
  | { scheme: 'basic' }
  | { scheme: 'bearer'; realm: string; service?: string; scope?: string };

/**
 * Reads `WWW-Authenticate` (RFC 9110, 11.6.1; the parameters of Bearer as registries give them). Of several challenges the Bearer one
 * counts. Never throws.
 * @returns undefined when it asks for neither
 */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const bearer = /(?:^|[,\s])bearer\s+(.*)$/is.exec(header ?? '')?.[1];
  if (bearer !== undefined) {
    const { realm, service, scope } = parameters(bearer);
    if (realm === undefined) return undefined;
    return {
      scheme: 'bearer',
      realm,
      ...(service !== undefined && { service }),
      ...(scope !== undefined && { scope }),
    };
  }
  return /(?:^|[,\s])basic(?:\s|$)/i.test(header ?? '') ? { scheme: 'basic' } : undefined;
}

function parameters(text: string): Record<string, string | undefined> {
  const found: Record<string, string> = {};
  for (const [, name = '', quoted, bare] of text.matchAll(
    // Each name from its start alone: else a long one is read again from each of its letters.
    /(?<![a-z_])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
  ))
    found[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '';
  return found;
}
