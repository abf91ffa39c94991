import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TraceLine } from '#agent/site/trace/lines.ts';
import { run } from '#base/command.ts';
import type { Toolbox } from '#base/debian/toolbox.ts';
import type { Line } from '#rack/line/line.ts';
import { startProcess } from '#rack/line/managedProcess.ts';
import type { Report } from './report.ts';

/** `bcd site trace --pcap` beside a machine that boots. */
export interface TraceWatch {
  /** Ends it; what it and `--once` tell of the boot into the ramdisk is one boot, and tcpdump reads its packets. */
  check(report: Report): Promise<void>;
}

const protocols = ['boot.dhcp', 'boot.tftp', 'boot.script', 'boot.http', 'agent.joined'];

/** Follows a machine as an operator does, before it is switched on. */
export async function watchTrace(line: Line, machine: string, tcpdump: Toolbox): Promise<TraceWatch> {
  const { artifacts, rack, site } = line;
  const { mac } = rack.machine(machine);
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-trace-'));
  const file = path.join(directory, 'boot.pcap');
  const trace = ['site', 'trace', mac, '--config', path.join(site.directory, 'config.toml')];
  const following = startProcess({
    namespace: rack.namespaces.site,
    command: [artifacts.bcd, ...trace, '--pcap', file],
    logFile: path.join(directory, 'trace.log'),
  });
  return {
    async check(report) {
      const told = await run(artifacts.bcd, [...trace, '--since', '24h', '--once', '--json']);
      await following.stop();
      checkBoot(report, told.trim().split('\n').map(parsed));
      checkPackets(report, await tcpdump.run('usr/bin/tcpdump', ['-nn', '-r', file]), mac);
      await rm(directory, { recursive: true });
    },
  };
}

function parsed(line: string): TraceLine {
  return JSON.parse(line);
}

/** The boot in which the ramdisk joined has a step of every protocol. */
function checkBoot(report: Report, lines: readonly TraceLine[]): void {
  const joined = lines.find(({ type }) => type === 'agent.joined');
  const ofBoot = lines.filter(({ bootId }) => bootId !== undefined && bootId === joined?.bootId);
  const missing = protocols.filter((protocol) => !ofBoot.some(({ type }) => type === protocol));
  report.check('DHCP, TFTP, HTTP and ramdisk are one boot in the trace', missing.length === 0, {
    missing,
    lines,
  });
  const advice = ofBoot.filter(({ type }) => type.endsWith('advice'));
  report.check('a boot that went well got no advice', advice.length === 0, advice);
}

function checkPackets(report: Report, text: string, mac: string): void {
  const shows = (what: string) => text.includes(what);
  report.check(
    'the capture has the machine’s DHCP',
    shows(`BOOTP/DHCP, Request from ${mac}`),
    text.slice(0, 2000),
  );
  report.check('and our answers to it', shows('BOOTP/DHCP, Reply'), text.slice(0, 2000));
  report.check('and its requests for files', /TFTP.* RRQ "/.test(text), text.slice(0, 2000));
}
