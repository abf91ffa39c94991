import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { bcdJoinArgv, downloadCommand } from '#central/userData/argv.ts';
import { bcdHostCloudConfig } from '#central/userData/bcdHost.ts';
import { foreignProgram } from '../../bootserver/foreign.ts';

/** The OS has busybox, whose awk is one of its own. */
const busybox = await foreignProgram('busybox-static', 'busybox');
const programs = mkdtempSync(path.join(tmpdir(), 'railhead-busybox-'));
for (const name of ['awk', 'cat', 'chmod', 'cp', 'dirname', 'mkdir', 'mktemp', 'mv', 'rm', 'sh'])
  symlinkSync(busybox, path.join(programs, name));
afterAll(() => rmSync(programs, { recursive: true }));

const script = 'rack/os/files/root/usr/lib/railhead/cloud-config';

/** Has the OS's script take a document apart whose files go below a folder of their own. */
function takeApart(document: string) {
  const root = mkdtempSync(path.join(tmpdir(), 'railhead-cloud-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const file = path.join(root, 'document');
  writeFileSync(file, document.replaceAll('path: /', `path: ${root}/`));
  const text = readFileSync(script, 'utf8').replace('/run/cloud-config', path.join(root, 'work'));
  const env = { PATH: programs };
  execFileSync(path.join(programs, 'sh'), ['-s', file, path.join(root, 'runcmd')], { input: text, env });
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  return { root, read, mode: (name: string) => statSync(path.join(root, name)).mode & 0o777 };
}

const variables = {
  nodeId: 'node_1',
  hostname: 'node-1',
  joinToken: 'rhj_token',
  controlPlaneUrl: 'https://10.79.0.2:8443',
  bcdUrl: 'http://10.79.0.2:8080/bcd/x?a=1&b=%20',
  bcdSha256: 'a'.repeat(64),
  servingCaPin: 'sha256/a+/=',
  joinSigningPin: 'sha256/b+/=',
  joinEncryptionPin: 'sha256/c+/=',
};

test('the files of the shipped user data are written with their permissions', () => {
  const { read, mode } = takeApart(bcdHostCloudConfig(variables));
  expect([read('etc/bcd/join-token').trim(), mode('etc/bcd/join-token')]).toEqual(['rhj_token', 0o600]);
  const unit = read('etc/systemd/system/bcd.service');
  expect(unit.startsWith('[Unit]\n')).toBe(true);
  expect(unit).toContain('\nExecStart=/usr/local/bin/bcd node\nRestart=always\n');
});

test('its commands reach the shell word by word', () => {
  const { read, mode } = takeApart(bcdHostCloudConfig(variables));
  const lines = read('runcmd').trim().split('\n');
  expect(mode('runcmd')).toBe(0o700);
  const words = lines.slice(1).map((line) => {
    const text = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
    return text.split('\0').slice(0, -1);
  });
  expect(words).toEqual([
    ['sh', '-c', expect.stringContaining(`curl -fsSL '${variables.bcdUrl}' -o /usr/local/bin/bcd && echo '`)],
    bcdJoinArgv(variables),
    ['systemctl', 'enable', '--now', 'bcd.service'],
  ]);
});

test('the download command is what the template says, quotes and all', () => {
  const { read } = takeApart(bcdHostCloudConfig(variables));
  const line = read('runcmd').trim().split('\n')[1] ?? '';
  const told = execFileSync('sh', ['-c', `set -- ${line}; printf %s "$3"`], { encoding: 'utf8' });
  expect(told).toBe(downloadCommand(variables));
});

test('plain, quoted and escaped words of a command are told apart', () => {
  const { read } = takeApart('#cloud-config\nruncmd:\n  - [echo, "a, b]", it\'s, "say \\"x\\""]\n');
  const line = read('runcmd').trim().split('\n')[1] ?? '';
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe('a, b] it\'s say "x"\n');
});
