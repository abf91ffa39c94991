import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLog } from '#base/log.ts';
import { loopbackCertificate, type SimulatedBmc, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { type Bmc, openBmc } from '#redfish/bmc.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';

const [atOnce, rounds] = [8, 6];

/** The same dice in every run: what CI checks must not depend on chance. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const bmcFlaky: EndToEndCase = {
  name: 'bmc-flaky',
  about:
    'of the answers of eight BMCs 10 % are 503, slow or cut: every operation still ends right; no machine is started',
  run: async (report) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-flaky-'));
    const tls = await loopbackCertificate();
    const image = path.join(directory, 'image.iso');
    await writeFile(image, 'an image');
    report.phase(`${atOnce} BMCs, ${rounds} rounds of eight operations`);
    try {
      const runs = await Promise.all(
        Array.from({ length: atOnce }, async (_, at) => {
          const own = await mkdtemp(path.join(directory, 'bmc-'));
          const bmc = await startSimulatedBmc({
            directory: own,
            tls,
            delayMs: 200,
            faults: ['flaky'],
            random: dice(at),
          });
          return operate(bmc, pathToFileURL(image).href);
        }),
      );
      judge(report, runs);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};

interface FlakyRun {
  operations: number;
  requests: number;
  wrong: string[];
  mostSessions: number;
  sessionsLeft: number;
}

async function operate(fake: SimulatedBmc, image: string): Promise<FlakyRun> {
  const { username, password } = fake.record.bmc;
  const bmc = openBmc({ address: fake.address, username, password, log: silentLog() });
  const wrong: string[] = [];
  let operations = 0;
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, work] of Object.entries(script(bmc, fake, image))) {
        operations++;
        const right = await work().catch((error: unknown) => String(error));
        if (right !== true) wrong.push(`${name}: ${right}`);
      }
  } finally {
    fake.faults.set([]);
    await bmc.close();
    await fake.close();
  }
  const { most } = fake.sessions;
  return {
    operations,
    requests: fake.requests.length,
    wrong,
    mostSessions: most,
    sessionsLeft: fake.sessions.ids().length,
  };
}

/** Each operation, and whether the machine is afterwards as it was to be. */
function script(bmc: Bmc, { machine }: SimulatedBmc, image: string): Record<string, () => Promise<boolean>> {
  const starts = () => machine.starts.length;
  return {
    boot: async () => {
      await bmc.setBootDevice({ device: 'pxe', persistent: false });
      return machine.bootOverride.target === 'Pxe' && machine.bootOverride.enabled === 'Once';
    },
    on: async () =>
      (await bmc.setPower('on')) === 'on' &&
      machine.powerState === 'On' &&
      machine.starts.at(-1)?.target === 'Pxe',
    power: async () => (await bmc.getPower()) === 'on',
    insert: async () => {
      await bmc.insertMedia(image);
      return machine.medium !== undefined;
    },
    cycle: async () => {
      const before = starts();
      await bmc.setPower('cycle');
      // One reset is taken at once and happens a little later.
      for (let waits = 0; waits < 50 && starts() === before; waits++)
        await new Promise((done) => setTimeout(done, 50));
      return starts() > before && (await bmc.getPower()) === 'on';
    },
    eject: async () => {
      await bmc.ejectMedia();
      return machine.medium === undefined;
    },
    inspect: async () => {
      const { nics, notes } = await bmc.inspect();
      return nics.length === 1 && notes.length === 0;
    },
    off: async () => (await bmc.setPower('off')) === 'off' && machine.powerState === 'Off',
  };
}

function judge(report: Report, runs: readonly FlakyRun[]): void {
  const sum = (count: (run: FlakyRun) => number) => runs.reduce((total, run) => total + count(run), 0);
  const wrong = runs.flatMap((run) => run.wrong);
  console.error(
    `  ${sum(({ operations }) => operations)} operations, ${sum(({ requests }) => requests)} requests`,
  );
  report.check('every operation ended right', wrong.length === 0, wrong);
  const most = Math.max(...runs.map(({ mostSessions }) => mostSessions));
  report.check('no BMC had more than one session of ours', most <= 1, most);
  // A login whose answer was lost leaves a session that nobody can end; it ends by its time-out.
  report.check(
    'at most one is left',
    runs.every(({ sessionsLeft }) => sessionsLeft <= 1),
  );
}
