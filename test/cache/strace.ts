import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';

// Here, since a new machine downloads it first: that is no test's time.
const toolbox = await openToolbox(['strace'], { cacheDirectory: path.resolve('.cache/debian') });

/**
 * How a program is started so that some of its system calls fail (strace's `inject=`): what a disk does that is about to die. The program and
 * its arguments are to follow.
 */
export function straced(options: readonly string[]): string[] {
  const [program, words] = toolbox.command('usr/bin/strace', ['-f', '-qq', '--seccomp-bpf', ...options]);
  return [program, ...words];
}
