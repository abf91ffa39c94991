import type { IncomingMessage } from 'node:http';

/** A GET or HEAD as routes see it. */
export interface BootRequest {
  method: 'GET' | 'HEAD';
  /** Decoded, with one slash where firmware wrote several: `/ipxe/snponly.efi`. */
  path: string;
  query: URLSearchParams;
  range?: string;
  ifRange?: string;
  ifNoneMatch?: string;
  /** The client's address. */
  from: string;
}

/** Undefined when the method is none that a boot listener serves, or the target is no path. */
export function readRequest(message: IncomingMessage): BootRequest | undefined {
  const { method, url = '', headers } = message;
  const target = originForm(url);
  if ((method !== 'GET' && method !== 'HEAD') || target === undefined) return undefined;
  const [rawPath = '', query = ''] = splitOnce(target, '?');
  const path = decoded(rawPath);
  if (path === undefined) return undefined;
  return {
    method,
    path: path.replaceAll(/\/(\.?\/)+/g, '/'),
    query: new URLSearchParams(query),
    from: (message.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    ...(headers.range !== undefined && { range: headers.range }),
    ...(headers['if-range'] !== undefined && { ifRange: String(headers['if-range']) }),
    ...(headers['if-none-match'] !== undefined && { ifNoneMatch: headers['if-none-match'] }),
  };
}

/** Path and query of a request's target; of a whole URL as well, which servers must take (RFC 9112 §3.2.2). */
function originForm(target: string): string | undefined {
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target;
  const [withoutFragment = ''] = splitOnce(path, '#');
  return withoutFragment.startsWith('/') ? withoutFragment : undefined;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
