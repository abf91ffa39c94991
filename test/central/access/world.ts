import { parseGrant, type Scope } from '#central/api/grants.ts';
import { createToken, revokeToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import {
  type Call,
  mustRegister,
  newSigner,
  newSite,
  osImage,
  startTestCentre,
  type TestCentre,
} from '../centre.ts';
import { secretRef } from './examples.ts';

/** A centre where the tenant `acme` owns one thing of each kind. */
export interface World {
  centre: TestCentre;
  siteId: string;
  imageId: string;
  poolId: string;
  nodeId: string;
  workflowId: string;
  tokenId: string;
  profile: object;
}

export async function makeWorld(): Promise<World> {
  const centre = await startTestCentre();
  const { call, directory } = centre;
  const { siteId } = await newSite(directory, 'shared');
  const signer = await newSigner(directory);
  const { imageId } = await mustRegister(
    call,
    signer.signed(osImage({ tenantId: 'acme', ref: 'acme-os@1' })),
  );
  const tenantId = 'acme';
  await must(call, 'tenants.create', { tenantId: 'other' });
  const { poolId } = await must<{ poolId: string }>(call, 'pools.create', { tenantId, siteId });
  const profile = {
    id: 'acme-power',
    version: 1,
    target: 'metal',
    image: { ref: 'acme-os@1' },
    steps: [{ use: 'power.setPower', with: { action: 'on' } }],
  };
  await must(call, 'profiles.create', { tenantId, document: profile });
  await must(call, 'secrets.set', { tenantId, ref: secretRef, text: 'root:secret' });
  const nodeId = 'node-acme';
  await must(call, 'metal.enroll', { tenantId, siteId, poolId, nodeId, macs: ['52:54:00:00:0a:01'] });
  const { workflowId } = await must<{ workflowId: string }>(call, 'metal.power', {
    tenantId,
    nodeId,
    action: 'on',
  });
  const grants = [parseGrant('compute:images:read@compute-tenant:acme')];
  const { tokenId } = await must<{ tokenId: string }>(call, 'tokens.create', {
    tenantId,
    name: 'acme',
    grants,
  });
  return { centre, siteId, imageId, poolId, nodeId, workflowId, tokenId, profile };
}

async function must<Data>(call: Call, method: string, input: object): Promise<Data> {
  const { data, error } = await call<Data>(method, input);
  if (error !== undefined) throw new Error(`${method}: ${error.code}: ${error.message}`);
  return data;
}

/** One thing of each kind that can be granted by itself. */
export function grantable({ imageId, nodeId, workflowId }: World): Record<Scope['kind'], string> {
  return {
    'compute-fleet': 'fleet',
    'compute-tenant': 'acme',
    'compute-image': imageId,
    'compute-node': nodeId,
    'compute-workflow': workflowId,
  };
}

/** Whatever tells that something of acme's was seen. */
export function ofAcme({ imageId, poolId, nodeId, workflowId, tokenId }: World): RegExp {
  return new RegExp(
    [imageId, poolId, nodeId, workflowId, tokenId, 'acme-os', 'acme-power', secretRef].join('|'),
  );
}

/** Tokens by the grants that they have, as text; minted at once, since each opening of the books takes its time. */
export function mintAll(
  { centre }: World,
  wanted: Readonly<Record<string, readonly string[]>>,
): Promise<Record<string, string>> {
  return onHost(centre.directory, async ({ store }) => {
    const minted: Record<string, string> = {};
    for (const [name, grants] of Object.entries(wanted)) {
      const validMs = name === 'expired' ? -1 : 600_000;
      const { tokenId, token } = await createToken(store, { name, grants: grants.map(parseGrant), validMs });
      if (name === 'revoked') await revokeToken(store, tokenId);
      minted[name] = token;
    }
    return minted;
  });
}
