import type { Report } from './report.ts';

export interface CaseOptions {
  /** Aborted by SIGINT and SIGTERM: clean up and return. */
  signal: AbortSignal;
  /** Leave the rack's state directory (logs, disks) behind for a look. */
  keep: boolean;
}

/** One end-to-end case: a file in `cases/` and a line in `cases/index.ts`. */
export interface EndToEndCase {
  name: string;
  about: string;
  run(report: Report, options: CaseOptions): Promise<void>;
}
