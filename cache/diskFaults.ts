import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/** Instead of bytes there is an error: of the medium, or of a file system that found itself broken. */
const unreadable = ['EIO', 'EUCLEAN', 'ENODATA', 'EBADMSG', 'EILSEQ'];

/** What the file system of a cache may answer to a write, in plain words. */
const refusals: Record<string, string> = {
  EROFS: 'it is read-only: look why (dmesg), mount it writable again and restart the agent',
  EIO: 'it fails (an input/output error): look at dmesg and replace it',
  EUCLEAN: 'its file system is damaged: check it (fsck)',
  EACCES: "the agent's user may not write there: correct owner and mode",
  EPERM: "the agent's user may not write there: correct owner and mode",
};

export function isUnreadable(error: unknown): boolean {
  return unreadable.includes(systemCode(error) ?? '');
}

export function isFullDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(systemCode(error) ?? '');
}

/** The fault of the cache's own disk that `error` is; undefined for anything else. */
export function diskFault(error: unknown): RailheadError | undefined {
  const code = systemCode(error) ?? '';
  const words = refusals[code];
  if (words === undefined) return undefined;
  const message = `the disk of the site's cache takes no image: ${words}`;
  return new RailheadError('DRIVER_ERROR', message, { reason: 'cache-disk', cause: code }, error);
}

/** The disk keeps a file that was to be removed. */
export function removalFault(digest: string, error: unknown): RailheadError {
  const cause = systemCode(error) ?? 'unknown';
  const words = refusals[cause] ?? `it says ${cause}`;
  const message = `the disk of the site's cache does not let the image ${digest} be removed: ${words}`;
  return new RailheadError('DRIVER_ERROR', message, { reason: 'cache-disk', cause, digest }, error);
}

/** What happened to the disk, for the log and for whoever looks at the cache. */
export function faultInWords(error: unknown): string {
  if (isFullDisk(error)) return 'its disk is full: free some of it';
  const fault = diskFault(error);
  if (fault !== undefined) return fault.message;
  return error instanceof Error ? error.message : String(error);
}
