import { closeSync, openSync } from 'node:fs';
import koffi from 'koffi';

/** `CLONE_NEWNET` of linux/sched.h. */
const networkNamespace = 0x40000000;

const setns = koffi.load('libc.so.6').func('int setns(int fd, int type)');

/**
 * Moves this process's main thread into a network namespace of `ip netns`: sockets that Node opens and programs that it
 * starts from then on are in it. Returns the way back.
 * @throws Error when the namespace does not exist or root is missing
 */
export function enterNamespace(name: string): () => void {
  const home = openSync('/proc/thread-self/ns/net', 'r');
  const target = openSync(`/run/netns/${name}`, 'r');
  try {
    if (setns(target, networkNamespace) !== 0)
      throw new Error(`could not enter network namespace ${name}: it needs root`);
  } finally {
    closeSync(target);
  }
  return () => {
    setns(home, networkNamespace);
    closeSync(home);
  };
}
