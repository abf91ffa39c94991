import { parseArgs } from 'node:util';
import { endDescendants } from '#base/descendants.ts';
import { stopRequest } from '#base/shutdown.ts';
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
  process.exit(await runAll(positionals.map(findCase), stopRequest()));
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
  if (signal.aborted) endDescendants();
  console.log(JSON.stringify(report));
  return report.ok;
}
