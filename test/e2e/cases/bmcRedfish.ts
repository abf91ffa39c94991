import type { JsonObject } from '#redfish/json.ts';
import { selfSignedIdentity } from '../../fakes/certificates.ts';
import { FakeBmc, serveBmc, user } from '../../fakes/fakeBmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { runProgram } from '../loopback/processes.ts';
import { eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const tenantId = 'root';
const nodeId = 'server-1';
const system = '/redfish/v1/Systems/1';
const reset = `${system}/Actions/ComputerSystem.Reset`;

interface Ended {
  state: string;
  error?: { code: string; details?: { reason?: string } };
  steps: { result?: { status?: number; body?: JsonObject; truncated?: boolean } }[];
}

export const bmcRedfish: EndToEndCase = {
  name: 'bmc-redfish',
  about:
    'support asks a BMC by Redfish through a real centre and a real site: what may be asked, what comes back, what is refused, what is on record',
  run: async (report) => {
    const bmc = newBmc();
    const running = await serveBmc(bmc, await selfSignedIdentity());
    try {
      await withLab(report, (lab) => drive(report, lab, bmc, running.address));
    } finally {
      await running.close();
    }
  },
};

/** A BMC with one log that is nearly too large to hand on, and one that is. */
function newBmc(): FakeBmc {
  const bmc = new FakeBmc({
    '@odata.id': system,
    Model: 'R1',
    PowerState: 'On',
    Actions: { '#ComputerSystem.Reset': { target: reset } },
  });
  bmc.tree['/redfish/v1/Large'] = { Text: 'x'.repeat(120 * 1024) };
  bmc.tree['/redfish/v1/TooLarge'] = { Text: 'x'.repeat(130 * 1024) };
  bmc.tree['/redfish/v1/Slow'] = { Text: 'at last' };
  bmc.faults.push(({ path }) =>
    path === '/redfish/v1/Slow' ? { status: 200, body: { Text: 'at last' }, delayMs: 3000 } : undefined,
  );
  return bmc;
}

async function drive(report: Report, lab: Lab, bmc: FakeBmc, address: string): Promise<void> {
  const site = await lab.newSite('north');
  await lab.startCentre();
  await lab.join(site);
  await lab.startSite(site);
  const known = { tenantId, siteId: site.siteId, nodeId, macs: ['52:54:00:00:72:01'] };
  const binding = { address, credentialRef: 'secret://bmc/one' };
  const { data: node } = await lab.call<{ workflowId: string }>('metal.enroll', {
    ...known,
    ...{ bmc: binding, bmcCredentials: user },
  });
  await ended(lab, node.workflowId);
  await checkAsked(report, lab, bmc);
  await checkRefused(report, lab, bmc);
  await checkConflict(report, lab);
  await checkRecord(report, lab);
  await checkAtSite(report, site);
}

async function checkAsked(report: Report, lab: Lab, bmc: FakeBmc): Promise<void> {
  report.phase('ask');
  const got = await asked(lab, 'GET', system);
  report.check('GET brings the resource as the BMC has it', got.body?.Model === 'R1', got);
  const missing = await asked(lab, 'GET', '/redfish/v1/Nothing');
  report.check('what the BMC has not is its 404, and no failure', missing.status === 404, missing);
  const posted = await asked(lab, 'POST', reset, { ResetType: 'ForceRestart' });
  const isSent =
    JSON.stringify(bmc.sent('POST', 'ComputerSystem.Reset')) === '[{"ResetType":"ForceRestart"}]';
  report.check('an allowed POST reaches the BMC once, as it is', posted.status === 204 && isSent, posted);
  const large = await asked(lab, 'GET', '/redfish/v1/Large');
  const length = String(large.body?.Text).length;
  report.check('an answer of 120 KiB comes whole', length === 120 * 1024, { ...large, body: length });
  const tooLarge = await asked(lab, 'GET', '/redfish/v1/TooLarge');
  const isCut = tooLarge.truncated === true && tooLarge.body === undefined;
  report.check('one over 128 KiB comes without its body', tooLarge.status === 200 && isCut, tooLarge.status);
}

async function checkRefused(report: Report, lab: Lab, bmc: FakeBmc): Promise<void> {
  report.phase('refuse');
  const before = bmc.requests.length;
  for (const [method, path, body] of [
    ['GET', '/redfish/v1/AccountService/Accounts', undefined],
    ['GET', '/redfish/v1/Systems/../AccountService', undefined],
    ['POST', '/redfish/v1/SessionService/Sessions', { UserName: 'x', Password: 'y' }],
    ['POST', '/redfish/v1/Managers/1/Actions/Manager.ResetToDefaults', { ResetType: 'ResetAll' }],
    ['PATCH', system, { Password: 'x' }],
  ] as const) {
    const { error } = await begin(lab, method, path, body);
    const isRefused = error?.code === 'FORBIDDEN' && error.details?.reason === 'not-relayed';
    report.check(`${method} ${path} is refused`, isRefused, error);
  }
  report.check('of which the BMC heard nothing', bmc.requests.length === before, bmc.requests.slice(before));
}

async function checkConflict(report: Report, lab: Lab): Promise<void> {
  report.phase('wait for one another');
  const slow = await begin(lab, 'GET', '/redfish/v1/Slow');
  const meanwhile = await begin(lab, 'GET', system);
  const isConflict = meanwhile.error?.details?.reason === 'workflow-running';
  report.check('while one is asked another is CONFLICT', isConflict, meanwhile);
  const power = await lab.call<object>('metal.power', { tenantId, nodeId, action: 'off' });
  const busy = (power as Begun).error;
  report.check('and so is a change of power', busy?.details?.reason === 'workflow-running', power);
  const end = await ended(lab, slow.data?.workflowId ?? '');
  report.check('the first one ends right', end.steps[0]?.result?.body?.Text === 'at last', end);
}

async function checkRecord(report: Report, lab: Lab): Promise<void> {
  report.phase('records');
  const { data } = await lab.call<{ items: Record<string, unknown>[] }>('audit.list', { limit: 200 });
  const records = data.items.filter((item) => item.method === 'nodes.redfish');
  const of = (path: string) => records.find((item) => JSON.stringify(item).includes(path));
  report.check('what was asked is on record', of(reset)?.outcome === 'ok', records[0]);
  report.check('and what was refused', of('AccountService/Accounts')?.outcome === 'FORBIDDEN', records);
  const conflicts = records.filter(({ outcome }) => outcome === 'CONFLICT');
  report.check('and what had to wait', conflicts.length === 1, conflicts);
  report.check('every call once', records.length === 12, records.length);
}

/** Also while the centre is away. */
async function checkAtSite(report: Report, site: LabSite): Promise<void> {
  report.phase('at the site');
  const locally = (...words: string[]) =>
    runProgram('bcd', ['site', 'redfish', nodeId, ...words, '--config', site.configFile]);
  const got = await locally('GET', system);
  report.check('bcd site redfish brings the same', got.output.includes('"R1"'), got);
  const refused = await locally('GET', '/redfish/v1/AccountService');
  report.check(
    'and refuses the same',
    refused.status !== 0 && refused.output.includes('not relayed'),
    refused,
  );
}

interface Begun {
  data?: { workflowId: string };
  error?: { code: string; details?: { reason?: string } };
}

async function begin(lab: Lab, method: string, path: string, body?: object): Promise<Begun> {
  return lab.call('nodes.redfish', { tenantId, nodeId, method, path, ...(body !== undefined && { body }) });
}

/** What the workflow of one request has brought. */
async function asked(lab: Lab, method: string, path: string, body?: object) {
  const { data } = await begin(lab, method, path, body);
  return (await ended(lab, data?.workflowId ?? '')).steps[0]?.result ?? {};
}

async function ended(lab: Lab, workflowId: string): Promise<Ended> {
  const found = await eventually(async () => {
    const { data } = await lab.call<Ended>('workflows.get', { tenantId, workflowId });
    return data.state === 'running' ? undefined : data;
  }, 60_000);
  return found ?? { state: 'running', steps: [] };
}
