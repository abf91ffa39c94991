import { signDocument } from '#base/jws.ts';
import type { RevocationList, Revoked } from '#contract/trust.ts';
import type { CentralContext } from '../context.ts';
import { now, type Queries } from '../store/store.ts';

/** How long a list is good for; a site asks for a fresh one well before. */
const listValidMs = 7 * 24 * 3_600_000;

/** The number of the newest list: it grows with each revocation, and is 1 before the first. */
export async function revocationsNumber(store: Queries): Promise<number> {
  const { last } = await store
    .selectFrom('revocations')
    .select(({ fn }) => fn.max('number').as('last'))
    .executeTakeFirstOrThrow();
  return Math.max(1, Number(last ?? 1));
}

/** The list of the revoked as it is now, signed. What has ended by itself is left out. */
export async function signedRevocations({ store, keys }: CentralContext): Promise<string> {
  const number = await revocationsNumber(store);
  const rows = await store
    .selectFrom('revocations')
    .selectAll()
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now())]))
    .where('number', '<=', number)
    .orderBy('number')
    .execute();
  const list: RevocationList = {
    number,
    issuedAt: now(),
    expiresAt: new Date(Date.now() + listValidMs).toISOString(),
    revoked: rows.map(({ kind, subject, identity, at }) => ({ kind, subject, identity, at })),
  };
  return signDocument('railhead-revocations', list, keys.signing);
}

/** Whether the books have it on the list. */
export async function isListed(store: Queries, kind: Revoked['kind'], subject: string): Promise<boolean> {
  const row = await store
    .selectFrom('revocations')
    .select('number')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row !== undefined;
}
