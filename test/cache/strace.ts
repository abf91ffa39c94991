import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';

/**
 * How a program is started so that some of its system calls fail (strace's `inject=`): what a disk does that is about to die. The program and
 * its arguments are to follow.
 */
export async function straced(options: readonly string[]): Promise<string[]> {
  const toolbox = await openToolbox(['strace'], { cacheDirectory: path.resolve('.cache/debian') });
  const [program, words] = toolbox.command('usr/bin/strace', ['-f', '-qq', '--seccomp-bpf', ...options]);
  return [program, ...words];
}
