import { appendFile, readdir, readFile } from 'node:fs/promises';
import { openSealer } from '#base/sealing.ts';
import { type IpmiSim, startIpmiSim } from '../../fakes/ipmiSim.ts';
import { findIn, findInFiles } from '../../fakes/markers.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { runProgram } from '../loopback/processes.ts';
import { eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const tenantId = 'root';
const password = 'Marker-Pw-7f3Kq';

interface Workflow {
  state: string;
  error?: { code: string; message: string; details?: { reason?: string } };
  steps: { use: string; state: string; asked?: string; result?: Record<string, unknown> }[];
}

export const ipmi: EndToEndCase = {
  name: 'ipmi',
  about:
    'a real site drives a BMC by IPMI for workflows of a real centre: enrolment, power, boot device, inspection; machines without a BMC by an operator’s hands; the password shows nowhere',
  run: async (report) => {
    const sim = await startIpmiSim({ password });
    try {
      await withLab(report, (lab) => drive(report, lab, sim));
    } finally {
      await sim.stop();
    }
  },
};

async function drive(report: Report, lab: Lab, sim: IpmiSim): Promise<void> {
  const site = await lab.newSite('north');
  await appendFile(site.configFile, `[bmc]\nipmitool = "${sim.ipmitool}"\nhealthEvery = "1s"\n`);
  const centre = await lab.startCentre();
  await lab.join(site);
  const running = await lab.startSite(site);

  report.phase('enroll');
  await enroll(lab, site, sim);
  await checkPower(report, lab, sim);
  await checkBoot(report, lab, sim);
  const fresh = await checkPassword(report, lab);
  await checkHands(report, lab, site);

  report.phase('secrecy');
  const logs = Buffer.from([...running.lines, ...centre.lines].join('\n'));
  const markers = { password, fresh };
  const found = [
    ...findIn('logs', logs, markers),
    ...findIn('arguments of ipmitool', Buffer.from(await sim.arguments()), markers),
    ...findInFiles([site.stateDirectory, lab.central], markers),
    ...(await environmentsWith(password)),
    ...(await environmentsWith(fresh)),
  ];
  report.check('neither password is in any log, argument, environment or file', found.length === 0, found);
}

async function enroll(lab: Lab, site: LabSite, sim: IpmiSim): Promise<void> {
  const bmc = { address: sim.address, credentialRef: 'secret://bmc/one' };
  const bmcCredentials = { username: sim.username, password: sim.password };
  const common = { tenantId, siteId: site.siteId };
  const macs = ['52:54:00:00:71:01'];
  await lab.call('metal.enroll', { ...common, nodeId: 'old-server', macs, bmc, bmcCredentials });
  const hands = { ...common, nodeId: 'no-bmc', macs: ['52:54:00:00:71:02'] };
  await lab.call('metal.enroll', { ...hands, bmc: { driver: 'manual' } });
  const wake = { ...common, nodeId: 'wakes', macs: ['52:54:00:00:71:03'] };
  await lab.call('metal.enroll', { ...wake, bmc: { driver: 'wake-on-lan' } });
}

async function checkPower(report: Report, lab: Lab, sim: IpmiSim): Promise<void> {
  const { data: node } = await lab.call<{ workflowId: string }>('nodes.get', {
    tenantId,
    nodeId: 'old-server',
  });
  const enrolled = await ended(lab, node.workflowId);
  report.check('the BMC is asked at enrolment which machine it is', enrolled.state === 'succeeded', enrolled);
  const { system } = (enrolled.steps[1]?.result ?? {}) as { system?: { power?: string; uuid?: string } };
  report.check(
    'and tells its state and product UUID',
    system?.power === 'off' && system.uuid !== undefined,
    system,
  );

  report.phase('power');
  for (const [action, power] of [
    ['on', '1'],
    ['cycle', '1'],
    ['reset', '1'],
    ['graceful-off', '0'],
    ['cycle', '1'],
    ['off', '0'],
  ] as const) {
    const { state, error, steps } = await powered(lab, 'old-server', action);
    const found = await sim.chassis('power');
    report.check(`power ${action}`, state === 'succeeded' && found === power, { state, error, steps, found });
  }
  await powered(lab, 'old-server', 'on');
  const nmi = await powered(lab, 'old-server', 'nmi');
  const isSent = (await sim.commands()).includes('chassis power diag');
  report.check(
    'an NMI is asked for, which this simulator refuses',
    isSent && nmi.error?.details?.reason === 'refused',
    nmi,
  );
  await powered(lab, 'old-server', 'off');
  const reset = await powered(lab, 'old-server', 'reset');
  report.check('a machine that is off is not reset', reset.error?.details?.reason === 'powered-off', reset);
}

async function checkBoot(report: Report, lab: Lab, sim: IpmiSim): Promise<void> {
  const shown = await eventually(async () => {
    const { data: node } = await lab.call<{ health?: string; power?: string }>('nodes.get', {
      tenantId,
      nodeId: 'old-server',
    });
    return node.power === 'off' ? node : undefined;
  });
  report.check('the centre shows what the BMC says', shown?.health === 'OK', shown);

  report.phase('boot device');
  const steps = [
    { use: 'management.setBootDevice', with: { device: 'pxe' } },
    { use: 'power.setPower', with: { action: 'cycle' } },
    { use: 'management.setBootDevice', with: { device: 'disk' } },
    { use: 'inspect.oob' },
    { use: 'driver.invoke', with: { concern: 'power', operation: 'getPower' } },
  ];
  const document = { id: 'boots', version: 1, target: 'metal', steps };
  await lab.call('profiles.create', { tenantId, document });
  const { data } = await lab.call<{ workflowId: string }>('metal.deploy', {
    tenantId,
    nodeId: 'old-server',
    profileId: 'boots',
  });
  const workflow = await ended(lab, data.workflowId);
  report.check('boot device, cycle, boot device, inspection', workflow.state === 'succeeded', workflow);
  await checkPersistent(report, lab);
  const commands = await sim.commands();
  for (const bytes of [
    '0x00 0x08 0x05 0xa0 0x04 0x00 0x00 0x00',
    '0x00 0x08 0x05 0xa0 0x08 0x00 0x00 0x00',
    '0x00 0x08 0x03 0x08',
  ])
    report.check(`sent: ${bytes}`, commands.includes(`raw ${bytes}`), commands);
  report.check(
    'the BMC has the device',
    (await sim.chassis('boot')) === 'default' || (await sim.chassis('boot')) === 'disk',
    await sim.chassis('boot'),
  );
  const suites = new Set([...(await sim.arguments()).matchAll(/ -C (\d+) /g)].map(([, suite]) => suite));
  const tries17 = [...(await sim.arguments()).matchAll(/ -C 17 /g)].length;
  report.check('suite 17 was tried once, then 3 kept', suites.size === 2 && tries17 === 1, { tries17 });
}

/** The simulator forgets it: what a BMC does not keep is told. */
async function checkPersistent(report: Report, lab: Lab): Promise<void> {
  const steps = [{ use: 'management.setBootDevice', with: { device: 'disk', persistent: true } }];
  await lab.call('profiles.create', {
    tenantId,
    document: { id: 'keeps', version: 1, target: 'metal', steps },
  });
  const deploy = { tenantId, nodeId: 'old-server', profileId: 'keeps' };
  const { data } = await lab.call<{ workflowId: string }>('metal.deploy', deploy);
  const { error } = await ended(lab, data.workflowId);
  report.check('what the BMC does not keep is told', error?.details?.reason === 'not-stored', error);
}

/** Returns the new one. */
async function checkPassword(report: Report, lab: Lab): Promise<string> {
  report.phase('password');
  const command = { tenantId, nodeId: 'old-server' };
  const { data } = await lab.call<{ workflowId: string }>('nodes.rotateBmcPassword', command);
  const rotated = await ended(lab, data.workflowId);
  report.check('its password is changed', rotated.state === 'succeeded', rotated);
  const { state } = await powered(lab, 'old-server', 'on');
  report.check('and it is driven by the new one', state === 'succeeded');
  await powered(lab, 'old-server', 'off');
  const texts = await lab.host(async ({ store, keys }) => {
    const rows = await store.selectFrom('secrets').select('sealed').execute();
    return rows.map(({ sealed }) => openSealer(keys.atRest).open(sealed));
  });
  const fresh = texts.map((text) => text.split(':')[1] ?? '').find((text) => /^[\w-]{16}$/.test(text));
  report.check('which the centre keeps beside the one of before', texts.length === 2 && fresh !== undefined);
  return fresh ?? 'none was made';
}

async function checkHands(report: Report, lab: Lab, site: LabSite): Promise<void> {
  report.phase('by hand');
  const relay = { tenantId, nodeId: 'old-server', method: 'GET', path: '/redfish/v1/' };
  const { data: asked } = await lab.call<{ workflowId: string }>('nodes.redfish', relay);
  const { error } = await ended(lab, asked.workflowId);
  report.check('a BMC without Redfish is not asked for it', error?.details?.reason === 'no-redfish', error);
  const request = ['GET', '/redfish/v1/', '--config', site.configFile];
  const local = await runProgram('bcd', ['site', 'redfish', 'old-server', ...request]);
  report.check('nor by bcd site redfish', local.output.includes('does not speak Redfish'), local);
  const woken = await powered(lab, 'wakes', 'off');
  report.check('Wake-on-LAN cannot switch off', woken.error?.code === 'UNSUPPORTED', woken);
  const { data } = await lab.call<{ workflowId: string }>('metal.power', {
    tenantId,
    nodeId: 'no-bmc',
    action: 'off',
  });
  const alarm = await eventually(async () => {
    const { data: node } = await lab.call<{ alarms: { reason: string; text: string }[] }>('nodes.get', {
      tenantId,
      nodeId: 'no-bmc',
    });
    return node.alarms.find(({ reason }) => reason === 'operator-asked');
  });
  report.check(
    'an operator is asked at the centre',
    alarm?.text.includes('please switch off no-bmc') === true,
    alarm,
  );
  const confirm = await runProgram('bcd', ['site', 'confirm', 'no-bmc', '--config', site.configFile]);
  report.check('bcd site confirm succeeds', confirm.status === 0, confirm.output);
  const done = await ended(lab, data.workflowId);
  report.check('and ends the workflow', done.state === 'succeeded', done);
  const quiet = await eventually(async () => {
    const { data: node } = await lab.call<{ alarms: object[] }>('nodes.get', { tenantId, nodeId: 'no-bmc' });
    return node.alarms.length === 0 ? true : undefined;
  });
  report.check('the alarm goes by itself', quiet === true);
  await checkWordAtCentre(report, lab);
}

/** The operator is not at the site. */
async function checkWordAtCentre(report: Report, lab: Lab): Promise<void> {
  const node = { tenantId, nodeId: 'no-bmc' };
  const { data } = await lab.call<{ workflowId: string }>('metal.power', { ...node, action: 'off' });
  const asked = await eventually(async () => {
    const { data: workflow } = await lab.call<Workflow>('workflows.get', { tenantId, ...data });
    return workflow.steps.find((step) => step.asked !== undefined)?.asked;
  });
  report.check('the step shows what is asked', asked?.includes('switch off no-bmc') === true, asked);
  const began = performance.now();
  const { data: answer } = await lab.call<{ confirmed: string }>('nodes.confirm', node);
  report.check('the answer says what was confirmed', answer.confirmed === asked, answer);
  const done = await ended(lab, data.workflowId);
  report.check('an operator’s word at the centre ends the workflow', done.state === 'succeeded', done);
  // The site holds its poll for 30 seconds when nobody has news for it.
  report.check('at once', performance.now() - began < 10_000);
}

async function powered(lab: Lab, nodeId: string, action: string): Promise<Workflow> {
  const { data } = await lab.call<{ workflowId: string }>('metal.power', { tenantId, nodeId, action });
  return ended(lab, data.workflowId);
}

async function ended(lab: Lab, workflowId: string): Promise<Workflow> {
  const found = await eventually(async () => {
    const { data } = await lab.call<Workflow>('workflows.get', { tenantId, workflowId });
    return data.state === 'running' ? undefined : data;
  }, 60_000);
  return found ?? { state: 'running', steps: [] };
}

/** The processes of this host in whose arguments or environment a text stands. */
async function environmentsWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  ))
    for (const file of ['cmdline', 'environ']) {
      const bytes = await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0));
      if (bytes.includes(text)) found.push(`${pid}/${file}`);
    }
  return found;
}
