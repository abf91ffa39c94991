/** How busybox's list of its applets starts: with the first two in its order. */
const start = Buffer.from('[\0[[\0', 'latin1');

/**
 * The names of a busybox's applets, as `busybox --list` would say them: read from the program, which is built for another machine
 * than this one when the ramdisk is.
 * @throws Error when the file has no such list
 */
export function appletNames(busybox: Buffer): string[] {
  const first = busybox.indexOf(start);
  const end = busybox.indexOf('\0\0', Math.max(0, first), 'latin1');
  if (first < 0 || end < 0) throw new Error('busybox has no list of applets where it is looked for');
  return busybox.toString('latin1', first, end).split('\0');
}
