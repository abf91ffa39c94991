import { accountPath } from './paths.ts';
import type { Sessions } from './sessions.ts';

export interface Credentials {
  username: string;
  password: string;
}

/** What needs no login: the versions and the service root (DSP0266 section 13.2.4), and logging in itself. */
export function isOpen(method: string, path: string): boolean {
  if (method === 'POST') return path === '/redfish/v1/SessionService/Sessions';
  return path === '/redfish' || path === '/redfish/v1';
}

/** What can be done before a factory password was changed: that, and logging out. */
export function isOpenBeforeChange(method: string, path: string): boolean {
  return path === accountPath || (method === 'DELETE' && path.startsWith('/redfish/v1/SessionService/'));
}

/** Whether a request's headers prove the account, by a session's token or by Basic authentication (RFC 7617). */
export function isAuthenticated(
  headers: { authorization?: string | undefined; 'x-auth-token'?: string | string[] | undefined },
  account: Credentials,
  sessions: Sessions,
): boolean {
  const token = headers['x-auth-token'];
  if (typeof token === 'string') return sessions.byToken(token) !== undefined;
  const match = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '');
  if (match === null) return false;
  return Buffer.from(match[1] ?? '', 'base64').toString() === `${account.username}:${account.password}`;
}
