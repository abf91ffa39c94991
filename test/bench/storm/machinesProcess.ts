import { setTimeout as sleep } from 'node:timers/promises';
import { Addresses } from './addresses.ts';
import { initrdBytes, kernelBytes } from './files.ts';
import { type BootTimes, boot } from './machine.ts';
import { Port68 } from './port68.ts';

/** `node machinesProcess.ts INTERFACE MACHINES SECONDS`: that many machines, powered on within so long; one line of JSON says how they booted. */
const [interfaceName = '', machines = '1', seconds = '1'] = process.argv.slice(2);

const count = Number(machines);
const around = {
  port: Port68.open(interfaceName),
  addresses: new Addresses(interfaceName),
  progress: { bytes: 0 },
  imageBytes: kernelBytes + initrdBytes,
};
const failures: Record<string, number> = {};

async function machine(number: number): Promise<BootTimes | undefined> {
  await sleep((number / count) * Number(seconds) * 1000);
  try {
    return await boot(number, around);
  } catch (error) {
    const why = (error as Error).message;
    failures[why] = (failures[why] ?? 0) + 1;
    return undefined;
  }
}

const all = await Promise.all(Array.from({ length: count }, (_, number) => machine(number)));
const booted = all.filter((times) => times !== undefined);
const quantile = (values: number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? Number.NaN);
const of = (values: number[]) => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) });
console.log(
  JSON.stringify({
    booted: booted.length,
    failures,
    scriptMs: of(booted.map(({ scriptMs }) => scriptMs)),
    bootedMs: of(booted.map(({ bootedMs }) => bootedMs)),
  }),
);
process.exit(0);
