import { revokeToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import { joinAs } from '../../central/fakeSite.ts';
import type { Attempt } from './attempt.ts';
import { type Centre, mint, newSite } from './centres.ts';
import { holdRequest, type Shown } from './heldRequest.ts';

const everything = 'compute:*@compute-fleet:*';
const heir = {
  name: 'heir',
  grants: [{ action: 'compute:*', scopeKind: 'compute-fleet', scopeId: '*' }],
  validFor: '1m',
};
const report = { protocol: 1, observedGeneration: 0, results: [], progress: [], events: [] };

/** Credentials that are good when a call begins and revoked when its body is there. */
export function attemptsMeanwhile(centre: Centre): Attempt[] {
  return [
    byToken(centre, 'tokens/create', heir),
    byToken(centre, 'secrets/set', { tenantId: 'root', ref: 'secret://x/y', text: 'a:b' }),
    byToken(centre, 'sites/list', {}),
    byCertificate(centre, '/v1/agent/report', report),
    byCertificate(centre, '/v1/agent/secrets', { protocol: 1, secretIds: ['sec_none'] }),
  ];
}

function byToken(centre: Centre, method: string, body: object): Attempt {
  const path = `/api/compute/${method}`;
  return stale(path, 'a token that is revoked meanwhile', async () => {
    const { token: bearer, tokenId } = await mint(centre, everything);
    const revoke = () => onHost(centre.directory, ({ store }) => revokeToken(store, tokenId));
    return held(centre.apiUrl, path, body, { bearer }, revoke);
  });
}

function byCertificate(centre: Centre, path: string, body: object): Attempt {
  return stale(path, 'a certificate that is revoked meanwhile', async () => {
    const { siteId, token } = await newSite(centre, `meanwhile-${path.split('/').at(-1)}`);
    const { key, certificate, wellKnown } = await joinAs(centre.agentsUrl, 'site', siteId, token);
    const shown = { key, certificate, ca: wellKnown.servingCa };
    const revoke = () =>
      onHost(centre.directory, ({ store }) => revokeNamed(store, siteId, { why: 'stolen', by: 'e2e' }));
    return held(centre.agentsUrl, path, body, shown, revoke);
  });
}

function stale(path: string, how: string, send: Attempt['send']): Attempt {
  return { route: `POST ${path}`, credential: 'stale', how, send };
}

async function held(url: string, path: string, body: object, shown: Shown, revoke: () => Promise<unknown>) {
  const request = await holdRequest(url, path, body, shown);
  await revoke();
  return request.finish();
}
