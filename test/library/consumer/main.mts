import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createToken, metal, openCompute, RailheadError } from 'railhead';
import { addImageSigner, bcdJoinArgv, provisionModule } from 'railhead/provision';
import { run } from './register-image.ts';
import { ubuntuGpuHost } from './ubuntu-gpu-host.ts';

/** A consumer of the installed package, with nothing of its own but this. */
const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-consumer-centre-'));
const address = { host: '127.0.0.1', port: 0 };
const compute = await openCompute({
  directory,
  api: address,
  agents: address,
  names: ['127.0.0.1'],
  modules: [provisionModule({ profiles: [ubuntuGpuHost] }), metal()],
});
try {
  const grants = ['compute:*@compute-fleet:*'];
  const { token } = await createToken({ directory }, { name: 'consumer', grants, validMs: 60_000 });
  const { publicKey, privateKey: signingKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await addImageSigner({ directory }, { tenantId: 'root', signerId: 'platform-2026', publicKey: pem });
  await run({ compute, credential: token, signingKey });
  const { items } = await compute.api.images.list(token, { tenantId: 'root' });
  const profile = await compute.api.profiles.get(token, { tenantId: 'acme', profileId: ubuntuGpuHost.id });
  const document = { id: 'broken', version: 0, target: 'metal' };
  const refused = await compute.api.profiles
    .create(token, { tenantId: 'root', document })
    .catch((error) => error);
  const found = {
    profile: `${profile.profileId}@${profile.profileVersion} of ${profile.tenantId}`,
    image: `${items[0]?.ref} ${items[0]?.verified ? 'verified' : 'not verified'}`,
    refusal: refused instanceof RailheadError ? `${refused.code} ${refused.details.path}` : 'none',
    argv: bcdJoinArgv({ controlPlaneUrl: 'https://cp.example.com', nodeId: 'node_1' }).join(' '),
  };
  process.stdout.write(`${JSON.stringify(found)}\n`);
} finally {
  await compute.close();
  await rm(directory, { recursive: true });
}
