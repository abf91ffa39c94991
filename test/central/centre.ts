import { generateKeyPairSync, sign } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { parseGrant } from '#central/api/grants.ts';
import { createToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { addImageSigner } from '#central/images/signers.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { createSite } from '#central/sites.ts';
import { type Central, type CentralOptions, startCentral } from '#central/start.ts';
import { createTenant } from '#central/tenants.ts';
import { hasCode, type WireError } from '#contract/errors.ts';
import { type Image, imageSigningInput, type RegisterImage } from '#contract/images.ts';
import { checkAnswer } from './checkAnswer.ts';
import { centreDirectory } from './directory.ts';
import { testTimes } from './times.ts';

export type Answer<Data> = { status: number; data: Data; error: WireError };

/** An API client for one token. */
export type Call = <Data = Record<string, unknown>>(method: string, input?: unknown) => Promise<Answer<Data>>;

export function apiClient(apiUrl: string, token: string | undefined): Call {
  return async (method, input) => {
    const answer = await fetch(`${apiUrl}/api/compute/${method.replace('.', '/')}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(input ?? {}),
    });
    const body = (await answer.json()) as object;
    checkAnswer(method, answer.status, body);
    return { status: answer.status, ...body } as never;
  };
}

export interface TestCentre {
  central: Central;
  directory: string;
  /** Calls with a token that may do everything, and makes the tenants that it names. */
  call: Call;
  tokenFor(...grants: string[]): Promise<Call>;
  close(): Promise<void>;
}

export async function startTestCentre(options: Partial<CentralOptions> = {}): Promise<TestCentre> {
  const directory = await centreDirectory();
  const central = await startCentral({
    directory,
    api: { host: '127.0.0.1', port: 0 },
    agents: { host: '127.0.0.1', port: 0 },
    names: ['127.0.0.1'],
    times: testTimes,
    ...options,
  });
  const tokenFor = async (...grants: string[]) =>
    apiClient(central.apiUrl, await mintToken(directory, grants));
  return {
    central,
    directory,
    call: makingTenants(await tokenFor('compute:*@compute-fleet:*')),
    tokenFor,
    close: async () => {
      await central.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** Makes a tenant when a change names one that there is not, so that tests name tenants as they like. */
function makingTenants(call: Call): Call {
  return async (method, input) => {
    const answer = await call(method, input);
    const { path, tenantId } = answer.error?.details ?? {};
    if (answer.status !== 404 || path !== 'tenantId') return answer as never;
    await call('tenants.create', { tenantId });
    return call(method, input);
  };
}

export function mintToken(directory: string, grants: readonly string[], validMs = 600_000): Promise<string> {
  return onHost(directory, async ({ store }) => {
    const { token } = await createToken(store, { name: 'test', grants: grants.map(parseGrant), validMs });
    return token;
  });
}

export function newSite(directory: string, name: string): Promise<{ siteId: string; joinToken: string }> {
  return onHost(directory, async ({ store }) => {
    const { site_id: siteId } = await createSite(store, name);
    const { token: joinToken } = await createJoinToken(store, {
      role: 'site',
      nodeId: siteId,
      validMs: 60_000,
    });
    return { siteId, joinToken };
  });
}

function ignoreConflict(error: unknown): void {
  if (!hasCode(error, 'CONFLICT')) throw error;
}

/** A signer on an allowlist, and how it signs. */
export interface TestSigner {
  signerId: string;
  publicKey: string;
  signed(image: RegisterImage): RegisterImage;
}

export async function newSigner(
  directory: string,
  tenantId = 'root',
  signerId = 'platform-2026',
): Promise<TestSigner> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  await onHost(directory, async ({ store }) => {
    await createTenant(store, { tenantId, name: tenantId }).catch(ignoreConflict);
    await addImageSigner(store, { tenantId, signerId, publicKey: pem });
  });
  const signed = (image: RegisterImage) => {
    const signature = sign(null, imageSigningInput(image), privateKey).toString('base64');
    return { ...image, signerId, signature };
  };
  return { signerId, publicKey: pem, signed };
}

export function osImage(overrides: Partial<RegisterImage> = {}): RegisterImage {
  return {
    tenantId: 'root',
    ref: 'demo-os@1',
    kind: 'os',
    format: 'raw',
    compression: 'zstd',
    sha256: 'a'.repeat(64),
    source: 'https://images.example.com/demo-os.raw.zst',
    ...overrides,
  };
}

export async function mustRegister(call: Call, image: RegisterImage): Promise<Image> {
  const { data, error } = await call<Image>('images.register', image);
  if (error !== undefined) throw new Error(error.message);
  return data;
}
