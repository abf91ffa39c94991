import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { everyTestPassed } from '#contract/dcgm.ts';
import { readDcgmReport, runDcgm } from '#ramdisk/diag/dcgm.ts';

const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-dcgm-'));
afterAll(() => rm(directory, { recursive: true }));

/** A report in the shape of DCGM 3 (`gpu_ids`, `info`) or 4 (`entity_id`, `warnings`). */
const report = (root: string, ...results: object[]) =>
  JSON.stringify({
    [root]: { test_categories: [{ category: 'Hardware', tests: [{ name: 'GPU Memory', results }] }] },
  });

/** A `dcgmi` that prints this and ends with this status. */
async function fakeDcgmi(text: string, status: number): Promise<string> {
  const program = path.join(directory, `dcgmi-${status}`);
  await writeFile(program, `#!/bin/sh\ncat <<'END'\n${text}\nEND\nexit ${status}\n`);
  await chmod(program, 0o755);
  return program;
}

test('reports of DCGM 3 and 4 are read alike', () => {
  expect(readDcgmReport(report('DCGM GPU Diagnostic', { gpu_ids: '0,1', status: 'PASS' }))).toEqual([
    { category: 'Hardware', name: 'GPU Memory', status: 'passed', part: '0,1' },
  ]);
  const failed = { entity_id: 3, status: 'Fail', warnings: [{ warning: 'row remap failure' }] };
  expect(readDcgmReport(`warning: …\n${report('DCGM Diagnostic', failed)}`)).toEqual([
    { category: 'Hardware', name: 'GPU Memory', status: 'failed', part: '3', message: 'row remap failure' },
  ]);
});

/** A machine's root with PCI devices of this class and vendor each. */
async function machine(name: string, ...devices: [deviceClass: string, vendor: string][]): Promise<string> {
  const root = path.join(directory, name);
  for (const [index, [deviceClass, vendor]] of devices.entries()) {
    const device = path.join(root, `sys/bus/pci/devices/0000:0${index}:00.0`);
    await mkdir(device, { recursive: true });
    await writeFile(path.join(device, 'class'), `${deviceClass}\n`);
    await writeFile(path.join(device, 'vendor'), `${vendor}\n`);
  }
  return root;
}

const withGpu = await machine('gpu', ['0x030200', '0x10de'], ['0x030000', '0x1a03']);

test('a machine without an NVIDIA GPU says so, needs no dcgmi, and passes', async () => {
  const root = await machine('none', ['0x030000', '0x1a03'], ['0x020000', '0x10de']);
  const result = await runDcgm(2, AbortSignal.timeout(5000), { program: '/no/dcgmi', root });
  expect(result).toEqual({ level: 2, gpus: 0, tests: [] });
  expect(everyTestPassed(result)).toBe(true);
  const program = await fakeDcgmi('Error: no supported GPUs', 1);
  expect(await runDcgm(2, AbortSignal.timeout(5000), { program, root })).toEqual(result);
});

test('a diagnosis that is cancelled has no result, GPU or none', async () => {
  const root = await machine('cancelled');
  await expect(runDcgm(2, AbortSignal.abort(), { root })).rejects.toThrow();
});

test('a skipped test has not passed, and a run of none proves nothing of a GPU', () => {
  const tests = (...statuses: string[]) => ({
    level: 1,
    gpus: 1,
    tests: readDcgmReport(report('DCGM Diagnostic', ...statuses.map((status) => ({ status })))) ?? [],
  });
  expect(everyTestPassed(tests('Pass', 'Pass'))).toBe(true);
  expect(everyTestPassed(tests('Pass', 'Skip'))).toBe(false);
  expect(everyTestPassed(tests())).toBe(false);
  expect(everyTestPassed(tests('Pass', 'Warn'))).toBe(false);
});

test('a failed test is a report too, though dcgmi ends with a status', async () => {
  const program = await fakeDcgmi(report('DCGM Diagnostic', { status: 'Fail' }), 226);
  const result = await runDcgm(2, AbortSignal.timeout(5000), { program, root: withGpu });
  expect(result).toMatchObject({ level: 2, gpus: 1, tests: [{ status: 'failed' }] });
});

test('without dcgmi it is said what is missing, and without a report what dcgmi said', async () => {
  const signal = AbortSignal.timeout(5000);
  await expect(runDcgm(1, signal, { program: '/no/dcgmi', root: withGpu })).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  });
  const program = await fakeDcgmi('Error: host engine is not running', 0);
  await expect(runDcgm(1, signal, { program, root: withGpu })).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    message: 'dcgmi gave no report: Error: host engine is not running',
  });
});

test('any text and any document is read without a fault', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readDcgmReport(text)));
  const root = fc.constantFrom('DCGM Diagnostic', 'DCGM GPU Diagnostic');
  fc.assert(
    fc.property(root, fc.jsonValue(), (name, value) => {
      readDcgmReport(
        JSON.stringify({ [name]: { test_categories: [value, { tests: [value, { results: [value] }] }] } }),
      );
    }),
  );
});
