import { defaultRates } from '#central/rates.ts';
import { startCentral } from '#central/start.ts';

/** A centre as a process of its own, on the directory given. Its limits on how often one may ask would be measured otherwise. */
const [directory = ''] = process.argv.slice(2);
const unlimited = { perSecond: 1e9, burst: 1e9 };
const central = await startCentral({
  directory,
  api: { host: '127.0.0.1', port: 0 },
  agents: { host: '127.0.0.1', port: 0 },
  names: ['127.0.0.1'],
  rates: { ...defaultRates, token: unlimited, apiAddress: unlimited },
});
process.stdout.write(`${JSON.stringify({ port: Number(new URL(central.apiUrl).port) })}\n`);
process.once('SIGTERM', () => void central.close());
