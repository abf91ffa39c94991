import { parseArgs } from 'node:util';
import { cases } from './cases/index.ts';
import type { EndToEndCase } from './endToEndCase.ts';
import { Report } from './report.ts';

/**
 * `npm run e2e -- NAME…`: runs end-to-end cases one after the other. Each prints its progress on standard error and
 * one line of JSON on standard output; the exit status is 0 only when every check of every case held.
 */
const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
  allowPositionals: true,
});

if (values.list) {
  for (const { name, about } of cases) console.log(`${name.padEnd(18)} ${about}`);
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(signal)));
  process.exitCode = await runAll(positionals.map(findCase), stop.signal);
}

function findCase(name: string): EndToEndCase {
  const found = cases.find((one) => one.name === name);
  if (found !== undefined) return found;
  console.error(`there is no end-to-end case '${name}'; npm run e2e -- --list names them all`);
  process.exit(2);
}

async function runAll(chosen: readonly EndToEndCase[], signal: AbortSignal): Promise<number> {
  if (chosen.length === 0) {
    console.error('name at least one case; npm run e2e -- --list names them all');
    return 2;
  }
  let failed = 0;
  for (const one of chosen) {
    if (signal.aborted) return 130;
    if (!(await runCase(one, signal))) failed++;
  }
  return failed === 0 ? 0 : 1;
}

async function runCase(one: EndToEndCase, signal: AbortSignal): Promise<boolean> {
  console.error(`case ${one.name}: ${one.about}`);
  const report = new Report(one.name);
  try {
    await one.run(report, { signal, keep: values.keep });
  } catch (error) {
    report.check(signal.aborted ? 'not interrupted' : 'ran to its end', false, String(error));
    if (!signal.aborted) console.error(error);
  }
  report.endPhase();
  console.log(JSON.stringify(report));
  return report.ok;
}
