import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseGrant } from '#central/api/grants.ts';
import { createToken } from '#central/api/tokens.ts';
import { selfSignedIdentity } from '../../fakes/certificates.ts';
import { startDropbear } from '../../fakes/dropbear.ts';
import { FakeBmc, serveBmc, user } from '../../fakes/fakeBmc.ts';
import { type IpmiSim, startIpmiSim } from '../../fakes/ipmiSim.ts';
import { findIn, findInFiles } from '../../fakes/markers.ts';
import { type SerialMachine, startSerialMachine } from '../../fakes/serialMachine.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { type Finished, runProgram } from '../loopback/processes.ts';
import { eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const mac = '52:54:00:00:71:01';
const tenantId = 'root';
const nodeId = 'old-server';
const password = 'Marker-Pw-9d2Ls';

interface NodeEvent {
  type: string;
  text: string;
  data?: { recordingId?: string };
}

export const serialConsole: EndToEndCase = {
  name: 'console',
  about:
    'the serial console of a machine by IPMI, and of another by the SSH of its BMC: live at the site, also without the centre; recorded into its timeline, beside a workflow, past a break of the BMC’s session and a kill of the agent',
  run: async (report) => {
    const machine = await startSerialMachine();
    const sim = await startIpmiSim({ password, serialPort: machine.port });
    try {
      await withLab(report, (lab) => drive(report, lab, sim, machine));
    } finally {
      await sim.stop();
      await machine.stop();
    }
  },
};

async function drive(report: Report, lab: Lab, sim: IpmiSim, machine: SerialMachine): Promise<void> {
  const site = await lab.newSite('north');
  await appendFile(site.configFile, `[bmc]\nipmitool = "${sim.ipmitool}"\n`);
  const centre = await lab.startCentre();
  await lab.join(site);
  const first = await lab.startSite(site);
  await enroll(lab, site, sim);

  report.phase('record');
  const { data: wanted } = await lab.call<{ recordingId: string; until: string }>('nodes.recordConsole', {
    tenantId,
    nodeId,
    for: '2m',
  });
  await checkRecorded(report, lab, machine);
  await checkBesideWorkflow(report, lab, machine);

  report.phase('kill');
  await first.kill();
  const second = await lab.startSite(site);
  const resumed = await printedUntil(lab, machine, 'after the kill');
  report.check('it goes on after a kill of the agent', resumed !== undefined, await consoleEvents(lab));

  await checkLive(report, site, machine);

  report.phase('end');
  await lab.call('nodes.endConsole', { tenantId, nodeId });
  const ended = await eventually(async () =>
    (await consoleEvents(lab)).find(({ type }) => type === 'console.ended'),
  );
  report.check(
    'it ends when an operator says so, and says why',
    ended?.text.includes('an operator') === true,
    ended,
  );
  const ids = new Set((await consoleEvents(lab)).map(({ data }) => data?.recordingId));
  report.check('all of it is one recording', ids.size === 1 && ids.has(wanted.recordingId), [...ids]);
  const { data: node } = await lab.call<{ recording?: object }>('nodes.get', { tenantId, nodeId });
  report.check('the node shows no recording any more', node.recording === undefined, node);

  await checkSsh(report, lab, site);

  report.phase('without the centre');
  await centre.stop();
  const alone = await atConsole(site, [], async (typist) => {
    await typist.sees('you have the keyboard');
    machine.print('still here\r\n');
    await typist.sees('still here');
  });
  report.check('it works while the centre is away', alone.status === 0, alone);
  const record = ['site', 'console', nodeId, '--record', '1m', '--no-attach', '--config', site.configFile];
  const recorded = await runProgram('bcd', record);
  report.check('and is recorded at the site alone', recorded.status === 0, recorded);
  const shown = await eventually(async () => {
    machine.print('kept here\r\n');
    const trace = ['site', 'trace', mac, '--since', '1h', '--once', '--config', site.configFile];
    const { output } = await runProgram('bcd', trace);
    return output.includes('kept here') ? output : undefined;
  });
  report.check('into the timeline of the site', shown !== undefined);
  const toAnyone = await (await fetch(`${site.adminUrl}/v1/machines/${mac}`)).text();
  const isHidden = toAnyone.includes('console.output') && !toAnyone.includes('kept here');
  report.check('which shows it to nobody at the admin listener', isHidden);

  report.phase('secrecy');
  const logs = Buffer.from([...first.lines, ...second.lines, ...centre.lines].join('\n'));
  const found = [
    ...findIn('logs', logs, { password, other: user.password }),
    ...findIn('arguments of ipmitool', Buffer.from(await sim.arguments()), { password }),
    ...findInFiles([site.stateDirectory, lab.central], { password, other: user.password }),
  ];
  report.check('the password is in no log, argument or file', found.length === 0, found);
}

/**
 * A BMC whose Redfish tells of its SSH, with a command line before the serial port; followed by who asked, to its end. It tells no power state, so
 * that the operation of its enrolment waits for one all the while.
 */
async function checkSsh(report: Report, lab: Lab, site: LabSite): Promise<void> {
  report.phase('by SSH');
  const machine = await startSerialMachine();
  const cli = { prompt: 'racadm>>', commands: ['console com2'], leave: '\x1c', serialPort: machine.port };
  const ssh = await startDropbear(cli);
  const told = { ServiceEnabled: true, Port: ssh.port, SharedWithManagerCLI: true };
  const SerialConsole = { SSH: { ...told, ConsoleEntryCommand: 'console com2' } };
  const system = { '@odata.id': '/redfish/v1/Systems/1', Manufacturer: 'Dell Inc.', SerialConsole };
  const bmc = await serveBmc(new FakeBmc(system), await selfSignedIdentity());
  const printing = setInterval(() => machine.print('from behind SSH\r\n'), 200);
  try {
    await lab.call('metal.enroll', {
      ...{ tenantId, siteId: site.siteId, nodeId: 'by-ssh', macs: ['52:54:00:00:71:04'] },
      bmc: { address: bmc.address, credentialRef: 'secret://bmc/ssh' },
      bmcCredentials: user,
    });
    const followed = await followedConsole(lab, 'by-ssh', '8s');
    const ok = followed.status === 0 && followed.output.includes('\nfrom behind SSH');
    report.check('railhead nodes console prints it to its end', ok, followed);
    report.check('by the SSH that Redfish told of', followed.output.includes("by the BMC's SSH"), followed);
    report.check('and says why it ended', followed.output.includes('its time is up'), followed);
    const lines = followed.output.split('\n').filter((line) => line === 'from behind SSH');
    report.check('it waits for no operation that uses the BMC', lines.length > 10, followed);
  } finally {
    clearInterval(printing);
    await Promise.all([bmc.close(), ssh.stop(), machine.stop()]);
  }
}

async function followedConsole(lab: Lab, node: string, forTime: string): Promise<Finished> {
  const grants = ['compute:bmc:console', 'compute:nodes:read'].map((action) =>
    parseGrant(`${action}@compute-node:${node}`),
  );
  const { token } = await lab.host(({ store }) =>
    createToken(store, { name: 'support', grants, validMs: 600_000 }),
  );
  const tokenFile = path.join(lab.directory, 'support-token');
  await writeFile(tokenFile, token);
  const where = ['--server', lab.apiUrl, '--token-file', tokenFile, '--tenant', tenantId];
  return runProgram('railhead', ['nodes', 'console', node, '--for', forTime, ...where]);
}

async function enroll(lab: Lab, site: LabSite, sim: IpmiSim): Promise<void> {
  const { data } = await lab.call<{ workflowId: string }>('metal.enroll', {
    tenantId,
    siteId: site.siteId,
    nodeId,
    macs: [mac],
    bmc: { address: sim.address, credentialRef: 'secret://bmc/one' },
    bmcCredentials: { username: sim.username, password: sim.password },
  });
  await eventually(async () => ((await stateOf(lab, data.workflowId)) === 'running' ? undefined : true));
}

async function checkRecorded(report: Report, lab: Lab, machine: SerialMachine): Promise<void> {
  const joined = await eventually(async () =>
    (await consoleEvents(lab)).find(({ type }) => type === 'console.joined'),
  );
  report.check('the site joins the console', joined?.text.includes('IPMI') === true, joined);
  machine.print('\x1b[2J\x1b[1;1H\x1b[1mUEFI\x1b[0m Setup\r\n10 %\r100 %\r\n\xe9\r\nlogin: ');
  const text = await eventually(async () => {
    const all = printed(await consoleEvents(lab));
    return all.includes('login:') ? all : undefined;
  });
  report.check('what it prints is kept as plain lines', text === 'UEFI Setup\n100 %\né\nlogin:', text);
}

/** A recording is no workflow: neither waits for the other, and what is printed shows in the node's events alone. */
async function checkBesideWorkflow(report: Report, lab: Lab, machine: SerialMachine): Promise<void> {
  report.phase('beside a workflow');
  const { data } = await lab.call<{ workflowId: string }>('metal.power', { tenantId, nodeId, action: 'on' });
  const line = await printedUntil(lab, machine, 'Linux version');
  const state = await eventually(async () => {
    const found = await stateOf(lab, data.workflowId);
    return found === 'running' ? undefined : found;
  });
  report.check('a workflow runs meanwhile', state === 'succeeded' && line !== undefined, { state, line });
  const { data: told } = await lab.call<{ items: NodeEvent[] }>('workflows.events', {
    tenantId,
    workflowId: data.workflowId,
  });
  const leaked = told.items.filter(({ type }) => type.startsWith('console.'));
  report.check("a workflow's events do not show what a console printed", leaked.length === 0, leaked);
}

async function checkLive(report: Report, site: LabSite, machine: SerialMachine): Promise<void> {
  report.phase('live');
  let second: Attached | undefined;
  const typist = await atConsole(site, [], async (live) => {
    await live.sees('you have the keyboard');
    live.type('root\r~.');
    await machine.hears('root\r~.');
    second = await atConsole(site, ['--take'], async (other) => {
      await other.sees('you have the keyboard');
      await live.sees('somebody else has taken the keyboard');
      live.type('not from me');
      other.type('from me\r');
      await machine.hears('from me\r');
      machine.print('for both\r\n');
      await Promise.all([live.sees('for both'), other.sees('for both')]);
    });
  });
  report.check('it is typed to live, beside the recording', typist.status === 0, typist);
  report.check('two share it', second?.status === 0, second);
  report.check('only who has the keyboard types', !machine.typed().includes('not from me'), machine.typed());
}

interface Attached {
  status: number | null;
  output: string;
}

interface Typist {
  type(keys: string): void;
  sees(text: string): Promise<void>;
}

/** `bcd site console` until `work` is done; then ^]. */
async function atConsole(
  site: LabSite,
  flags: readonly string[],
  work: (typist: Typist) => Promise<void>,
): Promise<Attached> {
  const bcd = path.resolve(import.meta.dirname, '../../../bin/bcd');
  const child = spawn(bcd, ['site', 'console', nodeId, ...flags, '--config', site.configFile]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('latin1').on('data', (text: string) => {
      output += text;
    });
  const exit = once(child, 'exit');
  const sees = async (text: string) => {
    const seen = await eventually(async () => (output.includes(text) ? true : undefined));
    if (seen === undefined) throw new Error(`the console does not show "${text}": ${output}`);
  };
  try {
    await work({ type: (keys) => void child.stdin.write(keys), sees });
    child.stdin.write('\x1d');
    const [status] = (await exit) as [number | null];
    return { status, output };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Has the machine print a line until it is in the node's events. */
function printedUntil(lab: Lab, machine: SerialMachine, line: string): Promise<string | undefined> {
  return eventually(async () => {
    machine.print(`${line}\r\n`);
    return printed(await consoleEvents(lab)).includes(line) ? line : undefined;
  }, 30_000);
}

function printed(events: readonly NodeEvent[]): string {
  return events
    .filter(({ type }) => type === 'console.output')
    .map(({ text }) => text)
    .join('\n');
}

async function consoleEvents(lab: Lab): Promise<NodeEvent[]> {
  const wanted = { tenantId, nodeId, last: 200, limit: 200 };
  const { data } = await lab.call<{ items: NodeEvent[] }>('nodes.events', wanted);
  return data.items.filter(({ type }) => /^console\.(?!requested)/.test(type));
}

async function stateOf(lab: Lab, workflowId: string): Promise<string> {
  const { data } = await lab.call<{ state: string }>('workflows.get', { tenantId, workflowId });
  return data.state;
}
