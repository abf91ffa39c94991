import { hasCode } from '#contract/errors.ts';
import type { Credentials } from '#contract/secrets.ts';
import type { BmcCredentials } from '../secrets/bmcCredentials.ts';

/** Opens by the login that is right: by the next one, where a BMC is being given another password, when the one before is refused. */
export async function byTheRightLogin<Opened>(
  { next, ...current }: BmcCredentials,
  open: (login: Credentials) => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open(current);
  } catch (error) {
    const isRefused = hasCode(error, 'DRIVER_ERROR') && error.details.reason === 'credentials-refused';
    if (next === undefined || !isRefused) throw error;
    return open({ username: next.username, password: next.password });
  }
}
