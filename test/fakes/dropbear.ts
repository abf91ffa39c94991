import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';
import type { CliOptions } from './bmcCli.ts';
import { user } from './fakeBmc.ts';

// Here, since a new machine downloads it first: that is no test's time.
const toolbox = await openToolbox(['dropbear-bin'], { cacheDirectory: '.cache/debian' });

/** `user`'s password by crypt(5), SHA-512. */
const hash =
  '$6$railhead$oMOU4cxode/eoj0zFlxfGd4daWVUU5wkNFMTCxdxT2/2v31D22Reer5SqSmPVuOD.3V0oeccimaGIVM.mOqDs/';

export interface Dropbear {
  port: number;
  stop(): Promise<void>;
}

/**
 * Dropbear, the SSH server of OpenBMC and others, whose command is the command line of a BMC. Its users are those of a mount namespace of its own: it
 * needs root, and changes nothing of this host.
 */
export async function startDropbear(cli: CliOptions): Promise<Dropbear> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-dropbear-'));
  const file = (name: string) => path.join(directory, name);
  const command = [process.execPath, path.join(import.meta.dirname, 'bmcCliMain.ts'), JSON.stringify(cli)];
  await writeFile(file('cli'), `#!/bin/sh\nexec ${command.map(quoted).join(' ')}\n`);
  await chmod(file('cli'), 0o755);
  await writeFile(file('passwd'), `${user.username}:x:0:0::/:/bin/sh\n`);
  await writeFile(file('shadow'), `${user.username}:${hash}:20000:0:99999:7:::\n`);
  await toolbox.run('usr/bin/dropbearkey', ['-t', 'ed25519', '-f', file('key')]);
  // One process a connection: as a server of its own it starts itself anew by /proc/self/exe, which is the loader here.
  const [program, args] = toolbox.command('usr/sbin/dropbear', [
    '-i',
    '-E',
    '-r',
    file('key'),
    '-c',
    file('cli'),
  ]);
  const users = ['passwd', 'shadow'].map((name) => `mount --bind ${file(name)} /etc/${name} && `).join('');
  const start = ['-m', 'sh', '-c', `${users}exec "$@"`, 'sh', program, ...args];
  const running = new Set<ChildProcess>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn('unshare', start, { stdio: [socket, socket, 'ignore'] });
    socket.destroy();
    running.add(child);
    child.once('exit', () => running.delete(child));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.close();
      await Promise.all([...running].map((child) => ended(child)));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
