import {
  MachineImageAnswer,
  type MachinePollAnswer,
  type MachineReport,
  MachineSecretAnswer,
} from '#contract/agentWire.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import type { RamdiskJoinAnswer } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { type JoinParts, joinSite } from '../join/joinSite.ts';
import { learnKeys } from '../join/trust.ts';
import type { Located } from '../stream/source.ts';
import { waitUntil } from '../waitUntil.ts';

const pollSeconds = 25;

/** A joined machine's talk with its site. Every call keeps trying while the site is away, and joins again when the site has forgotten the session. */
export interface Session {
  readonly joined: RamdiskJoinAnswer;
  poll(taken: string[]): Promise<MachinePollAnswer>;
  report(report: MachineReport): Promise<void>;
  /** What an operation refers to, as it was sealed to this machine. */
  secret(ref: string): Promise<string>;
  /**
   * Where the site's cache has an image that an operation names; one try, good for the next request alone.
   * @throws RailheadError UNAVAILABLE or UNAUTHENTICATED: try again
   */
  image(digest: string): Promise<Located>;
  /** One try, for news that is stale a second later. */
  reportOnce(report: MachineReport): Promise<void>;
}

/** Joins the site, however long it takes. Rejects only when `signal` aborts. */
export async function openSession(parts: JoinParts): Promise<Session> {
  const { client, trust, say, signal } = parts;
  const site = await stayJoined(parts);
  return {
    get joined() {
      return site.joined;
    },
    poll: async (taken) => {
      const answer = (await site.call('poll', (session) =>
        client.post(
          '/v1/machine/poll',
          { waitSeconds: pollSeconds, taken },
          { session, signal, timeoutMs: 2 * pollSeconds * 1000 },
        ),
      )) as MachinePollAnswer;
      await learnKeys(trust, answer.trust, say);
      return answer;
    },
    secret: async (ref) => {
      const answer = await site.call('secret', (session) =>
        client.post('/v1/machine/secret', { ref }, { session, signal }).catch(unlessNotFound),
      );
      if (answer instanceof RailheadError) throw answer;
      return validate(MachineSecretAnswer, answer, 'DRIVER_ERROR').sealed;
    },
    image: async (digest) => {
      const open = client.located(`${site.joined.imagesUrl.replace(/\/$/, '')}/sha256/${digest}`);
      const answer = await client
        .post('/v1/machine/image', { digest }, { session: site.joined.session, signal })
        .catch(unlessRefused);
      if (answer === undefined) return open;
      return client.located(validate(MachineImageAnswer, answer, 'DRIVER_ERROR').url);
    },
    reportOnce: async (report) => {
      await client.post('/v1/machine/report', report, { session: site.joined.session, signal });
    },
    report: async (report) => {
      await site.call('report', (session) => client.post('/v1/machine/report', report, { session, signal }));
    },
  };
}

/** The newest join, and calls that are made again, after another join, when the site has forgotten it. */
interface Joined {
  readonly joined: RamdiskJoinAnswer;
  call<Value>(what: string, call: (session: string) => Promise<Value>): Promise<Value>;
}

async function stayJoined(parts: JoinParts): Promise<Joined> {
  const { client, say, signal } = parts;
  let joined = await waitUntil(() => joinSite(parts), 'join', say, signal);
  client.expectSite(joined.siteId);
  const once = async <Value>(call: (session: string) => Promise<Value>): Promise<Value> => {
    const { session } = joined;
    try {
      return await call(session);
    } catch (error) {
      if (!hasCode(error, 'UNAUTHENTICATED')) throw error;
      // Another call may have joined again meanwhile.
      if (joined.session === session) joined = await joinSite(parts);
      return await call(joined.session);
    }
  };
  return {
    get joined() {
      return joined;
    },
    call: (what, call) => waitUntil(() => once(call), what, say, signal),
  };
}

/** What a site does not have it will not have later. */
function unlessNotFound(error: unknown): RailheadError {
  if (hasCode(error, 'NOT_FOUND')) return error;
  throw error;
}

/** A site that says nothing of this image has it where every machine reads: an older one, or one that does not know the operation any more. */
function unlessRefused(error: unknown): undefined {
  if (hasCode(error, 'UNAVAILABLE') || hasCode(error, 'UNAUTHENTICATED')) throw error;
  if (!(error instanceof RailheadError)) throw error;
}
