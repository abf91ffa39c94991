import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/** SQLite's codes for a disk without room: for its file and log, and for the index that it keeps of the log. */
const fullCodes = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'];

/** A refusal of the database for lack of room, as an error that says so; any other error as it is. */
export function explained(error: unknown): unknown {
  if (!fullCodes.includes(systemCode(error) ?? '')) return error;
  const message =
    "the disk of the site's state directory is full: make room; nothing can be written down until then";
  return new RailheadError('UNAVAILABLE', message, { reason: 'no-space', path: 'stateDirectory' }, error);
}
