import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { RailheadError } from '#contract/errors.ts';
import { recordedProcess, recordProcess } from '../processRecord.ts';
import { rackDown } from '../tearDown.ts';

/** Where the line in `directory` has its rack. */
export function rackDirectory(directory: string): string {
  return path.join(directory, 'rack');
}

/**
 * Makes the directory this run's own, and removes what a killed run left there and in the namespaces.
 * @throws RailheadError CONFLICT when another run uses it
 */
export async function takeDirectory(directory: string, prefix: string): Promise<void> {
  const other = await recordedProcess(directory);
  if (other !== undefined && other !== process.pid)
    throw new RailheadError(
      'CONFLICT',
      `another run (process ${other}) uses ${directory}: wait for its end`,
      { directory },
    );
  await rackDown(rackDirectory(directory), prefix);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await recordProcess(directory);
}
