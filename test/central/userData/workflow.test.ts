import { afterEach, expect, test } from 'vitest';
import { openSealer } from '#base/sealing.ts';
import { onHost } from '#central/host.ts';
import { deploy, enroll, follow, workflow } from '../line.ts';
import { sampleProfile } from '../sampleProfile.ts';
import { type Stage, setStage } from '../stage.ts';
import { sampleVariables } from './samples.ts';

let stage: Stage;
afterEach(() => stage.close());

const steps = [{ use: 'userdata.render' }, { use: 'power.getPower', on: 'site' }];
const { bcdUrl, bcdSha256 } = sampleVariables;

/** A profile that renders and then asks the site something, so that what was rendered can be looked at meanwhile. */
function rendering(userData: object, renders = 1) {
  const times = Array.from({ length: renders }, () => ({ use: 'userdata.render' }));
  return { ...sampleProfile, image: undefined, userData, steps: [...times, ...steps.slice(1)], cleanup: [] };
}

interface Rendered {
  userDataRef: string;
  kind: string;
  joinTokenId: string;
}

interface Seen {
  results: Rendered[];
  documents: string[];
  tokens: { token_id: string; node_id: string; role: string; workflow_id: string | null; validMs: number }[];
  /** Every table but the secrets, as text. */
  books: string;
}

/** Runs the profile, and looks into the books between rendering and the end. */
async function runRendering(profile: object, options: Parameters<typeof setStage>[2] = {}): Promise<Seen> {
  let seen: Seen | undefined;
  stage = await setStage(
    async (operation) => {
      if (operation.action === 'power.getPower') seen = await lookIntoBooks();
      return false;
    },
    JSON.parse(JSON.stringify({ ...profile, image: sampleProfile.image })),
    options,
  );
  await enroll(stage.line, 'node_a_2', '52:54:00:00:00:02');
  const workflowId = await deploy(stage.line, 'node_a_2');
  await follow(stage.line.call, workflowId);
  const { error } = await workflow(stage.line.call, workflowId);
  if (error !== undefined) throw error;
  return seen as Seen;
}

function lookIntoBooks(): Promise<Seen> {
  return onHost(stage.line.directory, async ({ store, keys }) => {
    const sealer = openSealer(keys.atRest);
    const secrets = await store.selectFrom('secrets').selectAll().orderBy('ref').execute();
    const tokens = await store.selectFrom('join_tokens').selectAll().where('role', '=', 'node').execute();
    const rows = await store.selectFrom('workflow_steps').selectAll().orderBy('position').execute();
    const events = await store.selectFrom('events').selectAll().execute();
    return {
      results: rows.flatMap((row) =>
        row.step.includes('userdata.render') ? [JSON.parse(row.result ?? '{}')] : [],
      ),
      documents: secrets
        .filter(({ ref }) => ref.startsWith('secret://user-data/'))
        .map(({ sealed }) => sealer.open(sealed)),
      tokens: tokens.map((row) => ({
        ...row,
        validMs: Date.parse(row.expires_at) - Date.parse(row.created_at),
      })),
      books: JSON.stringify([
        rows,
        events,
        tokens,
        await store.selectFrom('operations').selectAll().execute(),
      ]),
    };
  });
}

const cloudInit = { kind: 'cloud-init', template: 'bcd-host.yaml.hbs' };

test('rendering returns only userDataRef, kind and joinTokenId, and keeps the document in the secret store', async () => {
  const { results, documents, tokens, books } = await runRendering(rendering(cloudInit), {
    userData: { bcdUrl, bcdSha256 },
  });
  expect(results).toEqual([
    {
      userDataRef: expect.stringMatching(/^secret:\/\/user-data\/wf_/),
      kind: 'cloud-init',
      joinTokenId: tokens[0]?.token_id,
    },
  ]);
  const [token] = /rhj_[A-Za-z0-9_-]+/.exec(documents[0] ?? '') ?? [];
  expect(token).toBeDefined();
  expect(books).not.toContain(token);
});

test("the token is single-use, for the workflow's node, and valid for two hours", async () => {
  const { tokens, documents } = await runRendering(rendering(cloudInit), { userData: { bcdUrl, bcdSha256 } });
  expect(tokens).toMatchObject([
    { node_id: 'node_a_2', role: 'node', workflow_id: expect.stringMatching(/^wf_/), used_at: null },
  ]);
  expect(tokens[0]?.validMs).toBeCloseTo(7_200_000, -2);
  expect(documents[0]).toContain('\nhostname: node-a-2\n');
  expect(documents[0]).toContain('--node-id, node_a_2,');
});

test('tokenTtlSeconds sets how long the token is valid', async () => {
  const { tokens } = await runRendering(rendering(cloudInit), {
    userData: { bcdUrl, bcdSha256, tokenTtlSeconds: 90 },
  });
  expect(tokens[0]?.validMs).toBeCloseTo(90_000, -2);
});

test('rendering again mints a new token', async () => {
  const { tokens, documents, results } = await runRendering(rendering(cloudInit, 2), {
    userData: { bcdUrl, bcdSha256 },
  });
  expect(new Set(tokens.map(({ token_id }) => token_id)).size).toBe(2);
  expect(new Set(results.map(({ userDataRef }) => userDataRef)).size).toBe(2);
  expect(documents[0]).not.toBe(documents[1]);
});

test("the pins in the document are the control plane's own", async () => {
  const { documents } = await runRendering(rendering({ kind: 'talos', template: 'mine' }), {
    userData: { templates: { mine: '{{servingCaPin}} {{joinSigningPin}} {{joinEncryptionPin}}' } },
  });
  expect(documents[0]).toMatch(/^(sha256\/[A-Za-z0-9+/]{43}= ?){3}$/);
});

test('an Ignition template that does not render to JSON is INVALID_CONFIG', async () => {
  await expect(
    runRendering(rendering({ kind: 'ignition', template: 'mine' }), {
      userData: { templates: { mine: '{"id": {{nodeId}}}' } },
    }),
  ).rejects.toMatchObject({ code: 'INVALID_CONFIG', details: { path: 'userData.template' } });
});

test.each([
  [{ bcdSha256 }, 'userData.bcdUrl'],
  [{ bcdUrl }, 'userData.bcdSha256'],
])('without the URL or the digest, rendering fails: %j', async (userData, path) => {
  await expect(runRendering(rendering(cloudInit), { userData })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path },
  });
});
