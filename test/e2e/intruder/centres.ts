import { parseGrant } from '#central/api/grants.ts';
import { createToken, revokeToken } from '#central/api/tokens.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { issueFor, requestedKey } from '#central/join/authority.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { centralPins } from '#central/join/pins.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import { createSite } from '#central/sites.ts';
import type { Pins } from '#contract/join.ts';
import { type Credentials, joinAs, newRequest } from '../../central/fakeSite.ts';
import type { AgentLoot } from './agents.ts';
import type { ApiTokens } from './api.ts';
import { send } from './attempt.ts';
import { type Running, start } from './processes.ts';

/** Where a centre's books are, and where it listens. */
export interface Centre {
  directory: string;
  apiUrl: string;
  agentsUrl: string;
}

/** Starts a centre as a process of its own. */
export async function startCentre(directory: string): Promise<Centre & Running> {
  await makeCentre(directory);
  const listeners = ['--api-listen', '127.0.0.1:0', '--agents-listen', '127.0.0.1:0'];
  const args = ['central', 'run', '--directory', directory, ...listeners];
  const running = await start('cli/railhead.ts', args, '"the centre runs"');
  const { api, agents } = running.ready as { api: string; agents: string };
  return { ...running, directory, apiUrl: api, agentsUrl: agents };
}

export function pinsOf({ directory }: Centre): Promise<Pins> {
  return onHost(directory, async ({ keys }) => centralPins(keys));
}

/** An operator's token of a centre. */
export function mint({ directory }: Centre, grant: string, validMs = 600_000) {
  return onHost(directory, ({ store }) =>
    createToken(store, { name: 'e2e', grants: [parseGrant(grant)], validMs }),
  );
}

const everything = 'compute:*@compute-fleet:*';

/** Tokens that are not good at `centre`, or not for what is tried. */
export async function lootTokens(centre: Centre, foreign: Centre): Promise<ApiTokens> {
  const revoked = await mint(centre, everything);
  await onHost(centre.directory, ({ store }) => revokeToken(store, revoked.tokenId));
  return {
    expired: (await mint(centre, everything, -1)).token,
    revoked: revoked.token,
    stolen: (await mint(centre, 'compute:nothing:read@compute-tenant:root')).token,
    foreign: (await mint(foreign, everything)).token,
  };
}

/** What an intruder who wants to be `siteId` may have got: a used join token of it, and others' credentials. */
export async function lootAgents(
  centre: Centre,
  foreign: Centre,
  site: { siteId: string; usedToken: string },
): Promise<AgentLoot> {
  const { siteId, usedToken } = site;
  const other = await newSite(centre, 'other');
  await enroll(centre, siteId);
  const [revoked, strangers] = [await joinedSite(centre, 'revoked'), await joinedSite(foreign, 'foreign')];
  await onHost(centre.directory, ({ store }) =>
    revokeNamed(store, revoked.siteId, { why: 'stolen', by: 'e2e' }),
  );
  return {
    wellKnown: revoked.wellKnown,
    siteId,
    nodeId: 'node-1',
    joinTokens: {
      used: usedToken,
      expired: await joinToken(centre, 'site', siteId, -1),
      otherSite: other.token,
      foreign: (await newSite(foreign, 'foreign-too')).token,
    },
    revoked,
    expired: await expiredCredentials(centre, siteId),
    node: await joinAs(
      centre.agentsUrl,
      'node',
      'node-1',
      await joinToken(centre, 'node', 'node-1', 600_000),
    ),
    foreign: strangers,
  };
}

/** A site in the books of a centre, and its join token. */
export async function newSite(
  { directory }: Centre,
  name: string,
): Promise<{ siteId: string; token: string }> {
  const { site_id: siteId } = await onHost(directory, ({ store }) => createSite(store, name));
  return { siteId, token: await joinToken({ directory }, 'site', siteId, 600_000) };
}

async function joinedSite(centre: Centre, name: string) {
  const { siteId, token } = await newSite(centre, name);
  return { siteId, ...(await joinAs(centre.agentsUrl, 'site', siteId, token)) };
}

function joinToken(
  { directory }: Pick<Centre, 'directory'>,
  role: 'site' | 'node',
  nodeId: string,
  validMs: number,
): Promise<string> {
  return onHost(
    directory,
    async ({ store }) => (await createJoinToken(store, { role, nodeId, validMs })).token,
  );
}

async function enroll(centre: Centre, siteId: string): Promise<void> {
  const { token: bearer } = await mint(centre, everything);
  const body = { tenantId: 'root', siteId, nodeId: 'node-1', macs: ['02:00:00:00:00:01'] };
  const { status, text } = await send('POST /api/compute/metal/enroll', centre.apiUrl, { bearer, body });
  if (status !== 200) throw new Error(`enrolling answered ${status}: ${text}`);
}

/** A certificate that the centre's own CA has issued, and whose time is over. */
async function expiredCredentials({ directory }: Centre, siteId: string): Promise<Credentials> {
  const { key, csr } = await newRequest();
  const uri = `urn:railhead:site:${siteId}`;
  const certified = await requestedKey(csr);
  if (certified === undefined) throw new Error('the request is not usable');
  const issued = await onHost(directory, ({ keys }) =>
    issueFor(keys.authority, certified, { uri, validMs: -60_000 }),
  );
  return { key, certificate: issued.certificate };
}
