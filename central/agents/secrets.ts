import { sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import { type SecretAnswer, type SecretRequest, type SecretVersion, secretTyp } from '#contract/secrets.ts';
import type { CentralContext } from '../context.ts';
import { agentSealingKey } from '../join/agents.ts';
import { bmcSecretsOf, openSecret, siteSecrets } from '../secrets.ts';
import { now } from '../store/store.ts';
import { identityUri } from './identity.ts';

/**
 * Answers a site's `SecretRequest`: those of the secrets asked for that its own machines need, sealed to the key that the site
 * joined with last.
 * @throws RailheadError INVALID_STATE (`sealing-key`) for a site that joined without a usable one
 */
export async function answerSecrets(
  context: CentralContext,
  siteId: string,
  { secretIds }: SecretRequest,
): Promise<SecretAnswer> {
  const due = (await secretsOfSite(context, siteId)).filter(({ secretId }) => secretIds.includes(secretId));
  const sealed = await Promise.all(due.map((secret) => sealFor(context, siteId, secret)));
  for (const secret of due) await noteDelivery(context, siteId, secret);
  context.log.info({ siteId, secrets: due }, 'secrets handed to a site');
  return { protocol: protocolVersion, secrets: sealed };
}

async function secretsOfSite({ store }: CentralContext, siteId: string): Promise<SecretVersion[]> {
  const nodes = await store
    .selectFrom('nodes')
    .select(['tenant_id', 'bmc', 'next_secret_id'])
    .where('site_id', '=', siteId)
    .execute();
  const known = await siteSecrets(store, siteId);
  const found = nodes.flatMap((node) => Object.values(bmcSecretsOf(node, known)));
  return [...new Map(found.map((secret) => [secret.secretId, secret])).values()];
}

async function sealFor(context: CentralContext, siteId: string, secret: SecretVersion) {
  const content = { ...secret, text: await openSecret(context, secret.secretId) };
  const key = publicKeyFromJwk(await agentSealingKey(context.store, { role: 'site', id: siteId }));
  return { ...secret, sealed: await sealText(secretTyp, JSON.stringify(content), key) };
}

async function noteDelivery(
  { store }: CentralContext,
  siteId: string,
  { secretId, version }: SecretVersion,
): Promise<void> {
  const agent = identityUri({ role: 'site', id: siteId });
  const what = { version, at: now() };
  await store
    .insertInto('secret_deliveries')
    .values({ secret_id: secretId, agent, ...what })
    .onConflict((conflict) => conflict.columns(['secret_id', 'agent']).doUpdateSet(what))
    .execute();
}
