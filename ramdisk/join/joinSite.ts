import { signDocument } from '#base/jws.ts';
import { version } from '#base/version.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { RamdiskJoinAnswer } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import type { Say } from '../console.ts';
import type { SiteClient } from '../site/client.ts';
import { checkEntry } from './entry.ts';
import { type MachineKeys, publicJwk } from './keys.ts';
import type { MachineFacts } from './machine.ts';
import { learnKeys, type Trust } from './trust.ts';

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

/**
 * Joins the site, in one try.
 * @throws RailheadError what the site answered; FORBIDDEN, reason `entry`, when the centre did not let this machine boot as the node that the site names
 */
export async function joinSite({
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
