import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '#base/clock.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { enterNamespace } from '#rack/enterNamespace.ts';
import { type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../../bootserver/foreign.ts';
import { startLoneSite } from '../../fakes/loneSite.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { openRelayedNetwork, type RelayedNetwork } from '../relayedNetwork.ts';
import type { Report } from '../report.ts';

/** No machine: foreign clients and relays, and the real site agent. */
export const relay: EndToEndCase = {
  name: 'relay',
  about:
    'clients behind ISC’s and dnsmasq’s relays get, renew and give back addresses of a site without its centre, also after a kill -9',
  async run(report, { keep }) {
    const programs = await fetchPrograms();
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-relay-'));
    const started: Closable[] = keep ? [] : [{ close: () => rm(directory, { recursive: true }) }];
    try {
      const network = await openRelayedNetwork(`relay${process.pid}`);
      started.push(network);
      await relayed(report, { network, programs, directory, started });
    } finally {
      report.phase('clean up');
      await closeAll(started);
    }
  },
};

interface Programs {
  udhcpc: string;
  dhclient: string;
  dhcrelay: [string, ...string[]];
  dnsmasq: [string, ...string[]];
}

interface Stage {
  network: RelayedNetwork;
  programs: Programs;
  directory: string;
  started: Closable[];
}

async function fetchPrograms(): Promise<Programs> {
  const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache/debian');
  const relayTools = await openToolbox(['isc-dhcp-relay'], { cacheDirectory });
  const dnsmasqTools = await openToolbox(['dnsmasq-base'], { cacheDirectory });
  const flat = ([program, args]: [string, string[]]): [string, ...string[]] => [program, ...args];
  return {
    udhcpc: await foreignProgram('busybox-static', 'busybox'),
    dhclient: await foreignProgram('isc-dhcp-client', 'dhclient'),
    dhcrelay: flat(relayTools.command('usr/sbin/dhcrelay', [])),
    dnsmasq: flat(dnsmasqTools.command('usr/sbin/dnsmasq', [])),
  };
}

async function relayed(report: Report, stage: Stage): Promise<void> {
  report.phase('start');
  let site = await startSite(stage);
  report.phase('a relay by hand');
  await checkEcho(report, stage.network);

  report.phase('ISC dhcrelay');
  const { router, site: siteSide } = stage.network;
  const isc = startRelay(stage, 'dhcrelay', [
    ...stage.programs.dhcrelay,
    ...['-4', '-d', '-a', '-id', router.down, '-iu', router.up, siteSide.address],
  ]);
  const first = await udhcpc(stage);
  checkTold(report, 'udhcpc behind dhcrelay', first);
  await checkDhclient(report, stage, first.ip);
  await checkRenewal(report, stage, first.ip);

  report.phase('kill -9 of the site');
  await site.kill();
  site = await startSite(stage);
  const after = await udhcpc(stage);
  report.check('the lease has outlived the agent', after.ip === first.ip, {
    before: first.ip,
    after: after.ip,
  });

  report.phase('dnsmasq as relay');
  await isc.stop();
  startRelay(stage, 'dnsmasq', [
    ...stage.programs.dnsmasq,
    ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--user=root', '--pid-file='],
    `--dhcp-relay=${router.downAddress},${siteSide.address}`,
  ]);
  checkTold(report, 'udhcpc behind dnsmasq', await udhcpc(stage));
}

async function startSite({ network, directory, started }: Stage): Promise<ManagedProcess> {
  const { namespace, interfaceName, address } = network.site;
  const site = await startLoneSite({
    namespace,
    directory,
    provisioning: {
      ...{ interface: interfaceName, address, poolStart: '10.77.0.100', poolEnd: '10.77.0.120' },
      domain: 'rack.example',
      subnets: [
        {
          ...{ relayed: '10.79.0.0/24', router: network.router.downAddress },
          ...{ poolStart: '10.79.0.100', poolEnd: '10.79.0.120', dns: ['10.79.0.53'], leaseTime: '10m' },
        },
      ],
    },
  });
  started.push({ close: () => site.stop() });
  return site;
}

function startRelay({ network, directory, started }: Stage, name: string, command: string[]): ManagedProcess {
  const process = startProcess({
    namespace: network.router.namespace,
    command: command as [string, ...string[]],
    logFile: path.join(directory, `${name}.log`),
  });
  started.push({ close: () => process.stop() });
  return process;
}

const circuit = Buffer.from('0104000000050206aabbccddeeff', 'hex');

/** What a relay sees of the answers: from where they come, and its own information at their end. */
async function checkEcho(report: Report, { router, site }: RelayedNetwork): Promise<void> {
  const leave = enterNamespace(router.namespace);
  const socket = createSocket('udp4');
  try {
    socket.bind(67, router.downAddress);
    await once(socket, 'listening');
    const heard = once(socket, 'message', { signal: AbortSignal.timeout(10_000) });
    socket.send(relayedDiscover(router.downAddress), 67, site.address);
    const [bytes, from] = (await heard) as [Buffer, { address: string; port: number }];
    const options = bytes.subarray(240, bytes.lastIndexOf(255) + 1);
    const last = Buffer.concat([Buffer.from([82, circuit.length]), circuit, Buffer.from([255])]);
    report.check(
      'the answer comes from the address asked',
      from.address === site.address && from.port === 67,
      from,
    );
    report.check(
      'option 82 comes back, last',
      options.subarray(-last.length).equals(last),
      options.toString('hex'),
    );
    report.check('at least 300 bytes', bytes.length >= 300, bytes.length);
    report.check('flags and relay are as they were', bytes.readUInt16BE(10) === 0x8000 && bytes[24] === 10);
  } finally {
    socket.close();
    leave();
  }
}

function relayedDiscover(giaddr: string): Buffer {
  const header = Buffer.alloc(240);
  header.set([1, 1, 6, 1]);
  header.writeUInt32BE(0x1234abcd, 4);
  header.writeUInt16BE(0x8000, 10);
  header.set(giaddr.split('.').map(Number), 24);
  header.set([2, 0, 0, 0, 0, 0x77], 28);
  header.set([0x63, 0x82, 0x53, 0x63], 236);
  const options = [Buffer.from([53, 1, 1, 82, circuit.length]), circuit, Buffer.from([255])];
  return Buffer.concat([header, ...options]);
}

type Told = Record<string, string>;

function checkTold(report: Report, who: string, told: Told): void {
  report.check(
    `${who} gets an address of its own network`,
    /^10\.79\.0\.1[0-2]\d$/.test(told.ip ?? ''),
    told,
  );
  const { router, dns, domain, serverid } = told;
  const right = router === '10.79.0.1' && dns === '10.79.0.53' && domain === 'rack.example';
  report.check(`${who} is told router, name server and domain`, right && serverid === '10.77.0.1', told);
}

/** busybox's client once; what it was told, as its script's environment. The address stays on the interface. */
async function udhcpc({ network, programs, directory }: Stage, ...more: string[]): Promise<Told> {
  const { namespace, interfaceName } = network.client;
  const script = await clientScript(directory);
  const command = [programs.udhcpc, 'udhcpc', '-i', interfaceName, '-f', '-n', '-q', '-t', '5', '-T', '2'];
  const output = await runIn(namespace, [...command, '-s', script, ...more], { timeoutMs: 30_000 });
  return Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

async function clientScript(directory: string): Promise<string> {
  const script = path.join(directory, 'told.sh');
  const lines = [
    '#!/bin/sh',
    'case "$1" in bound|renew) ;; *) exit 0;; esac',
    'ip addr replace "$ip/24" dev "$interface"; ip route replace default via "$router"',
    `echo "$1" >> ${path.join(directory, 'client.log')}`,
    'env',
  ];
  await writeFile(script, `${lines.join('\n')}\n`);
  await chmod(script, 0o755);
  return script;
}

async function checkDhclient(
  report: Report,
  { network, programs, directory }: Stage,
  before?: string,
): Promise<void> {
  const { namespace, interfaceName } = network.client;
  const script = path.join(directory, 'dhclient-script');
  await writeFile(script, '#!/bin/sh\nexit 0\n');
  await chmod(script, 0o755);
  const leases = path.join(directory, 'dhclient.leases');
  const files = [
    '-lf',
    leases,
    '-pf',
    path.join(directory, 'dhclient.pid'),
    '-sf',
    script,
    '-cf',
    '/dev/null',
  ];
  await runIn(namespace, [programs.dhclient, '-4', '-1', ...files, interfaceName], { timeoutMs: 40_000 });
  const text = await readFile(leases, 'utf8');
  const got = /fixed-address ([\d.]+);/.exec(text)?.[1];
  report.check('ISC dhclient gets the same address', got !== undefined && got === before, { got, before });
  await runIn(namespace, [programs.dhclient, '-4', '-x', ...files, interfaceName], { timeoutMs: 40_000 });
}

/** A client that goes on renews at the site itself, past the relay, and gives its address back when it ends. */
async function checkRenewal(report: Report, stage: Stage, address?: string): Promise<void> {
  const { network, programs, directory } = stage;
  const { namespace, interfaceName } = network.client;
  const script = await clientScript(directory);
  await writeFile(path.join(directory, 'client.log'), '');
  const client = startProcess({
    namespace,
    command: [programs.udhcpc, 'udhcpc', '-i', interfaceName, '-f', '-R', '-s', script],
    logFile: path.join(directory, 'udhcpc.log'),
  });
  stage.started.push({ close: () => client.stop() });
  const said = () => readFile(path.join(directory, 'client.log'), 'utf8');
  const bound = await soon(async () => (await said()).includes('bound'));
  client.child.kill('SIGUSR1');
  const renewed = await soon(async () => (await said()).includes('renew'));
  report.check('the lease is renewed past the relay', bound && renewed, await said());
  await client.stop();
  const released = await soon(async () => leaseState(directory, address) === 'released');
  report.check('the address is given back', released, leaseState(directory, address));
}

function leaseState(directory: string, address = ''): string | undefined {
  const database = new Database(path.join(directory, 'state/leases.db'), { readonly: true });
  try {
    const find = database.prepare<[string], { state: string }>(
      'SELECT state FROM dhcp_lease WHERE address = ?',
    );
    return find.get(address)?.state;
  } finally {
    database.close();
  }
}

async function soon(condition: () => Promise<boolean>): Promise<boolean> {
  for (let turn = 0; turn < 100; turn++) {
    if (await condition()) return true;
    await systemClock.sleep(100);
  }
  return false;
}
