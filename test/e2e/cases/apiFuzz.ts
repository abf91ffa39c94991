import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseGrant } from '#central/api/grants.ts';
import { createToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { startCentral } from '#central/start.ts';
import { newDatabase, startPostgres } from '../../postgres/server.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { PythonSoftware } from '../pyPi.ts';
import type { Report } from '../report.ts';
import { fuzz, schemathesis } from '../schemathesis.ts';

const secondsEach = 25;

/** Whatever is sent to the API, it neither breaks nor answers what its schema does not say; on both databases. */
export const apiFuzz: EndToEndCase = {
  name: 'api-fuzz',
  about:
    'schemathesis against a running centre: no 5xx, no answer outside its schema, nothing wrong accepted',
  run: async (report) => {
    report.phase('schemathesis');
    const software = await schemathesis();
    if (software === undefined) return report.check('that schemathesis is absent is said', true);
    report.phase('SQLite');
    await fuzzCentre(report, software, 'SQLite');
    report.phase('PostgreSQL');
    const server = await startPostgres();
    try {
      await fuzzCentre(report, software, 'PostgreSQL', await newDatabase(server.url));
    } finally {
      await server.close();
    }
  },
};

async function fuzzCentre(
  report: Report,
  software: PythonSoftware,
  name: string,
  database?: string,
): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-fuzz-'));
  const local = { host: '127.0.0.1', port: 0 };
  const unlimited = { perSecond: 1e9, burst: 1e9 };
  const central = await startCentral({
    directory,
    api: local,
    agents: local,
    names: ['127.0.0.1'],
    rates: { token: unlimited, apiAddress: unlimited },
    ...(database !== undefined && { database }),
  });
  try {
    const { ok, output } = await fuzz(software, central.apiUrl, await operatorToken(directory), secondsEach);
    if (!ok) console.error(output);
    report.check(`the API on ${name} holds to its schema`, ok, output.slice(-300));
  } finally {
    await central.close();
    await rm(directory, { recursive: true });
  }
}

function operatorToken(directory: string): Promise<string> {
  return onHost(directory, async ({ store }) => {
    const grants = [parseGrant('compute:*@compute-fleet:*')];
    return (await createToken(store, { name: 'fuzz', grants, validMs: 600_000 })).token;
  });
}
