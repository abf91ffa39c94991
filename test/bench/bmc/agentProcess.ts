import { driverOpener } from '#agent/site/drivers/open.ts';
import { type Bmcs, createBmcs } from '#agent/site/operations/bmcs.ts';
import { silentLog } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { driverParts } from '../../fakes/driverParts.ts';
import { residentMiB, serveCommands } from '../join/worker.ts';

interface Bmc {
  address: string;
  username: string;
  password: string;
}

/** The agent's part that talks to BMCs, alone in its process, so that its CPU and memory are what is measured. */
let bmcs: Bmcs | undefined;
let nodes: SiteNode[] = [];
const passwords = new Map<string, Bmc>();
let polls = 0;
let failures = 0;
let timers: NodeJS.Timeout[] = [];

serveCommands({
  open: async ({ bmcs: known }: { bmcs: Bmc[] }) => {
    for (const bmc of known) passwords.set(bmc.address, bmc);
    nodes = known.map(({ address }, at) => nodeOf(address, at));
    const credentialsOf = async ({ bmc: { address = '' } }: { bmc: { address?: string } }) => {
      const { username = '', password = '' } = passwords.get(address) ?? {};
      return { username, password };
    };
    bmcs = createBmcs({ open: driverOpener({ ...driverParts(), credentialsOf }), log: silentLog() });
    return {};
  },
  /** Every node's power once per `everyMs`, spread over that time, until `stop`. */
  poll: async ({ everyMs }: { everyMs: number }) => {
    timers = nodes.map((node, at) =>
      setTimeout(
        () => {
          void poll(node);
          timers.push(setInterval(() => void poll(node), everyMs));
        },
        (everyMs * at) / nodes.length,
      ),
    );
    return {};
  },
  used: async () => ({
    cpuMs: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
    polls,
    failures,
  }),
  memory: residentMiB,
  stop: async () => {
    for (const timer of timers) clearTimeout(timer);
    await bmcs?.close();
    return { polls, failures };
  },
});

function nodeOf(address: string, at: number): SiteNode {
  return {
    nodeId: `node_${at}`,
    macs: [],
    bmc: { driver: 'redfish', address, credentialRef: 'secret://bmc' },
  };
}

async function poll(node: SiteNode): Promise<void> {
  polls++;
  await bmcs?.use(node, (bmc) => bmc.getPower()).catch(() => failures++);
}
