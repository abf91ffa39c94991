import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'smol-toml';
import { openState } from '#agent/site/store/state.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import type { Pins } from '#contract/join.ts';
import { leaseByDhcp } from '../../fakes/leaseByDhcp.ts';
import { loopbackSettings } from '../../fakes/loopbackSettings.ts';
import type { Answer } from './attempt.ts';
import type { HookLoot } from './hook.ts';
import type { MachineLoot } from './machines.ts';
import { type Running, runProgram, start } from './processes.ts';

/** A joined site as a process of its own, on the loopback interface, without its centre. */
export interface Site extends Running {
  bootUrl: string;
  machineUrl: string;
  adminUrl: string;
  hookUrl: string;
  loot: MachineLoot;
  hookLoot: HookLoot;
  /** Leases an address to the machine that may join, as the site's DHCP would. */
  lease(address: string): Promise<void>;
  /** Asks over the local socket as `nobody`; status 0 when that user cannot connect. */
  askAsNobody(method: string, path: string): Promise<Answer>;
}

const mac = '02:00:00:00:00:01';
const otherMac = '02:00:00:00:00:02';

export async function startSite(
  work: string,
  join: { server: string; siteId: string; token: string; pins: Pins },
): Promise<Site> {
  const stateDirectory = path.join(work, 'state');
  await joinCentre(work, stateDirectory, join);
  const { loot, hookLoot } = await plant(stateDirectory, join.siteId);
  const socket = path.join(work, 'bcd.sock');
  const { config, ...doors } = await loopbackSettings(work);
  const settings = {
    ...config,
    central: { url: 'https://127.0.0.1:1' },
    admin: { ...config.admin, socket },
  };
  await writeFile(path.join(work, 'config.toml'), stringify(settings));
  const args = ['site', '--config', path.join(work, 'config.toml')];
  const running = await start('agent/bcd.ts', args, '"site agent is ready"');
  return {
    ...running,
    ...doors,
    loot,
    hookLoot,
    lease: (address) => leaseByDhcp({ stateDirectory, dhcpPort: config.boot.dhcpPort }, mac, address),
    askAsNobody: await nobody(work, socket),
  };
}

async function joinCentre(
  work: string,
  stateDirectory: string,
  { server, siteId, token, pins }: Parameters<typeof startSite>[1],
): Promise<void> {
  const tokenFile = path.join(work, 'join-token');
  await writeFile(tokenFile, token);
  await runProgram('agent/bcd.ts', [
    'join',
    ...[
      '--server',
      server,
      '--token-file',
      tokenFile,
      '--node-id',
      siteId,
      '--state-directory',
      stateDirectory,
    ],
    ...['--serving-ca-pin', pins.servingCaPin, '--join-signing-pin', pins.joinSigningPin],
    ...['--join-encryption-pin', pins.joinEncryptionPin],
  ]);
}

/** Two machines with boot entries, one of them joined twice: what is left of it is what an intruder finds. */
async function plant(
  stateDirectory: string,
  siteId: string,
): Promise<{ loot: MachineLoot; hookLoot: HookLoot }> {
  const state = await openState(stateDirectory);
  const expiresAt = new Date(Date.now() + 3_600_000);
  const entry = (nodeId: string, of: string): BootEntry => ({
    entryId: `be_${nodeId}`,
    siteId,
    nodeId,
    macs: [of],
    ramdisk: { ref: 'ramdisk@1', digests: { x86_64: '1'.repeat(64) } },
    issuedAt: new Date().toISOString(),
    expiresAt: expiresAt.toISOString(),
  });
  const mint = (nodeId: string, of: string) =>
    state.tokens.mint({
      mac: of,
      entryId: `be_${nodeId}`,
      nodeId,
      address: '127.0.0.1',
      bootId: `boot_${nodeId}`,
      expiresAt: expiresAt.getTime(),
    });
  state.entries.put(entry('node-1', mac), 'signed');
  state.entries.put(entry('node-2', otherMac), 'signed');
  state.entries.put(entry('node-3', '02:00:00:00:00:03'), 'signed');
  const session = () =>
    state.sessions.open({
      nodeId: 'node-3',
      mac: '02:00:00:00:00:03',
      bootId: 'boot_node-3',
      signingKey: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) },
      claimedBy: 'somebody',
      joinedAt: Date.now(),
    });
  const loot: MachineLoot = {
    mac,
    otherMac,
    bootTokens: {
      stale: mint('node-1', mac),
      good: mint('node-1', mac),
      otherMachine: mint('node-2', otherMac),
      foreign: randomBytes(24).toString('base64url'),
    },
    sessions: { stale: session(), good: session(), foreign: randomBytes(24).toString('base64url') },
  };
  const stale = state.bmcHooks.tokenOf('node-9');
  state.bmcHooks.retain([]);
  const hookLoot = { stale, good: state.bmcHooks.tokenOf('node-1') };
  state.close();
  return { loot, hookLoot };
}

const asking = `
const [, method, path, socketPath] = process.argv;
require('node:http').request({ method, path, socketPath }, (answer) => {
  console.log(answer.statusCode);
  answer.pipe(process.stdout);
}).on('error', () => console.log(0)).end();
`;

/** The socket's file is opened to everybody first, so that it is the peer that is refused. */
async function nobody(work: string, socket: string): Promise<Site['askAsNobody']> {
  await chmod(work, 0o755);
  await chmod(socket, 0o666);
  // That user may not reach the project's own Node.
  const node = path.join(work, 'node');
  await copyFile(process.execPath, node);
  await chmod(node, 0o755);
  return async (method, route) => {
    const child = spawn(node, ['-e', asking, method, route, socket], { uid: 65_534, gid: 65_534, cwd: '/' });
    const exited = once(child, 'exit');
    const printed = await text(child.stdout);
    await exited;
    const [status = '', ...rest] = printed.split('\n');
    return { status: Number(status || 'NaN'), text: rest.join('\n') };
  };
}
