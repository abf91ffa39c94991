import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { stopRequest } from '#base/shutdown.ts';
import { supervise, type TargetFindings } from './supervise.ts';
import { loadTarget, targetNames } from './targets/index.ts';
import { trial } from './trial.ts';

/**
 * `npm run fuzz -- [--inputs N] [--target NAME]… [--seed S]`: every parser of outside bytes, N inputs in all, each the same share; the last line
 * on standard output is JSON. `--target NAME --hex BYTES` repeats one input.
 */
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    target: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    hex: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const inputs = Number(values.inputs);
const seed = Number(values.seed);
const chosen = values.target ?? targetNames;
const unknown = chosen.filter((name) => !targetNames.includes(name));

if (values.list) for (const name of targetNames) console.log(name);
else if (unknown.length > 0 || !Number.isSafeInteger(inputs) || inputs < 1 || !Number.isSafeInteger(seed)) {
  console.error(`usage: npm run fuzz -- [--inputs N] [--target NAME]... [--seed S] [--hex BYTES] [--list]`);
  console.error(`targets: ${targetNames.join(' ')}`);
  process.exitCode = 2;
} else if (values.hex !== undefined) await repeat(chosen, Buffer.from(values.hex, 'hex'));
else await runAll();

async function repeat(names: readonly string[], input: Buffer): Promise<void> {
  for (const name of names) {
    const fault = await trial(await loadTarget(name), input);
    console.log(
      `${name}: ${fault === undefined ? 'nothing to complain of' : `${fault.what}: ${fault.message}`}`,
    );
    if (fault !== undefined) process.exitCode = 1;
  }
}

async function runAll(): Promise<void> {
  const begun = performance.now();
  const signal = stopRequest();
  const waiting = [...chosen];
  const perTarget: Record<string, TargetFindings> = {};
  const turn = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const findings = await supervise(name, Math.ceil(inputs / chosen.length), seed, signal);
      perTarget[name] = findings;
      tell(name, findings);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, turn));
  const summary = summaryOf(perTarget, (performance.now() - begun) / 1000);
  console.log(JSON.stringify(summary));
  if (summary.failures.length > 0) process.exitCode = 1;
}

function tell(name: string, { inputs: done, seconds, covered, corpus, failures }: TargetFindings): void {
  const rate = Math.round(done / seconds);
  console.error(
    `${name.padEnd(22)} ${done} inputs, ${rate}/s, ${covered} bytes of code reached, ${corpus} inputs kept`,
  );
  for (const { what, message, hex } of failures) {
    console.error(`  ${what}: ${message}\n  input ${hex}`);
    console.error(
      `  again: npm run fuzz -- --target ${name} --hex ${hex.slice(0, 80)}${hex.length > 80 ? '…' : ''}`,
    );
    console.error(
      `  whole run again: npm run fuzz -- --target ${name} --inputs ${Math.ceil(inputs / chosen.length)} --seed ${seed}`,
    );
  }
}

function summaryOf(found: Record<string, TargetFindings>, seconds: number) {
  const all = Object.entries(found);
  return {
    inputs: all.reduce((sum, [, { inputs: done }]) => sum + done, 0),
    perTarget: Object.fromEntries(
      all.map(([name, { inputs: done, seconds: took, covered, corpus, heapGrowth }]) => [
        name,
        { inputs: done, seconds: Math.round(took * 10) / 10, coveredBytes: covered, corpus, heapGrowth },
      ]),
    ),
    seconds: Math.round(seconds * 10) / 10,
    seed,
    failures: all.flatMap(([target, { failures }]) => failures.map((failure) => ({ target, ...failure }))),
    heapGrowth: Math.max(0, ...all.map(([, { heapGrowth }]) => heapGrowth)),
  };
}
