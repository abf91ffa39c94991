import { CommandFailed, run } from '#base/command.ts';
import { systemCode } from '#base/errors.ts';
import type { DcgmResult, DcgmTest } from '#contract/dcgm.ts';
import { RailheadError } from '#contract/errors.ts';
import { readGpus } from '../inventory/gpus.ts';

/** NVIDIA, as PCI numbers vendors. */
const nvidia = '0x10de';

/** Where another `dcgmi`, or another machine's `/sys`, stands. */
interface DcgmPlaces {
  program?: string;
  root?: string;
}

/**
 * Runs `dcgmi diag` and reads its report. DCGM is NVIDIA's and not free to hand on: it is there where an operator's ramdisk or OS has it.
 * A machine without an NVIDIA GPU, where DCGM tells nothing, has a result all the same: it says so, and has no tests.
 * @throws RailheadError UNSUPPORTED without dcgmi, DRIVER_ERROR (`reason` dcgm) when it gives no report
 */
export async function runDcgm(
  level: number,
  signal: AbortSignal,
  { program = 'dcgmi', root = '/' }: DcgmPlaces = {},
): Promise<DcgmResult> {
  const gpus = (await readGpus(root)).filter(({ vendorId }) => vendorId === nvidia).length;
  try {
    return { level, gpus, tests: await testsOfDcgm(level, signal, program) };
  } catch (error) {
    if (gpus > 0 || signal.aborted) throw error;
    return { level, gpus, tests: [] };
  }
}

async function testsOfDcgm(level: number, signal: AbortSignal, program: string): Promise<DcgmTest[]> {
  const report = await run(program, ['diag', '-r', String(level), '-j'], { signal }).catch(reportOfFailure);
  const tests = readDcgmReport(report);
  if (tests !== undefined) return tests;
  throw new RailheadError('DRIVER_ERROR', `dcgmi gave no report: ${report.slice(0, 500).trim()}`, {
    reason: 'dcgm',
  });
}

/** dcgmi ends with a status other than 0 when a test failed, and has said all of it on its standard output. */
function reportOfFailure(error: unknown): string {
  if (systemCode((error as Error).cause) === 'ENOENT')
    throw new RailheadError('UNSUPPORTED', 'there is no dcgmi here: use an image that has NVIDIA DCGM', {
      reason: 'dcgm',
    });
  if (error instanceof CommandFailed && error.stdout !== '') return error.stdout;
  throw new RailheadError('DRIVER_ERROR', (error as Error).message, { reason: 'dcgm' }, error);
}

/** The root of the report in DCGM 3 and 4. */
const roots = ['DCGM Diagnostic', 'DCGM GPU Diagnostic'];
const statuses: Record<string, DcgmTest['status']> = { pass: 'passed', skip: 'skipped' };

/**
 * Reads the JSON of `dcgmi diag -j`: categories, tests, a result per GPU or entity. A status that is neither pass nor skip counts
 * as failed. Text around the document (dcgmi warns on standard output) is passed over. Never throws.
 * @returns undefined when it is no such report
 */
export function readDcgmReport(text: string): DcgmTest[] | undefined {
  const document = parsed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  const root = roots.map((name) => field(document, name)).find((value) => value !== undefined);
  const categories = field(root, 'test_categories');
  if (!Array.isArray(categories)) return undefined;
  return categories.flatMap((category) =>
    list(field(category, 'tests')).flatMap((test) => testsOf(textOf(field(category, 'category')), test)),
  );
}

function testsOf(category: string, test: unknown): DcgmTest[] {
  const name = textOf(field(test, 'name'));
  return list(field(test, 'results')).map((result) => {
    const part = textOf(field(result, 'gpu_ids') ?? field(result, 'gpu_id') ?? field(result, 'entity_id'));
    const message = messageOf(result);
    return {
      category,
      name,
      status: statuses[textOf(field(result, 'status')).toLowerCase()] ?? 'failed',
      ...(part !== '' && { part }),
      ...(message !== '' && { message }),
    };
  });
}

function messageOf(result: unknown): string {
  const warnings = list(field(result, 'warnings')).map((warning) =>
    textOf(typeof warning === 'string' ? warning : field(warning, 'warning')),
  );
  return [...warnings, textOf(field(result, 'info'))]
    .filter((line) => line !== '')
    .join('; ')
    .slice(0, 4096);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 256) : '';
}
