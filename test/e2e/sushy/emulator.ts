import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '#base/command.ts';
import type { bmcCertificate } from '#rack/bmc/certificate.ts';
import { freePort } from '../../fakes/freePorts.ts';
import type { ForeignRedfish } from './python.ts';

export interface Emulator {
  address: string;
  close(): Promise<void>;
}

export interface EmulatorOptions {
  foreign: ForeignRedfish;
  /** Logs, keys and the emulator's own files. */
  directory: string;
  user: { username: string; password: string };
  tls: Awaited<ReturnType<typeof bmcCertificate>>;
}

export const system = '00000000-0000-4000-8000-000000000001';

/** sushy-tools with its fake driver: one machine, TLS, Basic authentication by a bcrypt file. */
export async function startEmulator({ foreign, directory, user, tls }: EmulatorOptions): Promise<Emulator> {
  const file = (name: string) => path.join(directory, name);
  const hash =
    'import bcrypt, sys; print(bcrypt.hashpw(sys.stdin.read().encode(), bcrypt.gensalt(4)).decode())';
  const hashed = await run(foreign.python, ['-c', hash], { input: user.password });
  await writeFile(file('htpasswd'), `${user.username}:${hashed.trim()}\n`);
  await writeFile(file('bmc.key'), tls.keyPem);
  await writeFile(file('bmc.crt'), tls.certificatePem);
  const machine = `{'uuid': '${system}', 'name': 'fake1', 'power_state': 'Off', 'external_notifier': False, 'nics': [{'mac': '52:54:00:00:00:01', 'ip': '192.0.2.1'}]}`;
  await writeFile(
    file('emulator.conf'),
    `SUSHY_EMULATOR_AUTH_FILE = '${file('htpasswd')}'\nSUSHY_EMULATOR_FAKE_SYSTEMS = [${machine}]\n`,
  );
  const port = await freePort();
  const where = ['--fake', '-i', '127.0.0.1', '-p', `${port}`, '--config', file('emulator.conf')];
  const log = openSync(file('emulator.log'), 'a');
  // It keeps its machines in the folder for temporary files, where those of an earlier run may be.
  // By the interpreter: the first line of the script names the folder where it was installed, which may have moved.
  const child = spawn(
    foreign.python,
    [foreign.emulator, ...where, '--ssl-certificate', file('bmc.crt'), '--ssl-key', file('bmc.key')],
    {
      stdio: ['ignore', log, log],
      env: { ...process.env, TMPDIR: directory },
    },
  );
  const exited = once(child, 'exit');
  await listens(port, child);
  return {
    address: `https://127.0.0.1:${port}`,
    close: async () => {
      child.kill();
      await exited;
    },
  };
}

async function listens(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      (error: Error & { cause?: { code?: string } }) => error.cause?.code !== 'ECONNREFUSED',
    );
    if (answered) return;
    if (child.exitCode !== null) throw new Error('sushy-emulator ended; its log says why');
    await delay(100);
  }
  throw new Error('sushy-emulator does not listen');
}
