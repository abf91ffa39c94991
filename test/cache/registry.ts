import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { foreignProgram } from '../bootserver/foreign.ts';
import { issueServerIdentity, type TestCa } from '../fakes/certificates.ts';
import { freePort } from '../fakes/freePorts.ts';

export interface Registry {
  /** `127.0.0.1:<port>` */
  host: string;
  /** Uploads a blob and returns its digest (`sha256:…`). */
  pushBlob(repository: string, bytes: Buffer): Promise<string>;
  /** Uploads a manifest under a tag or, without one, under its digest, which is returned. */
  pushManifest(repository: string, manifest: object, tag?: string): Promise<string>;
  close(): Promise<void>;
}

export interface RegistryOptions {
  /** Sections of its configuration; given the folder for files that they name. */
  config?: (directory: string) => Promise<object>;
  /** What pushing is let in by, for a repository. */
  authorization?: (repository: string) => string;
}

/** Debian's docker-registry over TLS on loopback, its files in a temporary folder. */
export async function startRegistry(ca: TestCa, options: RegistryOptions = {}): Promise<Registry> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-registry-'));
  const { key, cert } = await issueServerIdentity(ca);
  const file = async (name: string, text: string) => {
    await writeFile(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const host = `127.0.0.1:${await freePort()}`;
  const config = {
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: path.join(directory, 'data') } },
    http: {
      addr: host,
      tls: { certificate: await file('cert.pem', cert), key: await file('key.pem', key) },
    },
    ...(await options.config?.(directory)),
  };
  const program = await foreignProgram('docker-registry', 'docker-registry');
  // JSON is YAML.
  const server = spawn(program, ['serve', await file('config.yml', JSON.stringify(config))], {
    stdio: 'ignore',
  });
  const dispatcher = new Agent({ connect: { ca: ca.pem } });
  await untilListening(server, host);
  const url = (rest: string) => `https://${host}/v2/${rest}`;
  const letIn = (repository: string): Record<string, string> =>
    options.authorization === undefined ? {} : { authorization: options.authorization(repository) };
  const put = async (repository: string, target: string, body: Buffer, type: string) => {
    const answer = await request(target, {
      method: 'PUT',
      dispatcher,
      body,
      headers: { 'content-type': type, ...letIn(repository) },
    });
    await answer.body.dump();
    if (answer.statusCode !== 201) throw new Error(`the registry answered ${answer.statusCode} to ${target}`);
  };
  return {
    host,
    pushBlob: async (repository, bytes) => {
      const begun = await request(url(`${repository}/blobs/uploads/`), {
        method: 'POST',
        dispatcher,
        headers: letIn(repository),
      });
      await begun.body.dump();
      const upload = new URL(String(begun.headers.location), `https://${host}`);
      upload.searchParams.set('digest', digestOf(bytes));
      await put(repository, upload.href, bytes, 'application/octet-stream');
      return digestOf(bytes);
    },
    pushManifest: async (repository, manifest, tag) => {
      const bytes = Buffer.from(JSON.stringify(manifest));
      const { mediaType } = manifest as { mediaType: string };
      const target = url(`${repository}/manifests/${tag ?? digestOf(bytes)}`);
      await put(repository, target, bytes, mediaType);
      return digestOf(bytes);
    },
    close: async () => {
      await dispatcher.close();
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      await rm(directory, { recursive: true });
    },
  };
}

export const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The registry says nothing when it is ready: it is asked until it answers. */
async function untilListening(server: ChildProcess, host: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`docker-registry ended with ${server.exitCode}`);
    const answered = await fetch(`http://${host}/`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('docker-registry does not answer');
}
