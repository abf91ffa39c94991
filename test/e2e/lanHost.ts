import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import type { Line } from '#rack/line/line.ts';
import { fromSource, type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { addresses, provisioningBridge } from '#rack/network.ts';
import { foreignProgram } from '../bootserver/foreign.ts';
import { waitForLine } from './waitForLine.ts';

/** A host on the provisioning network of a line, in a network namespace of its own, with an address that the site leased to it. */
export interface LanHost {
  mac: string;
  address: string;
  /** What iPXE on this host would get for a machine. */
  script(mac: string): Promise<string>;
  /** The boot token that a ramdisk on this host gets when it asks for a machine's; undefined when it gets none. */
  tokenFor(mac: string): Promise<string | undefined>;
  /** Starts a ramdisk agent here that shows this token for that machine. */
  claim(token: string, mac: string): Promise<Claimant>;
  remove(): Promise<void>;
}

export interface Claimant {
  /** Resolves once its console has a line that matches. */
  says(pattern: RegExp, timeoutMs?: number): Promise<string>;
  stop(): Promise<void>;
}

export interface LanHostOptions {
  /** Also the end of its namespace's name. */
  name: string;
  mac: string;
  /** For scripts, keys and logs. */
  directory: string;
  /** What its DHCP request has in option 77. */
  userClass?: string;
}

const askForToken = `
const [, url, mac] = process.argv;
const headers = { 'content-type': 'application/json' };
require('node:https')
  .request(url, { method: 'POST', headers, rejectUnauthorized: false }, (answer) => answer.pipe(process.stdout))
  .end(JSON.stringify({ mac }));
`;

const leaseScript = `#!/bin/sh
[ "$1" != bound ] || { ip address replace "$ip/24" dev "$interface" && echo "leased $ip"; }
`;

export async function addLanHost(line: Line, options: LanHostOptions): Promise<LanHost> {
  const { name, mac } = options;
  const namespace = `${line.rack.namespaces.site}-${name}`;
  const directory = path.join(options.directory, name);
  await mkdir(directory, { recursive: true });
  const trustFile = path.join(directory, 'trust.json');
  await writeFile(trustFile, JSON.stringify(line.books.trust));
  await connect(line.rack.namespaces.site, namespace, name, mac);
  const address = await lease(namespace, directory, options.userClass);
  const claimants: ManagedProcess[] = [];
  return {
    mac,
    address,
    script: (machine) => {
      const url = `http://${addresses.site}:8080/ipxe?mac=${machine}&buildarch=x86_64&platform=efi`;
      return runIn(namespace, [
        process.execPath,
        '-e',
        `fetch('${url}').then(async (a) => console.log(await a.text()))`,
      ]);
    },
    tokenFor: async (machine) => {
      const url = `https://${addresses.site}:8443/v1/token`;
      const answer = await runIn(namespace, [process.execPath, '-e', askForToken, url, machine]);
      return (JSON.parse(answer) as { token?: string }).token;
    },
    claim: async (token, machine) => {
      const own = path.join(directory, `claim-${claimants.length}`);
      const logFile = `${own}.log`;
      const place = [`https://${addresses.site}:8443`, trustFile, machine, token, own];
      const process = startProcess({
        namespace,
        command: fromSource('test/e2e/claimant.ts', place),
        logFile,
      });
      claimants.push(process);
      return {
        says: (pattern, timeoutMs = 30_000) => waitForLine(logFile, pattern, timeoutMs),
        stop: () => process.stop(),
      };
    },
    remove: async () => {
      await Promise.all(claimants.map((each) => each.stop()));
      await run('ip', ['netns', 'delete', namespace]);
    },
  };
}

/** A veth from the host to the site's bridge. */
async function connect(site: string, namespace: string, name: string, mac: string): Promise<void> {
  await run('ip', ['netns', 'add', namespace]);
  const port = `lan-${name}`.slice(0, 15);
  await runIn(site, ['ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace]);
  await runIn(site, ['ip', 'link', 'set', port, 'master', provisioningBridge, 'up']);
  await runIn(namespace, ['ip', 'link', 'set', 'eth0', 'address', mac, 'up']);
  await runIn(namespace, ['ip', 'link', 'set', 'lo', 'up']);
}

async function lease(namespace: string, directory: string, userClass?: string): Promise<string> {
  const script = path.join(directory, 'lease.sh');
  await writeFile(script, leaseScript, { mode: 0o755 });
  const busybox = await foreignProgram('busybox-static', 'busybox');
  const named = userClass === undefined ? [] : ['-x', `0x4d:${Buffer.from(userClass).toString('hex')}`];
  const said = await runIn(namespace, [
    ...[busybox, 'udhcpc', '-i', 'eth0', '-q', '-n', '-f', '-s', script],
    ...named,
  ]);
  return /leased (\S+)/.exec(said)?.[1] ?? '';
}

/** The boot token in a script; undefined when it has none. */
export function tokenIn(script: string): string | undefined {
  return /railhead\.token=(\S+)/.exec(script)?.[1];
}
