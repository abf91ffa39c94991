import { setTimeout as delay } from 'node:timers/promises';
import { tenantId } from '#rack/line/catalog.ts';
import { followWorkflow, getWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import { addLanHost, type LanHost, tokenIn } from '../lanHost.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';

/** The machine of the books stays off: two hosts of its network claim to be it. */
const machines = [{ name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }] }] as const;
const strangersMac = '52:54:00:77:66:66';

interface NodeRecord {
  ramdisk?: { trust: string; bootId: string };
  alarms: { reason: string; text: string }[];
}

export const twoClaimants: EndToEndCase = {
  name: 'two-claimants',
  about:
    'a boot token is for one address, the newest wins, the first join wins, also without a centre; a second claimant is refused and an alarm',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      const mac = line.rack.machine('m1').mac;
      const machine = await addLanHost(line, { name: 'm', mac, directory: line.books.directory });
      const stranger = await addLanHost(line, {
        name: 's',
        mac: strangersMac,
        directory: line.books.directory,
      });
      try {
        await claims(report, line, { machine, stranger }, options);
      } finally {
        await machine.remove();
        await stranger.remove();
      }
    }),
};

interface Hosts {
  machine: LanHost;
  stranger: LanHost;
}

async function claims(report: Report, line: Line, { machine, stranger }: Hosts, { signal }: CaseOptions) {
  const { mac } = machine;
  report.phase('a boot entry, and who gets a token under it');
  const workflowId = await startDeploy(line);
  await followWorkflow(line, workflowId, { signal, until: waitsForRamdisk });
  const older = tokenIn(await machine.script(mac)) ?? '';
  const newer = tokenIn(await machine.script(mac)) ?? '';
  report.check('the machine gets tokens, each another one', older !== '' && newer !== '' && older !== newer);
  report.check('another host gets none for it', tokenIn(await stranger.script(mac)) === undefined);
  const tooLate = await machine.claim(older, mac);
  const unknown = await tooLate.says(/join failed, trying again: .*not known here/).catch(String);
  report.check('the older token is refused', unknown.startsWith('join failed'), unknown);
  await tooLate.stop();

  report.phase('a stranger with the token comes first');
  const early = await stranger.claim(newer, mac);
  const elsewhere = /join failed, trying again: .*is not the address that/;
  const earlySaid = await early.says(elsewhere).catch(String);
  report.check('the stranger is refused, though it is the first', elsewhere.test(earlySaid), earlySaid);
  await early.stop();
  report.check('nor is it given a token without a script', (await stranger.tokenFor(mac)) === undefined);

  report.phase('a join without a centre');
  await line.centre.stop();
  const first = await machine.claim(newer, mac);
  await first.says(/^joined site/);
  report.check('the centre was away', !line.centre.process.running);
  await line.centre.start();
  await first.says(/^deploy\.image begins/);
  const joined = await nodeRecord(line);
  report.check(
    'the centre learned of it later, and how far to trust it',
    joined.ramdisk?.trust === 'network',
  );
  report.check(
    'and has signed an operation for its keys',
    (await getWorkflow(line, workflowId)).state === 'running',
  );
  const before = joined.alarms.map(({ reason }) => reason);
  report.check(
    'only the host that asked for a token, and showed one, was an alarm',
    before.length > 1 && before.every((one) => one === 'other-host'),
    before,
  );

  report.phase('a second claimant');
  const second = await stranger.claim(newer, mac);
  const turnedAway = /trying again: two machines (claim to be this one|have claimed this boot token)/;
  const secondSaid = await second.says(turnedAway).catch(String);
  report.check('the second is refused', turnedAway.test(secondSaid), secondSaid);
  const firstSaid = await first.says(turnedAway).catch(String);
  report.check('so is the first from then on', turnedAway.test(firstSaid), firstSaid);
  // The site forgets the boot entry as soon as it hears that the workflow has failed.
  const further = await machine.claim((await machine.tokenFor(mac)) ?? newer, mac);
  const stillOut = /trying again: (two machines have claimed|the boot (token|entry) .*boot again)/;
  const furtherSaid = await further.says(stillOut).catch(String);
  report.check('a further token, without a script, lets nobody in', stillOut.test(furtherSaid), furtherSaid);
  await further.stop();
  const ended = await followWorkflow(line, workflowId, { signal });
  const { reason } = ended.error?.details ?? {};
  report.check('the workflow says so', reason === 'contested', ended.error);
  await checkAlarms(report, line);
  await first.stop();
  await second.stop();
}

async function checkAlarms(report: Report, line: Line): Promise<void> {
  const node = await nodeRecord(line, ({ alarms }) => alarms.some(({ reason }) => reason === 'contested'));
  report.check('the node has the alarm', node.alarms[0]?.reason === 'contested', node.alarms);
  const { items } = await line.api.call<{ items: { siteId: string; alarms: NodeRecord['alarms'] }[] }>(
    'sites',
    'list',
    {},
  );
  const site = items.find(({ siteId }) => siteId === line.books.siteId);
  report.check(
    'the site has it too',
    site?.alarms.some(({ reason }) => reason === 'contested') === true,
    site,
  );
  await line.api.call('nodes', 'acknowledge', { tenantId, nodeId: line.nodes.get('m1') });
  report.check('an operator takes it off', (await nodeRecord(line)).alarms.length === 0);
}

async function startDeploy(line: Line): Promise<string> {
  const steps = [
    { use: 'boot.prepareRamdisk', on: 'site' },
    { use: 'wait.agentJoined', with: { role: 'ramdisk' } },
    { use: 'deploy.deploy', on: 'ramdisk' },
  ];
  const document = { id: 'claims', version: 1, target: 'metal', role: 'host', image: { ref: osRef }, steps };
  await line.api.call('profiles', 'create', { tenantId, document });
  const nodeId = line.nodes.get('m1');
  const input = { tenantId, nodeId, profileId: 'claims' };
  return (await line.api.call<{ workflowId: string }>('metal', 'deploy', input)).workflowId;
}

function waitsForRamdisk({ steps }: Workflow): boolean {
  return steps.some(({ use, state }) => use === 'wait.agentJoined' && state === 'running');
}

async function nodeRecord(line: Line, isSo: (node: NodeRecord) => boolean = () => true): Promise<NodeRecord> {
  for (let tries = 0; ; tries++) {
    const nodeId = line.nodes.get('m1');
    const node = await line.api.call<NodeRecord>('nodes', 'get', { tenantId, nodeId });
    if (isSo(node) || tries === 100) return node;
    await delay(100);
  }
}
