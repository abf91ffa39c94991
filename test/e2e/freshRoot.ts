import { spawn } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';

/** Certificates of a host behind a proxy that signs for itself; the newcomer's machine would have them too. */
const hostCertificates = '/etc/ssl/certs/ca-certificates.crt';

/** A writable copy of `base` under `work` that sees the project's repository at /source. Mounts nothing. */
export async function prepareRoot(base: string, work: string, project: string): Promise<string> {
  const root = path.join(work, 'root');
  await run('cp', ['-a', base, root]);
  await mkdir(path.join(root, 'source'));
  await run('git', ['clone', '-q', '--bare', project, path.join(root, 'source')]);
  await copyFile('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'));
  await copyFile(hostCertificates, path.join(root, 'root/host-certificates.crt'));
  return root;
}

/**
 * Runs a shell command as root inside `root` with an empty environment, in mount and process namespaces of its own: when
 * it ends, or this process does, no mount and no process of it is left. Resolves with its exit status.
 */
export function runInRoot(root: string, command: string, signal: AbortSignal): Promise<number> {
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root, command],
    {
      stdio: ['ignore', process.stderr.fd, process.stderr.fd],
      signal,
    },
  );
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => resolve(status ?? 1));
  });
}

const enter = `
set -e
mount --make-rprivate /
mount --rbind /dev "$1/dev"
mount --rbind /sys "$1/sys"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/run"
mount -t tmpfs tmpfs "$1/tmp"
exec chroot "$1" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  NODE_EXTRA_CA_CERTS=/root/host-certificates.crt sh -c "$2"
`;
