import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'smol-toml';
import { type SimulatedBmc, type SimulatedBmcOptions, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { type Find, findIn, findInFiles } from '../../fakes/markers.ts';
import type { Lab } from './lab.ts';
import { type RunningProgram, runProgram } from './processes.ts';
import { eventually } from './withLab.ts';

const tenantId = 'root';

interface Workflow {
  state: string;
  error?: { message: string; details?: { reason?: string } };
  steps: { use: string; state: string; result?: Record<string, unknown> }[];
}

interface NodeView {
  state: string;
  workflowId: string;
  bmc: { credentialRef: string };
  drivers: Record<string, { config: { credentialRef?: string } }>;
  nextBmcSecret?: { ref: string };
  alarms: { reason: string }[];
}

/** A real centre and a real site, with two BMCs whose factory password must be changed. */
export interface PasswordScene {
  bmc: SimulatedBmc;
  other: SimulatedBmc;
  enrol(nodeId: string, bmc: SimulatedBmc, binding: object, more?: object): Promise<void>;
  node(nodeId: string): Promise<NodeView>;
  newestWorkflow(nodeId: string): Promise<Workflow>;
  rotate(nodeId: string): Promise<Workflow>;
  /** Whether a power call of the API does what it says. */
  drives(nodeId: string, bmc?: SimulatedBmc): Promise<boolean>;
  secretRefs(): Promise<string[]>;
  /** How many requests `work` makes the BMC get. */
  requestsOf(work: () => Promise<unknown>): Promise<number>;
  /** A rotation in the middle of which, at one of the BMC's requests, a program is killed; then it is started again. */
  rotateKilled(
    nodeId: string,
    at: number,
    whom: 'site' | 'centre',
    meanwhile?: () => Promise<void>,
  ): Promise<{ ended: Workflow; request: string }>;
  /** Whether the site, by its own word alone, reads something of the BMC. */
  readsAtSite(nodeId: string): Promise<boolean>;
  /** Called once the BMC has stored a password. */
  afterChange(listener: (() => void) | undefined): void;
  restartSite(): Promise<void>;
  /** Works between a backup of the centre and its restoration. */
  beforeRestoring(work: () => Promise<unknown>): Promise<void>;
  /** Every password that a BMC has had. */
  passwords(): string[];
  passwordsFound(): Promise<Find[]>;
  close(): Promise<void>;
}

export async function openPasswordScene(
  lab: Lab,
  { directory, tls, factory }: { directory: string; tls: SimulatedBmcOptions['tls']; factory: string },
): Promise<PasswordScene> {
  const site = await lab.newSite('north');
  // Nothing else than rotations is to ask the BMC: the same requests in every run.
  const config = parse(await readFile(site.configFile, 'utf8'));
  const bmcs = { ...(config.bmc as object), events: { mode: 'poll' } };
  await writeFile(site.configFile, stringify({ ...config, bmc: bmcs }));
  let centre = await lab.startCentre();
  await lab.join(site);
  let agent = await lab.startSite(site);
  const programs: RunningProgram[] = [centre, agent];
  const passwords = new Set([factory]);
  let changed: (() => void) | undefined;
  const start = async () => {
    const own = await mkdtemp(path.join(directory, 'bmc-'));
    const bmc = await startSimulatedBmc({ directory: own, tls, faults: ['factory-password'] });
    bmc.account.password = factory;
    const change = bmc.account.change.bind(bmc.account);
    bmc.account.change = (password) => {
      passwords.add(password);
      change(password);
      changed?.();
    };
    return bmc;
  };
  const [bmc, other] = [await start(), await start()];

  const ended = async (workflowId: string): Promise<Workflow> => {
    const found = await eventually(async () => {
      const { data } = await lab.call<Workflow>('workflows.get', { tenantId, workflowId });
      return data.state === 'running' ? undefined : data;
    }, 90_000);
    return found ?? { state: 'running', steps: [] };
  };
  const node = async (nodeId: string) => (await lab.call<NodeView>('nodes.get', { tenantId, nodeId })).data;
  const startRotation = async (nodeId: string) =>
    (await lab.call<{ workflowId: string }>('nodes.rotateBmcPassword', { tenantId, nodeId })).data.workflowId;
  const restart = {
    site: async () => {
      await agent.kill();
      agent = await lab.startSite(site);
      programs.push(agent);
    },
    centre: async () => {
      await centre.kill();
      centre = await lab.startCentre();
      programs.push(centre);
    },
  };

  return {
    bmc,
    other,
    enrol: async (nodeId, { address }, binding, more = {}) => {
      const macs = [`52:54:00:00:72:0${nodeId === 'own' ? 1 : 2}`];
      const input = { tenantId, siteId: site.siteId, nodeId, macs, bmc: { address, ...binding }, ...more };
      const answer = await lab.call<NodeView>('metal.enroll', input);
      if (answer.data === undefined) throw new Error(JSON.stringify(answer));
      await ended(answer.data.workflowId);
    },
    node,
    newestWorkflow: async (nodeId) => ended((await node(nodeId)).workflowId),
    rotate: async (nodeId) => ended(await startRotation(nodeId)),
    drives: async (nodeId, driven = bmc) => {
      const action = driven.machine.powerState === 'On' ? 'off' : 'on';
      const { data } = await lab.call<{ workflowId: string }>('metal.power', { tenantId, nodeId, action });
      const { state } = await ended(data.workflowId);
      return state === 'succeeded' && driven.machine.powerState === (action === 'on' ? 'On' : 'Off');
    },
    secretRefs: async () => {
      const { data } = await lab.call<{ items: { ref: string }[] }>('secrets.list', { tenantId });
      return data.items.map(({ ref }) => ref).toSorted();
    },
    requestsOf: async (work) => {
      const before = bmc.requests.length;
      await work();
      return bmc.requests.length - before;
    },
    rotateKilled: async (nodeId, at, whom, meanwhile) => {
      const before = bmc.requests.length;
      const { promise: killed, resolve } = Promise.withResolvers<void>();
      const count = () => {
        if (bmc.requests.length - before < at) return;
        bmc.app.server.off('request', count);
        void (whom === 'site' ? agent : centre).kill().then(resolve);
      };
      bmc.app.server.on('request', count);
      const workflowId = await startRotation(nodeId);
      // A rotation that begins in a session that is open has a request less.
      await Promise.race([killed, ended(workflowId)]);
      await meanwhile?.();
      await restart[whom]();
      const { method, url } = bmc.requests[before + at - 1] ?? { method: '', url: '' };
      return { ended: await ended(workflowId), request: `${method} ${url}` };
    },
    readsAtSite: async (nodeId) => {
      const request = ['GET', '/redfish/v1/Systems/1', '--config', site.configFile];
      const { status, output } = await runProgram('bcd', ['site', 'redfish', nodeId, ...request]);
      return status === 0 && output.includes('PowerState');
    },
    afterChange: (listener) => {
      changed = listener;
    },
    restartSite: restart.site,
    beforeRestoring: async (work) => {
      const backup = path.join(directory, 'backup');
      await centre.kill();
      await cp(lab.central, backup, { recursive: true });
      await restart.centre();
      await work();
      await centre.kill();
      await rm(lab.central, { recursive: true });
      await rename(backup, lab.central);
      await restart.centre();
    },
    passwords: () => [...passwords],
    passwordsFound: async () => {
      const markers = Object.fromEntries([...passwords].map((password, at) => [`password ${at}`, password]));
      const logs = Buffer.from(programs.flatMap(({ lines }) => lines).join('\n'));
      return [
        ...findIn('logs', logs, markers),
        ...findInFiles([site.stateDirectory, lab.central], markers),
        ...(await inProcesses(markers)),
      ];
    },
    close: async () => {
      await bmc.close();
      await other.close();
    },
  };
}

/** In the arguments and environments of the other processes of this host. */
async function inProcesses(markers: Record<string, string>): Promise<Find[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const files = pids.flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]);
  const read = (file: string) => readFile(file).catch(() => Buffer.alloc(0));
  return (await Promise.all(files.map(async (file) => findIn(file, await read(file), markers)))).flat();
}
