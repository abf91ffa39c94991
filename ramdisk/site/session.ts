import { signDocument } from '#base/jws.ts';
import { version } from '#base/version.ts';
import {
  MachineImageAnswer,
  type MachinePollAnswer,
  type MachineReport,
  MachineSecretAnswer,
  protocolVersion,
} from '#contract/agentWire.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { RamdiskJoinAnswer } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { validate } from '#contract/validate.ts';
import type { Say } from '../console.ts';
import { checkEntry } from '../join/entry.ts';
import { type MachineKeys, publicJwk } from '../join/keys.ts';
import type { MachineFacts } from '../join/machine.ts';
import { learnKeys, type Trust } from '../join/trust.ts';
import type { Located } from '../stream/source.ts';
import { waitUntil } from '../waitUntil.ts';
import type { SiteClient } from './client.ts';

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

export interface JoinParts {
  client: SiteClient;
  keys: MachineKeys;
  trust: Trust;
  facts: MachineFacts;
  mac: string;
  /** Called before each join: the site's certificate and the operations are judged by this machine's clock. */
  keepTime(): Promise<void>;
  /** Asked for at each join: a token that was found, not given, may have been replaced since. */
  token(): Promise<string>;
  say: Say;
  signal: AbortSignal;
}

/** Joins the site, however long it takes. Rejects only when `signal` aborts. */
export async function openSession(parts: JoinParts): Promise<Session> {
  const { client, trust, say, signal } = parts;
  let joined = await waitUntil(() => join(parts), 'join', say, signal);
  client.expectSite(joined.siteId);
  const asJoined = <Value>(what: string, call: (session: string) => Promise<Value>): Promise<Value> =>
    waitUntil(
      async () => {
        const { session } = joined;
        try {
          return await call(session);
        } catch (error) {
          if (!hasCode(error, 'UNAUTHENTICATED')) throw error;
          // Another call may have joined again meanwhile.
          if (joined.session === session) joined = await join(parts);
          return await call(joined.session);
        }
      },
      what,
      say,
      signal,
    );
  return {
    get joined() {
      return joined;
    },
    poll: async (taken) => {
      const answer = (await asJoined('poll', (session) =>
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
      const answer = await asJoined('secret', (session) =>
        client.post('/v1/machine/secret', { ref }, { session, signal }).catch(unlessNotFound),
      );
      if (answer instanceof RailheadError) throw answer;
      return validate(MachineSecretAnswer, answer, 'DRIVER_ERROR').sealed;
    },
    image: async (digest) => {
      const open = client.located(`${joined.imagesUrl.replace(/\/$/, '')}/sha256/${digest}`);
      const answer = await client
        .post('/v1/machine/image', { digest }, { session: joined.session, signal })
        .catch(unlessRefused);
      if (answer === undefined) return open;
      return client.located(validate(MachineImageAnswer, answer, 'DRIVER_ERROR').url);
    },
    reportOnce: async (report) => {
      await client.post('/v1/machine/report', report, { session: joined.session, signal });
    },
    report: async (report) => {
      await asJoined('report', (session) => client.post('/v1/machine/report', report, { session, signal }));
    },
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

/** @throws RailheadError what the site answered; FORBIDDEN, reason `entry`, when the centre did not let this machine boot as the node that the site names */
async function join({
  client,
  keys,
  trust,
  facts,
  mac,
  signal,
  ...parts
}: JoinParts): Promise<RamdiskJoinAnswer> {
  await parts.keepTime();
  const message = {
    protocol: protocolVersion,
    token: await parts.token(),
    mac,
    ...(facts.uuid !== undefined && { uuid: facts.uuid }),
    bootId: facts.bootId,
    signingKey: publicJwk(keys.signing),
    sealingKey: publicJwk(keys.sealing),
    version,
    trust: facts.trust,
  };
  const proof = await signDocument('railhead-ramdisk-join', message, keys.signing);
  const posted = await client.post('/v1/join', { ...message, proof }, { signal });
  const answer = validateMessage(RamdiskJoinAnswer, posted, 'DRIVER_ERROR');
  await learnKeys(trust, answer.trust, parts.say);
  const { signingKeys } = trust;
  await checkEntry(answer, { signingKeys, siteId: client.site, mac, now: Date.now() });
  return answer;
}
