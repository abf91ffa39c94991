import { afterEach, expect, test } from 'vitest';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import type { CentralContext } from '#central/context.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { signedRevocations } from '#central/join/revocationList.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import type { RevocationList } from '#contract/trust.ts';
import { agentClient, readWellKnown } from '../fakeSite.ts';
import { deploy, follow, workflow } from '../line.ts';
import { instead, type Stage, setStage } from '../stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const reason = { why: 'stolen', by: 'host' };

/** What sites are told of the revoked. */
async function listed(): Promise<RevocationList> {
  const jws = await onHost(stage.line.directory, (host) => signedRevocations(host as CentralContext));
  const { joinSigningKey } = await readWellKnown(stage.line.agentsUrl);
  return (await verifyDocument(
    'railhead-revocations',
    jws,
    publicKeyFromJwk(joinSigningKey),
  )) as RevocationList;
}

test('a revoked node loses its ramdisk: its key is listed, and what it says is not believed any more', async () => {
  stage = await setStage(
    instead('deploy.image', async ({ nodeId }) => {
      await onHost(stage.line.directory, ({ store }) => revokeNamed(store, nodeId, reason));
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  // A whole deploy comes before it, up to the write: on a busy host that takes seconds.
  await expect
    .poll(async () => (await listed()).revoked.map(({ kind }) => kind), { timeout: 15_000 })
    .toEqual(['machine-key']);
  await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).not.toMatchObject({ state: 'succeeded' });
});

test('a ramdisk that is silent for the moment is revoked all the same, once', async () => {
  stage = await setStage(
    instead('deploy.image', async ({ nodeId }, site) => {
      const at = new Date().toISOString();
      const lost = { eventId: 'ev_lost', type: 'agent.lost', role: 'ramdisk', at, nodeId } as const;
      await site.report({ events: [lost] });
    }),
  );
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  const revoke = () => onHost(stage.line.directory, ({ store }) => revokeNamed(store, 'node-1', reason));
  expect(await revoke()).toMatchObject({ machineKeys: 1 });
  expect((await listed()).revoked.map(({ kind }) => kind)).toEqual(['machine-key']);
  await expect(revoke()).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an OS that announces itself again by the same token has joined once', async () => {
  stage = await setStage();
  const nodeId = 'node-1';
  const { token } = await onHost(stage.line.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 }),
  );
  const { servingCa } = await readWellKnown(stage.line.agentsUrl);
  const os = agentClient(stage.line.agentsUrl, servingCa);
  for (let each = 0; each < 3; each++)
    expect((await os.post('/v1/rejoin', { token, nodeId })).status).toBe(200);
  await os.close();
  const joins = await onHost(stage.line.directory, ({ store }) =>
    store.selectFrom('node_joins').select('role').where('node_id', '=', nodeId).execute(),
  );
  expect(joins).toEqual([{ role: 'node' }]);
});

test('whoever never joined cannot be revoked', async () => {
  stage = await setStage();
  const revoke = onHost(stage.line.directory, ({ store }) => revokeNamed(store, 'nobody', reason));
  await expect(revoke).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
