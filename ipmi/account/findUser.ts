import { RailheadError } from '#contract/errors.ts';
import type { IpmiClient } from '../client.ts';

/** The channel that the command comes by (IPMI 2.0 §6.3). */
const thisChannel = 0x0e;

/**
 * The number of a user by its name (IPMI 2.0 §22.27, §22.29). The first user has no name, and most BMCs have an administrator second.
 * @throws RailheadError DRIVER_ERROR, reason `no-account`, or what the client fails with
 */
export async function findUser(client: IpmiClient, username: string): Promise<number> {
  const count = userCount(await client.raw([0x06, 0x44, thisChannel, 0x02], { repeatable: true }));
  for (let user = 2; user <= count; user++) if ((await nameOf(client, user)) === username) return user;
  throw new RailheadError('DRIVER_ERROR', 'the BMC has no IPMI user of the name that Railhead logs in by', {
    reason: 'no-account',
  });
}

/** How many users there can be, of Get User Access; those of IPMI 1.5 have up to 16, and none has more than 63. */
export function userCount(answer: Buffer): number {
  return (answer[0] ?? 0) & 0x3f || 16;
}

/** Undefined for one that has none, which some BMCs answer by an error. */
async function nameOf(client: IpmiClient, user: number): Promise<string | undefined> {
  const done = await client.rawAttempt([0x06, 0x46, user], { repeatable: true });
  return done === undefined ? undefined : userName(done);
}

/** At most 16 bytes, ended by zeros. */
export function userName(answer: Buffer): string {
  const end = answer.indexOf(0);
  return answer.subarray(0, end < 0 ? 16 : end).toString('latin1');
}
