import { readFile } from 'node:fs/promises';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../fixtures/samples');

/** A code sample of the specification, word by word. */
export function readSample(name: 'ubuntu-gpu-host' | 'hardware-profile' | 'register-image'): Promise<string> {
  return readFile(path.join(folder, `${name}.txt`), 'utf8');
}

/**
 * The sample as a module of this package: the specification's package name becomes ours, and what the sample takes for given
 * (`compute`, `credential`, …) becomes the argument of `run`.
 */
export function asModule(sample: string, given: readonly string[], packageName = 'railhead'): string {
  const lines = sample.replaceAll("'better-compute/", `'${packageName}/`).split('\n');
  const imports = lines.filter((line) => line.startsWith('import '));
  const body = lines.filter((line) => !line.startsWith('import '));
  return [...imports, `export async function run({ ${given.join(', ')} }: any) {`, ...body, '}', ''].join(
    '\n',
  );
}
